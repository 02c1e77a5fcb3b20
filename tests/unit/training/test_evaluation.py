"""Held-out prompts within the loop, and which checkpoint is the best."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from fake_engine import FakeEngine

from harena.core.errors import ValidationError
from harena.training.data.prompts import PromptRow
from harena.training.loop.checkpoints import Checkpoints
from harena.training.loop.evaluation import HELD_OUT, Evaluation
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.rewards import Rule
from harena.training.rollouts.rollout import SingleTurn
from harena.training.rollouts.trajectory import Reward, RewardValidity, Sampling

ROWS = [PromptRow(id=f"p{number}", prompt=f"prompt {number}") for number in range(10)]
UNSEEN = [PromptRow(id=f"u{number}", prompt=f"unseen {number}") for number in range(200)]
RIGHTNESS = Rule(lambda row, text: float(text == "right"))
SAMPLING = Sampling(max_new_tokens=4)


async def test_rates_are_those_of_the_policy() -> None:
    found = await Evaluation(rows=UNSEEN, every=1).run(FakeEngine(0.3), SingleTurn(RIGHTNESS), SAMPLING, seed=0)
    assert found["eval/pass_rate"] == pytest.approx(0.3, abs=0.12)
    assert found["eval/pass_rate"] == found["eval/reward"]
    assert set(found) == {
        f"eval/{kind}{name}" for kind in ("", "greedy_") for name in ("pass_rate", "reward", "masked_share")
    }


async def test_what_the_platform_lost_counts_neither_way() -> None:
    class Losing:
        deterministic = False

        async def reward(self, row: PromptRow, text: str) -> Reward:
            if row.id in ("u0", "u1"):
                return Reward(value=None, validity=RewardValidity.INFRA)
            return Reward(value={"u2": 1.0, "u3": 0.5}[row.id])

    found = await Evaluation(rows=UNSEEN[:4], every=1).run(FakeEngine(), SingleTurn(Losing()), SAMPLING, seed=0)
    assert (found["eval/pass_rate"], found["eval/reward"], found["eval/masked_share"]) == (0.5, 0.75, 0.5)
    nothing = await Evaluation(rows=UNSEEN[:2], every=1).run(FakeEngine(), SingleTurn(Losing()), SAMPLING, seed=0)
    assert math.isnan(nothing["eval/pass_rate"])


async def test_one_is_sampled_and_one_greedy_from_streams_of_their_own() -> None:
    engine = FakeEngine()
    await Evaluation(rows=UNSEEN[:3], every=1).run(engine, SingleTurn(RIGHTNESS), SAMPLING, seed=0)
    assert [request.sampling.temperature for request in engine.asked] == [1.0] * 3 + [0.0] * 3
    assert all(request.key[2] == HELD_OUT for request in engine.asked)


@pytest.mark.parametrize("staleness", [0, 2])
async def test_the_loop_evaluates_and_keeps_the_best(tmp_path: Path, staleness: int) -> None:
    """What is learnt does not depend on it; the engine that is published for one step only is the best."""

    class Once(FakeEngine):
        """Better after its fourth publication than before and after."""

        async def publish(self) -> int:
            version = await super().publish()
            self._published = 0.9 if version == 4 else 0.2
            return version

    settings = RLSettings(
        steps=7,
        groups_per_step=2,
        group_size=3,
        sampling=SAMPLING,
        max_steps_off_policy=staleness,
        checkpoint_interval=100,
    )
    checkpoints, told = Checkpoints(tmp_path, keep=1), []
    loop = RLLoop(
        Once(), ROWS, RIGHTNESS, settings, checkpoints=checkpoints, evaluation=Evaluation(rows=UNSEEN[:40], every=2)
    )
    metrics = {}
    await loop.run(
        on_step=lambda step, of_step: metrics.update({step: dict(of_step)}),
        on_event=lambda name, content: told.append((name, dict(content))),
    )
    evaluated = [content["step"] for name, content in told if name == "eval_complete"]
    assert evaluated == [-1, 1, 3, 5, 6]
    assert [step for step, of_step in metrics.items() if "eval/greedy_pass_rate" in of_step] == evaluated[1:]
    assert metrics[3]["eval/pass_rate"] > 0.7
    saved = [(content["step"], content["best"]) for name, content in told if name == "checkpoint_saved"]
    assert saved == [(2, True), (4, True), (7, False)]
    best, newest = checkpoints.best(), checkpoints.newest()
    assert best is not None
    assert newest is not None
    assert (best.step, newest.step) == (4, 7)
    assert newest.state["best"] == metrics[3]["eval/pass_rate"]


async def test_sync_learns_the_same_with_and_without_it() -> None:
    settings = RLSettings(steps=5, groups_per_step=2, group_size=3, sampling=SAMPLING)
    without, with_it = FakeEngine(), FakeEngine()
    await RLLoop(without, ROWS, RIGHTNESS, settings).run()
    await RLLoop(with_it, ROWS, RIGHTNESS, settings, evaluation=Evaluation(rows=UNSEEN[:5], every=1)).run()
    assert with_it.chance == without.chance


@pytest.mark.parametrize(("rows", "every"), [([], 1), (UNSEEN, 0)])
def test_nothing_to_evaluate(rows: list[PromptRow], every: int) -> None:
    with pytest.raises(ValidationError, match="an evaluation needs rows"):
        Evaluation(rows=rows, every=every)
