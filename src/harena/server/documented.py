"""The statuses that a route can answer beside its good one: told by its row in the table of operations.

The OpenAPI document has them, and tests hold every answer to that document.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Mapping
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints

from pydantic import TypeAdapter

from harena.core.frames import MEDIA_TYPE as FRAMES
from harena.core.operations import OPERATIONS, Operation
from harena.core.problems import CONTENT_TYPE, STATUSES
from harena.core.records.record import Record
from harena.core.records.sandbox_answers import ExecReport
from harena.server.event_streams import EVENT_SCHEMA, EVENTS, Happened
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
_SCHEMAS = "#/components/schemas/"
_NOTHING = {"type": "object", "maxProperties": 0}
_PROBLEM = {"schema": {"$ref": f"{_SCHEMAS}ProblemAnswer"}}


def describe(document: dict[str, Any]) -> dict[str, Any]:
    """The document, with the problems of each of its operations and the records that streams carry."""
    carried: dict[str, type[Record]] = {ExecReport.__name__: ExecReport}
    for operation in OPERATIONS:
        if operation.media_type == EVENTS:
            event = event_of(operation)
            carried[event.__name__] = event
            answer = document["paths"][operation.path][operation.method.lower()]["responses"]["200"]
            answer["content"][EVENTS]["schema"] = _events_schema(event)
        elif operation.media_type == FRAMES:
            answer = document["paths"][operation.path][operation.method.lower()]["responses"]["200"]
            answer["content"][FRAMES]["schema"]["description"] = f"The last frame, RESULT, is `{ExecReport.__name__}`."
        responses = document["paths"][operation.path][operation.method.lower()]["responses"]
        responses.pop("422", None)  # FastAPI's own, which this server never sends
        for status in sorted(statuses(operation)):
            responses[str(status)] = {"$ref": f"#/components/responses/Problem{status}"}
    components = document["components"]
    components["schemas"] |= request_schemas() | _record_schemas(carried)
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


def event_of(operation: Operation[..., Any]) -> type[Record]:
    """The record of each event that a stream carries, as the port's signature says."""
    assert operation.port is not None
    known: dict[str, type[Record]] = {kind.__name__: kind for kind in get_args(Happened)}
    written = SimpleNamespace(__annotations__={"events": inspect.signature(operation.port).return_annotation})
    (event,) = get_args(get_type_hints(written, {"AsyncIterator": AsyncIterator, **known})["events"])
    return known[str(event.__name__)]


def _events_schema(event: type[Record]) -> dict[str, Any]:
    data = {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": {"anyOf": [{"$ref": f"{_SCHEMAS}{event.__name__}"}, _PROBLEM["schema"], _NOTHING]},
    }
    said = "Each event; `data` is JSON: a problem for the event `problem`, an empty object for `end`."
    return {**EVENT_SCHEMA, "description": said, "properties": {**EVENT_SCHEMA["properties"], "data": data}}


def _record_schemas(records: Mapping[str, type[Record]]) -> dict[str, Any]:
    """By name, with what they hold."""
    adapters = [(name, "serialization", TypeAdapter(kind)) for name, kind in records.items()]
    _, made = TypeAdapter.json_schemas(adapters, ref_template=f"{_SCHEMAS}{{model}}")  # type: ignore[arg-type]
    schemas: dict[str, Any] = made["$defs"]
    for schema in schemas.values():
        for field in schema.get("properties", {}).values():
            if field.get("default", ...) is None:
                del field["default"]  # FastAPI leaves it out of its own schemas, too: null is no value to begin with
    return schemas


def _problem(status: int) -> dict[str, Any]:
    return {"description": MEANINGS[status], "content": {CONTENT_TYPE: _PROBLEM}}
