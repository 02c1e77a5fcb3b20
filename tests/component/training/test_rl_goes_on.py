"""RL jobs that stop and go on, over an engine of arithmetic: what is read instead of made, what is refused and told.

`test_killed_jobs` does the same with real processes and a real engine.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeEngine

from harena.core.errors import HarenaError, PlatformError, ValidationError
from harena.core.records.training_plans import LossSpec
from harena.training.data.prompts import PromptRow
from harena.training.engines.local import LocalEngine
from harena.training.environments.environment import Step
from harena.training.errors import TrainingError
from harena.training.loop.batch import TrainingBatch
from harena.training.loop.checkpoints import Checkpoints
from harena.training.loop.ledger import Ledger
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.ports import LossReport
from harena.training.rewards import Overlong, Rule
from harena.training.rollouts.trajectory import Reward, Sampled, SampleRequest, Sampling, Trajectory
from harena.training.rollouts.turns import Episodes

ROWS = [PromptRow(id=f"p{number}", prompt=f"prompt {number}") for number in range(10)]


class LifeEndsError(HarenaError):
    """What ends a life here; the ledger and the checkpoints are left as a kill would leave them."""


class Recipe:
    """Rewards "right"; ends the life at the reward of one number."""

    deterministic = False

    def __init__(self, *, stop_at: int | None = None) -> None:
        self.asked: list[str] = []
        self._stop_at = stop_at

    async def reward(self, row: PromptRow, text: str) -> Reward:
        if len(self.asked) == self._stop_at:
            raise LifeEndsError("the end of this life")
        self.asked.append(row.id)
        return Reward(value=float(text == "right"))


async def life(
    folder: Path, *, engine: FakeEngine | None = None, stop_at: int | None = None, keep: int = 2, **more: Any
) -> tuple[FakeEngine, Recipe, list[tuple[str, Any]]]:
    """A job until its end, or until it stops."""
    given = {"steps": 6, "groups_per_step": 3, "group_size": 4, "sampling": Sampling(max_new_tokens=4)}
    settings = RLSettings(**{**given, "learning_rate": 0.02, "warmup_steps": 1, "checkpoint_interval": 2, **more})
    engine, recipe = engine or FakeEngine(), Recipe(stop_at=stop_at)
    told: list[tuple[str, Any]] = []
    folder.mkdir(exist_ok=True)
    ledger = Ledger(folder / "ledger.sqlite")
    loop = RLLoop(engine, ROWS, recipe, settings, ledger=ledger, checkpoints=Checkpoints(folder / "kept", keep=keep))
    try:
        await loop.run(
            on_step=lambda step, metrics: told.append(("step", step)),
            on_event=lambda name, content: told.append((name, dict(content))),
        )
    except LifeEndsError:
        pass
    finally:
        ledger.close()
    return engine, recipe, told


@pytest.mark.parametrize("staleness", [0, 2])
@pytest.mark.parametrize("stop_at", [0, 5, 12, 31, 47, 71])
async def test_it_goes_on_where_it_was(tmp_path: Path, staleness: int, stop_at: int) -> None:
    """With the weights of a job that never stopped, and each of its 72 rollouts rewarded once."""
    whole, _, _ = await life(tmp_path / "whole", max_steps_off_policy=staleness)
    _, before, _ = await life(tmp_path / "stopped", stop_at=stop_at, max_steps_off_policy=staleness)
    engine, after, told = await life(tmp_path / "stopped", max_steps_off_policy=staleness)
    assert len(before.asked) == stop_at
    assert len(before.asked) + len(after.asked) == 72
    assert engine.version == 6
    assert told[-1] == ("step", 5)
    if staleness == 0:
        assert engine.chance == whole.chance


async def test_what_is_sampled_in_lockstep_keeps_its_neighbours(tmp_path: Path) -> None:
    """sync: the sequences of a step that was cut short are sampled side by side again, stored ones too; async: only
    those that are missing."""
    for staleness, keys in ((0, [(place, sample) for place in (3, 4, 5) for sample in range(4)]), (1, None)):
        folder = tmp_path / str(staleness)
        await life(folder, stop_at=17, max_steps_off_policy=staleness)
        ledger = Ledger(folder / "ledger.sqlite")
        admitted = ledger.admissions()
        known = {(entry.prompt, sample) for entry in admitted for sample in ledger.samples_of(entry.number)}
        ledger.close()
        assert len(known) == 17
        engine, _, _ = await life(folder, max_steps_off_policy=staleness)
        asked = [(request.key[1], request.key[2]) for request in engine.asked]
        if keys is None:
            assert known.isdisjoint(asked)
        else:
            assert asked[:12] == keys


class Talk:
    """Two or three turns, by the row."""

    async def reset(self, row: PromptRow) -> None:
        self._turns = 2 + int(row.id[1:]) % 2

    async def step(self, action: str) -> Step:
        self._turns -= 1
        return Step(observation=f"a{action}", reward=float(action == "right"), done=not self._turns)


class Short(Ledger):
    """Lives for so many rollouts."""

    left = 0

    def add_rollout(self, number: int, trajectory: Trajectory) -> None:
        if not self.left:
            raise LifeEndsError("the end of this life")
        self.left -= 1
        super().add_rollout(number, trajectory)


class Heard(FakeEngine):
    """Notes what is sampled side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[tuple[tuple[int, ...], tuple[int, ...]]]] = []

    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        self.calls.append([(request.key, request.prompt) for request in requests])
        return super().sample(requests)


