"""What a request may hold is bounded and documented, field by field; too much is refused before it is looked at."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import aiohttp
import pytest
from server_world import World

from harena.server import document
from harena.server.app import MOST_MISTAKES

DOCUMENT = document.openapi()
_PLAIN_TEXT = frozenset({"enum", "const", "maxLength"})
_SENT_AS_THEY_ARE = ("application/octet-stream",)
"""files and trees: streamed, and never held"""


def asked() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every schema of a request, with its place: of parameters and bodies, and of what these refer to."""
    for path, route in DOCUMENT["paths"].items():
        for method, operation in route.items():
            for parameter in operation.get("parameters", ()):
                yield f"{method} {path} {parameter['name']}", parameter["schema"]
            for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                if kind not in _SENT_AS_THEY_ARE:
                    yield f"{method} {path} {kind}", content["schema"]


def answered() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every schema of an answer, with its place, whatever the schema is called."""
    for path, route in DOCUMENT["paths"].items():
        for method, operation in route.items():
            for status, response in operation["responses"].items():
                for kind, content in response.get("content", {}).items():
                    if kind not in _SENT_AS_THEY_ARE:
                        yield f"{method} {path} {status} {kind}", content["schema"]


def parts(place: str, schema: Mapping[str, Any], seen: set[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The schema, and all that is in it or referred to by it, once."""
    if (reference := schema.get("$ref")) is not None:
        if reference not in seen:
            seen.add(reference)
            name = reference.rsplit("/", 1)[-1]
            yield from parts(name, DOCUMENT["components"]["schemas"][name], seen)
        return
    yield place, schema
    for name, part in schema.get("properties", {}).items():
        yield from parts(f"{place}.{name}", part, seen)
    for word in ("items", "additionalProperties", "propertyNames"):
        if isinstance(part := schema.get(word), Mapping):
            yield from parts(f"{place}.{word}", part, seen)
    for word in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for number, part in enumerate(schema.get(word, ())):
            yield from parts(f"{place}.{word}[{number}]", part, seen)


def unbounded(schema: Mapping[str, Any]) -> str | None:
    """The bound that a schema lacks."""
    names = schema.keys()
    match schema.get("type"):
        case "array" if "maxItems" not in names:
            return "maxItems"
        case "string" if not names & _PLAIN_TEXT:
            return "maxLength"
        case "integer" | "number" if not names & {"maximum", "exclusiveMaximum", "enum", "const"}:
            return "maximum"
        case "object" if schema.get("additionalProperties", True) is not False and "maxProperties" not in names:
            return "maxProperties"
    return None


def test_every_part_of_every_request_is_bounded() -> None:
    """Of routes that are added, too: the document is made of the table of routes."""
    seen: set[str] = set()
    checked = [part for place, schema in asked() for part in parts(place, schema, seen)]
    assert len(checked) > 300
    assert [f"{place}: {bound}" for place, schema in checked if (bound := unbounded(schema))] == []


def test_every_list_of_every_answer_is_bounded() -> None:
    """So that no answer grows with what a workspace, or a program, has made."""
    seen: set[str] = set()
    checked = [part for place, schema in answered() for part in parts(place, schema, seen)]
    assert len(checked) > 500
    found = [place for place, schema in checked if unbounded(schema) == "maxItems"]
    assert found == []


WRONG = 100_000
"""wrong values of a body of some megabytes"""


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/sandboxes", {"tags": [1] * WRONG}),
        ("/v1/sandboxes", {"annotations": {f"n{number}": 1 for number in range(WRONG)}}),
        ("/v1/sandboxes", {f"unknown{number}": 1 for number in range(WRONG)}),
        ("/v1/sandboxes", {"limits": {f"unknown{number}": 1 for number in range(WRONG)}}),
        ("/v1/sandboxes", {"x" * 500_000: 1}),
        ("/v1/sandboxes", {"image": "x" * 500_000}),
        ("/v1/sandboxes", {"files": {f"/data/{number}": 1 for number in range(9_000)}}),
        ("/v1/blueprints", {"name": "n", "packages": [{}] * WRONG}),
        ("/v1/scenarios", {"name": "n", "scenarios": [], "metadata": {str(number): [] for number in range(WRONG)}}),
        ("/v1/benchmark_jobs", {"name": "n", "scenarios": [], "config": {"retry_on": ["x"] * WRONG}}),
        ("/v1/keys", {"name": "n", "scopes": ["x"] * WRONG}),
        ("/v1/scores", {"scenario": {str(number): 1 for number in range(WRONG)}}),
        (
            "/v1/training_jobs",
            {"trainer_type": "sft", "model": "m", "config": {"trajectory_dataset_refs": [1] * WRONG}},
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else next(iter(given))[:20],
)
async def test_wrong_values_without_number_are_few_mistakes(
    http: aiohttp.ClientSession, path: str, body: dict[str, Any]
) -> None:
    """What is wrong is told in a few short lines; nothing of a large input is sent back, and little is made of it."""
    content = json.dumps(body).encode()
    async with http.post(path, data=io.BytesIO(content), headers={"content-type": "application/json"}) as answer:
        assert answer.status in (403, 422), await answer.text()  # 403: there are no keys here to make
        problem = await answer.text()
    assert len(problem) < 12_000
    assert len(json.loads(problem)["detail"].splitlines()) <= MOST_MISTAKES + 2


async def test_twenty_mistakes_are_told(http: aiohttp.ClientSession) -> None:
    """And that there may be more."""
    async with http.post(
        "/v1/sandboxes", json={"tags": list(range(15)), "env": dict.fromkeys("abcdefgh", 1)}
    ) as answer:
        lines = (await answer.json(content_type=None))["detail"].splitlines()
    assert len(lines) == MOST_MISTAKES + 2
    assert lines[-1] == "  ... and perhaps 3 more"


@pytest.mark.parametrize("query", ["", f"&max_bytes={1 << 50}", "&max_bytes=1000"])
async def test_a_sparse_file_costs_nothing(here: World, http: aiohttp.ClientSession, query: str) -> None:
    """A file that says that it has a tebibyte is refused before a byte of it is read."""
    async with http.post("/v1/sandboxes", json={}) as answer:
        sandbox_id = (await answer.json())["id"]
    sparse = here.runtime.sandboxes[sandbox_id].files.host_path("/workspace/sparse")
    sparse.touch()
    os.truncate(sparse, 1 << 40)
    async with http.get(f"/v1/sandboxes/{sandbox_id}/files?path=/workspace/sparse{query}") as answer:
        assert (answer.status, (await answer.json(content_type=None))["reason"]) == (413, "TOO_LARGE")
