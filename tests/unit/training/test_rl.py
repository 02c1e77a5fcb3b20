"""The RL loop over an engine of arithmetic: order, staleness, what is masked, what it remembers."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest
from fake_engine import RIGHT, FakeEngine

from harena.core.errors import HarenaError, ValidationError
from harena.training.data.prompts import PromptRow
from harena.training.loop.ledger import Ledger
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.rewards import Rule
from harena.training.rollouts.trajectory import Reward, RewardValidity, Sampling

ROWS = [PromptRow(id=f"p{number}", prompt=f"prompt {number}") for number in range(10)]
RIGHTNESS = Rule(lambda row, text: float(text == "right"))


def settings(**more: Any) -> RLSettings:
    given = {"steps": 6, "groups_per_step": 3, "group_size": 4, "sampling": Sampling(max_new_tokens=4)}
    return RLSettings(**{**given, "learning_rate": 0.02, "warmup_steps": 1, **more})


async def run(engine: FakeEngine, recipe: Any = RIGHTNESS, **more: Any) -> list[dict[str, float]]:
    told: list[dict[str, float]] = []
    ledger = more.pop("ledger", None)
    loop = RLLoop(engine, ROWS, recipe, settings(**more), ledger=ledger)
    await loop.run(on_step=lambda step, metrics: told.append(dict(metrics)))
    return told


async def test_what_was_published_before_is_no_step() -> None:
    """An engine that comes from SFT has a version already; every step is still done, and staleness is told right."""
    engine = FakeEngine()
    await engine.publish()
    told = await run(engine, steps=5, max_steps_off_policy=1)
    assert (engine.version, len(told)) == (6, 5)
    staleness = [metrics["staleness/max"] for metrics in told]
    assert staleness[0] == 0
    assert {0, 1} >= set(staleness)


@pytest.mark.parametrize("staleness", [0, 1, 3])
async def test_it_learns_within_the_bound(staleness: int) -> None:
    """The right word becomes likelier, in every mode; staleness is what the mode allows."""
    engine = FakeEngine(chance=0.3)
    told = await run(engine, steps=20, max_steps_off_policy=staleness)
    assert engine.chance > 0.8
    assert engine.version == 20
    assert max(metrics["staleness/max"] for metrics in told) == staleness
    assert told[0]["staleness/max"] == 0


async def test_sync_is_a_plain_sequential_loop() -> None:
    """The same requests, in the same order, as asked for one step after the other."""
    engine = FakeEngine()
    await run(engine, steps=3)
    assert [(request.key[1], request.key[2]) for request in engine.asked] == [
        (place, sample) for place in range(9) for sample in range(4)
    ]


@pytest.mark.parametrize("staleness", [0, 1])
async def test_new_weights_are_sampled_from_every_so_many_steps(staleness: int) -> None:
    """And after the last one; in between, each step learns from what older weights have said."""
    engine = FakeEngine(chance=0.3)
    told = await run(engine, steps=7, max_steps_off_policy=staleness, weight_sync_interval=3, checkpoint_interval=3)
    assert (engine.version, len(told)) == (3, 7)
    assert max(metrics["staleness/max"] for metrics in told) == min(staleness, 1)
    with pytest.raises(ValidationError, match="checkpoint_interval must be a multiple of weight_sync_interval, 3"):
        settings(weight_sync_interval=3, checkpoint_interval=10)


async def test_one_rollout_of_each_prompt_is_compared_with_nothing() -> None:
    """Its reward is its advantage: the right word becomes likelier all the same."""
    engine = FakeEngine(chance=0.3)
    told = await run(engine, steps=20, group_size=1, groups_per_step=8, advantage="none")
    assert engine.chance > 0.8
    assert {metrics["too_small_group_share"] for metrics in told} == {0}
    assert {row.advantage for batch in engine.batches for row in batch.rows} == {1.0}
    with pytest.raises(ValidationError, match="group_size must be at least 2"):
        settings(group_size=1)


async def test_a_straggler_delays_nobody_in_its_siblings_steps() -> None:
    """In `fully_async` other groups are sampled while one hangs; in order it is waited for, and trained."""
    engine = FakeEngine()
    gate = engine.held[1, 2, 0] = asyncio.Event()  # prompt 1, sample 2
    loop = RLLoop(engine, ROWS, RIGHTNESS, settings(steps=4, max_steps_off_policy=2))
    task = asyncio.create_task(loop.run())
    for _ in range(200):
        await asyncio.sleep(0)
    assert engine.version == 0
    assert len(engine.asked) == 3 * 3 * 4  # as many groups as there are slots
    gate.set()
    await task
    assert engine.version == 4


async def test_readmission_aborts_and_asks_again_with_other_randomness() -> None:
    engine = FakeEngine()
    engine.held[1, 2, 0] = asyncio.Event()  # for ever
    await run(engine, steps=6, max_steps_off_policy=1, staleness_policy="readmit")
    assert engine.version == 6
    again = [request for request in engine.asked if request.key[1] == 1]
    assert {request.key[3] for request in again} == {0, 1}


async def test_what_the_platform_lost_leaves_its_group() -> None:
    """The others are trained among themselves; a group of one is not trained."""

    class Losing:
        deterministic = False
        asked = 0

        async def reward(self, row: PromptRow, text: str) -> Reward:
            self.asked += 1
            if row.id == "p1" or self.asked % 5 == 0:
                return Reward(value=None, validity=RewardValidity.INFRA, reason="platform_error")
            return Reward(value=float(text == "right"))

    told = await run(FakeEngine(chance=0.5), Losing(), steps=5, masked_limit=1.0)
    assert sum(metrics["masked_share"] for metrics in told) > 0
    assert any(metrics["too_small_group_share"] > 0 for metrics in told)
    assert all(0 <= metrics["reward"] <= 1 or math.isnan(metrics["reward"]) for metrics in told)


async def test_equal_rewards_teach_nothing_and_stop_nothing() -> None:
    engine = FakeEngine(chance=0.5)
    told = await run(engine, Rule(lambda row, text: 1.0), steps=3)
    assert [metrics["constant_group_share"] for metrics in told] == [1.0] * 3
    assert (engine.chance, engine.batches, engine.version) == (0.5, [], 3)


async def test_a_recipe_that_cannot_be_applied_ends_the_job() -> None:
    def decide(row: PromptRow, text: str) -> float:
        raise ValidationError(f"row {row.id} has no expected_output")

    engine = FakeEngine()
    with pytest.raises(HarenaError, match="expected_output"):
        await run(engine, Rule(decide))
    assert engine.version == 0


async def test_twins_are_asked_for_once() -> None:
    """Two answers are possible to each of ten prompts: twenty questions at most."""
    asked: list[tuple[str, str]] = []

    def decide(row: PromptRow, text: str) -> float:
        asked.append((row.id, text))
        return float(text == "right")

    told = await run(FakeEngine(chance=0.5), Rule(decide), steps=10)
    assert len(asked) == len(set(asked)) <= 20
    assert told[-1]["dedup_rate"] > 0.5
    asked.clear()
    await run(FakeEngine(chance=0.5), Rule(decide, deterministic=False), steps=2)
    assert len(asked) == 2 * 3 * 4


async def test_the_ledger_has_each_group_and_step_once(tmp_path: Path) -> None:
    engine, ledger = FakeEngine(), Ledger(tmp_path / "ledger.sqlite")
    told = await run(engine, steps=4, max_steps_off_policy=1, ledger=ledger)
    steps = list(ledger.steps())
    assert [number for _, numbers, _ in steps for number in numbers] == list(range(12))
    assert [metrics["reward"] for _, _, metrics in steps] == [metrics["reward"] for metrics in told]
    found = ledger.group(5)
    assert found is not None
    group, place, version = found
    assert (group.number, place, version) == (5, 5, 0)
    assert [len(trajectory.tokens) == len(trajectory.logprobs) for trajectory in group.trajectories] == [True] * 4
    assert all(t.reward.value == float(RIGHT in t.tokens[-2:]) for t in group.trajectories)
    assert ledger.group(99) is None
    ledger.close()


async def test_cancelling_ends_every_rollout() -> None:
    engine = FakeEngine()
    engine.held[0, 0, 0] = asyncio.Event()
    loop = RLLoop(engine, ROWS, RIGHTNESS, settings())
    task = asyncio.create_task(loop.run())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    left = [t for t in asyncio.all_tasks() if t is not asyncio.current_task() and not t.done()]
    await asyncio.gather(*left, return_exceptions=True)
    assert engine.version == 0


@pytest.mark.parametrize(
    ("decay", "rates"),
    [("linear", [0.5, 1.0, 1.0, 0.775, 0.55, 0.325]), ("constant", [0.5] + [1.0] * 5)],
)
def test_learning_rates(decay: Any, rates: list[float]) -> None:
    """Up in a line, then down to a tenth after the last step."""
    given = settings(steps=6, warmup_steps=2, learning_rate=1.0, decay=decay)
    assert [given.learning_rate_at(step) for step in range(6)] == pytest.approx(rates)


def test_the_cosine_falls_between_its_ends() -> None:
    given = settings(steps=100, warmup_steps=0, learning_rate=1.0, decay="cosine")
    rates = [given.learning_rate_at(step) for step in range(101)]
    assert (rates[0], rates[50], rates[100]) == pytest.approx((1.0, 0.55, 0.1))
    assert rates == sorted(rates, reverse=True)


def test_every_number_that_makes_no_sense_is_told() -> None:
    with pytest.raises(ValidationError) as e:
        settings(steps=-1, group_size=1, checkpoint_interval=0, masked_window=0, learning_rate=float("nan"))
    said = str(e.value)
    for name in ("steps", "group_size", "checkpoint_interval", "masked_window", "learning_rate"):
        assert f"{name} must be at least" in said


async def test_prompts_that_cannot_be_asked_are_told_before_anything_is_done() -> None:
    engine = FakeEngine()
    rows = [ROWS[0], PromptRow(id="long", prompt="x" * 97), PromptRow(id="none", prompt="")]
    with pytest.raises(ValidationError, match=r"2 prompts .*context of 100 .*answer of 4:\n  long: 97.*\n  none: 0"):
        RLLoop(engine, rows, RIGHTNESS, settings())
    with pytest.raises(ValidationError, match="empty set"):
        RLLoop(engine, [], RIGHTNESS, settings())


async def test_the_parts_of_a_steps_time_add_up() -> None:
    """On a clock of its own that each look moves by one."""
    ticks = iter(range(10**6))
    loop = RLLoop(FakeEngine(), ROWS, RIGHTNESS, settings(max_steps_off_policy=1), now=lambda: float(next(ticks)))
    told: list[dict[str, float]] = []
    await loop.run(on_step=lambda step, metrics: told.append(dict(metrics)))
    for metrics in told:
        parts = [value for name, value in metrics.items() if name.startswith("seconds/") and name != "seconds/step"]
        assert sum(parts) == metrics["seconds/step"] > 0
        assert metrics["seconds/train"] > 0
    assert sum(metrics["seconds/generate"] for metrics in told) > 0