async def test_episodes_keep_their_neighbours_turn_by_turn(tmp_path: Path) -> None:
    """A step that was cut short asks for the same sequences in the same calls as one that was not."""
    settings = RLSettings(steps=2, groups_per_step=3, group_size=4, sampling=Sampling(max_new_tokens=4))
    whole, engine = Heard(), Heard()
    await RLLoop(whole, ROWS, None, settings, rollouts=Episodes(Talk, max_turns=5)).run()
    short = Short(tmp_path / "ledger.sqlite")
    short.left = 5
    with pytest.raises(LifeEndsError):
        await RLLoop(Heard(), ROWS, None, settings, rollouts=Episodes(Talk, max_turns=5), ledger=short).run()
    assert sum(len(short.samples_of(entry.number)) for entry in short.admissions()) == 5
    short.close()
    ledger = Ledger(tmp_path / "ledger.sqlite")
    await RLLoop(engine, ROWS, None, settings, rollouts=Episodes(Talk, max_turns=5), ledger=ledger).run()
    assert [len(call) for call in engine.calls[:2]] == [12, 12]
    assert len(engine.calls[2]) < 12
    assert engine.calls == whole.calls
    assert {life for origin in ledger.lineage() for by in origin.groups.values() for life in by} == {0, 1}
    ledger.close()


async def test_steps_after_the_checkpoint_are_trained_again_from_what_is_stored(tmp_path: Path) -> None:
    _, _, told = await life(tmp_path, stop_at=12 * 5, checkpoint_interval=3)
    assert [entry for entry in told if entry[0] == "step"] == [("step", step) for step in range(5)]
    engine, recipe, told = await life(tmp_path, checkpoint_interval=3)
    content = {"life": 1, "step": 3, "steps_again": 2, "rollouts_stored": 0}
    assert told[0] == ("resumed_from", content)
    assert told[1:3] == [("step", 3), ("step", 4)]
    assert len(recipe.asked) == 12
    assert len(engine.batches) <= 3
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert [entry.trained_by for entry in ledger.lineage()] == [0, 0, 0, 1, 1, 1]
    lives = [{life for by in entry.groups.values() for life in by} for entry in ledger.lineage()]
    assert lives == [{0}, {0}, {0}, {0}, {0}, {1}]
    ledger.close()


async def test_a_job_that_is_done_does_nothing(tmp_path: Path) -> None:
    await life(tmp_path)
    engine, recipe, told = await life(tmp_path)
    assert (engine.version, recipe.asked, engine.asked) == (6, [], [])
    assert [name for name, _ in told] == ["resumed_from"]


async def test_another_jobs_ledger_is_refused(tmp_path: Path) -> None:
    await life(tmp_path, stop_at=20)
    with pytest.raises(ValidationError, match="of a job with other learning_rate, seed: go on"):
        await life(tmp_path, seed=3, learning_rate=0.5)


async def test_a_ledger_that_is_lost_is_missed(tmp_path: Path) -> None:
    await life(tmp_path, stop_at=30)
    (tmp_path / "ledger.sqlite").unlink()
    with pytest.raises(PlatformError, match="of step 2, and the ledger knows 0 steps"):
        await life(tmp_path)


async def test_the_tokens_that_no_checkpoint_needs_are_forgotten_and_the_words_stay(tmp_path: Path) -> None:
    await life(tmp_path)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(PlatformError, match="dropped the tokens of group 0"):
        ledger.group(0)
    assert len(ledger.rollouts(12)) == 4  # of step 4: checkpoints 4 and 6 are kept
    (first, *more) = ledger.samples(0, limit=5)
    assert len(more) == 4
    assert (first["group"], first["life"], first["sample"], first["prompt_id"] in {row.id for row in ROWS}) == (
        0, 0, 0, True,
    )  # fmt: skip
    assert first["text"] in ("right", "wrong")
    assert first["reward"]["value"] == float(first["text"] == "right")
    ledger.close()


