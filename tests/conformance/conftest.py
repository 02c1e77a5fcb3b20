"""Databases of each kind that harena ships queries for: a file of SQLite, and one of a real PostgreSQL."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
import pytest_asyncio

from harena.store.database import Database

sys.path.append(str(Path(__file__).parents[1]))

from postgres_server import PostgresServer, postgres_server

Place = Path | str
_numbers = count()


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """One server for all; a test that stops it starts it again."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def url(server: PostgresServer) -> str:
    """A database of PostgreSQL for each test."""
    return server.create(f"test_{next(_numbers)}")


@pytest.fixture(params=["sqlite", "postgres"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Place]:
    """Gives places of databases that do not exist yet, of one kind."""
    if request.param == "sqlite":
        return lambda: tmp_path / f"{next(_numbers)}.db"
    server: PostgresServer = request.getfixturevalue("server")
    return lambda: server.create(f"test_{next(_numbers)}")


async def _make_tables(place: Place) -> None:
    await (await Database.open(place)).close()


@pytest.fixture(scope="session")
def file_with_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with this version's tables, empty, to be copied: to migrate each test's own took 0.1 s of
    processor time. What migration does is tested in test_old_stores."""
    path = tmp_path_factory.mktemp("tables") / "empty.db"
    asyncio.run(_make_tables(path))
    return path


@pytest.fixture(scope="session")
def template(server: PostgresServer) -> str:
    """The name of a PostgreSQL database with this version's tables, empty, to be copied."""
    name = "with_tables"
    asyncio.run(_make_tables(server.create(name)))
    return name


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where an empty database of each kind is."""
    if request.param == "sqlite":
        return Path(shutil.copy(request.getfixturevalue("file_with_tables"), tmp_path / f"{next(_numbers)}.db"))
    server: PostgresServer = request.getfixturevalue("server")
    return server.create(f"test_{next(_numbers)}", template=request.getfixturevalue("template"))


@pytest_asyncio.fixture
async def database(place: Place) -> AsyncIterator[Database]:
    """A connection to an empty database of each kind."""
    database = await Database.open(place)
    yield database
    await database.close()


@pytest_asyncio.fixture
async def other_database(database: Database, place: Place) -> AsyncIterator[Database]:
    """A second connection to the same one."""
    other = await Database.open(place)
    yield other
    await other.close()
