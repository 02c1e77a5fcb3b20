"""The engine seam: what the loop asks of whoever does the numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from harena.core.records.training_plans import LossSpec
from harena.training.loop.batch import TrainingBatch, TrainingRow
from harena.training.rollouts.trajectory import Sampled, SampleRequest

Weights = Literal["current", "reference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerStep:
    """AdamW's numbers for one step."""

    learning_rate: float
    beta1: float = 0.9
    beta2: float = 0.95
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    max_gradient_norm: float | None = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LossReport:
    """The loss of one batch, and the diagnostics of the policy update."""

    loss: float
    metrics: Mapping[str, float] = field(default_factory=dict)
    """what the loss was made of, by the names of `harena.training.engines.losses`"""


class Tokenizer(Protocol):
    """Text and token ids."""

    @property
    def end_tokens(self) -> tuple[int, ...]:
        """Token ids that end an answer."""

    def encode(self, text: str) -> tuple[int, ...]:
        """The tokens of a text, without special ones around it."""

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens, special ones left out."""


class Sampler(Protocol):
    """What can be sampled from."""

    context_length: int
    """tokens of prompt and answer together, at most"""

    @property
    def tokenizer(self) -> Tokenizer:
        """The policy's tokenizer."""

    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        """Begin to sample; one future for each request, resolved when its sequence has ended. Cancelling a future
        ends its sequence at the next token. What is asked for in one call is sampled side by side: with the same
        weights and an idle engine it gives the same tokens and log-probabilities, to the bit."""


class Engine(Sampler, Protocol):
    """A policy that can be sampled from and trained. Used from one event loop; one training call at a time."""

    @property
    def version(self) -> int:
        """Version of the published weights: how often `publish` was called."""

    async def logprobs(self, rows: Sequence[TrainingRow], weights: Weights = "current") -> list[tuple[float, ...]]:
        """For each row, the log-probabilities of its learnt tokens, in their order."""

    async def forward_backward(self, batch: TrainingBatch, loss: LossSpec | None) -> LossReport:
        """Add the gradient of the batch's loss; None = cross-entropy. Raises TrainingError where it is not finite."""

    async def optim_step(self, step: OptimizerStep) -> float:
        """Change the weights by the gradients, which are zero then; their norm before clipping. Raises TrainingError
        where it is not finite; the weights are as they were then."""

    async def publish(self) -> int:
        """Sample from the present weights, from the next token on; the new version."""

    async def save(self, folder: Path) -> None:
        """Weights, optimizer and version into an empty folder. Raises OSError."""

    async def load(self, folder: Path) -> None:
        """Go on from what `save` wrote, to the bit. Raises OSError, ValidationError."""

    async def export(self, folder: Path) -> None:
        """A Hugging Face directory with model and tokenizer, that plain `transformers` loads. Raises OSError."""

    async def close(self) -> None:
        """End its threads. May be called more than once."""
