"""Turns in the event loop for work that a workspace's requests have much of: one slice of each workspace at each turn
of the loop.

A slice is short, but a workspace may have thousands of requests that have one each: all of them at one turn of the loop
would keep it from everybody else for as long as they take together. Used from one event loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import Context

from harena.core.threads import work_for


class LoopTurns:
    """Who waits for its turn, workspace by workspace."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._is_scheduled = False

    async def next(self) -> None:
        """Return when it is the turn of the present task, among those of its workspace in the order in which they
        asked."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(work_for.get(), deque()).append(turn)
        self._schedule()
        await turn

    def _schedule(self) -> None:
        if self._waiting and not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._turn, context=Context())  # not that of whose request asked

    def _turn(self) -> None:
        self._is_scheduled = False
        for workspace, line in list(self._waiting.items()):
            while line:
                turn = line.popleft()
                if not turn.done():  # else its request has ended
                    turn.set_result(None)
                    break
            if not line:
                del self._waiting[workspace]
        self._schedule()
