from __future__ import annotations

import base64
from pathlib import Path

import aiohttp
import pytest
from pydantic import BaseModel
from server_world import World, check_answers

from harena.core.models import ExecOutcome, ExecResult
from harena.core.problems import STATUSES
from harena.core.wire import result_to_json
from harena.server import document, documented, shapes
from harena.server.metrics import Metrics

ROOT = Path(__file__).parents[3]


def test_the_document_is_the_servers() -> None:
    """`python -m harena.server.document docs/reference/openapi.json` writes it anew."""
    assert (ROOT / "docs/reference/openapi.json").read_text(encoding="utf-8") == document.text()


def test_every_route_but_the_health_check_needs_a_key() -> None:
    """And says so, with a problem for what goes wrong."""
    open_routes = []
    for path, route in document.openapi()["paths"].items():
        for method, operation in route.items():
            assert {"403", "500"} <= set(operation["responses"])
            if not operation.get("security"):
                open_routes.append((method, path))
    assert open_routes == [("get", "/healthz")]


def test_every_status_of_the_table_has_a_meaning() -> None:
    """And nothing else has: what a route is said to answer comes from the table of problems."""
    assert set(documented.MEANINGS) == set(STATUSES)
    named = {
        status
        for route in document.openapi()["paths"].values()
        for operation in route.values()
        for status in operation["responses"]
    }
    assert {int(status) for status in named if int(status) >= 300} == set(STATUSES) - {400, 405, 431}


async def test_an_answer_that_is_not_documented_is_noticed(here: World, http: aiohttp.ClientSession) -> None:
    """By what every test with a server ends with."""
    async with http.get("/v1/blueprints/none") as answer:
        assert answer.status == 404
    check_answers(here.state)
    here.state.metrics.answered("GET", "/v1/blueprints", 404, 0.0)
    with pytest.raises(AssertionError, match="GET /v1/blueprints: 404"):
        check_answers(here.state)
    here.state.metrics = Metrics()


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/v1/sandboxes", shapes.SandboxesAnswer),
        ("/v1/sandboxes/ID", shapes.SandboxAnswer),
        ("/v1/sandboxes/ID/processes", shapes.ProcessesAnswer),
        ("/v1/sandboxes/ID/files/list?path=/data", shapes.FilesAnswer),
        ("/v1/sandboxes/ID/files/stat?path=/data/x", shapes.FileAnswer),
        ("/v1/sandboxes/ID/files/stat?path=/data/none", shapes.ProblemAnswer),
        ("/v1/blueprints", shapes.BlueprintsAnswer),
        ("/v1/blueprints/python-warm", shapes.BlueprintAnswer),
        ("/v1/benchmark_jobs", shapes.JobsAnswer),
        ("/healthz", shapes.HealthAnswer),
    ],
)
async def test_answers_are_as_documented(http: aiohttp.ClientSession, path: str, shape: type[BaseModel]) -> None:
    """Answers are written by hand, and documented by their shapes: nothing more and nothing less."""
    files = {"/data/x": base64.b64encode(b"x").decode()}
    async with http.post("/v1/sandboxes", json={"files": files}) as answer:
        sandbox_id = (await answer.json())["id"]
    async with http.get(path.replace("ID", sandbox_id)) as answer:
        content = await answer.json(content_type=None)
    shape.model_validate(content)
    missing = {name for name, field in shape.model_fields.items() if field.is_required()} - set(content)
    assert missing == set()


def test_results_are_as_documented() -> None:
    """The RESULT frame, too."""
    result = ExecResult(outcome=ExecOutcome.EXITED, returncode=0, stdout=b"x", stderr=b"")
    shapes.ExecResultAnswer.model_validate(result_to_json(result))
