"""System calls on what a program of a sandbox holds, too, leave the event loop where programs make them slow.

The kernel does some of a program's work in whoever reads, writes or closes the other end of its pipe or terminal: it
wakes everything that waits there, a tenth of a microsecond each, and by many epolls a program has more than a million
waiters. It also lets readers and writers take turns. So a batch of such calls is timed. Where one computed or waited
long, its stream goes on in a thread of its workspace (where it merely lost its processor, as to the program that it has
woken, a thread would lose it, too), and where the loop's processor computed meanwhile, so do all streams of the
workspace, for a thousand times as long: others lose no more than a thousandth of the loop's time.
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Callable
from typing import TypeVar

from harena.core.errors import LimitExceededError
from harena.core.threads import ThreadKind

T = TypeVar("T")

LONG_SECONDS = 0.005
"""time that a batch may take: it takes some ten microseconds"""
_TIMES_AS_LONG = 1000.0
_MOST_SECONDS = 600.0

STREAMS = ThreadKind("streams", most_threads=2)
"""calls on streams that are slow; the owner is the workspace"""


class SlowWorkspaces:
    """Workspaces whose programs have made the event loop's calls slow. Used from any thread."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def note(self, workspace: str, seconds: float) -> None:
        """So much processor time has gone into one batch."""
        now = time.perf_counter()
        until = max(now, self._until.get(workspace, 0.0)) + _TIMES_AS_LONG * seconds
        self._until[workspace] = min(until, now + _MOST_SECONDS)

    def __contains__(self, workspace: str) -> bool:
        until = self._until.get(workspace)
        if until is None:
            return False
        if time.perf_counter() < until:
            return True
        self._until.pop(workspace, None)
        return False


SLOW_WORKSPACES = SlowWorkspaces()
"""this process's"""


class Timed:
    """The time that a batch of calls takes this thread."""

    __slots__ = ("_began", "_used", "_waits", "_workspace")

    def __init__(self, workspace: str) -> None:
        self._workspace = workspace
        self._used, self._waits = _of_this_thread()
        self._began = time.perf_counter()

    @property
    def is_long(self) -> bool:
        """It has taken so long that another thread should go on."""
        return time.perf_counter() - self._began > LONG_SECONDS

    def end(self) -> bool:
        """Whether it took long, and computed or waited meanwhile. Where this thread has merely waited, that is no news
        of the workspace's others."""
        if not self.is_long:
            return False
        used, waits = _of_this_thread()
        has_computed = used - self._used > LONG_SECONDS
        if has_computed:
            SLOW_WORKSPACES.note(self._workspace, used - self._used)
        return has_computed or waits > self._waits


def _of_this_thread() -> tuple[float, int]:
    """The processor time that this thread has used, and how often it has waited for something else than a
    processor."""
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return used.ru_utime + used.ru_stime, used.ru_nvcsw


async def in_thread(workspace: str, call: Callable[[], T]) -> tuple[T, float]:
    """(what the call gives, the processor time that it took), in a thread of the workspace. It is waited for also where
    the caller is cancelled: its descriptor stays what it is until then."""

    def timed() -> tuple[T, float]:
        began, batch = time.thread_time(), Timed(workspace)
        try:
            result = call()
        finally:
            batch.end()
        return result, time.thread_time() - began

    while True:
        working = asyncio.ensure_future(STREAMS.run_for(workspace, timed))
        cancelled: asyncio.CancelledError | None = None
        while not working.done():
            try:
                await asyncio.wait([working])
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled
        try:
            return working.result()
        except LimitExceededError as error:  # the queue is full
            await asyncio.sleep(error.retry_delay.total_seconds() if error.retry_delay else 1.0)
