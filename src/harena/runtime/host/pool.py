"""A pool of sandboxes of one kind, made ahead. Each is given away once and never comes back.

Its size follows demand: as many are kept ready as were claimed in the last few seconds, up to a limit, and an idle
pool lets its sandboxes go. No limit of a workspace counts those that are ready, so pools share budgets, and who asks
for another kind each time has none made ahead.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from harena.core.errors import HarenaError

if TYPE_CHECKING:
    from harena.runtime.host.box import LinuxSandbox

_WINDOW_SECONDS = 2.0
_IDLE_SECONDS = 30.0
_AFTER_CLAIM_SECONDS = 0.02
"""To make a sandbox takes the kernel milliseconds, mostly for its network namespace. What was claimed runs its first
command now, and would wait for that: while half of those that are wanted are ready, more are made so much later."""


_MOST_REMEMBERED = 64


class Repeats:
    """Kinds of sandboxes that were claimed lately: the newest few, each for as long as a pool may be idle."""

    def __init__(self) -> None:
        self._claimed: dict[Hashable, float] = {}

    def note(self, kind: Hashable, now: float) -> bool:
        """Note a claim; whether the same kind was claimed lately."""
        before = self._claimed.pop(kind, None)
        self._claimed[kind] = now
        if len(self._claimed) > _MOST_REMEMBERED:
            del self._claimed[next(iter(self._claimed))]
        return before is not None and before > now - _IDLE_SECONDS


class Budget:
    """Number of sandboxes that several pools may keep ready together, with those that are being made."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pools: dict[Pool, None] = {}
        """the one that was used last is the last"""

    def note_use(self, pool: Pool) -> None:
        """Count a pool, as the one that was used last."""
        self._pools.pop(pool, None)
        self._pools[pool] = None

    def forget(self, pool: Pool) -> None:
        """Count a pool no longer."""
        self._pools.pop(pool, None)

    def makes_room(self, pool: Pool) -> bool:
        """Whether a pool may make one more ahead; others give up theirs for it."""
        while sum(each.size for each in self._pools) >= self._most:
            giver = self._giver(pool)
            if giver is None:
                return False
            giver.give_up_one()
        return True

    def _giver(self, pool: Pool) -> Pool | None:
        """Whichever was used last longest ago; among those in demand only one that has clearly more, or each claim
        would end what another one has just made."""
        others = [each for each in self._pools if each is not pool and each.has_ready]
        if not others:
            return None
        if not others[0].is_in_demand:
            return others[0]
        largest = max(others, key=lambda each: each.size)
        return largest if largest.size > pool.size + 1 else None


class Pool:
    """Lives in one event loop. `on_empty` is called when it keeps nothing and nobody waits: it can be dropped."""

    def __init__(
        self,
        make: Callable[[], Awaitable[LinuxSandbox]],
        limit: int,
        budgets: Sequence[Budget] = (),
        on_empty: Callable[[], None] = lambda: None,
    ) -> None:
        self._make = make
        self._limit = limit
        self._budgets = budgets
        self._on_empty = on_empty
        self._is_dropped = False
        self._loop = asyncio.get_running_loop()
        self._ready: deque[LinuxSandbox] = deque()
        self._filling: set[asyncio.Future[None]] = set()
        self._waiting = 0
        self._claims: deque[float] = deque()
        self._idle: asyncio.TimerHandle | None = None
        self._later: asyncio.TimerHandle | None = None
        self._closed = False

    async def claim(self) -> LinuxSandbox:
        """A fresh sandbox: a ready one, or one made now."""
        self._note_claim()
        while self._ready:
            sandbox = self._ready.popleft()
            if sandbox.still_lives():
                self._fill_later()
                return sandbox
        self._waiting += 1
        try:
            return await self._make()
        finally:
            self._waiting -= 1
            self._fill()

    @property
    def size(self) -> int:
        """Number of sandboxes that are ready or being made ahead."""
        return len(self._ready) + len(self._filling)

    @property
    def has_ready(self) -> bool:
        """Whether it can give one up."""
        return bool(self._ready)

    @property
    def is_in_demand(self) -> bool:
        """Whether one was claimed in the last few seconds."""
        return bool(self._claims) and self._claims[-1] > self._loop.time() - _WINDOW_SECONDS

    def give_up_one(self) -> None:
        """Let go of the one that has been ready longest."""
        self._ready.popleft().discard()
        self._drop_if_empty()

    def close(self) -> None:
        """Let go of those that are ready."""
        self._closed = True
        self._stop_counting()
        while self._ready:
            self._ready.popleft().discard()

    def _stop_counting(self) -> None:
        for timer in (self._idle, self._later):
            if timer is not None:
                timer.cancel()
        self._idle = self._later = None
        for budget in self._budgets:
            budget.forget(self)

    def _drop_if_empty(self) -> None:
        if not (self._ready or self._filling or self._waiting or self._is_dropped or self._closed):
            self._is_dropped = True
            self._stop_counting()
            self._on_empty()

    def _note_claim(self) -> None:
        now = self._loop.time()
        self._is_dropped = False
        if not self._closed:
            for budget in self._budgets:
                budget.note_use(self)
        self._claims.append(now)
        while self._claims and (self._claims[0] < now - _WINDOW_SECONDS or len(self._claims) > self._limit):
            self._claims.popleft()
        if self._idle is None and not self._closed:
            self._idle = self._loop.call_later(_IDLE_SECONDS, self._drop_idle)

    def _drop_idle(self) -> None:
        self._idle = None
        if self._waiting or self._filling or (self._claims and self._claims[-1] > self._loop.time() - _IDLE_SECONDS):
            self._idle = self._loop.call_later(_IDLE_SECONDS, self._drop_idle)
            return
        while self._ready:
            self._ready.popleft().discard()
        self._drop_if_empty()

    def _count_wanted(self) -> int:
        return min(len(self._claims), self._limit)

    def _fill_later(self) -> None:
        if 2 * len(self._ready) < self._count_wanted():
            self._loop.call_soon(self._fill)
        elif self._later is None and not self._closed:
            self._later = self._loop.call_later(_AFTER_CLAIM_SECONDS, self._fill)

    def _fill(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self._closed or self._waiting or self._is_dropped:
            return  # those who wait come first
        for _ in range(self._count_wanted() - self.size):
            if not all(budget.makes_room(self) for budget in self._budgets):
                break
            task = asyncio.ensure_future(self._add())
            self._filling.add(task)
            task.add_done_callback(self._filling.discard)
        self._drop_if_empty()

    async def _add(self) -> None:
        try:
            sandbox = await self._make()
        except HarenaError:  # whoever claims next meets the same error and can be told
            task = asyncio.current_task()
            if task is not None:
                self._filling.discard(task)
            self._drop_if_empty()
            return
        if self._closed:
            sandbox.discard()
        else:
            self._ready.append(sandbox)
