"""The clock as a dependency: other modules get a `Clock` and never ask the system for the time.

`SystemClock` is the real one; `harena.testing.FakeClock` jumps to the next deadline when nothing else is left to do.
Both are used from one event loop and are not thread-safe.
"""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

STOPPED_SECONDS = 1.0
"""a deadline that is met later than this was met by a process that was stopped or stuck, or on a suspended machine"""
GRACE_SECONDS = 2.0
"""time after such a pause in which events of the pause are handled before a deadline counts"""


class Timer(Protocol):
    """A call that was asked for with `Clock.call_later`."""

    def cancel(self) -> None:
        """Forget the call. No effect after it has run; may be called more than once."""


class Clock(Protocol):
    """What time it is, and waiting."""

    def now(self) -> float:
        """Seconds since some fixed moment; never goes backwards. For durations and deadlines."""

    def utcnow(self) -> datetime:
        """The wall clock, timezone-aware (UTC). For records that people read."""

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`; at once (but after letting others run) for zero or less."""

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call `callback()` on the running event loop after `seconds`, unless the timer is cancelled before."""


class SystemClock:
    """The machine's own time."""

    def now(self) -> float:
        """`time.monotonic()`."""
        return time.monotonic()

    def utcnow(self) -> datetime:
        """The wall clock in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """`asyncio.sleep`."""
        await asyncio.sleep(max(0.0, seconds))

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """`loop.call_later` on the running loop; GRACE_SECONDS later, where the deadline itself is met too late."""
        return _FairTimer(max(0.0, seconds), callback)


class _FairTimer:
    """A process that wakes up finds its deadlines behind it, and unread what would have met them (a client's renewal of
    its lease, a run's end): that is heard first."""

    __slots__ = ("_callback", "_handle")

    def __init__(self, seconds: float, callback: Callable[[], object]) -> None:
        self._callback = callback
        self._handle = asyncio.get_running_loop().call_later(seconds, self._due)

    def _due(self) -> None:
        loop = asyncio.get_running_loop()
        if loop.time() - self._handle.when() > STOPPED_SECONDS:
            self._handle = loop.call_later(GRACE_SECONDS, self._callback)
        else:
            self._callback()

    def cancel(self) -> None:
        """Stop the timer: its callback will not be called."""
        self._handle.cancel()


class Standstill:
    """Measures how long an event loop has stood still, for as long as somebody who watches the time is alive.

    A process that was stopped, or a machine that was suspended, notices it by a timer that is met much too late; but
    only what lies behind that timer's deadline is late. So there is a timer that is due every BEAT_SECONDS.
    """

    BEAT_SECONDS = 0.25

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = weakref.ref(loop)
        self._total = 0.0
        self._due = 0.0
        self._is_beating = False
        self._watching: weakref.WeakSet[object] = weakref.WeakSet()

    @classmethod
    def of_running_loop(cls) -> Standstill:
        """The one of this loop."""
        loop = asyncio.get_running_loop()
        found = _standstills.get(loop)
        if found is None:
            found = _standstills[loop] = cls(loop)
        return found

    def watch(self, watcher: object) -> None:
        """Measure until `watcher` is let go (`unwatch`) or is garbage."""
        self._watching.add(watcher)
        if not self._is_beating:
            self._is_beating = True
            self._beat_later()

    def unwatch(self, watcher: object) -> None:
        """No effect for one that does not watch."""
        self._watching.discard(watcher)

    def seconds(self) -> float:
        """What the loop has stood still until now in all, each time with GRACE_SECONDS in which what happened meanwhile
        is heard. Means something while somebody watches, as a difference."""
        return self._total + self._late()

    def _late(self) -> float:
        loop = self._loop()
        late = loop.time() - self._due if self._is_beating and loop is not None else 0.0
        return late + GRACE_SECONDS if late > STOPPED_SECONDS else 0.0

    def _beat(self) -> None:
        self._total += self._late()
        self._is_beating = bool(self._watching)
        if self._is_beating:
            self._beat_later()

    def _beat_later(self) -> None:
        loop = self._loop()
        if loop is not None:
            self._due = loop.time() + self.BEAT_SECONDS
            loop.call_at(self._due, self._beat)


_standstills: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Standstill] = weakref.WeakKeyDictionary()


class Pacer:
    """Pauses of something that looks again and again, until it is stopped. Stopping cuts a pause short, and nothing
    else: what is done between two pauses is never broken off in the middle, as cancelling a task would."""

    def __init__(self, clock: Clock) -> None:
        self.stopped = False
        self._clock = clock
        self._wake = asyncio.Event()

    async def pause(self, seconds: float) -> bool:
        """Wait; whether to go on."""
        timer = self._clock.call_later(seconds, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            timer.cancel()
            if not self.stopped:
                self._wake.clear()
        return not self.stopped

    def stop(self) -> None:
        """No pause lasts any longer. May be called more than once."""
        self.stopped = True
        self._wake.set()
