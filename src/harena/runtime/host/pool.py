"""A pool of sandboxes of one kind, made ahead. Each is given away once and never comes back.

Its size follows demand: as many are kept ready as were claimed in the last few seconds, up to a limit, and an idle
pool lets its sandboxes go.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from harena.core.errors import HarenaError

if TYPE_CHECKING:
    from harena.runtime.host.box import LinuxSandbox

_WINDOW_SECONDS = 2.0
_IDLE_SECONDS = 30.0


class Pool:
    """Lives in one event loop."""

    def __init__(self, make: Callable[[], Awaitable[LinuxSandbox]], limit: int) -> None:
        self._make = make
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._ready: deque[LinuxSandbox] = deque()
        self._filling: set[asyncio.Future[None]] = set()
        self._waiting = 0
        self._claims: deque[float] = deque()
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False

    async def claim(self) -> LinuxSandbox:
        """A fresh sandbox: a ready one, or one made now."""
        self._note_claim()
        while self._ready:
            sandbox = self._ready.popleft()
            if sandbox.alive:
                self._loop.call_soon(self._fill)
                return sandbox
        self._waiting += 1
        try:
            return await self._make()
        finally:
            self._waiting -= 1
            self._fill()

    def close(self) -> None:
        """Let go of those that are ready."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        while self._ready:
            self._ready.popleft().discard()

    def _note_claim(self) -> None:
        now = self._loop.time()
        self._claims.append(now)
        while self._claims and (self._claims[0] < now - _WINDOW_SECONDS or len(self._claims) > self._limit):
            self._claims.popleft()
        if self._idle is None and not self._closed:
            self._idle = self._loop.call_later(_IDLE_SECONDS, self._drop_idle)

    def _drop_idle(self) -> None:
        self._idle = None
        if self._claims and self._claims[-1] > self._loop.time() - _IDLE_SECONDS:
            self._idle = self._loop.call_later(_IDLE_SECONDS, self._drop_idle)
            return
        while self._ready:
            self._ready.popleft().discard()

    def _fill(self) -> None:
        if self._closed or self._waiting:
            return  # those who wait come first
        for _ in range(min(len(self._claims), self._limit) - len(self._ready) - len(self._filling)):
            task = asyncio.ensure_future(self._add())
            self._filling.add(task)
            task.add_done_callback(self._filling.discard)

    async def _add(self) -> None:
        try:
            sandbox = await self._make()
        except HarenaError:
            return  # whoever claims next meets the same error and can be told
        if self._closed:
            sandbox.discard()
        else:
            self._ready.append(sandbox)
