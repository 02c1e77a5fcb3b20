"""The stores of one node: narrow ports over one database, which whoever hands them out opens, migrates and closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from harena.core.catalog import CatalogStorePort
    from harena.core.job_store import JobStorePort
    from harena.core.registry import RegistryStorePort
    from harena.core.secrets import SecretStorePort
    from harena.core.training_store import TrainingStorePort
    from harena.core.webhook_store import WebhookStorePort
    from harena.core.world_store import WorldStorePort


class Measures(Protocol):
    """How much of the database is whose."""

    async def measured(self, workspace: str) -> int:
        """Bytes that are the workspace's. Raises PlatformError."""


class TrainingStores(Protocol):
    """The stores that training jobs need. Every method opens the database where it is not open, and raises
    PlatformError, and SandboxUnavailableError once it has been closed."""

    async def training_jobs(self) -> TrainingStorePort:
        """Training jobs."""

    async def is_one_machine(self) -> bool:
        """Whether only processes of this machine can reach the database."""


class BenchmarkStores(Protocol):
    """The stores that benchmark jobs need. Every method opens the database where it is not open, and raises
    PlatformError, and SandboxUnavailableError once it has been closed."""

    async def benchmark_jobs(self) -> JobStorePort:
        """Benchmark jobs."""

    async def catalog(self) -> CatalogStorePort:
        """Scenarios, scoring contracts, definitions and calibrations."""

    async def webhook_deliveries(self) -> WebhookStorePort:
        """Deliveries of webhooks."""

    async def stored_bytes(self) -> Measures:
        """How much of the database is whose."""

    async def is_one_machine(self) -> bool:
        """Whether only processes of this machine can reach the database."""


class NodeStores(BenchmarkStores, TrainingStores, Protocol):
    """Every store of a node."""

    async def registry(self) -> RegistryStorePort:
        """Models, data sets and other objects."""

    async def secrets(self) -> SecretStorePort:
        """Secrets of workspaces."""

    async def worlds(self) -> WorldStorePort:
        """Worlds and their jobs."""
