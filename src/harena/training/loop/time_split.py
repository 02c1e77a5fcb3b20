"""Where a training loop's time goes: each moment counts for one thing, so the parts add up to the whole.

a phase    train, evaluate, checkpoint, pause: what the loop itself is doing
generate   the loop waits, and at least one sequence is being sampled
reward     the loop waits, nothing is sampled, and a rollout is under way: its reward, tool or environment runs
wait       none of these
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from harena.training.ports import Sampler
from harena.training.rollouts.trajectory import Sampled, SampleRequest

PARTS = ("train", "generate", "reward", "evaluate", "checkpoint", "pause", "wait")


class TimeSplit:
    """A stopwatch with one hand and several faces."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._since = now()
        self._phase: str | None = None
        self._sequences = 0
        self._rollouts = 0
        self._seconds = dict.fromkeys(PARTS, 0.0)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """The loop does this now; one of PARTS."""
        self._mark()
        before, self._phase = self._phase, name
        try:
            yield
        finally:
            self._mark()
            self._phase = before

    @contextmanager
    def rollout(self) -> Iterator[None]:
        """A rollout is under way."""
        self._mark()
        self._rollouts += 1
        try:
            yield
        finally:
            self._mark()
            self._rollouts -= 1

    def sequences(self, more: int) -> None:
        """Count so many more that are being sampled; fewer, if below 0."""
        self._mark()
        self._sequences += more

    def take(self) -> dict[str, float]:
        """{"seconds/<part>", "seconds/step"} since the last take."""
        self._mark()
        taken = {f"seconds/{name}": seconds for name, seconds in self._seconds.items()}
        self._seconds = dict.fromkeys(PARTS, 0.0)
        return {**taken, "seconds/step": sum(taken.values())}

    def _mark(self) -> None:
        now = self._now()
        waiting = "generate" if self._sequences else "reward" if self._rollouts else "wait"
        self._seconds[self._phase or waiting] += now - self._since
        self._since = now


class WatchedSampler:
    """A sampler whose sequences are seen by a TimeSplit. Implements `Sampler`."""

    def __init__(self, sampler: Sampler, split: TimeSplit) -> None:
        self.tokenizer = sampler.tokenizer
        self.context_length = sampler.context_length
        self._sampler = sampler
        self._split = split

    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        """Sample, and count the sequences that are under way."""
        futures = self._sampler.sample(requests)
        self._split.sequences(len(futures))
        for future in futures:
            future.add_done_callback(lambda _: self._split.sequences(-1))
        return futures
