"""Turns of the workspaces of a node at work that only few may do at one time."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """At most `most` have a turn at one time, and of one workspace at most `most_of_one`. Who waits goes before those
    whose workspace has more turns, and before those who came later. Used from one event loop."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most, self._most_of_one = most, most_of_one
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """workspace -> who waits; the workspace that has waited longest for its next turn stands first"""

    @asynccontextmanager
    async def turn(self, workspace: str) -> AsyncIterator[None]:
        """Wait for a turn, and hold it within the block."""
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(workspace, deque()).append(mine)
        self._go_on()
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._end(workspace)
            raise
        try:
            yield
        finally:
            self._end(workspace)

    def _end(self, workspace: str) -> None:
        self._running[workspace] -= 1
        if not self._running[workspace]:
            del self._running[workspace]
        self._go_on()

    def _go_on(self) -> None:
        while self._running.total() < self._most and (workspace := self._next()) is not None:
            queue = self._waiting.pop(workspace)
            queue.popleft().set_result(None)
            self._running[workspace] += 1
            if queue:
                self._waiting[workspace] = queue

    def _next(self) -> str | None:
        """Whose turn it is; None = nobody's, now."""
        for workspace, queue in [*self._waiting.items()]:
            while queue and queue[0].done():  # cancelled meanwhile
                queue.popleft()
            if not queue:
                del self._waiting[workspace]
        waiting = [one for one in self._waiting if self._running[one] < self._most_of_one]
        return min(waiting, key=self._running.__getitem__, default=None)
