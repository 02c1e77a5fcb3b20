"""What a training job remembers comes back as it was; two processes do not write one job's past."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harena.core.errors import PlatformError
from harena.training.loop.ledger import Ledger
from harena.training.loop.schedule import Admission
from harena.training.rollouts.trajectory import Reward, RewardValidity, StopReason, Trajectory, Turn

TOKEN = st.integers(0, 2**31 - 1)
LOGPROB = st.floats(max_value=0.0, allow_nan=False, allow_infinity=False)


@st.composite
def trajectories(draw: Any) -> Trajectory:
    count = draw(st.integers(0, 6))
    of = lambda each: tuple(draw(each) for _ in range(count))  # noqa: E731
    kept = of(st.lists(TOKEN, max_size=3).map(tuple)) if draw(st.booleans()) else ()
    value = draw(st.none() | st.floats(-1, 1))
    return Trajectory(
        prompt_id=draw(st.text(max_size=5)), sample=draw(st.integers(0, 99)), tokens=of(TOKEN),
        mask=of(st.integers(0, 1)), logprobs=of(LOGPROB), versions=of(st.integers(-1, 999)),
        stop=draw(st.sampled_from(StopReason)), text=draw(st.text(max_size=20)), kept=kept,
        reward=Reward(
            value=value, validity=RewardValidity.INFRA if value is None else RewardValidity.VALID,
            parts={"syntax": 0.25}, reason="r", detail=draw(st.text(max_size=9)),
        ),
        seconds={"generate": draw(st.floats(0, 9))}, metadata={"files": ["a.py"]},
        turns=tuple(
            Turn(start=0, end=count, text="t", stop=StopReason.STOP, reward=0.5, parts={"x": 1.0})
            for _ in range(draw(st.integers(0, 2)))
        ),
    )  # fmt: skip


@settings(max_examples=30)
@given(trajectory=trajectories())
def test_a_trajectory_comes_back_to_the_bit(tmp_path_factory: pytest.TempPathFactory, trajectory: Trajectory) -> None:
    ledger = Ledger(tmp_path_factory.mktemp("one") / "ledger.sqlite")
    ledger.add_admissions([Admission(0, 0, 0)])
    ledger.add_rollout(0, trajectory)
    assert ledger.rollouts(0) == {trajectory.sample: trajectory}
    ledger.close()


def rollout(sample: int) -> Trajectory:
    return Trajectory(
        prompt_id="p", sample=sample, tokens=(1,), mask=(1,), logprobs=(-0.5,), versions=(0,), stop=StopReason.STOP,
        text="yes", reward=Reward(value=1.0),
    )  # fmt: skip


def test_only_a_reward_that_was_lost_is_replaced(tmp_path: Path) -> None:
    """What was said stays."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.add_admissions([Admission(0, 0, 0)])
    lost = replace(rollout(0), reward=Reward(value=None, validity=RewardValidity.INFRA, reason="down"))
    masked = replace(rollout(1), reward=Reward(value=None, validity=RewardValidity.MASKED, reason="cut_off"))
    for made in (lost, masked, rollout(2)):
        ledger.add_rollout(0, made)
    found = [replace(rollout(sample), reward=Reward(value=0.5)) for sample in range(3)]
    for made in found:
        ledger.replace_lost(0, made)
    assert ledger.rollouts(0) == {0: found[0], 1: masked, 2: rollout(2)}
    ledger.close()


def test_a_process_that_was_taken_over_writes_no_more(tmp_path: Path) -> None:
    """Its job is another's now: what it still has under way is not kept, and it is told."""
    old, new = Ledger(tmp_path / "ledger.sqlite"), Ledger(tmp_path / "ledger.sqlite")
    assert old.begin_life(from_step=0) == 0
    old.add_admissions([Admission(0, 0, 0)])
    old.add_rollout(0, rollout(0))
    assert new.begin_life(from_step=0) == 1
    for write in (
        lambda: old.add_rollout(0, rollout(1)),
        lambda: old.add_admissions([Admission(1, 1, 0)]),
        lambda: old.plan_step(0, [0]),
    ):
        with pytest.raises(PlatformError, match="another process goes on with the job"):
            write()
    new.add_rollout(0, rollout(1))
    assert (new.samples_of(0), len(new.admissions()), new.planned()) == ([0, 1], 1, [])
    old.close()
    new.close()


def test_groups_that_begin_together_are_written_together(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(PlatformError, match="could not be used: UNIQUE"):
        ledger.add_admissions([Admission(0, 0, 0), Admission(1, 1, 0), Admission(1, 2, 0)])
    assert ledger.admissions() == []
    ledger.add_admissions([Admission(0, 0, 0)])
    assert len(ledger.admissions()) == 1
    ledger.close()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match=rf"{tmp_path}/no/ledger.sqlite could not be used.*disk has room"):
        Ledger(tmp_path / "no" / "ledger.sqlite")


def test_samples_are_for_people(tmp_path: Path) -> None:
    """Everything but what is of single tokens, as JSON."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.begin_life(from_step=0)
    ledger.add_admissions([Admission(number, number, 0) for number in range(3)])
    for number in range(3):
        for sample in range(2):
            ledger.add_rollout(number, rollout(sample))
    ledger.plan_step(0, [2, 0])
    found = ledger.samples(0, limit=3)
    assert [(entry["group"], entry["sample"], entry["text"]) for entry in found] == [
        (0, 0, "yes"), (0, 1, "yes"), (2, 0, "yes"),
    ]  # fmt: skip
    assert "tokens" not in found[0]
    assert json.loads(json.dumps(found)) == found
    assert ledger.samples(1) == []
    one, forgotten = ledger.said_tokens(0, 1), ledger.said_tokens(1, 0)
    given = rollout(1)
    assert one is not None
    assert forgotten is not None
    assert one.tokens == [token for token, chosen in zip(given.tokens, given.mask, strict=True) if chosen]
    assert (len(one.logprobs), len(one.versions)) == (given.length, given.length)
    assert ledger.rewards_of(0) == {0: rollout(0).reward.value, 1: rollout(1).reward.value}
    ledger.forget_tokens(before_step=1)
    assert ledger.said_tokens(0, 1) is None
    ledger.close()
