"""Rate limit of a key over all servers that share a store. Used from one event loop.

Each server admits requests by a token bucket of its own, without waiting. Once a second it reports to the store how
many it has admitted, and takes the tokens that other servers have used out of its buckets. Together the servers
admit what one would, plus at most one burst for each server and second.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

from harena.core.clock import Clock
from harena.core.errors import PlatformError

SYNC_SECONDS = 1.0
MOST_KEYS = 100_000
_log = logging.getLogger("harena.server")


class SpentSource(Protocol):
    """Where servers tell each other."""

    async def spend(self, server: str, taken: Mapping[str, int], at: float) -> dict[str, int]:
        """Note what this server has let in; what all others have. Raises PlatformError."""


class Buckets(Protocol):
    """What each key may still ask at once."""

    def spent_elsewhere(self, name: str, requests: int, seconds: float) -> None:
        """Note how many requests of this key other servers let in during this time."""


class SharedRates:
    """One server's part."""

    def __init__(self, source: SpentSource, clock: Clock) -> None:
        self._source = source
        self._clock = clock
        self._server = secrets.token_hex(8)
        self._taken: dict[str, int] = {}
        self._fresh: set[str] = set()
        self._seen: dict[str, tuple[int, float]] = {}
        """key -> (what others had let in when it was last looked at, when that was)"""
        self._task: asyncio.Task[None] | None = None

    def note_request(self, name: str, *, let_in: bool) -> None:
        """One request of this key."""
        self._taken[name] = self._taken.get(name, 0) + let_in
        self._fresh.add(name)  # also where it was refused: what others let in goes on counting

    async def sync(self, buckets: Buckets) -> None:
        """Once. Raises PlatformError; nothing is lost then."""
        fresh, self._fresh = self._fresh, set()
        if not fresh:
            return
        try:
            at = self._clock.utcnow().timestamp()
            others = await self._source.spend(self._server, {name: self._taken[name] for name in fresh}, at)
        except PlatformError:
            self._fresh |= fresh
            raise
        now = self._clock.now()
        if len(self._taken) > MOST_KEYS:  # they begin anew, with what others have had until then
            self._taken.clear()
            self._seen.clear()
            return
        for name in fresh:
            count = others.get(name, 0)
            before, when = self._seen.get(name, (count, now - SYNC_SECONDS))
            self._seen[name] = (count, now)
            if count > before:
                buckets.spent_elsewhere(name, count - before, now - when)

    def start(self, buckets: Buckets) -> None:
        """From now on each second."""
        self._task = asyncio.create_task(self._go_on(buckets))

    async def close(self) -> None:
        """No longer."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _go_on(self, buckets: Buckets) -> None:
        while True:
            await self._clock.sleep(SYNC_SECONDS)
            try:
                await self.sync(buckets)
            except PlatformError as error:
                _log.warning("requests are counted by this server alone: %s", error)
