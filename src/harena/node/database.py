"""The one owner of a node's database: it opens and migrates it when it is first asked for, hands narrow stores to the
parts of the node, and closes it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from harena.core.errors import SandboxUnavailableError

if TYPE_CHECKING:
    from harena.core.catalog import CatalogStorePort
    from harena.core.job_store import JobStorePort
    from harena.core.node_stores import Measures
    from harena.core.registry import RegistryStorePort
    from harena.core.secrets import SecretStorePort
    from harena.core.training_store import TrainingStorePort
    from harena.core.webhook_store import WebhookStorePort
    from harena.core.world_store import WorldStorePort
    from harena.store.database import Database


class NodeDatabase:
    """Implements `NodeStores`. Used from one event loop; what the stores need is loaded when the first is asked for."""

    def __init__(self, place: Path | str) -> None:
        """`place`: a SQLite file, or the URL of a PostgreSQL."""
        self._place = place
        self._database: Database | None = None
        self._opening = asyncio.Lock()
        self._closed = False

    async def benchmark_jobs(self) -> JobStorePort:
        """Open the database, if it is not yet, for its benchmark jobs."""
        from harena.store.benchmark_jobs import JobStore

        return JobStore(await self.opened())

    async def catalog(self) -> CatalogStorePort:
        """Open the database, if it is not yet, for its catalogue."""
        from harena.store.catalog import CatalogStore

        return CatalogStore(await self.opened())

    async def webhook_deliveries(self) -> WebhookStorePort:
        """Open the database, if it is not open yet, for deliveries of webhooks that have not ended."""
        from harena.store.webhook_deliveries import WebhookStore

        return WebhookStore(await self.opened())

    async def stored_bytes(self) -> Measures:
        """Open the database, if it is not yet, to count what workspaces store."""
        from harena.store.stored_bytes import StoredBytes

        return StoredBytes(await self.opened())

    async def training_jobs(self) -> TrainingStorePort:
        """Open the database, if it is not yet, for its training jobs."""
        from harena.store.training_jobs import TrainingStore

        return TrainingStore(await self.opened())

    async def registry(self) -> RegistryStorePort:
        """Open the database, if it is not yet, for its index of objects."""
        from harena.store.registry import RegistryStore

        return RegistryStore(await self.opened())

    async def secrets(self) -> SecretStorePort:
        """Open the database, if it is not yet, for its secrets."""
        from harena.store.secrets import SecretStore

        return SecretStore(await self.opened())

    async def worlds(self) -> WorldStorePort:
        """Open the database, if it is not yet, for its worlds."""
        from harena.store.worlds import WorldStore

        return WorldStore(await self.opened())

    async def is_one_machine(self) -> bool:
        """Tell whether only processes of this machine can reach the database."""
        return (await self.opened()).is_one_machine

    async def opened(self) -> Database:
        """The database, open until `close`. Raises PlatformError, SandboxUnavailableError."""
        from harena.store.benchmark_jobs import JobStore
        from harena.store.catalog import CatalogStore
        from harena.store.database import Database

        async with self._opening:
            if self._closed:
                raise SandboxUnavailableError(
                    "this node was closed; ask the node that continues a job which had not ended",
                    reason="NODE_CLOSED",
                )
            if self._database is None:
                self._database = await Database.open(self._place)
                # ends the deletions that a killed process had begun
                await JobStore(self._database).clear_deleted()
                await CatalogStore(self._database).clear_deleted()
            return self._database

    async def close(self) -> None:
        """Close the database, after all who use it have ended. May be called again."""
        self._closed = True
        async with self._opening:
            database, self._database = self._database, None
            if database is not None:
                await database.close()
