"""A clock for tests: time stands still while anything can run, and jumps when nothing can.

With `auto_jump` (the default) the clock watches its event loop: as soon as no callback is ready in three consecutive
rounds (so that descriptors that are ready were served, too), time jumps to the earliest deadline and its owner runs.
Deadlines fire in order of time, equal ones in the order in which they were asked for.

Not seen: work in threads and in child processes. A test that waits for such work takes `auto_jump=False` and moves
time itself with `await clock.advance(seconds)`.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import cast

_QUIET_ROUNDS = 3


class FakeTimer:
    """One deadline of a FakeClock."""

    __slots__ = ("callback", "deadline", "order")

    def __init__(self, deadline: float, order: int, callback: Callable[[], object]) -> None:
        self.deadline = deadline
        self.order = order
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        """Forget the call."""
        self.callback = None

    def __lt__(self, other: FakeTimer) -> bool:
        return (self.deadline, self.order) < (other.deadline, other.order)


class FakeClock:
    """Deterministic time. `now()` starts at 0.0 and `utcnow()` at `start`; both move together."""

    def __init__(self, *, start: datetime | None = None, auto_jump: bool = True) -> None:
        self._start = start or datetime(2030, 1, 1, tzinfo=UTC)
        self._now = 0.0
        self._wall_offset = timedelta()
        self._auto_jump = auto_jump
        self._timers: list[FakeTimer] = []
        self._order = 0
        self._watching = False

    def now(self) -> float:
        """Seconds since this clock was made."""
        return self._now

    def utcnow(self) -> datetime:
        """The start plus `now()`, and what the wall clock was set by."""
        return self._start + self._wall_offset + timedelta(seconds=self._now)

    def set_wall_clock(self, *, by_seconds: float) -> None:
        """Somebody sets the time of day forward, or back; `now()` knows nothing of it."""
        self._wall_offset += timedelta(seconds=by_seconds)

    @property
    def pending(self) -> int:
        """How many deadlines are waited for."""
        return sum(1 for timer in self._timers if timer.callback is not None)

    async def sleep(self, seconds: float) -> None:
        """Wait for that much fake time."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def end() -> None:
            if not over.done():
                over.set_result(None)

        timer = self.call_later(seconds, end)
        try:
            await over
        finally:
            timer.cancel()

    def call_later(self, seconds: float, callback: Callable[[], object]) -> FakeTimer:
        """Call `callback()` when that much fake time has passed."""
        self._order += 1
        timer = FakeTimer(self._now + max(0.0, seconds), self._order, callback)
        heapq.heappush(self._timers, timer)
        self._watch()
        return timer

    async def advance(self, seconds: float) -> None:
        """Move time by `seconds`, running each deadline on the way and what follows from it, then return."""
        target = self._now + seconds
        await _settled()
        while (timer := self._next()) is not None and timer.deadline <= target:
            self._fire(timer)
            await _settled()
        self._now = max(self._now, target)

    def _next(self) -> FakeTimer | None:
        while self._timers and self._timers[0].callback is None:
            heapq.heappop(self._timers)
        return self._timers[0] if self._timers else None

    def _fire(self, timer: FakeTimer) -> None:
        heapq.heappop(self._timers)
        self._now = max(self._now, timer.deadline)
        if timer.callback is not None:
            timer.callback()

    def _watch(self) -> None:
        if self._auto_jump and not self._watching:
            self._watching = True
            asyncio.get_running_loop().call_soon(self._jump_when_quiet, 0)

    def _jump_when_quiet(self, quiet: int) -> None:
        loop = asyncio.get_running_loop()
        quiet = quiet + 1 if _is_idle(loop) else 0
        if quiet < _QUIET_ROUNDS:
            loop.call_soon(self._jump_when_quiet, quiet)
            return
        self._watching = False
        timer = self._next()
        if timer is not None:
            self._fire(timer)
            if self._timers:
                self._watch()


def _is_idle(loop: asyncio.AbstractEventLoop) -> bool:
    # asyncio has no public way to ask; both its own loop and its debug loop keep this queue
    return not cast("deque[object]", getattr(loop, "_ready", ()))


async def _settled() -> None:
    """Returns when nothing but the caller is ready to run."""
    loop = asyncio.get_running_loop()
    quiet = 0
    while quiet < _QUIET_ROUNDS:
        await asyncio.sleep(0)
        quiet = quiet + 1 if _is_idle(loop) else 0
