"""The statuses that a route can answer beside its good one: told by what the route does, and written down only here.

The OpenAPI document has them, and tests hold every answer to that document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harena.core.problems import CONTENT_TYPE, STATUSES
from harena.server.training_shapes import request_schemas

MEANINGS = {
    400: "This is no HTTP request.",
    401: "There is no key, or it is unknown or was revoked.",
    403: "The key's scopes do not allow this, the sandbox has no right to the file, or a web page asks.",
    404: "There is no such thing in your workspace.",
    405: "The route has other methods.",
    409: "The state of the thing does not allow this; `code` and `reason` say why.",
    413: "What was sent or asked for is too large.",
    414: "The address is too long.",
    415: "The body is of another kind; content-type says which.",
    422: "There are mistakes in the request; all are listed, and nothing was done.",
    429: "Too much was asked for at one time; ask again after `retry_after_seconds`.",
    431: "The headers are too large.",
    500: "A fault of the server.",
    501: "The server's host lacks what this needs.",
    503: "The server is about to stop, or has no room or no store at the moment; ask again.",
    504: "It took longer than it may.",
    507: "No space is left in the sandbox.",
}
"""status -> what it means; a test holds it to the table of problems"""

BEFORE_ROUTES = frozenset({400, 405, 414, 431})
"""what is answered before there is a route; an address can be too long for each of them"""
_PROBLEM = {"schema": {"$ref": "#/components/schemas/ProblemAnswer"}}
_SANDBOX = "/v1/sandboxes/{sandbox_id}"
_FILES = tuple(f"{_SANDBOX}/{noun}" for noun in ("files", "directories", "archive"))
_STARTS_SANDBOXES = "/v1/sandboxes"
_CALIBRATES = "/v1/calibrations"
_PUBLISHES = "/v1/objects"
_NAMES_OTHERS = (
    "/v1/sandboxes",
    "/v1/benchmark_jobs",
    "/v1/blueprints",
    "/v1/scores",
    "/v1/training_jobs",
    _CALIBRATES,
)
"""their bodies name a blueprint, an image, a lease or a data set that there may not be"""


_IN_CATALOG = ("/v1/scenarios/", "/v1/scoring_contracts/", "/v1/benchmark_job_defs/")


def describe(document: dict[str, Any]) -> dict[str, Any]:
    """The document, with the problems of each of its operations."""
    for path, route in document["paths"].items():
        for method, operation in route.items():
            operation["responses"].pop("422", None)  # FastAPI's own, which this server never sends
            for status in sorted(statuses(method, path, operation)):
                operation["responses"][str(status)] = {"$ref": f"#/components/responses/Problem{status}"}
    components = document["components"]
    components["schemas"] |= request_schemas()
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    components["responses"] = {f"Problem{status}": _problem(status) for status in MEANINGS if status in STATUSES}
    return document


def statuses(method: str, path: str, operation: Mapping[str, Any]) -> set[int]:
    """HTTP statuses of the problems that this operation can answer."""
    found = {403, 414, 500}  # a stranger asks, with an address beyond all bounds, or there is a bug
    if operation.get("security"):
        found |= {401, 422, 429, 503}
    if "{" in path or (method == "post" and path in _NAMES_OTHERS):
        found.add(404)
    if "requestBody" in operation:
        found |= {413, 415}
    if method == "post" and path == _STARTS_SANDBOXES:
        found |= {409, 501, 504}
    if (method == "post" and path == _PUBLISHES) or (method == "delete" and path.startswith(_PUBLISHES)):
        found.add(409)
    if method == "delete" and path.startswith(_IN_CATALOG):
        found.add(409)
    if method == "post" and path == _CALIBRATES:
        found.add(501)
    if path.startswith(_SANDBOX):
        found |= {409, 504}
    if path.startswith(_FILES):
        found |= {413} if method == "get" else {413, 507}
    return found


def _problem(status: int) -> dict[str, Any]:
    return {"description": MEANINGS[status], "content": {CONTENT_TYPE: _PROBLEM}}
