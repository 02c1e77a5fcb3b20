"""Every store of objects that harena ships passes one suite: SQLite, and a real PostgreSQL."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from harena.store.database import Database
from harena.store.registry import RegistryStore
from harena.testing.conformance_registry_store import RegistryStoreConformance

sys.path.append(str(Path(__file__).parents[1]))

from postgres_server import PostgresServer, postgres_server


class OverDatabases(RegistryStoreConformance):
    """Two connections to one database, at `place`."""

    @pytest_asyncio.fixture
    async def store(self, place: Path | str) -> AsyncIterator[RegistryStore]:
        """The first."""
        database = await Database.open(place)
        yield RegistryStore(database)
        await database.close()

    @pytest_asyncio.fixture
    async def other(self, store: RegistryStore, place: Path | str) -> AsyncIterator[RegistryStore]:
        """The second."""
        database = await Database.open(place)
        yield RegistryStore(database)
        await database.close()


class TestSqlite(OverDatabases):
    """The default: one file."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        """A file of its own for each test."""
        return tmp_path / "harena.db"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One server for this module."""
    with postgres_server() as server:
        yield server


class TestPostgres(OverDatabases):
    """By URL."""

    @pytest.fixture
    def place(self, server: PostgresServer, request: pytest.FixtureRequest) -> str:
        """A database of its own for each test."""
        return server.create(f"test_{abs(hash(request.node.nodeid)):x}")
