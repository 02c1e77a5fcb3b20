"""Benchmark jobs with a database of their own, as a node has them."""

from __future__ import annotations

from typing import Any

from harena.core.node_config import NodeConfig
from harena.jobs.benchmark.benchmark_jobs import BenchmarkJobs
from harena.node.database import NodeDatabase
from harena.runtime.host.mechanisms import hides_warm_starts
from harena.store.database import Database


class StoredJobs(BenchmarkJobs):
    """Closes its database when it is closed."""

    def __init__(self, config: NodeConfig, *parts: Any, **more: Any) -> None:
        self._node_database = NodeDatabase(config.store_place)
        super().__init__(config, self._node_database, *parts, **{"hides_warm_starts": hides_warm_starts, **more})

    async def database(self) -> Database:
        """The database, open until `close`."""
        self._check_open()
        return await self._node_database.opened()

    async def close(self) -> None:
        await super().close()
        await self._node_database.close()
