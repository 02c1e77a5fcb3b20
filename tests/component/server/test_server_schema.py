"""schemathesis over every operation of the document: no failure of the server, nothing that is not documented.

Bounded and the same on every run; HARENA_SCHEMA_EXAMPLES=500 looks deeper.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode
from served import CHECKS, EXAMPLES, SCHEMA, Served

from harena.scoring import battery
from harena.server import document
from harena.server.waiting import MOST_WAIT_SECONDS

OPERATIONS = sorted((path, method.upper()) for path, route in document.openapi()["paths"].items() for method in route)
FRAMING = ("transfer-encoding", "content-length")
CASES = [
    pytest.param(path, method, mode, id=f"{method} {path} {mode.value}")
    for path, method in OPERATIONS
    for mode in GenerationMode
    if (path, mode) != ("/healthz", GenerationMode.NEGATIVE)  # which takes nothing that could be wrong
]


@pytest.mark.parametrize(("path", "method", "mode"), CASES)
def test_operations(
    served: Served, path: str, method: str, mode: GenerationMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests as documented and others, about things that there are and things that there are not."""
    monkeypatch.setattr(battery, "BATTERY", ())  # a node that does not isolate runs no forgery
    names = served.names()
    operation = SCHEMA[path][method]

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=operation.as_strategy(mode), known=st.booleans())
    def each(case: schemathesis.Case, known: bool) -> None:
        if known:
            case.path_parameters = {**(case.path_parameters or {}), **_of(names, path)}
        _made_short(case)
        # a request whose framing is wrong has no route: its answer is documented for all of them together
        case.headers = {k: v for k, v in (case.headers or {}).items() if k.lower() not in FRAMING}
        response = case.call(base_url=served.world.url, session=served.http, timeout=30)
        case.validate_response(response, checks=CHECKS)

    each()


def _of(names: Mapping[str, str], path: str) -> dict[str, str]:
    return {name: value for name, value in names.items() if f"{{{name}}}" in path}


def _made_short(case: schemathesis.Case) -> None:
    """What would wait, or start a program of this machine by chance, does so no longer."""
    for name in ("seconds", "wait_seconds"):
        if name in case.operation.query and _is_a_while((case.query or {}).get(name, "30")):
            case.query = {**(case.query or {}), name: "0"}
    if isinstance(case.body, dict) and isinstance(argv := case.body.get("argv"), list) and argv:
        argv[0] = "true"
    if isinstance(case.body, dict) and "grace_seconds" in case.body:
        case.body["grace_seconds"] = 0


def _is_a_while(written: Any) -> bool:
    try:
        return 0 < float(written) <= MOST_WAIT_SECONDS
    except (TypeError, ValueError):
        return False
