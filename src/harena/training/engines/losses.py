"""The formulas of `harena.training.loop.algorithms`, on torch tensors: one entry for each learnt token.

Metrics (means over learnt tokens unless they say otherwise): entropy (nats, of the trained distribution), k3_mu (k3 of
sampler and trainer), clipped_low, clipped_high (shares of tokens whose gradient is cut), k3_reference. Of the
importance weights, which are r (bypass; of the sequence for gspo) or prox / mu (decoupled): ratio_max,
effective_sample_size (a share: (sum w)^2 / (n sum w^2)), and capped (the share above the cap; decoupled). With a critic
value_loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from harena.core.records.training_plans import LossSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenColumns:
    """Columns of length n, the number of learnt tokens; `row` says which sequence a token belongs to."""

    logprobs: Tensor
    """log pi, with gradient"""
    mu: Tensor
    advantages: Tensor
    weights: Tensor
    row: Tensor
    prox: Tensor | None = None
    reference: Tensor | None = None
    value_loss: Tensor | None = None
    """a critic's own, with gradient"""


def token_losses(columns: TokenColumns, spec: LossSpec) -> tuple[Tensor, dict[str, Tensor]]:
    """The loss of each token, before weight and denominator, (n,); and sums over tokens for the metrics, (1,) each."""
    pi, mu, advantages = columns.logprobs, columns.mu, columns.advantages
    old = mu if columns.prox is None else columns.prox
    log_ratio = pi - old
    if spec.algorithm == "gspo":
        log_ratio = _of_sequence(log_ratio, columns.row)
    ratio = log_ratio.exp()
    low = None if spec.clip_low is None else 1 - spec.clip_low
    high = None if spec.clip_high is None else 1 + spec.clip_high
    if spec.algorithm == "cispo":
        losses = -ratio.detach().clamp(max=high) * advantages * pi
    elif low is None and high is None:
        losses = -ratio * advantages
    else:
        losses = -torch.minimum(ratio * advantages, ratio.clamp(low, high) * advantages)
    weight = ratio.detach()
    if spec.correction == "decoupled":
        weight = (old - mu).exp().detach()
        losses = losses * weight.clamp(max=spec.correction_cap)
    sums = _sums(pi.detach(), mu, ratio.detach(), weight, advantages, low, high)
    if spec.correction == "decoupled":
        sums["capped"] = (weight > spec.correction_cap).sum()
    if columns.reference is not None and spec.kl_coefficient:
        k3 = _k3(columns.reference - pi)
        losses = losses + spec.kl_coefficient * k3
        sums["k3_reference"] = k3.detach().sum()
    if columns.value_loss is not None:
        losses = losses + columns.value_loss
        sums["value_loss"] = columns.value_loss.detach().sum()
    return losses, sums


def _of_sequence(log_ratio: Tensor, row: Tensor) -> Tensor:
    """Each token gets its sequence's mean. Each token of a sequence then has the whole term, so that weights of
    1 / length make it count once, and its gradient is that of the formula."""
    rows = int(row.max()) + 1 if len(row) else 0
    total = log_ratio.new_zeros(rows).index_add(0, row, log_ratio)
    length = log_ratio.new_zeros(rows).index_add(0, row, torch.ones_like(log_ratio))
    return (total / length)[row]


def _k3(difference: Tensor) -> Tensor:
    return difference.exp() - difference - 1


@torch.no_grad()
def _sums(
    pi: Tensor, mu: Tensor, ratio: Tensor, weight: Tensor, advantages: Tensor, low: float | None, high: float | None
) -> dict[str, Tensor]:
    nothing = torch.zeros_like(ratio, dtype=torch.bool)
    below = nothing if low is None else (ratio < low) & (advantages < 0)
    above = nothing if high is None else (ratio > high) & (advantages > 0)
    return {
        "k3_mu": _k3(mu - pi).sum(),
        "clipped_low": below.sum(),
        "clipped_high": above.sum(),
        "ratio": weight.sum(),
        "ratio_squared": weight.square().sum(),
        "ratio_max": weight.max() if len(weight) else weight.sum(),
    }
