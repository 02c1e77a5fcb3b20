"""An engine of arithmetic: no model, no torch. Its one weight is how often it answers "right"."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

from harena.core.records.training_plans import LossSpec
from harena.training.loop.batch import TrainingBatch, TrainingRow
from harena.training.ports import LossReport, OptimizerStep, Weights
from harena.training.rollouts.trajectory import Sampled, SampleRequest, StopReason

RIGHT, WRONG, END = 1, 2, 0


class Words:
    """Two words."""

    end_tokens = (END,)

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(3 + ord(character) % 50 for character in text)

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join({RIGHT: "right", WRONG: "wrong", END: ""}[token] for token in tokens)


class FakeEngine:
    """Implements `Engine`. Each sequence is one word and an end; `hold` keeps sequences of some keys back."""

    context_length = 100

    def __init__(self, chance: float = 0.3) -> None:
        self.tokenizer = Words()
        self.chance = chance
        self.version = 0
        self.batches: list[TrainingBatch] = []
        self.asked: list[SampleRequest] = []
        self.held: dict[tuple[int, ...], asyncio.Event] = {}
        self._published = chance
        self._gradient = 0.0

    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        self.asked += requests
        return [asyncio.ensure_future(self._sample(request)) for request in requests]

    async def _sample(self, request: SampleRequest) -> Sampled:
        version, chance = self.version, self._published
        if (gate := self.held.get(request.key[1:4])) is not None:
            await gate.wait()
        drawn = random.Random(str(request.key)).random()
        word = RIGHT if drawn < chance else WRONG
        return Sampled(tokens=(word, END), logprobs=(-0.5, -0.1), versions=(version, version), stop=StopReason.STOP)

    async def logprobs(self, rows: Sequence[TrainingRow], weights: Weights = "current") -> list[tuple[float, ...]]:
        return [(-0.5, -0.1) for _ in rows]

    async def forward_backward(self, batch: TrainingBatch, loss: LossSpec | None) -> LossReport:
        self.batches.append(batch)
        for row in batch.rows:
            self._gradient += row.advantage * (1 if RIGHT in row.tokens[-2:] else -1)
        return LossReport(loss=0.0, metrics={"tokens": float(len(batch.rows))})

    async def optim_step(self, step: OptimizerStep) -> float:
        norm = abs(self._gradient)
        self.chance = min(0.95, max(0.05, self.chance + step.learning_rate * self._gradient))
        self._gradient = 0.0
        return norm

    async def publish(self) -> int:
        self._published = self.chance
        self.version += 1
        return self.version

    async def save(self, folder: Path) -> None:
        (folder / "weights").write_text(f"{self.chance} {self.version}")

    async def load(self, folder: Path) -> None:
        chance, version = (folder / "weights").read_text().split()
        self.chance = self._published = float(chance)
        self.version = int(version)

    async def export(self, folder: Path) -> None:
        await self.save(folder)

    async def close(self) -> None:
        pass