class Breaking(FakeEngine):
    """Its third loss is none."""

    async def forward_backward(self, batch: TrainingBatch, loss: LossSpec | None) -> LossReport:
        if self.version == 3:
            raise TrainingError("the loss of version 3 is nan: lower the learning rate", reason="LOSS")
        return await super().forward_backward(batch, loss)


async def test_a_loss_that_is_none_names_its_step_and_saves_its_state(tmp_path: Path) -> None:
    with pytest.raises(
        TrainingError, match=r"step 3.* 9 \(prompt p\d\), 10 \(prompt p\d\).*nan.*saved in .*00003"
    ) as e:
        await life(tmp_path, engine=Breaking(), learning_rate=0.001)
    assert e.value.reason == "LOSS"
    newest = Checkpoints(tmp_path / "kept").newest()
    assert newest is not None
    assert newest.step == 3
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert [(entry.step, entry.metrics is None) for entry in ledger.planned()] == [
        (0, False), (1, False), (2, False), (3, True),
    ]  # fmt: skip
    ledger.close()
    # on another machine, say: the same groups are trained
    engine, recipe, _ = await life(tmp_path, learning_rate=0.001)
    assert engine.version == 6
    assert len(recipe.asked) == 24


class Full(FakeEngine):
    """The disk is full from the second checkpoint on."""

    async def save(self, folder: Path) -> None:
        if self.version > 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        await super().save(folder)


async def test_a_full_disk_ends_the_job_and_costs_nothing(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match=r"checkpoint of step 4 .*No space left.*step 2, is intact"):
        await life(tmp_path, engine=Full())
    engine, recipe, told = await life(tmp_path)
    assert told[0][1] == {"life": 1, "step": 2, "steps_again": 2, "rollouts_stored": 0}
    assert len(recipe.asked) == 24
    assert engine.version == 6


async def test_checkpoints_alone_are_enough_for_sync(tmp_path: Path) -> None:
    """Without a ledger groups are made again."""
    settings = RLSettings(
        steps=4, groups_per_step=2, group_size=2, sampling=Sampling(max_new_tokens=4), checkpoint_interval=3
    )
    whole = FakeEngine()
    await RLLoop(whole, ROWS, Recipe(), settings).run()
    checkpoints = Checkpoints(tmp_path)
    with pytest.raises(LifeEndsError):
        await RLLoop(FakeEngine(), ROWS, Recipe(stop_at=14), settings, checkpoints=checkpoints).run()
    engine = FakeEngine()
    await RLLoop(engine, ROWS, Recipe(), settings, checkpoints=checkpoints).run()
    assert engine.chance == whole.chance
    assert {request.key[1] for request in engine.asked} == {6, 7}


async def test_a_readmitted_group_is_readmitted_after_a_kill_too(tmp_path: Path) -> None:
    """The straggler hangs in both lives; its prompt is trained all the same, once."""
    more = {"max_steps_off_policy": 1, "staleness_policy": "readmit"}

    def hanging(*readmissions: int) -> FakeEngine:
        engine = FakeEngine()
        engine.held = {(1, 2, again): asyncio.Event() for again in readmissions}
        return engine

    _, _, before = await life(tmp_path, engine=hanging(0), stop_at=40, **more)
    assert any(name == "readmitted" for name, _ in before)
    _, _, told = await life(tmp_path, engine=hanging(1), **more)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    places = {entry.number: entry.prompt for entry in ledger.admissions()}
    trained = [places[number] for entry in ledger.planned() for number in entry.groups]
    assert sorted(trained) == list(range(18))
    ledger.close()
    assert told[-1] == ("step", 5)


async def test_weights_that_are_ruined_end_a_real_job(engines: Callable[..., LocalEngine], tmp_path: Path) -> None:
    """A learning rate beyond reason: the job ends with the step, not with a model of nothing."""
    settings = RLSettings(
        steps=9, groups_per_step=2, group_size=4, sampling=Sampling(max_new_tokens=8), learning_rate=1e30,
        warmup_steps=0, checkpoint_interval=100, overlong=Overlong(policy="score"),
    )  # fmt: skip
    loop = RLLoop(
        engines(), ROWS, Rule(lambda row, text: len(set(text)) % 3 / 2), settings, checkpoints=Checkpoints(tmp_path)
    )
    with pytest.raises(
        TrainingError, match=r"step \d, which learns from .*(nan|inf).*lower the learning rate; the state"
    ):
        await loop.run()
    assert Checkpoints(tmp_path).newest() is not None
