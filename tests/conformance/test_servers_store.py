"""What several servers of one store share: how many requests each has let in, and what is being created with a key."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from sqlalchemy import Connection

from harena.core.errors import LimitExceededError, PlatformError, ValidationError
from harena.core.idempotency import BEGUN_ELSEWHERE, IdempotencyKey
from harena.core.workspace import WorkspaceLimits
from harena.server.idempotency import ELSEWHERE_SECONDS, Idempotency, Refindable
from harena.server.identity import Caller
from harena.server.quotas import Quotas
from harena.server.shared_rates import SharedRates
from harena.store import servers
from harena.store.database import Database
from harena.store.servers import FORGOTTEN_SECONDS, ServersStore
from harena.testing import FakeClock

KEY = IdempotencyKey.of("once", b"{}")
SERVERS = 6


@pytest_asyncio.fixture
async def stores(database: Database, other_database: Database) -> list[ServersStore]:
    """Servers' ones, by two connections to the same database."""
    return [ServersStore(each) for each in (database, other_database) for _ in range(SERVERS // 2)]


async def test_requests_of_all_others_are_told(stores: list[ServersStore]) -> None:
    """Each key's, without one's own; what was told again is not counted twice, and what is old is forgotten."""
    first, second, third, *_ = stores
    assert await first.spend("a", {"k": 5, "l": 1}, 100.0) == {}
    assert await second.spend("b", {"k": 2}, 101.0) == {"k": 5}
    assert await second.spend("b", {"k": 7}, 102.0) == {"k": 5}
    assert await third.spend("c", {"k": 1, "l": 1, "m": 1}, 103.0) == {"k": 12, "l": 1}
    assert await first.spend("a", {}, 104.0) == {}
    late = 100.0 + FORGOTTEN_SECONDS + 2.5
    assert await third.spend("c", {"k": 1, "l": 1}, late) == {}
    assert await first.spend("a", {"k": 6}, late) == {"k": 1}


async def test_servers_that_tell_at_one_time_do_not_hold_each_other_up(stores: list[ServersStore]) -> None:
    """Many keys, in any order, while what is old is forgotten; in the end each knows what all others have let in."""
    names = [f"k{number}" for number in range(30)]
    for turn in range(1, 4):
        at = turn * (FORGOTTEN_SECONDS + 1)
        asked = [
            store.spend(str(number), dict.fromkeys(names[number:] + names[:number], turn), at)
            for number, store in enumerate(stores)
        ]
        await asyncio.gather(*asked)
    found = await stores[0].spend("0", dict.fromkeys(names, 3), at)
    assert found == dict.fromkeys(names, 3 * (SERVERS - 1))


async def test_one_server_begins_what_is_asked_of_all_at_once(stores: list[ServersStore]) -> None:
    """All are told which; also when what was begun long ago is begun anew, and after a failure."""
    for at in (0.0, ELSEWHERE_SECONDS + 1.0):
        asked = [
            store.begin(str(number), "ours", "sandboxes", KEY, at=at, kept=ELSEWHERE_SECONDS)
            for number, store in enumerate(stores)
        ]
        (winner,) = set(await asyncio.gather(*asked))
        again = await stores[0].begin("late", "ours", "sandboxes", KEY, at=at, kept=ELSEWHERE_SECONDS)
        assert again == winner
        assert await stores[0].begin("x", "theirs", "sandboxes", KEY, at=at, kept=1.0) == "x"
        other = IdempotencyKey.of("once", b"[]")
        with pytest.raises(ValidationError, match="another request"):
            await stores[1].begin("late", "ours", "sandboxes", other, at=at, kept=ELSEWHERE_SECONDS)
    await stores[0].give_up("another", "ours", "sandboxes", KEY)
    assert await stores[1].begin("late", "ours", "sandboxes", KEY, at=at, kept=ELSEWHERE_SECONDS) == winner
    await stores[0].give_up(winner, "ours", "sandboxes", KEY)
    assert await stores[1].begin("late", "ours", "sandboxes", KEY, at=at, kept=ELSEWHERE_SECONDS) == "late"


async def test_nobody_forgets_what_another_has_just_begun(
    url: str, database_of_url: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL lets another transaction end between two statements of one: who has read that a key is old finds it
    taken anew, and takes it from nobody."""
    store = ServersStore(database_of_url)
    assert await store.begin("old", "ours", "sandboxes", KEY, at=0.0, kept=10.0) == "old"
    read = servers.answer_to

    def begins_elsewhere() -> None:
        async def begin() -> None:
            other = await Database.open(url)
            assert await ServersStore(other).begin("quick", "ours", "sandboxes", KEY, at=20.0, kept=10.0) == "quick"
            await other.close()

        asyncio.run(begin())

    def read_slowly(connection: Connection, workspace: str, route: str, key: IdempotencyKey) -> str | None:
        found = read(connection, workspace, route, key)
        monkeypatch.setattr(servers, "answer_to", read)
        elsewhere = threading.Thread(target=begins_elsewhere)
        elsewhere.start()
        elsewhere.join()
        return found

    monkeypatch.setattr(servers, "answer_to", read_slowly)
    assert await store.begin("slow", "ours", "sandboxes", KEY, at=20.0, kept=10.0) == "quick"
    assert await store.begin("slow", "ours", "sandboxes", KEY, at=20.0, kept=10.0) == "quick"


@pytest_asyncio.fixture
async def database_of_url(url: str) -> AsyncIterator[Database]:
    """One of PostgreSQL."""
    database = await Database.open(url)
    yield database
    await database.close()


async def test_a_key_has_one_pace_over_all_servers(stores: list[ServersStore]) -> None:
    """Each lets its burst in once, and after that all together let in what one would."""
    clock = FakeClock(auto_jump=False)
    limits = WorkspaceLimits(requests_per_second=10.0, request_burst=20)
    caller = Caller(workspace="ours", key_id="k", scopes=frozenset({"write"}))
    made = []
    for store in stores:
        rates = SharedRates(store, clock)
        made.append((rates, Quotas(limits, None, clock, shared=rates)))
    total = 0
    for _ in range(20):
        for rates, quotas in made:
            for _ in range(30):
                try:
                    await quotas.admit(caller)
                except LimitExceededError:
                    break
                total += 1
            await rates.sync(quotas)
        await clock.advance(1.0)
    assert 20 * 10 * 0.5 <= total <= SERVERS * 20 + 20 * 10 + SERVERS * 10


async def test_what_is_asked_of_all_servers_happens_once(stores: list[ServersStore]) -> None:
    """The others refuse it, and say that it was begun elsewhere."""
    clock = FakeClock(auto_jump=False)
    made = list[int]()

    async def create() -> int:
        made.append(1)
        return len(made)

    async def number(reference: str) -> int:
        return int(reference)

    numbers: Refindable[int] = Refindable(str, number)
    everybody = [Idempotency(clock, store) for store in stores]
    asked = [each.once("ours", "sandboxes", KEY, create, numbers) for each in everybody]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert [answer for answer in answers if not isinstance(answer, ValidationError)] == [1]
    assert {answer.reason for answer in answers if isinstance(answer, ValidationError)} == {BEGUN_ELSEWHERE}
    assert made == [1]


async def test_a_store_that_is_away_is_a_fault_of_the_platform(database: Database) -> None:
    """Whoever asks comes again."""
    store = ServersStore(database)
    await database.close()
    with pytest.raises(PlatformError):
        await store.spend("a", {"k": 1}, 0.0)
    with pytest.raises(PlatformError):
        await store.begin("a", "ours", "sandboxes", KEY, at=0.0, kept=1.0)


async def test_a_text_with_nul_is_kept_or_is_a_mistake_of_who_asks(database: Database) -> None:
    """And no fault of the platform: PostgreSQL has no such text, a file of SQLite has."""
    store = ServersStore(database)
    if database.is_one_machine:
        assert await store.begin("a", "ou\x00rs", "sandboxes", KEY, at=0.0, kept=1.0) == "a"
        return
    with pytest.raises(ValidationError, match="NUL") as caught:
        await store.begin("a", "ou\x00rs", "sandboxes", KEY, at=0.0, kept=1.0)
    assert caught.value.reason == "NUL"
