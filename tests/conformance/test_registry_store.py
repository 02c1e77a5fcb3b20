"""Every store of objects that harena ships passes one suite: SQLite, and a real PostgreSQL."""

from __future__ import annotations

import pytest

from harena.store.database import Database
from harena.store.registry import RegistryStore
from harena.testing.conformance_registry_store import RegistryStoreConformance


class TestRegistryStore(RegistryStoreConformance):
    """Two connections to one database."""

    @pytest.fixture
    def store(self, database: Database) -> RegistryStore:
        """The first."""
        return RegistryStore(database)

    @pytest.fixture
    def other(self, other_database: Database) -> RegistryStore:
        """The second."""
        return RegistryStore(other_database)
