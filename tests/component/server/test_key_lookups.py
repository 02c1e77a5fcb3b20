"""Keys that nobody has made are looked for, too: what that leaves of the database."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harena.core.access import StoredKey
from harena.core.errors import AccessError, PlatformError
from harena.core.job_store import STORE_UNAVAILABLE
from harena.server.key_lookups import MOST_AT_ONCE, MOST_TOLD
from harena.server.keys import KNOWN_SECONDS, Keys
from harena.store.access import AccessStore
from harena.store.database import Database
from harena.testing import FakeClock


def made_up() -> str:
    return f"Bearer hk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[Database]:
    database = await Database.open(home / "harena.db")
    try:
        yield database
    finally:
        await database.close()


class Counted(AccessStore):
    """A store that says how many queries for keys were under way at one time, and how many keys each asked for."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.asked: list[int] = []
        self.most = self.under_way = 0
        self.may, self.begun = asyncio.Event(), asyncio.Event()
        self.may.set()
        self.fault: Exception | None = None
        """what the next query ends with"""

    async def find_keys(self, ids: Collection[str]) -> dict[str, StoredKey]:
        self.asked.append(len(ids))
        self.under_way += 1
        self.begun.set()
        self.most = max(self.most, self.under_way)
        try:
            await self.may.wait()
            fault, self.fault = self.fault, None
            if fault is not None:
                raise fault
            return await super().find_keys(ids)
        finally:
            self.under_way -= 1


async def test_keys_that_do_not_exist_take_one_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many are asked for at one time; and a key that exists is found among them, in the line's order."""
    most = 0

    async with opened(tmp_path) as database:
        use = Database._use

        @asynccontextmanager
        async def counted(self: Database) -> AsyncIterator[None]:
            nonlocal most
            async with use(self):
                most = max(most, self._in_use)
                yield

        keys = Keys(AccessStore(database), FakeClock(auto_jump=False))
        monkeypatch.setattr(Database, "_use", counted)
        unknown = [asyncio.create_task(keys.identify(made_up())) for _ in range(2 * MOST_AT_ONCE)]
        token, _ = await keys.create(name="n", workspace="w", scopes=["read"])
        caller = await keys.identify(f"Bearer {token}")
        ends = await asyncio.gather(*unknown, return_exceptions=True)
    assert caller.workspace == "w"
    assert {type(end) for end in ends} == {AccessError}
    assert most <= 2  # the other one is that of the key which was made


async def test_answers_about_many_keys_come_in_pieces(tmp_path: Path) -> None:
    """Each of them lets a request go on, and the loop has its turns in between."""
    async with opened(tmp_path) as database:
        keys = Keys(AccessStore(database), FakeClock(auto_jump=False))
        unknown = [asyncio.create_task(keys.identify(made_up())) for _ in range(MOST_AT_ONCE)]
        done = 0
        while done < len(unknown):
            await asyncio.sleep(0)
            now = sum(one.done() for one in unknown)
            assert now - done <= MOST_TOLD
            done = now
        await asyncio.gather(*unknown, return_exceptions=True)


async def test_a_key_that_was_good_is_looked_up_apart(tmp_path: Path) -> None:
    """It waits for no key that somebody has made up, and those that ask for it at one time have one query."""
    clock = FakeClock(auto_jump=False)
    async with opened(tmp_path) as database:
        store = Counted(database)
        keys = Keys(store, clock)
        token, _ = await keys.create(name="n", workspace="w", scopes=["read"])
        caller = await keys.identify(f"Bearer {token}")
        await clock.advance(KNOWN_SECONDS)
        store.may.clear()
        store.begun.clear()
        unknown = [asyncio.create_task(keys.identify(made_up())) for _ in range(50)]
        await store.begun.wait()
        hung, store.may = store.may, asyncio.Event()
        store.may.set()
        assert await asyncio.gather(*(keys.identify(f"Bearer {token}") for _ in range(9))) == [caller] * 9
        assert (store.asked, store.under_way, any(one.done() for one in unknown)) == ([1, 50, 1], 1, False)
        hung.set()
        await asyncio.gather(*unknown, return_exceptions=True)


async def test_a_key_works_at_once(tmp_path: Path) -> None:
    """Also where it was asked for before it was stored, while the query for it is under way."""
    async with opened(tmp_path) as database:
        store = Counted(database)
        keys = Keys(store, FakeClock(auto_jump=False))
        token, key = await keys.create(name="n", workspace="w", scopes=["read"])
        store.may.clear()
        store.begun.clear()
        store.fault = PlatformError("away", reason=STORE_UNAVAILABLE)
        early = asyncio.create_task(keys.identify(f"Bearer {token}"))
        await store.begun.wait()
        late = asyncio.create_task(keys.identify(f"Bearer {token}"))
        await asyncio.sleep(0)
        given_up = asyncio.create_task(keys.identify(made_up()))
        await asyncio.sleep(0)
        given_up.cancel()
        store.may.set()
        with pytest.raises(PlatformError, match="away"):
            await early
        assert (await late).key_id == key.id
        assert (store.asked, store.most) == ([1, 2], 1)


async def test_a_fault_of_a_look_up_ends_no_other(tmp_path: Path) -> None:
    """Those who asked are told it, and who asks next has a query of its own."""
    async with opened(tmp_path) as database:
        store = Counted(database)
        keys = Keys(store, FakeClock(auto_jump=False))
        token, _ = await keys.create(name="n", workspace="w", scopes=["read"])
        store.fault = RuntimeError("a bug")
        with pytest.raises(RuntimeError):
            await keys.identify(f"Bearer {token}")
        assert (await keys.identify(f"Bearer {token}")).workspace == "w"
