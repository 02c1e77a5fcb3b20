from __future__ import annotations

import base64
from pathlib import Path

import aiohttp
import pytest
from pydantic import BaseModel, TypeAdapter
from server_world import World, check_answers

from harena.core.models import ExecOutcome, ExecResult, FileInfo
from harena.core.problems import STATUSES
from harena.core.records.benchmark_jobs import (
    BenchmarkJob,
    BenchmarkJobsPage,
    BenchmarkResults,
    JobSummary,
    ResultsPage,
)
from harena.core.records.blueprints import Blueprint, BlueprintsPage
from harena.core.records.catalog import BenchmarkJobDef, ScoringContract, StoredScenarios
from harena.core.records.objects import StoredObjectsPage
from harena.core.records.record import Record
from harena.core.records.sandbox_answers import (
    CommandOutputs,
    DirectoryListing,
    ExecReport,
    ProcessListing,
    SandboxesPage,
)
from harena.core.records.sandboxes import SandboxInfo, SandboxUsage
from harena.core.records.server import ServerHealth
from harena.core.records.training_jobs import TrainingJobsPage
from harena.core.results import RunResult
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


def test_streams_say_which_records_they_carry() -> None:
    """Clients in other languages are made of the document: a record that it does not have would be typed by hand."""
    told, schemas = {}, document.openapi()["components"]["schemas"]
    for path, route in document.openapi()["paths"].items():
        content = route.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        if events := content.get("text/event-stream"):
            event, problem, _end = events["schema"]["properties"]["data"]["contentSchema"]["anyOf"]
            assert problem == {"$ref": "#/components/schemas/ProblemAnswer"}
            told[path] = event["$ref"].rpartition("/")[2]
    assert told == {
        "/v1/benchmark_jobs/{job}/events": "BenchmarkEvent",
        "/v1/training_jobs/{job}/events": "TrainingEvent",
        "/v1/image_pulls/{pull}/events": "ImagePullEvent",
        "/v1/image_builds/{build}/events": "ImageBuildEvent",
    }
    assert {*told.values(), "ExecReport", "ResourceUsage"} <= schemas.keys()


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
        ("/v1/sandboxes", SandboxesPage),
        ("/v1/sandboxes/ID", SandboxInfo),
        ("/v1/sandboxes/ID/processes", ProcessListing),
        ("/v1/sandboxes/ID/usage", SandboxUsage),
        ("/v1/sandboxes/ID/outputs", CommandOutputs),
        ("/v1/sandboxes/ID/files/list?path=/data", DirectoryListing),
        ("/v1/sandboxes/ID/files/stat?path=/data/x", FileInfo),
        ("/v1/sandboxes/ID/files/stat?path=/data/none", shapes.ProblemAnswer),
        ("/v1/blueprints", BlueprintsPage),
        ("/v1/blueprints/python-warm", Blueprint),
        ("/v1/blueprints/tools", Blueprint),
        ("/v1/benchmark_jobs", BenchmarkJobsPage),
        ("/v1/training_jobs", TrainingJobsPage),
        ("/v1/objects", StoredObjectsPage),
        ("/healthz", ServerHealth),
    ],
)
async def test_answers_are_as_documented(
    http: aiohttp.ClientSession, path: str, shape: type[BaseModel] | type[Record]
) -> None:
    """Answers are written by hand, and documented by their shapes: nothing more and nothing less."""
    files = {"/data/x": base64.b64encode(b"x").decode()}
    async with http.post("/v1/sandboxes", json={"files": files}) as answer:
        sandbox_id = (await answer.json())["id"]
    gateway = {"url": "https://git.test", "secret": "GIT", "rules": [{"path": "/a/**"}]}
    recipe = {"name": "tools", "files": files, "network": {"allow": ["pypi"]}, "gateways": {"GIT": gateway}}
    async with http.post("/v1/blueprints", json=recipe) as answer:
        assert answer.status == 201
    async with http.get(path.replace("ID", sandbox_id)) as answer:
        content = await answer.json(content_type=None)
    TypeAdapter(shape).validate_python(content)
    assert set(TypeAdapter(shape).json_schema().get("required", ())) - set(content) == set()


def test_every_answer_has_a_schema() -> None:
    """JSON answers name every field: none is said to be any mapping."""
    schemas = document.openapi()["components"]["schemas"]
    without = []
    for path, route in document.openapi()["paths"].items():
        for method, operation in route.items():
            for status, answer in operation["responses"].items():
                schema = answer.get("content", {}).get("application/json", {}).get("schema")
                if status.startswith("2") and schema is not None:
                    named = schemas.get(schema.get("$ref", "").rpartition("/")[2], schema)
                    if not named.get("properties"):
                        without.append((method, path))
    assert without == []


async def test_answers_about_jobs_are_as_documented(http: aiohttp.ClientSession) -> None:
    """A job's, its runs', and those of what it was made of, at each of their routes."""
    scoring = {"type": "stdio", "cases": [{"stdin": "1", "stdout": "1"}]}
    scenarios = [{"id": "s", "candidate": "print(input())", "scoring": scoring}]
    made: dict[str, type[Record]] = {
        "/v1/scenarios": StoredScenarios,
        "/v1/scoring_contracts": ScoringContract,
        "/v1/benchmark_job_defs": BenchmarkJobDef,
        "/v1/benchmark_jobs": BenchmarkJob,
        "/v1/scores": RunResult,
    }
    bodies = {
        "/v1/scenarios": {"name": "one", "scenarios": scenarios},
        "/v1/scoring_contracts": {"name": "echo", "contract": scoring},
        "/v1/benchmark_job_defs": {"name": "nightly", "request": {"scenarios": scenarios}},
        "/v1/benchmark_jobs": {"name": "j", "scenarios": {"ref": "one"}},
        "/v1/scores": {"scenario": scenarios[0]},
    }
    for path, kind in made.items():
        async with http.post(path, json=bodies[path]) as answer:
            content = await answer.json()
            assert answer.status < 300, content
            TypeAdapter(kind).validate_python(content)
    asked: dict[str, type[Record]] = {
        "/v1/scenarios/one?content=true": StoredScenarios,
        "/v1/scoring_contracts/echo": ScoringContract,
        "/v1/benchmark_job_defs/nightly?content=true": BenchmarkJobDef,
        "/v1/benchmark_jobs/j?wait_seconds=30": BenchmarkJob,
        "/v1/benchmark_jobs/j/results": BenchmarkResults,
        "/v1/benchmark_jobs/j/results/page": ResultsPage,
        "/v1/benchmark_jobs/j/summary": JobSummary,
    }
    for path, kind in asked.items():
        async with http.get(path) as answer:
            TypeAdapter(kind).validate_python(await answer.json())


def test_results_are_as_documented() -> None:
    """The RESULT frame, too."""
    result = ExecResult(outcome=ExecOutcome.EXITED, returncode=0, stdout=b"x", stderr=b"")
    TypeAdapter(ExecReport).validate_python(ExecReport.of(result).to_dict())
    assert ExecReport.from_dict(ExecReport.of(result).to_dict()).result(stdout=b"x", stderr=b"") == result
