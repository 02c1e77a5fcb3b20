"""A server on a loopback port over a node that needs no isolation, and clients of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from harena.core.clock import Clock, SystemClock
from harena.core.ports import Operations
from harena.node.blueprints import Blueprints
from harena.node.node import Node
from harena.runtime.layers import LayerStore
from harena.sdk.http.operations import HttpOperations
from harena.server.identity import OpenAccess
from harena.server.keys import Keys
from harena.server.listening import HttpServer
from harena.server.state import ServerState
from harena.store.access import AccessStore
from harena.testing import FakeRuntime


@dataclass
class World:
    """What is behind the server, and where it is."""

    runtime: FakeRuntime
    state: ServerState
    server: HttpServer

    @property
    def url(self) -> str:
        return self.server.url

    def client(self, *, api_key: str | None = None, clock: Clock | None = None) -> HttpOperations:
        return HttpOperations(self.url, api_key=api_key, clock=clock)


def fake_node(home: Path, clock: Clock, runtime: FakeRuntime | None = None) -> Node:
    blueprints = Blueprints(clock, layers=LayerStore(home / "layers"), root=home / "blueprints")
    return Node(runtime or FakeRuntime(), blueprints, clock, store_path=home / "harena.db")


@asynccontextmanager
async def served(operations: Operations, clock: Clock, home: Path, *, keyed: bool = False) -> AsyncIterator[HttpServer]:
    """These operations behind HTTP."""
    store = await AccessStore.open(home / "access.db")
    state = ServerState(
        operations,
        clock=clock,
        store=store,
        access=Keys(store, clock) if keyed else OpenAccess(),
        open_to_loopback=not keyed,
        version="0",
    )
    server = HttpServer(state)
    await server.start()
    try:
        yield server
    finally:
        await server.close(drain_seconds=5)
        state.leases.cancel_timers()
        await store.close()


@asynccontextmanager
async def world(home: Path, *, clock: Clock | None = None, keyed: bool = False) -> AsyncIterator[World]:
    """A node with a fake runtime behind a real server."""
    clock, runtime = clock or SystemClock(), FakeRuntime()
    node = fake_node(home, clock, runtime)
    try:
        async with served(node, clock, home, keyed=keyed) as server:
            yield World(runtime, server._state, server)
    finally:
        await node.close()
