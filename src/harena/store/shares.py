"""Connections to the database that the work of one workspace may take at one time, of those that all share.

A workspace that has none gets the next free one. One that has some gets another while it has fewer than its share of
what is free: free / (1 + workspaces that have some), and never more than a fixed number (the dynamic thresholds of
shared buffers). So several workspaces together leave room for who comes next, until each has one. Further work waits:
of one workspace first come first served, among workspaces the one that has fewest first. What has waited for
WAIT_SECONDS, or finds MOST_WAITING of its workspace before it, is refused and can be asked for again. The node's own
work has no share. Used from one event loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from harena.core.errors import PlatformError
from harena.core.job_store import STORE_UNAVAILABLE
from harena.core.threads import work_for

WAIT_SECONDS = 10.0
MOST_WAITING = 1000
RETRY_SECONDS = 1.0
"""after which there may be room again"""


class ConnectionShares:
    """The shares of all workspaces in one kind of work."""

    def __init__(
        self, together: int, each: int, *, most_waiting: int = MOST_WAITING, wait_seconds: float = WAIT_SECONDS
    ) -> None:
        """`together`: connections that all workspaces may take; `each`: that one of them may."""
        self._free = together
        self._each = each
        self._most_waiting = most_waiting
        self._wait_seconds = wait_seconds
        self._lines: dict[str, _Line] = {}
        """one line for each workspace that has connections or waits for some"""
        self._waiting: dict[str, _Line] = {}
        """workspaces that wait for a connection, the one that has waited longest first"""

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """While the present task's workspace uses one connection. Raises PlatformError (STORE_UNAVAILABLE)."""
        if not (workspace := work_for.get()):
            yield
            return
        line = self._lines.setdefault(workspace, _Line())
        if line.waiting or not self._may_have_more(line):
            await self._turn(workspace, line)
        else:
            self._give(line)
        try:
            yield
        finally:
            line.taken -= 1
            self._free += 1
            self._forget_idle(workspace, line)
            self._admit()

    async def _turn(self, workspace: str, line: _Line) -> None:
        if len(line.waiting) >= self._most_waiting:
            raise self._refusal()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.waiting.append(turn)
        self._waiting.setdefault(workspace, line)
        try:
            async with asyncio.timeout(self._wait_seconds):
                await turn
        except (TimeoutError, asyncio.CancelledError) as error:
            if turn.done() and not turn.cancelled():
                line.taken -= 1
                self._free += 1
            with suppress(ValueError):
                line.waiting.remove(turn)
            self._forget_idle(workspace, line)
            self._admit()
            if isinstance(error, TimeoutError):
                raise self._refusal() from None
            raise

    def _may_have_more(self, line: _Line) -> bool:
        if not line.taken:
            return self._free > 0
        active = sum(bool(one.taken) for one in self._lines.values())
        return line.taken < min(self._each, self._free / (1 + active))

    def _give(self, line: _Line) -> None:
        line.taken += 1
        self._free -= 1

    def _admit(self) -> None:
        """Give free connections to those requests that may have one now."""
        while self._free:
            ready = [(line.taken, workspace) for workspace, line in self._waiting.items() if self._may_have_more(line)]
            if not ready:
                return
            _, workspace = min(ready, key=lambda entry: entry[0])  # of several with as few the first
            line = self._waiting.pop(workspace)
            turn = line.waiting.popleft()
            if line.waiting:
                self._waiting[workspace] = line  # behind the others
            if not turn.done():
                self._give(line)
                turn.set_result(None)

    def _forget_idle(self, workspace: str, line: _Line) -> None:
        if not line.waiting:
            self._waiting.pop(workspace, None)
            if not line.taken:
                self._lines.pop(workspace, None)

    def _refusal(self) -> PlatformError:
        return PlatformError(
            f"this workspace uses the connections to the database that it may use at one time ({self._each} at most, "
            "and fewer while others use some), and others of its own wait for them: ask again in a moment",
            step="store",
            reason=STORE_UNAVAILABLE,
            retry_delay=timedelta(seconds=RETRY_SECONDS),
        )


@dataclass(slots=True, eq=False)
class _Line:
    """The connections that one workspace has taken, and its requests that wait for one."""

    taken: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
