"""Every store of webhook deliveries that harena ships passes one suite: SQLite, and a real PostgreSQL."""

from __future__ import annotations

import pytest

from harena.core.job_store import JobStorePort
from harena.core.webhook_store import WebhookStorePort
from harena.store.benchmark_jobs import JobStore
from harena.store.database import Database
from harena.store.webhook_deliveries import WebhookStore
from harena.testing.conformance_webhook_store import WebhookStoreConformance


class TestWebhookStore(WebhookStoreConformance):
    """With the jobs that the deliveries are of."""

    @pytest.fixture
    def stores(self, database: Database) -> tuple[WebhookStorePort, JobStorePort]:
        """Of one database."""
        return WebhookStore(database), JobStore(database)
