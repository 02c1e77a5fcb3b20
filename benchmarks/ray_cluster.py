"""A Ray cluster of several raylets on this machine, for measures and tests: loopback only, small, no dashboard."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray._private import ray_constants
from ray.cluster_utils import Cluster

from harena.cluster.address import SLOTS
from harena.core import settings

STORE_BYTES = 80 * 2**20
LOOPBACK = "127.0.0.1"
OF_RAY = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # 0 = what Ray does where it has one machine only: all of its processes listen on the loopback interface
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}


class LocalCluster:
    """A head, which has no slot, and nodes that can be lost."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self.nodes: list[Any] = []
        """raylets that have slots, beside the head"""

    @property
    def address(self) -> str:
        """Where its head listens."""
        return str(self._cluster.address)

    def add(self, slots: int = 1) -> None:
        """One more raylet, with so many slots."""
        size = {"num_cpus": 1, "object_store_memory": STORE_BYTES, "node_ip_address": LOOPBACK}
        self.nodes.append(self._cluster.add_node(**size, resources={SLOTS: slots}))

    def lose(self, place: int = 0) -> None:
        """The raylet and all that it runs die, as by a power cut."""
        self._cluster.remove_node(self.nodes.pop(place), allow_graceful=False)


@contextmanager
def local_cluster(nodes: int, slots: int = 1) -> Iterator[LocalCluster]:
    """A cluster, which HARENA_RAY_ADDRESS names while it is there."""
    before = {name: os.environ.get(name) for name in (settings.RAY_ADDRESS.name, *OF_RAY)}
    os.environ.update(OF_RAY)
    ray_constants.ENABLE_RAY_CLUSTER = False  # the variable was read when Ray was imported
    head = {"num_cpus": 1, "object_store_memory": STORE_BYTES, "include_dashboard": False}
    cluster: Any = Cluster(initialize_head=True, head_node_args={**head, "node_ip_address": LOOPBACK})
    made = LocalCluster(cluster)
    try:
        for _ in range(nodes):
            made.add(slots)
        os.environ[settings.RAY_ADDRESS.name] = made.address
        yield made
    finally:
        ray.shutdown()
        cluster.shutdown()
        for name, text in before.items():
            os.environ.pop(name, None)
            if text is not None:
                os.environ[name] = text
