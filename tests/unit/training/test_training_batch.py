"""From groups to a training batch: which rows there are, and what they are divided by."""

from __future__ import annotations

import math
from typing import Any

import pytest

from harena.core.records.training_plans import LossSpec
from harena.training.loop.batch import rl_batch
from harena.training.loop.step_metrics import quantile, step_metrics
from harena.training.ports import LossReport
from harena.training.rollouts.trajectory import Group, Reward, RewardValidity, StopReason, Trajectory


def rollout(sample: int, reward: float | None, length: int, **more: Any) -> Trajectory:
    """A prompt of two tokens and an answer."""
    given = {
        "prompt_id": "p", "sample": sample, "tokens": (1, 2, *range(length)), "mask": (0, 0) + (1,) * length,
        "logprobs": (0.0, 0.0) + (-0.5,) * length, "versions": (-1, -1) + (3,) * length, "stop": StopReason.STOP,
        "text": "", "seconds": {"generate": 1.0 + sample, "reward": 0.5},
    }  # fmt: skip
    validity = RewardValidity.INFRA if reward is None else RewardValidity.VALID
    reason = "platform_error" if reward is None else ""
    return Trajectory(**{**given, "reward": Reward(value=reward, validity=validity, reason=reason), **more})


def group(number: int, *rewards: float | None, lengths: tuple[int, ...] = (3, 5, 4, 2)) -> Group:
    return Group(
        number=number,
        prompt_id="p",
        trajectories=tuple(rollout(k, r, length) for k, (r, length) in enumerate(zip(rewards, lengths, strict=False))),
    )


GROUPS = [group(0, 1.0, 0.0), group(1, 0.1, 0.1, 0.1), group(2, 1.0, None, 0.0), group(3, None, 1.0)]
"""One to learn from; one of equal rewards; one that lost a rollout; one that lost too many."""


@pytest.mark.parametrize(
    ("aggregation", "denominator"),
    [("token", (3 + 5) + (3 + 5 + 4) + (3 + 4)), ("sequence", 2 + 3 + 2), ("constant", (2 + 3 + 2) * 10)],
)
@pytest.mark.parametrize("kl", [0.0, 0.1])
def test_the_denominator_counts_what_is_left_out(aggregation: Any, denominator: float, kl: float) -> None:
    """Groups of equal rewards are in it; what the platform lost, and whom it left alone, is not."""
    loss = LossSpec(aggregation=aggregation, kl_coefficient=kl)
    batch, counts = rl_batch(GROUPS, rule="group_mean", loss=loss, max_new_tokens=10, temperature=1.0)
    assert batch.denominator == denominator
    assert len(batch.rows) == (4 if kl == 0 else 7)
    assert (counts.groups, counts.constant, counts.too_small, counts.masked, counts.rollouts) == (4, 1, 1, 2, 10)
    weights = {row.weight for row in batch.rows}
    assert weights == ({1.0} if aggregation != "sequence" else {1 / sum(row.mask) for row in batch.rows})


def test_a_kl_term_is_of_every_row() -> None:
    """Rows of advantage 0 are trained then: those of equal rewards, and the middle one of three."""
    groups = [group(0, 0.1, 0.1, 0.1), group(1, 1.0, 0.5, 0.0)]
    with_kl, _ = rl_batch(
        groups, rule="group_mean", loss=LossSpec(kl_coefficient=0.1), max_new_tokens=9, temperature=1.0
    )
    assert [row.advantage for row in with_kl.rows] == [0.0, 0.0, 0.0, 0.5, 0.0, -0.5]
    without, _ = rl_batch(groups, rule="group_mean", loss=LossSpec(), max_new_tokens=9, temperature=1.0)
    assert [row.advantage for row in without.rows] == [0.5, -0.5]
    assert without.denominator == with_kl.denominator


def test_rewards_are_taken_as_they_are_without_a_rule() -> None:
    batch, counts = rl_batch([group(0, 1.0, 1.0, 0.0)], rule="none", loss=LossSpec(), max_new_tokens=9, temperature=0.7)
    assert [row.advantage for row in batch.rows] == [1.0, 1.0]
    assert {row.temperature for row in batch.rows} == {0.7}
    assert counts.constant == 0


def test_metrics_of_a_step() -> None:
    groups = [*GROUPS, Group(number=4, prompt_id="q", trajectories=(
        rollout(0, 0.0, 100, stop=StopReason.LENGTH, versions=(-1, -1) + (2,) * 50 + (4,) * 50), rollout(1, 1.0, 1),
    ))]  # fmt: skip
    _, counts = rl_batch(groups, rule="group_mean", loss=LossSpec(), max_new_tokens=100, temperature=1.0)
    metrics = step_metrics(groups, counts, LossReport(loss=0.5, metrics={"entropy": 1.5}), version=5)
    assert metrics["loss"] == 0.5
    assert metrics["entropy"] == 1.5
    assert metrics["reward"] == pytest.approx(4.3 / 10)
    assert (metrics["reward/min"], metrics["reward/max"]) == (0.0, 1.0)
    assert (metrics["length/p50"], metrics["length/p99"]) == (4, 100)
    assert metrics["truncated_share"] == 1 / 12
    assert metrics["constant_group_share"] == 1 / 5
    assert metrics["too_small_group_share"] == 1 / 5
    assert metrics["masked_share"] == metrics["masked_share/platform_error"] == 2 / 12
    assert (metrics["staleness/max"], metrics["staleness/mean"]) == (3.0, (2 * 4 + 3) / 5)
    assert metrics["versions_per_rollout"] == 13 / 12
    assert (metrics["generate_seconds/p50"], metrics["generate_seconds/p99"]) == (2.0, 3.0)
    assert (metrics["reward_seconds/p50"], metrics["reward_seconds/p99"]) == (0.5, 0.5)


def test_metrics_of_a_step_without_rewards() -> None:
    groups = [group(0, None, None)]
    _, counts = rl_batch(groups, rule="group_std", loss=LossSpec(), max_new_tokens=9, temperature=1.0)
    metrics = step_metrics(groups, counts, LossReport(loss=0.0), version=3)
    assert math.isnan(metrics["reward"])
    assert metrics["masked_share"] == 1.0


def test_quantiles_are_values() -> None:
    assert [quantile([4.0, 1.0, 3.0, 2.0], share) for share in (0.0, 0.25, 0.5, 0.51, 0.99, 1.0)] == [1, 1, 2, 3, 4, 4]
