"""The engine's formulas against the naive ones: values and gradients, under every cut."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from naive_losses import Sequence, gradients, loss

from harena.core.records.training_plans import LossSpec
from harena.training.engines.losses import TokenColumns, token_losses
from harena.training.loop.algorithms import ALGORITHMS, loss_spec

MOST = 9
SPECS = [
    *(loss_spec(name, max_steps_off_policy=1, aggregation="token") for name in ALGORITHMS),
    *(loss_spec(name, max_steps_off_policy=1, aggregation="sequence") for name in ALGORITHMS),
    loss_spec("grpo", max_steps_off_policy=1, aggregation="constant"),
    loss_spec("grpo", max_steps_off_policy=4, correction="decoupled"),
    loss_spec("ppo", max_steps_off_policy=4, correction="decoupled", correction_cap=1.1, kl_coefficient=0.1),
    loss_spec("grpo", max_steps_off_policy=0, kl_coefficient=0.3, aggregation="sequence"),
]


def sequences(seed: int) -> list[Sequence]:
    """Off-policy by a little, both signs of advantages, lengths from 1."""
    rng = random.Random(seed)
    made = []
    for _ in range(6):
        pi = [rng.uniform(-4, -0.05) for _ in range(rng.randint(1, MOST))]
        mu = [value + rng.uniform(-0.6, 0.6) for value in pi]
        reference = [value + rng.uniform(-1, 1) for value in pi]
        made.append(Sequence(pi, mu, reference, rng.choice([-1.3, -0.2, 0.4, 2.0])))
    return made


def by_engine(made: list[Sequence], spec: LossSpec, cut: int) -> tuple[float, list[float]]:
    """Loss and gradient, in micro-batches of `cut` rows."""
    leaves, total = [], 0.0
    tokens = sum(len(sequence.pi) for sequence in made)
    denominator = {"token": tokens, "sequence": len(made), "constant": len(made) * MOST}[spec.aggregation]
    for first in range(0, len(made), cut):
        piece = made[first : first + cut]
        flat: Any = lambda values: torch.tensor(sum(values, []), dtype=torch.float64)  # noqa: E731, RUF017
        pi = flat([list(sequence.pi) for sequence in piece]).requires_grad_()
        lengths = torch.tensor([len(sequence.pi) for sequence in piece])
        weights = [1 / len(s.pi) if spec.aggregation == "sequence" else 1.0 for s in piece]
        columns = TokenColumns(
            logprobs=pi,
            mu=flat([sequence.mu for sequence in piece]),
            advantages=torch.tensor([s.advantage for s in piece], dtype=torch.float64).repeat_interleave(lengths),
            weights=torch.tensor(weights, dtype=torch.float64).repeat_interleave(lengths),
            row=torch.arange(len(piece)).repeat_interleave(lengths),
            prox=pi.detach() if spec.needs_prox else None,
            reference=flat([sequence.reference for sequence in piece]) if spec.needs_reference else None,
        )
        losses, _ = token_losses(columns, spec)
        value = (losses * columns.weights).sum() / denominator
        value.backward()
        leaves += pi.grad.tolist()
        total += float(value.detach())
    return total, leaves


@pytest.mark.cheap
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.algorithm}-{spec.correction}-{spec.aggregation}")
@pytest.mark.parametrize("cut", [1, 2, 4, 6])
def test_values_and_gradients_are_those_of_the_naive_formulas(spec: LossSpec, cut: int) -> None:
    for seed in range(3):
        made = sequences(seed)
        value, slopes = by_engine(made, spec, cut)
        assert value == pytest.approx(loss(made, spec, [list(s.pi) for s in made], most=MOST), abs=1e-9)
        wanted = [slope for row in gradients(made, spec, most=MOST) for slope in row]
        assert slopes == pytest.approx(wanted, abs=1e-6)


def test_metrics_tell_what_was_clipped() -> None:
    """A ratio of 2 with a positive advantage is clipped above, one of 1/2 with a negative one below."""
    log2 = 0.6931471805599453
    columns = TokenColumns(
        logprobs=torch.tensor([log2 - 2, -log2 - 2, -2.0, log2 - 2]),
        mu=torch.full((4,), -2.0),
        advantages=torch.tensor([1.0, -1.0, 1.0, -1.0]),
        weights=torch.ones(4),
        row=torch.tensor([0, 1, 2, 3]),
    )
    _, sums = token_losses(columns, LossSpec())
    assert (float(sums["clipped_high"]), float(sums["clipped_low"])) == (1.0, 1.0)
    assert float(sums["ratio_max"]) == pytest.approx(2.0)


def test_importance_weights_of_the_decoupled_loss_are_those_of_prox() -> None:
    """With one optimizer step per batch pi equals prox: what tells how far the sampler was away is prox / mu."""
    log2 = 0.6931471805599453
    pi = torch.tensor([-1.0, -1.0, -1.0, -1.0])
    columns = TokenColumns(
        logprobs=pi,
        mu=torch.tensor([-1.0, -1.0 - 2 * log2, -1.0 + log2, -1.0]),
        advantages=torch.ones(4),
        weights=torch.ones(4),
        row=torch.arange(4),
        prox=pi,
    )
    _, sums = token_losses(columns, loss_spec("grpo", max_steps_off_policy=3, correction="decoupled"))
    assert float(sums["ratio_max"]) == pytest.approx(4.0)
    assert float(sums["ratio"]) == pytest.approx(1 + 4 + 0.5 + 1)
    assert float(sums["ratio_squared"]) == pytest.approx(1 + 16 + 0.25 + 1)
    assert float(sums["capped"]) == 1.0
    assert float(sums["clipped_high"]) == 0.0
