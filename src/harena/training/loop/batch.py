"""What an engine is given to train on: rows of tokens with a weight, an advantage and old log-probabilities each.

A batch is one optimizer step. Its denominator is fixed here, from everything that was admitted to the step; an engine
may cut the rows as it likes (see `harena.training.loop.algorithms`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harena.core.records.training_plans import AdvantageRule, Aggregation, LossSpec
from harena.training.loop.advantages import advantages
from harena.training.rollouts.trajectory import Group, Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRow:
    """One sequence. `tokens`, `mask` and `logprobs` are of one length; the first token is never chosen."""

    tokens: tuple[int, ...]
    mask: tuple[int, ...]
    """1 where the token is learnt from"""
    logprobs: tuple[float, ...] = ()
    """under the policy that sampled it (log mu); empty in SFT"""
    advantage: float = 1.0
    weight: float = 1.0
    """weight of each of its tokens"""
    temperature: float = 1.0
    kept: tuple[tuple[int, ...], ...] = ()
    """for each token those that it was drawn among, where sampling was truncated; () = all of them, for one token or
    for the row"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingBatch:
    """The rows of one optimizer step."""

    rows: tuple[TrainingRow, ...]
    denominator: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCounts:
    """What became of a step's groups."""

    groups: int
    constant: int
    """all rewards equal: nothing to learn from"""
    too_small: int
    """fewer than two rollouts have a reward, and they are compared; or none has"""
    masked: int
    """rollouts without a reward"""
    rollouts: int


def rl_batch(
    groups: Sequence[Group],
    *,
    rule: AdvantageRule,
    loss: LossSpec,
    max_new_tokens: int,
    temperature: float,
) -> tuple[TrainingBatch, GroupCounts]:
    """The step's rows, in the order of groups and samples. A row whose advantage is 0 moves nothing and is left out,
    unless the loss has a KL term or a critic, which learn from every row. The denominator counts it either way."""
    rows: list[TrainingRow] = []
    tokens = sequences = constant = too_small = masked = 0
    for group in groups:
        valid = group.valid
        masked += len(group.trajectories) - len(valid)
        if len(valid) < (1 if rule == "none" else 2):
            too_small += 1
            continue
        tokens += sum(trajectory.length for trajectory in valid)
        sequences += len(valid)
        rewards = [trajectory.reward.value or 0.0 for trajectory in valid]
        if rule != "none" and max(rewards) == min(rewards):
            constant += 1
        for trajectory, advantage in zip(valid, advantages_of(rewards, rule), strict=True):
            if (advantage != 0.0 or loss.kl_coefficient > 0 or loss.critic) and trajectory.length:
                rows += _rows(trajectory, advantage, loss.aggregation, temperature)
    denominators: dict[Aggregation, float] = {
        "token": tokens,
        "sequence": sequences,
        "constant": sequences * max_new_tokens,
    }
    counts = GroupCounts(
        groups=len(groups),
        constant=constant,
        too_small=too_small,
        masked=masked,
        rollouts=sum(len(group.trajectories) for group in groups),
    )
    return TrainingBatch(rows=tuple(rows), denominator=max(1.0, denominators[loss.aggregation])), counts


def advantages_of(rewards: Sequence[float], rule: AdvantageRule) -> list[float]:
    """The advantages of one group's rewards; zeros where siblings are compared and do not differ."""
    if rule != "none" and max(rewards) == min(rewards):
        return [0.0] * len(rewards)  # exactly: the mean of equal numbers may differ from them by rounding
    return advantages(rewards, rule)


def _rows(
    trajectory: Trajectory, advantage: float, aggregation: Aggregation, temperature: float
) -> Iterator[TrainingRow]:
    """One for each sequence of the trajectory; together they weigh what one would."""
    bounds = (0, *trajectory.starts, len(trajectory.tokens))
    for start, end in pairwise(bounds):
        if not any(trajectory.mask[start:end]):
            continue
        yield TrainingRow(
            tokens=trajectory.tokens[start:end],
            mask=trajectory.mask[start:end],
            logprobs=trajectory.logprobs[start:end],
            advantage=advantage,
            weight=1.0 / trajectory.length if aggregation == "sequence" else 1.0,
            temperature=temperature,
            kept=trajectory.kept[start:end],
        )


def sft_batch(rows: Sequence[TrainingRow]) -> TrainingBatch:
    """Cross-entropy per learnt token, all rows of the step together."""
    return TrainingBatch(rows=tuple(rows), denominator=max(1.0, float(sum(sum(row.mask) for row in rows))))
