"""Look-ups of API keys in the store: one query at a time, which asks for all keys that wait for it.

Anybody can send keys that do not exist, and each has to be looked for. One query for all of them takes one connection
to the database, however many there are, and each of them waits for the query that is under way and its own. No answer
is kept here: a key that was made works at once. Used from one event loop.
"""

from __future__ import annotations

import asyncio
from contextvars import Context
from itertools import islice

from harena.core.access import StoredKey
from harena.store.access import AccessStore

MOST_AT_ONCE = 500
"""keys of one query; further ones have the next query"""

MOST_TOLD = 8
"""keys of which it is told at one turn of the event loop: each request goes on, and mostly to a refusal"""


class KeyLookups:
    """One line of look-ups."""

    def __init__(self, store: AccessStore) -> None:
        self._store = store
        self._waiting: dict[str, asyncio.Future[StoredKey | Exception | None]] = {}
        """id of a key -> what the store will say; there are no more than connections, each of which has one request"""
        self._looking: asyncio.Task[None] | None = None

    async def find(self, key_id: str) -> StoredKey | None:
        """The key with this id, also a revoked one, as it is in the store now or later. Raises PlatformError."""
        told = self._waiting.get(key_id)
        if told is None:
            told = self._waiting[key_id] = asyncio.get_running_loop().create_future()
        if self._looking is None:
            # not in the context of who asks first: the look-ups are no workspace's
            self._looking = asyncio.create_task(self._look(), context=Context())
        found = await asyncio.shield(told)  # others may wait for the same
        if isinstance(found, Exception):
            raise found
        return found

    async def _look(self) -> None:
        try:
            while self._waiting:
                await self._ask_for(list(islice(self._waiting, MOST_AT_ONCE)))
        finally:
            self._looking = None

    async def _ask_for(self, ids: list[str]) -> None:
        # who asks from now on has the next query: what was stored meanwhile may not be seen by this one
        asking = {key_id: self._waiting.pop(key_id) for key_id in ids}
        found: dict[str, StoredKey] = {}
        fault: Exception | None = None
        try:
            found = await self._store.find_keys(ids)
        except Exception as error:  # noqa: BLE001 - whatever it is, a bug too, is raised where keys are asked for
            fault = error
        for place, (key_id, told) in enumerate(asking.items(), 1):
            told.set_result(fault or found.get(key_id))
            if not place % MOST_TOLD:
                await asyncio.sleep(0)
