"""The formulas of `harena.training.loop.algorithms` once more, written the slow way: plain floats, one token at a time,
and gradients by central differences of the whole loss. Knows nothing of torch, batches or padding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from harena.core.records.training_plans import LossSpec


@dataclass
class Sequence:
    """One rollout's chosen tokens."""

    pi: list[float]
    mu: list[float]
    reference: list[float]
    advantage: float


def loss(sequences: list[Sequence], spec: LossSpec, frozen: list[list[float]], *, most: int) -> float:
    """The loss of a step. `frozen`: what sg() sees as pi."""
    total = 0.0
    for sequence, still in zip(sequences, frozen, strict=True):
        weight = 1 / len(sequence.pi) if spec.aggregation == "sequence" else 1.0
        total += weight * sum(_terms(sequence, still, spec))
    tokens = sum(len(sequence.pi) for sequence in sequences)
    denominator = {"token": tokens, "sequence": len(sequences), "constant": len(sequences) * most}[spec.aggregation]
    return total / denominator


def _terms(sequence: Sequence, still: list[float], spec: LossSpec) -> list[float]:
    terms = []
    prox = still if spec.correction == "decoupled" else sequence.mu
    ratios = [math.exp(pi - old) for pi, old in zip(sequence.pi, prox, strict=True)]
    still_ratios = [math.exp(pi - old) for pi, old in zip(still, prox, strict=True)]
    if spec.algorithm == "gspo":
        mean = sum(pi - old for pi, old in zip(sequence.pi, prox, strict=True)) / len(ratios)
        ratios = [math.exp(mean)] * len(ratios)
    for place, ratio in enumerate(ratios):
        advantage, pi = sequence.advantage, sequence.pi[place]
        if spec.algorithm == "importance_sampling":
            term = -ratio * advantage
        elif spec.algorithm == "cispo":
            assert spec.clip_high is not None
            term = -min(still_ratios[place], 1 + spec.clip_high) * advantage * pi
        else:
            assert spec.clip_low is not None
            assert spec.clip_high is not None
            clipped = min(max(ratio, 1 - spec.clip_low), 1 + spec.clip_high)
            term = -min(ratio * advantage, clipped * advantage)
        if spec.correction == "decoupled":
            term *= min(math.exp(still[place] - sequence.mu[place]), spec.correction_cap)
        difference = sequence.reference[place] - pi
        terms.append(term + spec.kl_coefficient * (math.exp(difference) - difference - 1))
    return terms


def gradients(sequences: list[Sequence], spec: LossSpec, *, most: int, step: float = 1e-6) -> list[list[float]]:
    """d loss / d log pi, of each token, by central differences."""
    frozen = [list(sequence.pi) for sequence in sequences]

    def moved(row: int, place: int, by: float) -> float:
        before = sequences[row].pi[place]
        sequences[row].pi[place] = before + by
        value = loss(sequences, spec, frozen, most=most)
        sequences[row].pi[place] = before
        return value

    slope: Callable[[int, int], float] = lambda row, place: (  # noqa: E731
        (moved(row, place, step) - moved(row, place, -step)) / (2 * step)
    )
    return [[slope(row, place) for place in range(len(sequence.pi))] for row, sequence in enumerate(sequences)]
