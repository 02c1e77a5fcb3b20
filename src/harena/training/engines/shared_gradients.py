"""A step's gradient in parts: each of several processes computes that of some of the rows, over the same weights.

The loss of a step is a sum over rows with a denominator that is fixed beforehand, so the gradients of parts add up to
that of the whole, but for the order in which floats are added.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from safetensors.torch import load as read_safetensors
from safetensors.torch import save as safetensors_bytes

from harena.core.errors import PlatformError
from harena.core.records.training_plans import LossSpec
from harena.training.engines.local import LocalTrainer
from harena.training.loop.batch import TrainingBatch
from harena.training.ports import LossReport
from harena.training.rollouts.trajectory import Sampled, SampleRequest


@dataclass(frozen=True, slots=True)
class GradientPart:
    """What some of a step's rows give."""

    gradients: bytes
    """a safetensors file, by parameter name"""
    report: LossReport


class GradientTrainer(LocalTrainer):
    """Computes gradients for weights that are trained elsewhere; it neither samples nor steps."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        """`settings` are the parameters of LocalTrainer."""
        super().__init__(model, tokenizer, **settings)
        self._version = 0

    @property
    def version(self) -> int:
        """Version of the weights that gradients are computed for."""
        return self._version

    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        """Raises PlatformError: whoever holds this one samples from another copy."""
        raise PlatformError("a trainer of gradients was asked to sample", step="sampler")

    async def take(self, weights: bytes, version: int) -> None:
        """Compute gradients for these weights from now on."""

        def write() -> None:
            with torch.no_grad():
                for name, value in read_safetensors(weights).items():
                    self._model.get_parameter(name).copy_(value)

        await self._on_thread(write)
        self._version = version

    async def part(self, batch: TrainingBatch, loss: LossSpec | None, version: int) -> GradientPart:
        """The gradient of these rows. Raises TrainingError, PlatformError where the weights are of another version."""
        if version != self._version:
            said = f"a gradient for version {version} was asked of a learner that has version {self._version}"
            raise PlatformError(said, step="learner")
        report = await self.forward_backward(batch, loss)
        return GradientPart(await self._on_thread(self._taken), report)

    def _taken(self) -> bytes:
        named = ((name, parameter.grad) for name, parameter in self._model.named_parameters())
        taken = safetensors_bytes({name: grad.to("cpu").contiguous() for name, grad in named if grad is not None})
        self._optimizer.zero_grad()
        return taken

    async def _publish(self, version: int) -> None:
        raise PlatformError("a trainer of gradients was asked to publish", step="learner")


def add_gradients(model: Any, gradients: bytes) -> None:
    """Add a part's gradients to those of the model."""
    with torch.no_grad():
        for name, value in read_safetensors(gradients).items():
            parameter = model.get_parameter(name)
            there = value.to(parameter.device)
            parameter.grad = there if parameter.grad is None else parameter.grad + there


def together(reports: Sequence[LossReport]) -> LossReport:
    """What the parts of one step report, as one: sums of losses and tokens, the largest ratio, and of the others the
    mean over tokens."""
    metrics: dict[str, float] = {}
    tokens = sum(report.metrics.get("tokens", 0.0) for report in reports)
    for name in dict.fromkeys(name for report in reports for name in report.metrics):
        values = [(report.metrics[name], report.metrics["tokens"]) for report in reports if name in report.metrics]
        if name == "ratio_max":
            metrics[name] = max(value for value, _ in values)
        elif name == "tokens":
            metrics[name] = tokens
        else:
            metrics[name] = sum(value * count for value, count in values) / sum(count for _, count in values)
    return LossReport(loss=sum(report.loss for report in reports), metrics=metrics)
