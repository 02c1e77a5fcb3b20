"""Whatever a workspace asks of the database, and however long it takes: others find connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from harena.core.errors import PlatformError, ValidationError
from harena.core.job_store import STORE_UNAVAILABLE
from harena.core.threads import work_for
from harena.store.catalog import CatalogStore
from harena.store.database import (
    CONNECTIONS,
    QUERY_TIME,
    READING,
    READING_SHARE,
    READING_THREADS,
    THREADS,
    WORKING,
    WORKING_SHARE,
    Database,
)
from harena.store.rows import insert_rows
from harena.store.shares import ConnectionShares
from harena.store.tables import catalog

ENDLESS = text("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n")


async def in_workspace(name: str, work: Callable[[], Awaitable[object]]) -> object:
    work_for.set(name)  # of the task
    return await work()


def begun(name: str, work: Callable[[], Awaitable[object]]) -> asyncio.Task[object]:
    return asyncio.create_task(in_workspace(name, work))


@asynccontextmanager
async def held_up(database: Database, name: str, number: int) -> AsyncIterator[None]:
    """So many transactions of a workspace that do not end within the block."""
    end, first = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with database.transaction() as connection:
            await connection.execute(text("SELECT 1"))
            first.set()
            await end.wait()

    tasks = [begun(name, hold) for _ in range(number)]
    await first.wait()
    try:
        yield
    finally:
        end.set()
        await asyncio.gather(*tasks)


def look(connection: Connection) -> object:
    return connection.scalar(text("SELECT 1"))


async def test_a_workspace_takes_no_connection_of_others(database: Database) -> None:
    """Sixty transactions of one hold nobody else up."""
    async with held_up(database, "attacker", 60):

        async def work() -> None:
            async with database.transaction() as connection:
                await connection.execute(text("SELECT 1"))
            await database.read(look)
            await database.run(look)

        async with asyncio.timeout(5):
            await asyncio.gather(*(begun("victim", work) for _ in range(20)))


def test_the_node_itself_has_connections() -> None:
    """Beside all that workspaces have together; and a workspace has less than half of those."""
    assert READING + WORKING < CONNECTIONS
    assert READING < READING_THREADS
    assert WORKING < THREADS
    assert max(2 * READING_SHARE, 2 * WORKING_SHARE) < min(READING, WORKING)


async def test_workspaces_together_leave_a_connection(database: Database) -> None:
    """Whatever four others hold, and wait for, somebody who has none is served at once."""
    async with AsyncExitStack() as stack:
        for number in range(4):
            await stack.enter_async_context(held_up(database, f"attacker {number}", 30))

        async def work() -> None:
            async with database.transaction() as connection:
                await connection.execute(text("SELECT 1"))
            await database.run(look)

        async with asyncio.timeout(5):
            await begun("victim", work)


async def test_of_who_waits_the_one_with_fewest_comes_first() -> None:
    """Where each of as many workspaces as there are connections has one, the next waits, but not behind a line."""
    shares, ends = ConnectionShares(3, 3), dict[str, asyncio.Event]()
    order: list[str] = []

    async def work(name: str) -> None:
        async with shares.one():
            order.append(name)
            await ends.setdefault(name, asyncio.Event()).wait()

    names = [f"a{number}" for number in range(5)]
    tasks = [begun("a", lambda name=name: work(name)) for name in names]  # type: ignore[misc]
    tasks += [begun(name, lambda name=name: work(name)) for name in ("b", "c", "d")]  # type: ignore[misc]
    await settled(order)
    assert order == ["a0", "b", "c"]
    ends["a0"].set()
    await settled(order)
    assert order == ["a0", "b", "c", "a1"]
    ends["a1"].set()
    await settled(order)
    assert order == ["a0", "b", "c", "a1", "d"]
    for name in (*names, "b", "c", "d"):
        ends.setdefault(name, asyncio.Event()).set()
    await asyncio.gather(*tasks)
    assert sorted(order) == sorted([*names, "b", "c", "d"])
    assert (shares._free, shares._lines, shares._waiting) == (3, {}, {})


async def settled(order: list[str]) -> None:
    """Returns when whoever can go on has done so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_endless_queries_of_a_workspace_end(database: Database) -> None:
    """With a mistake that says what to do; others and the node itself are answered meanwhile, and afterwards it is."""
    database._query_seconds = 0.3

    async def search() -> None:
        await database.read(lambda connection: connection.scalar(ENDLESS))

    tasks = [begun("attacker", search) for _ in range(6)]
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        assert await begun("victim", lambda: database.read(look)) == 1
        assert await database.read(look) == 1
    for task in tasks:
        with pytest.raises(ValidationError, match="narrow the filter") as caught:
            await task
        assert caught.value.reason == QUERY_TIME
    assert await begun("attacker", lambda: database.read(look)) == 1


