"""Every store of the catalogue that harena ships passes one suite: SQLite, and a real PostgreSQL."""

from __future__ import annotations

import pytest

from harena.store.catalog import CatalogStore
from harena.store.database import Database
from harena.testing.conformance_catalog_store import CatalogStoreConformance


class TestCatalogStore(CatalogStoreConformance):
    """Two connections to one database."""

    @pytest.fixture
    def store(self, database: Database) -> CatalogStore:
        """The first."""
        return CatalogStore(database)

    @pytest.fixture
    def other(self, other_database: Database) -> CatalogStore:
        """The second."""
        return CatalogStore(other_database)
