"""The connection of this process to a Ray cluster, as a driver. The first caller makes it, and all others share it."""

from __future__ import annotations

import logging
import os
import socket
import threading
from dataclasses import dataclass
from typing import Any

import ray

from harena.cluster.address import SLOTS
from harena.core.errors import PlatformError, ValidationError

REACH_SECONDS = 10.0
"""within which the head node must accept a connection"""
_connecting = threading.Lock()


def connect(address: str) -> None:
    """Join the cluster at `address` (host:port of its head, or `auto`). Ray's own processes and logs go on without this
    process. A second call gives the same connection. Blocks. Raises ValidationError, PlatformError."""
    if address.startswith("ray://"):
        raise ValidationError(
            f"HARENA_RAY_ADDRESS is {address}: Ray's client protocol loses a job when its connection breaks. Give "
            "host:port of the head, and run this node on a machine that `ray start` has joined to the cluster"
        )
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with _connecting:
        if ray.is_initialized():
            return
        try:
            _reach(address)  # Ray itself would try for minutes
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, namespace="harena")
        except (OSError, RuntimeError, ValueError) as error:
            raise PlatformError(
                f"there is no Ray cluster at {address}: {str(error).strip() or type(error).__name__}. Start one with "
                f"`ray start --head --resources='{{\"{SLOTS}\": 4}}'`, on this machine too",
                step="ray",
            ) from error


def _reach(address: str) -> None:
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()


@dataclass(frozen=True, slots=True)
class Room:
    """What those nodes of a cluster have together that are alive and may have workers."""

    slots: int
    cores: int


def room() -> Room:
    """Ask Ray how many workers the living nodes may have. Raises ValidationError where no node may have one."""
    # not the sums that Ray keeps: they count lost nodes for a while
    listed: Any = ray.nodes  # says no types
    nodes = [node["Resources"] for node in listed() if node["Alive"] and node["Resources"].get(SLOTS, 0) >= 1]
    if not nodes:
        raise ValidationError(
            f"no node of the Ray cluster has the resource {SLOTS}, which says how many workers it may have: start "
            f"nodes with `ray start --resources='{{\"{SLOTS}\": 4}}'`"
        )
    return Room(sum(int(node[SLOTS]) for node in nodes), sum(max(1, int(node.get("CPU", 1))) for node in nodes))


def shared(value: Any) -> Any:
    """Put a value into the object store once, for all workers; give the reference in its place."""
    return ray.put(value)