async def test_what_the_node_reads_for_itself_has_no_limit(database: Database) -> None:
    """Nor has what is read whole."""
    database._query_seconds = 0.0
    many = text(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 200000) SELECT count(*) FROM n"
    )
    assert await database.read(lambda connection: connection.scalar(many)) == 200_000
    whole = await begun("one", lambda: database.read(lambda connection: connection.scalar(many), whole=True))
    assert whole == 200_000
    with pytest.raises(ValidationError):
        await begun("one", lambda: database.read(lambda connection: connection.scalar(many)))


async def test_a_filter_that_takes_too_long(database: Database) -> None:
    """A list of the catalogue is such a query."""
    store = CatalogStore(database)
    fixed = {"workspace": "w", "kind": "scenarios", "digest": "d", "described": {}, "created_at": "t"}
    rows = [{"name": f"n{number}", "version": 1, "metadata": {"a": "b"}} for number in range(20_000)]
    await database.run(lambda connection: insert_rows(connection, catalog, rows, fixed=fixed))
    database._query_seconds = 0.0
    with pytest.raises(ValidationError, match="narrow the filter"):
        await begun("w", lambda: store.page("w", "scenarios", metadata={"a": "c"}, archived=True, limit=10))


async def test_no_connection_left(database: Database) -> None:
    """The store is away for a moment: this is no bug, and says when to come back."""
    pool = database._engine.sync_engine.pool
    pool._timeout = 0.05  # type: ignore[attr-defined]
    async with held_up(database, "", CONNECTIONS):
        with pytest.raises(PlatformError, match="in use") as caught:
            async with asyncio.timeout(5), database.transaction() as connection:
                await connection.execute(text("SELECT 1"))
    assert caught.value.reason == STORE_UNAVAILABLE
    assert caught.value.retry_delay is not None


async def test_a_line_is_bounded_and_in_order() -> None:
    """Who comes to a full line, or waits too long in it, is told to ask again; who is refused keeps nobody's place."""
    shares = ConnectionShares(1, 1, most_waiting=2, wait_seconds=0.2)
    order: list[int] = []
    go = asyncio.Event()

    async def work(number: int) -> None:
        async with shares.one():
            order.append(number)
            await go.wait()

    first, second, third, fourth = (begun("w", lambda number=number: work(number)) for number in range(4))  # type: ignore[misc]
    with pytest.raises(PlatformError, match="use at one time") as full:
        await fourth
    assert full.value.reason == STORE_UNAVAILABLE
    began = time.monotonic()
    with pytest.raises(PlatformError, match="ask again in a moment"):
        await second
    assert time.monotonic() - began < 5
    with pytest.raises(PlatformError):
        await third
    fifth = begun("w", lambda: work(5))
    go.set()
    await asyncio.gather(first, fifth)
    assert order == [0, 5]


async def test_the_database_of_a_server_follows_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HARENA_QUERY_SECONDS is read when the database is opened."""
    monkeypatch.setenv("HARENA_QUERY_SECONDS", "0.25")
    database = await Database.open(tmp_path / "harena.db")
    assert database._query_seconds == 0.25
    await database.close()
