"""One whole node: the runtime's sandboxes, blueprints and benchmark jobs behind the operations port.

Importing this loads nothing else; `open_embedded` loads what plain sandboxes need.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from harena.core.ports import Operations
    from harena.node.node import Node

__all__ = ["open_embedded", "open_for_server", "store_place"]


async def open_embedded() -> Operations:
    """A node inside this process: everything that it starts ends with the process.

    Blueprints, packages and results are kept in harena's home; results in PostgreSQL where `HARENA_DATABASE_URL` names
    one. Raises HostUnsupportedError where this host forbids what isolation needs.
    """
    return await _open(durable_jobs=False)


async def open_for_server() -> Operations:
    """The same for a server, whose benchmark jobs outlive it: those that an earlier one has left are gone on with."""
    node = await _open(durable_jobs=True)
    try:
        await node.resume_benchmark_jobs()
    except BaseException:
        await node.close()
        raise
    return node


async def _open(*, durable_jobs: bool) -> Node:
    from harena.core.clock import SystemClock
    from harena.core.home import harena_home
    from harena.node.blueprints import Blueprints
    from harena.node.node import Node
    from harena.runtime.layers import LayerStore
    from harena.runtime.linux import LinuxRuntime

    clock = SystemClock()
    home = harena_home()
    layers = LayerStore(home / "layers")
    blueprints = Blueprints(clock, layers=layers, root=home / "blueprints")
    runtime = LinuxRuntime(layers=layers, home=home)
    try:
        await runtime.start()
    except BaseException:  # also a cancellation: a spawner that was half started must not stay
        await runtime.close()
        raise
    return Node(runtime, blueprints, clock, store_path=store_place(home), durable_jobs=durable_jobs)


def store_place(home: Path) -> Path | str:
    """Where results are kept: the PostgreSQL that `HARENA_DATABASE_URL` names, else a file in harena's home."""
    return os.environ.get("HARENA_DATABASE_URL") or home / "harena.db"
