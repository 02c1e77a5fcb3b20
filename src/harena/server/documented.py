"""The statuses that a route can answer beside its good one: told by its row in the table of operations.

The OpenAPI document has them, and tests hold every answer to that document.
"""

from __future__ import annotations

from typing import Any

from harena.core.operations import OPERATIONS, Operation
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
    502: "The registry of an image, or the image itself, is at fault; `reason` says which.",
    503: "The server is about to stop, or has no room or no store at the moment; ask again.",
    504: "It took longer than it may.",
    507: "No space is left in the sandbox.",
}
"""status -> what it means; a test holds it to the table of problems"""

BEFORE_ROUTES = frozenset({400, 405, 414, 431})
"""what is answered before there is a route; an address can be too long for each of them"""
_PROBLEM = {"schema": {"$ref": "#/components/schemas/ProblemAnswer"}}


def describe(document: dict[str, Any]) -> dict[str, Any]:
    """The document, with the problems of each of its operations."""
    for operation in OPERATIONS:
        responses = document["paths"][operation.path][operation.method.lower()]["responses"]
        responses.pop("422", None)  # FastAPI's own, which this server never sends
        for status in sorted(statuses(operation)):
            responses[str(status)] = {"$ref": f"#/components/responses/Problem{status}"}
    components = document["components"]
    components["schemas"] |= request_schemas()
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    components["responses"] = {f"Problem{status}": _problem(status) for status in MEANINGS if status in STATUSES}
    return document


def statuses(operation: Operation[..., Any]) -> set[int]:
    """HTTP statuses of the problems that this operation can answer."""
    found = {403, 414, 500}  # a stranger asks, with an address beyond all bounds, or there is a bug
    if operation.scope is not None:
        found |= {401, 422, 429, 503}
    if "{" in operation.path:
        found.add(404)
    if operation.body is not None:
        found |= {413, 415}
    return found | operation.errors


def _problem(status: int) -> dict[str, Any]:
    return {"description": MEANINGS[status], "content": {CONTENT_TYPE: _PROBLEM}}
