"""Idempotency keys: a creation that is asked for twice happens once.

Kept in memory for KEPT_SECONDS: sandboxes do not outlive the server, and a client asks again within seconds. A creation
that failed is forgotten, so that asking again tries again. Used from one event loop.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from harena.core.clock import Clock
from harena.core.errors import ValidationError

KEPT_SECONDS = 24 * 3600.0
MOST_KEPT = 100_000
MOST_CHARACTERS = 200


@dataclass(slots=True)
class _Kept:
    asked: str
    work: asyncio.Task[Any]
    until: float


class Idempotency:
    """The creations of this server by workspace, route and key."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str, str], _Kept] = OrderedDict()

    async def once(
        self, workspace: str, route: str, key: str | None, asked: bytes, create: Callable[[], Awaitable[Any]]
    ) -> Any:
        """What `create` gives, or gave to the first who asked with this key.

        The work goes on where the asker disconnects: whoever asks again shall find it. Raises what `create` raises,
        and ValidationError where the key came with another request before.
        """
        if key is not None and not 0 < len(key) <= MOST_CHARACTERS:
            raise ValidationError(f"idempotency-key: give 1 to {MOST_CHARACTERS} characters")
        if key is None:
            return await asyncio.shield(asyncio.ensure_future(create()))
        self._forget_old()
        name, fingerprint = (workspace, route, key), hashlib.sha256(asked).hexdigest()
        kept = self._kept.get(name)
        if kept is not None and kept.asked != fingerprint:
            message = f"idempotency-key {key!r} was used for another request before: give each request its own"
            raise ValidationError(message, reason="IDEMPOTENCY_KEY_REUSED")
        if kept is None:
            kept = _Kept(fingerprint, asyncio.ensure_future(_awaited(create)), self._clock.now() + KEPT_SECONDS)
            self._kept[name] = kept
            kept.work.add_done_callback(lambda work: self._forget_failed(name, work))
        return await asyncio.shield(kept.work)

    def _forget_failed(self, name: tuple[str, str, str], work: asyncio.Task[Any]) -> None:
        if work.cancelled() or work.exception() is not None:
            self._kept.pop(name, None)

    def _forget_old(self) -> None:
        now = self._clock.now()
        while self._kept:
            name, kept = next(iter(self._kept.items()))
            if kept.until > now and len(self._kept) < MOST_KEPT:
                return
            del self._kept[name]


async def _awaited(create: Callable[[], Awaitable[Any]]) -> Any:
    return await create()
