"""The machine's clock, a thousand times as fast: real processes and receivers, without the waiting."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from harena.core.clock import SystemClock, Timer

FACTOR = 1000.0


class HurriedClock(SystemClock):
    """Implements `Clock`."""

    def __init__(self) -> None:
        self._begun_at = datetime.now(UTC)
        self._begun = super().now()

    def now(self) -> float:
        return super().now() * FACTOR

    def utcnow(self) -> datetime:
        return self._begun_at + timedelta(seconds=self.now() - self._begun * FACTOR)

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / FACTOR)

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        return super().call_later(seconds / FACTOR, callback)
