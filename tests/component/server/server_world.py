"""A server on a loopback port over a node that needs no isolation, and clients of it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from harena.core.clock import Clock, SystemClock
from harena.core.node_config import NodeConfig
from harena.core.ports import Runtime, WholeNode
from harena.core.workspace import DEFAULT_WORKSPACE, LimitsOf, WorkspaceLimits
from harena.node.node import Node
from harena.runtime.host.blueprints import Blueprints
from harena.runtime.host.layers import LayerStore
from harena.sdk.http.operations import HttpOperations
from harena.server import document
from harena.server.identity import OpenAccess
from harena.server.keys import Keys
from harena.server.listening import HttpServer
from harena.server.quotas import LimitSource, Quotas
from harena.server.state import ServerState
from harena.store.access import AccessStore
from harena.store.database import Database
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


def fake_node(
    home: Path,
    clock: Clock,
    runtime: Runtime | None = None,
    limits_of: LimitsOf | None = None,
    workspace: str = DEFAULT_WORKSPACE,
    **more: Any,
) -> Node:
    blueprints = Blueprints(clock, layers=LayerStore(home / "layers"), root=home / "blueprints")
    trainer = (sys.executable, "-m", "harena.testing.fake_trainer")
    place = more.pop("store_place", home / "harena.db")
    config = NodeConfig(store_place=place, limits_of=limits_of, training_worker=trainer, **more)
    return Node(runtime or FakeRuntime(), blueprints, clock, config, workspace=workspace)


@asynccontextmanager
async def served(
    operations: WholeNode,
    clock: Clock,
    home: Path,
    *,
    keyed: bool = False,
    quotas: Quotas | None = None,
    port: int = 0,
    store_place: Path | str | None = None,
) -> AsyncIterator[HttpServer]:
    """These operations behind HTTP; `store_place`: of the database, None = a file in `home`."""
    database = await Database.open(store_place or home / "harena.db")
    store = AccessStore(database)
    state = ServerState(
        operations,
        clock=clock,
        store=store,
        access=Keys(store, clock) if keyed else OpenAccess(),
        open_to_loopback=not keyed,
        version="0",
        quotas=quotas,
    )
    server = HttpServer(state, port=port)
    await server.start()
    try:
        yield server
    finally:
        await server.close(drain_seconds=5)
        state.leases.cancel_timers()
        await database.close()
    check_answers(state)


def check_answers(state: ServerState) -> None:
    """Whatever this server has answered in its life is documented for its route."""
    pages = text_string_to_metric_families(state.metrics.page(sandboxes_running=0).decode())
    samples = [sample for page in pages for sample in page.samples if sample.name == "harena_http_requests_total"]
    strange = []
    for labels in (sample.labels for sample in samples):
        method, route, status = labels["method"], labels["route"], labels["status"]
        operation = _documented().get(route, {}).get(method.lower())
        if operation is not None and status not in {*operation["responses"], "0"}:
            strange.append(f"{method} {route}: {status}")
    assert strange == [], f"docs/reference/openapi.json does not say that these can be answered: {strange}"


@cache
def _documented() -> dict[str, Any]:
    paths: dict[str, Any] = document.openapi()["paths"]
    return paths


@asynccontextmanager
async def world(
    home: Path,
    *,
    clock: Clock | None = None,
    keyed: bool = False,
    limits: LimitSource | None = None,
    **of_node: Any,
) -> AsyncIterator[World]:
    """A node with a fake runtime behind a real server."""
    clock, runtime = clock or SystemClock(), FakeRuntime()
    quotas = Quotas(WorkspaceLimits(), limits, clock)
    node = fake_node(home, clock, runtime, quotas.limits_of, **of_node)
    try:
        place = of_node.get("store_place")
        async with served(node, clock, home, keyed=keyed, quotas=quotas, store_place=place) as server:
            yield World(runtime, server._state, server)
    finally:
        await node.close()
