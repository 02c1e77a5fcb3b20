"""Every store of webhook deliveries that harena ships passes one suite: SQLite, and a real PostgreSQL."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from harena.core.job_store import JobStorePort
from harena.core.webhook_store import WebhookStorePort
from harena.store.benchmark_jobs import JobStore
from harena.store.database import Database
from harena.store.webhook_deliveries import WebhookStore
from harena.testing.conformance_webhook_store import WebhookStoreConformance

sys.path.append(str(Path(__file__).parents[1]))

from postgres_server import PostgresServer, postgres_server

Stores = tuple[WebhookStorePort, JobStorePort]


class TestSqlite(WebhookStoreConformance):
    """One file."""

    @pytest_asyncio.fixture
    async def stores(self, tmp_path: Path) -> AsyncIterator[Stores]:
        """A file of its own for each test."""
        database = await Database.open(tmp_path / "harena.db")
        yield WebhookStore(database), JobStore(database)
        await database.close()


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One server for this module."""
    with postgres_server() as server:
        yield server


class TestPostgres(WebhookStoreConformance):
    """By URL."""

    @pytest_asyncio.fixture
    async def stores(self, server: PostgresServer, request: pytest.FixtureRequest) -> AsyncIterator[Stores]:
        """A database of its own for each test."""
        database = await Database.open(server.create(f"test_{abs(hash(request.node.nodeid)):x}"))
        yield WebhookStore(database), JobStore(database)
        await database.close()
