"""Every store of benchmark jobs that harena ships passes one suite: SQLite, and a real PostgreSQL."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from harena.core.errors import PlatformError
from harena.core.job_store import STORE_UNAVAILABLE
from harena.store.benchmark_jobs import JobStore
from harena.store.database import Database
from harena.testing.conformance_job_store import JobStoreConformance, job, queued

sys.path.insert(0, str(Path(__file__).parents[1]))

from postgres_server import PostgresServer, postgres_server


class TestSqlite(JobStoreConformance):
    """The default: one file."""

    @pytest_asyncio.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[JobStore]:
        """A file of its own for each test."""
        database = await Database.open(tmp_path / "harena.db")
        yield JobStore(database)
        await database.close()


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One server for this module."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def url(server: PostgresServer, request: pytest.FixtureRequest) -> str:
    """A database for each test."""
    return server.create(f"test_{abs(hash(request.node.nodeid)):x}")


class TestPostgres(JobStoreConformance):
    """By URL."""

    @pytest_asyncio.fixture
    async def store(self, url: str) -> AsyncIterator[JobStore]:
        """A database of its own for each test."""
        database = await Database.open(url)
        yield JobStore(database)
        await database.close()


async def test_a_server_that_goes_away_and_comes_back(server: PostgresServer, url: str) -> None:
    """While it is away the error says that the same may succeed later; afterwards it does, with everything there."""
    database = await Database.open(url)
    store = JobStore(database)
    await store.insert_job(job("before"), queued(1))
    server.stop()
    try:
        with pytest.raises(PlatformError) as away:
            await store.insert_job(job("meanwhile"), [])
        assert away.value.reason == STORE_UNAVAILABLE
        with pytest.raises(PlatformError) as unopened:
            await Database.open(url)
        assert unopened.value.reason == STORE_UNAVAILABLE
        assert "HARENA_DATABASE_URL" in str(unopened.value)
    finally:
        server.start()
    assert [row["id"] for row in await store.list_jobs()] == ["before"]
    await store.insert_job(job("after"), [])
    await database.close()


async def test_a_url_that_names_no_postgres_is_not_repeated() -> None:
    """It may hold a password."""
    with pytest.raises(PlatformError, match="must be postgresql://") as refused:
        await Database.open("mysql://me:secret@host/x")
    assert "secret" not in str(refused.value)
