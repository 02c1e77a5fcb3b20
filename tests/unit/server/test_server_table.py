"""The table of operations, the routes, the document, the ports and the client say the same."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute

from harena.core import ports
from harena.core.clock import SystemClock
from harena.core.operations import OPERATIONS, Operation
from harena.node.node import NodeInWorkspace
from harena.sdk.http.operations import HttpOperations
from harena.server import app, document, routes
from harena.server.app import create_app
from harena.server.identity import OpenAccess
from harena.server.state import ServerState

PORTS = tuple(
    kind
    for kind in ports.Operations.__mro__
    if kind.__module__.startswith("harena.core.ports.") and kind is not ports.Operations
)
HANDLES = {"create_sandbox", "get_sandbox", "list_sandboxes"}
"""their answers are handles, which stay connected: their rows have no port"""
OF_A_CLASS = [name for port in PORTS for name in vars(port) if not name.startswith("_")]


@cache
def documented_paths() -> Mapping[str, Any]:
    """The paths of the OpenAPI document: path -> method in small letters -> operation."""
    paths: Mapping[str, Any] = document.openapi()["paths"]
    return paths


def test_the_document_has_the_operations_of_the_table() -> None:
    """One row each, none left out, no name twice."""
    documented = {(path, method.upper()) for path, route in documented_paths().items() for method in route}
    assert sorted((row.path, row.method) for row in OPERATIONS) == sorted(documented)
    assert len({row.id for row in OPERATIONS}) == len(OPERATIONS)


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: row.id)
def test_the_document_says_what_the_row_says(row: Operation[..., Any]) -> None:
    """Id, scope, body, and a schema or media type for the answer."""
    told = documented_paths()[row.path][row.method.lower()]
    assert told["operationId"] == row.id
    assert told.get("security", []) == ([] if row.scope is None else [{"HTTPBearer": [row.scope]}])
    answer = told["responses"][str(row.status)].get("content", {})
    if row.answer is None:
        assert answer == {}
    elif row.media_type != "application/json":
        assert list(answer) == [row.media_type]
    else:
        name = row.answer if isinstance(row.answer, str) else row.answer.__name__
        assert answer["application/json"]["schema"] == {"$ref": f"#/components/schemas/{name}"}
    if row.body is None:
        assert "requestBody" not in told
    elif "/" in row.body:
        assert list(told["requestBody"]["content"]) == [row.body]
    else:
        assert "application/json" in told["requestBody"]["content"]
    key = [one for one in told.get("parameters", ()) if one["name"] == "idempotency-key"]
    assert bool(key) == row.creates


def test_every_method_of_the_ports_is_in_the_table() -> None:
    """Or waits for something that is: nothing that a node can do is missing over HTTP."""
    known = {row.port.__name__ for row in OPERATIONS if row.port is not None}
    waited = {f"wait_{row.port.__name__.removeprefix('get_')}" for row in OPERATIONS if row.port and row.waits}
    assert set(OF_A_CLASS) == known | waited | HANDLES


@pytest.mark.parametrize("kind", [NodeInWorkspace, HttpOperations])
@pytest.mark.parametrize("row", [row for row in OPERATIONS if row.port], ids=lambda row: row.id)
def test_both_transports_take_what_the_port_takes(kind: type, row: Operation[..., Any]) -> None:
    """By the same names: what the address carries is read from the port's signature alone."""
    taken, asked = (
        {one.name: one.kind for one in inspect.signature(method).parameters.values()}
        for method in (getattr(kind, row.port.__name__), row.port)
    )
    assert taken == asked or "kwargs" in taken  # the latter is made from the row


def test_applications_of_one_process_have_the_same_routes() -> None:
    """To make them takes most of a server's start."""
    nobody: Any = None
    states = [
        ServerState(nobody, clock=SystemClock(), store=nobody, access=OpenAccess(), open_to_loopback=True, version="0")
        for _ in range(2)
    ]
    first, second = ([route for route in create_app(state).routes if isinstance(route, APIRoute)] for state in states)
    assert len(first) > len(OPERATIONS) // 2
    assert [*map(id, first)] == [*map(id, second)]


def test_nouns_without_a_module_have_their_routes() -> None:
    """Snapshots and objects need no more than their rows: nothing is written for them in `server/routes`."""
    for noun in ("snapshots", "objects"):
        assert {row.noun for row in app._FROM_THE_TABLE.operations} >= {noun}
        assert not (Path(routes.__path__[0]) / f"{noun}.py").exists()
