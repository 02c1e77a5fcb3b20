"""Idempotency keys: a creation that is asked for twice happens once.

Keys are kept in memory for KEPT_SECONDS, because sandboxes do not outlive the server and clients retry within seconds.
With a key stays a reference to what was created, of which the answer is made again: an answer can be large.
Servers that share a store note there which creations they have begun, and refuse those that another one has begun.
Nouns that outlive the server have their keys in the store (`harena.store.idempotency`). A creation that failed is
forgotten, so a retry tries again. Used from one event loop.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from harena.core.clock import Clock
from harena.core.errors import LimitExceededError, PlatformError, ValidationError
from harena.core.idempotency import BEGUN_ELSEWHERE, IdempotencyKey
from harena.core.records.record import Record

KEPT_SECONDS = 24 * 3600.0
MOST_KEPT = 100_000
"""most keys of each workspace; beyond it the oldest of its own that have ended are forgotten, and none that is under
way"""
BUSY_SECONDS = 1.0
"""after which a creation may have ended"""
MOST_REFERENCE = 2048
"""characters of what is kept with a key"""
ELSEWHERE_SECONDS = 600.0
"""for which another server's creations are believed: it may have ended, with all that it had, and clients ask again
within a minute"""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Refindable(Generic[T]):
    """How what has been created is found again."""

    reference: Callable[[T], str]
    """what is kept with the key, of at most MOST_REFERENCE characters, whatever was created"""
    again: Callable[[str], Awaitable[T]]
    """what the reference stands for; raises what asking for it raises, NotFoundError where it is gone"""


_Answered = TypeVar("_Answered", bound=Record)


def kept_whole(kind: type[_Answered]) -> Refindable[_Answered]:
    """For short records that cannot be asked for again: each is kept with its key as it was answered."""

    async def read(text: str) -> _Answered:
        return kind.from_dict(json.loads(text))

    return Refindable(lambda record: json.dumps(record.to_dict()), read)


class SharedCreations(Protocol):
    """Where servers tell each other which creations they have begun."""

    async def begin(
        self, server: str, workspace: str, route: str, key: IdempotencyKey, *, at: float, kept: float
    ) -> str:
        """Which server has: this one, if nobody else has. Raises PlatformError, ValidationError."""

    async def give_up(self, server: str, workspace: str, route: str, key: IdempotencyKey) -> None:
        """It has failed."""


@dataclass(slots=True)
class _KeptCreation:
    asked: str
    work: asyncio.Task[Any] | None
    """None = it has ended"""
    until: float
    reference: str = ""
    """to what was created"""


class Idempotency:
    """The creations of this server by workspace, route and key."""

    def __init__(self, clock: Clock, shared: SharedCreations | None = None) -> None:
        """`shared`: where other servers tell which creations they have begun; None = there is no other."""
        self._clock = clock
        self._shared = shared
        self._server = secrets.token_hex(8)
        self._kept: OrderedDict[str, OrderedDict[tuple[str, str], _KeptCreation]] = OrderedDict()
        """workspace, the one that asked last at the end -> (route, key), in the order in which they are forgotten"""

    async def once(
        self,
        workspace: str,
        route: str,
        key: IdempotencyKey | None,
        create: Callable[[], Awaitable[T]],
        known: Refindable[T] | None,
    ) -> T:
        """What `create` gives; where it has been created with this key before, what `known` finds.

        The work goes on where the asker disconnects: whoever asks again shall find it. `known`: None = what has been
        created is kept with its key in the store, so that only those who ask at the same time meet here. Raises what
        `create` and `known.again` raise, ValidationError where the key came with another request before, and
        LimitExceededError where too many creations of the workspace are under way.
        """
        if key is None:
            return await asyncio.shield(asyncio.ensure_future(create()))
        self._forget_old(workspace)
        own = self._kept.get(workspace, OrderedDict())
        name = (route, key.key)
        kept = own.get(name)
        if kept is not None:
            key.check_same(kept.asked)
            if kept.work is None:
                assert known is not None  # else it would have been forgotten
                return await known.again(kept.reference)
        else:
            if len(own) >= MOST_KEPT:
                raise LimitExceededError(
                    f"{MOST_KEPT} creations of this workspace are under way: ask again in a moment",
                    reason="BUSY",
                    retry_delay=timedelta(seconds=BUSY_SECONDS),
                )
            if self._shared is not None and known is not None:
                create = partial(self._create_once, self._shared, workspace, route, key, create)
            work = asyncio.ensure_future(_awaited(create))
            own[name] = kept = _KeptCreation(key.asked, work, self._clock.now() + KEPT_SECONDS)
            self._kept[workspace] = own
            self._kept.move_to_end(workspace)
            work.add_done_callback(partial(self._done, workspace, name, known))
        assert kept.work is not None
        return await asyncio.shield(kept.work)

    async def _create_once(
        self,
        shared: SharedCreations,
        workspace: str,
        route: str,
        key: IdempotencyKey,
        create: Callable[[], Awaitable[Any]],
    ) -> Any:
        """Create once, unless another server has begun the same request."""
        at = self._clock.utcnow().timestamp()
        who = await shared.begin(self._server, workspace, route, key, at=at, kept=ELSEWHERE_SECONDS)
        if who != self._server:
            raise ValidationError(
                "this idempotency key was given to another server of the same store, which has created what was asked "
                "for: ask that one, or give another key",
                reason=BEGUN_ELSEWHERE,
            )
        try:
            return await create()
        except BaseException:
            with suppress(PlatformError):  # the key is free again in any case, only later
                await shared.give_up(self._server, workspace, route, key)
            raise

    def _done(
        self, workspace: str, name: tuple[str, str], known: Refindable[Any] | None, work: asyncio.Task[Any]
    ) -> None:
        if work.cancelled() or work.exception() is not None or known is None:
            self._forget(workspace, name)
            return
        kept = self._kept[workspace][name]
        kept.work, kept.reference = None, known.reference(work.result())
        assert len(kept.reference) <= MOST_REFERENCE, name[0]

    def _forget_old(self, workspace: str) -> None:
        """Forget old keys of this workspace, and of the workspace that was idle for longest."""
        for each in {workspace, next(iter(self._kept), workspace)}:
            self._forget_old_of(each, self._kept.get(each, OrderedDict()))

    def _forget_old_of(self, workspace: str, own: OrderedDict[tuple[str, str], _KeptCreation]) -> None:
        now = self._clock.now()
        for _ in range(len(own)):
            name, kept = next(iter(own.items()))
            if kept.until > now and len(own) < MOST_KEPT:
                return
            if kept.work is None:
                self._forget(workspace, name)
            else:
                kept.until = now + KEPT_SECONDS
                own.move_to_end(name)

    def _forget(self, workspace: str, name: tuple[str, str]) -> None:
        own = self._kept.get(workspace, OrderedDict())
        own.pop(name, None)
        if not own:
            self._kept.pop(workspace, None)


async def _awaited(create: Callable[[], Awaitable[Any]]) -> Any:
    return await create()
