"""A store in a directory of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from harena.store.benchmark_jobs import JobStore
from harena.store.database import Database


@pytest_asyncio.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """An open, empty database."""
    database = await Database.open(tmp_path / "home" / "harena.db")
    yield database
    await database.close()


@pytest_asyncio.fixture
async def store(database: Database) -> JobStore:
    """Its jobs."""
    return JobStore(database)
