"""Connections to the database that the work of one workspace may take at one time, of those that all share.

Whatever is asked, and however long it takes, the other connections stay for other workspaces. Further work of the same
workspace waits in a line of its own, first come first served; what has waited for WAIT_SECONDS, or finds MOST_WAITING
before it, is refused and can be asked for again. The node's own work has no share. Used from one event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from weakref import WeakValueDictionary

from harena.core.errors import PlatformError
from harena.core.job_store import STORE_UNAVAILABLE
from harena.core.threads import work_for

WAIT_SECONDS = 10.0
MOST_WAITING = 1000
RETRY_SECONDS = 1.0
"""after which there may be room again"""


class ConnectionShares:
    """The shares of all workspaces in one kind of work."""

    def __init__(self, each: int, *, most_waiting: int = MOST_WAITING, wait_seconds: float = WAIT_SECONDS) -> None:
        """`each`: connections that one workspace may take."""
        self._each = each
        self._most_waiting = most_waiting
        self._wait_seconds = wait_seconds
        self._lines: WeakValueDictionary[str, _Line] = WeakValueDictionary()
        """a line lives as long as somebody stands in it or works"""

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """While the present task's workspace uses one connection. Raises PlatformError (STORE_UNAVAILABLE)."""
        if not (workspace := work_for.get()):
            yield
            return
        line = self._lines.setdefault(workspace, _Line(self._each))
        if line.waiting >= self._most_waiting:
            raise self._refusal()
        line.waiting += 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                await line.turns.acquire()
        except TimeoutError:
            raise self._refusal() from None
        finally:
            line.waiting -= 1
        try:
            yield
        finally:
            line.turns.release()

    def _refusal(self) -> PlatformError:
        return PlatformError(
            f"this workspace uses the {self._each} connections to the database that it may use at one time for such "
            "requests, and others of its own wait for them: ask again in a moment",
            step="store",
            reason=STORE_UNAVAILABLE,
            retry_delay=timedelta(seconds=RETRY_SECONDS),
        )


class _Line:
    """One workspace's."""

    def __init__(self, turns: int) -> None:
        self.turns = asyncio.Semaphore(turns)
        self.waiting = 0
