"""Routes that are made from the table of operations.

An operation whose port answers a record, nothing or pieces of bytes needs no more than its row, also where its
parameters are the fields of a JSON body. One whose port takes a `request` names what checks and reads it (`JsonBody`).
Streams of events are written by hand, below their row's method and path.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, TypeVar, get_args, get_origin

from fastapi import APIRouter, Body, Query, Request, Response
from fastapi import Path as InPath
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, create_model

from harena.core.errors import ValidationError
from harena.core.frames import MEDIA_TYPE as FRAMES
from harena.core.idempotency import IdempotencyKey
from harena.core.operations.operation import Operation, Parameter
from harena.core.operations.sandboxes import TAR
from harena.core.parameters import Bounds
from harena.core.ports import Operations, WholeNode
from harena.server import shapes
from harena.server.answers import JsonAnswer, begin_stream
from harena.server.bodies import OCTETS, JsonRoute, arriving
from harena.server.bounds import Pairs
from harena.server.event_streams import EVENT_SCHEMA, EVENTS
from harena.server.idempotency import Refindable
from harena.server.identity import Caller
from harena.server.routes.dependencies import BYTES, CALLERS, Once, State
from harena.server.routes.given_files import with_files
from harena.server.state import ServerState
from harena.server.waiting import WaitSeconds, found_after

_BINARY = {"type": "string", "format": "binary"}
_STREAMS: Mapping[str, Mapping[str, Any]] = {
    EVENTS: EVENT_SCHEMA,
    OCTETS: _BINARY,
    TAR: _BINARY,
    FRAMES: {"type": "string", "contentMediaType": FRAMES},
    "text/plain": {"type": "string"},
}
"""media type of answers that are no JSON -> how the document describes them"""

AnyOperation = Operation[Any, Any]
Port = Callable[[WholeNode, str], Any]
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def in_workspace(node: WholeNode, workspace: str) -> Operations:
    """Who is asked for harena's own operations."""
    return node.in_workspace(workspace)


@dataclass(frozen=True, slots=True)
class JsonBody:
    """How the body of an operation is checked, and what its port is asked with."""

    shape: Any
    """pydantic checks the body against it"""
    request: Callable[[Any], Mapping[str, Any]] = dict
    """the port's request of the checked body; files are still as they came"""
    documented: Mapping[str, Any] | None = None
    """what the document says of the body beside its shape"""


class TableRoutes:
    """The routes of one noun. Used while the application is put together."""

    def __init__(
        self,
        operations: Sequence[AnyOperation],
        bodies: Mapping[AnyOperation, JsonBody] | None = None,
        answers: Mapping[AnyOperation, Callable[[Any], Any]] | None = None,
        known: Mapping[AnyOperation, Callable[[Any], Refindable[Any]]] | None = None,
        *,
        port: Port = in_workspace,
        documented: bool = True,
    ) -> None:
        """`bodies`: how JSON is taken. `answers`: how what a port gives becomes an answer, where it is none itself.
        `known`: how a port finds again what an operation has created, where it does not keep the idempotency key, and
        it is not found by the id of its record. `port`: who is asked, for a node and a workspace. `documented`: the
        OpenAPI document has the routes."""
        self.operations = operations
        self._port = port
        self._is_documented = documented
        self._bodies = bodies or {}
        self._known = known or {}
        self._answers = answers or {}
        self._by_hand: dict[AnyOperation, tuple[Callable[..., Any], Mapping[str, Any]]] = {}

    def by_hand(self, operation: AnyOperation, **more: Any) -> Callable[[Endpoint], Endpoint]:
        """Decorates the endpoint of an operation; `more` is FastAPI's, as `openapi_extra`."""

        def take(endpoint: Endpoint) -> Endpoint:
            self._by_hand[operation] = endpoint, more
            return endpoint

        return take

    @cached_property
    def router(self) -> APIRouter:
        """Routes of all its operations, in their order. They are made once, because FastAPI takes 10 ms of processor
        time for each, and serve every application of the process: none is among what they know."""
        router = APIRouter(
            route_class=JsonRoute,
            responses={500: {"model": shapes.ProblemAnswer}},  # so that the document has its schema
            generate_unique_id_function=_operation_id,
        )
        for operation in self.operations:
            endpoint, more = self._by_hand.get(operation) or self._make_endpoint(operation)
            if operation.body == OCTETS:
                more = {"openapi_extra": BYTES, **more}
            router.add_api_route(
                operation.path,
                endpoint,
                methods=[operation.method],
                name=operation.name,
                tags=[operation.noun],
                status_code=operation.status,
                include_in_schema=self._is_documented,
                **{**_answered(operation), **more},
            )
        return router

    def _make_endpoint(self, operation: AnyOperation) -> tuple[Callable[..., Any], Mapping[str, Any]]:
        body = self._bodies.get(operation)
        extra = None if body is None else {"openapi_extra": body.documented}
        to_answer = self._answers.get(operation, lambda found: found)
        known = None
        if operation.creates and not operation.has_key:
            known = self._known.get(operation) or _found_by_id(operation, self.operations)
        if body is not None:
            endpoint = _asked_by_json(operation, self._port, body, to_answer, known)
        elif operation.has_fields:
            endpoint = _asked_by_fields(operation, self._port, to_answer, known)
        elif operation.media_type in _STREAMS:
            endpoint = _streaming(operation, self._port)
        elif operation.body == OCTETS:
            endpoint = _receiving(operation, self._port)
        else:
            endpoint = _asked_by_address(operation, self._port, to_answer)
        return endpoint, {**(extra or {}), "description": operation.description}


def _operation_id(route: APIRoute) -> str:
    return f"{route.tags[0]}_{route.name}".replace(" ", "_")


def _answered(operation: AnyOperation) -> dict[str, Any]:
    """How the document describes the answer."""
    if operation.answer is not None and "/" not in str(operation.answer):
        return {"response_model": vars(shapes).get(str(operation.answer), operation.answer)}
    if operation.media_type in _STREAMS:
        content = {operation.media_type: {"schema": _STREAMS[operation.media_type]}}
        return {"response_class": Response, "responses": {200: {"content": content}}}
    return {"response_model": None}


def _asked_by_address(operation: AnyOperation, port_of: Port, to_answer: Callable[[Any], Any]) -> Callable[..., Any]:
    """An endpoint that asks the port with what the address says."""

    async def asked(_caller: Caller, _state: ServerState, **given: Any) -> Response:
        if operation.starts_work:
            _state.check_not_draining()
        port = port_of(_state.operations, _caller.workspace)
        given |= {name: _pairs(given[name]) for name in mappings}
        if operation.waits is None:
            found = await operation.of(port, given)
        else:
            seconds = given.pop("wait_seconds")
            ((_, name),) = given.items()
            found = await found_after(
                _state,
                lambda known: operation.of(port, {_: known}),
                partial(operation.waits, port),
                name,
                seconds,
            )
        return Response(status_code=204) if operation.answer is None else JsonAnswer(to_answer(found), operation.status)

    mappings = [one.name for one in operation.parameters() if one.bounds.pairs]
    waiting = [] if operation.waits is None else [_parameter("wait_seconds", WaitSeconds, 0.0)]
    return _signed(asked, operation, [*map(_from_address, operation.parameters()), *waiting])


def _asked_by_json(
    operation: AnyOperation,
    port_of: Port,
    body: JsonBody,
    to_answer: Callable[[Any], Any],
    known: Callable[[Any], Refindable[Any]] | None,
) -> Callable[..., Any]:
    """An endpoint that asks the port with a body; for a creation once for each idempotency key."""

    async def take(
        asked: Any, _caller: Caller, _state: ServerState, _key: IdempotencyKey | None = None, **address: Any
    ) -> Response:
        if operation.starts_work:
            _state.check_not_draining()
        given, key = body.request(asked), {"key": _key} if operation.has_key else {}
        port = port_of(_state.operations, _caller.workspace)

        async def made() -> Any:
            async with with_files(given) as request:
                return await operation.of(port, {**address, "request": request, **key})

        if not operation.creates:
            return JsonAnswer(to_answer(await made()), operation.status)
        route = operation.path.removeprefix("/v1/")
        found = known and known(port)
        return JsonAnswer(
            to_answer(await _state.idempotency.once(_caller.workspace, route, _key, made, found)), operation.status
        )

    once = [_parameter("_key", Once)] if operation.creates else []
    return _signed(
        take, operation, [*map(_from_address, operation.parameters()), _parameter("asked", body.shape), *once]
    )


def _asked_by_fields(
    operation: AnyOperation,
    port_of: Port,
    to_answer: Callable[[Any], Any],
    known: Callable[[Any], Refindable[Any]] | None,
) -> Callable[..., Any]:
    """An endpoint that asks the port with its address and the fields of a JSON body; for a creation once for each
    idempotency key."""

    async def take(
        _asked: Any, _caller: Caller, _state: ServerState, _key: IdempotencyKey | None = None, **given: Any
    ) -> Response:
        if operation.starts_work:
            _state.check_not_draining()
        port = port_of(_state.operations, _caller.workspace)
        fields = {one.name: getattr(_asked, one.name) for one in operation.fields()}
        key = {"key": _key} if operation.has_key else {}

        async def made() -> Any:
            return await operation.of(port, {**given, **fields, **key})

        if operation.creates:
            route, found = operation.path.removeprefix("/v1/"), known and known(port)
            answer = await _state.idempotency.once(_caller.workspace, route, _key, made, found)
        else:
            answer = await made()
        if operation.answer is None:
            return Response(status_code=204)
        return JsonAnswer(to_answer(answer), operation.status)

    once = [_parameter("_key", Once)] if operation.creates else []
    body = _parameter("_asked", Annotated[_shape_of(operation), Body()])
    return _signed(take, operation, [*map(_from_address, operation.parameters()), body, *once])


def _found_by_id(operation: AnyOperation, operations: Sequence[AnyOperation]) -> Callable[[Any], Refindable[Any]]:
    """How a port finds again what was created: by its id, with the operation that gets one."""
    (get,) = (
        one
        for one in operations
        if one.method == "GET" and one.answer is operation.answer and one.path.startswith(f"{operation.path}/{{")
    )
    (named,) = (one.name for one in get.parameters() if one.in_path)

    def known(port: Any) -> Refindable[Any]:
        return Refindable(lambda record: record.id, lambda its_id: get.of(port, {named: its_id}))

    return known


def _shape_of(operation: AnyOperation) -> type[BaseModel]:
    """What the fields of the body are checked against."""
    fields: dict[str, Any] = {}
    for one in operation.fields():
        default = ... if one.required else one.default
        fields[one.name] = (_bounded(one.kind, one.bounds), Field(default, repr=not one.bounds.hidden))
    assert operation.body is not None
    return create_model(
        operation.body, __base__=shapes.RequestBody, __doc__=f"What `{operation.id}` is asked with.", **fields
    )


def _bounded(kind: Any, bounds: Bounds) -> Any:
    """The type of a field, with the bounds of its items."""
    if get_origin(kind) is Annotated:
        kind, *more = get_args(kind)
        bounds = next((one for one in more if isinstance(one, Bounds)), bounds)
    if get_origin(kind) is Sequence:
        kind = list[tuple(_bounded(item, Bounds()) for item in get_args(kind))]  # type: ignore[misc]
    return Annotated[kind, Field(**_limits(bounds))]


def _limits(bounds: Bounds) -> dict[str, Any]:
    """The bounds that are set, by the names that FastAPI and pydantic know."""
    held: dict[str, Any] = {
        "ge": bounds.ge,
        "le": bounds.le,
        "min_length": bounds.min_length,
        "max_length": bounds.max_length,
        "pattern": bounds.pattern,
    }
    return {name: bound for name, bound in held.items() if bound is not None}


def _receiving(operation: AnyOperation, port_of: Port) -> Callable[..., Any]:
    """An endpoint that asks the port with bytes, while they arrive."""

    async def receive(_request: Request, _caller: Caller, _state: ServerState, **given: Any) -> Response:
        port = port_of(_state.operations, _caller.workspace)
        return JsonAnswer(await operation.of(port, {**given, "tree": arriving(_request)}), operation.status)

    parameters = [*map(_from_address, operation.parameters())]
    return _signed(receive, operation, [*parameters, _parameter("_request", Request)])


def _streaming(operation: AnyOperation, port_of: Port) -> Callable[..., Any]:
    """An endpoint that sends the pieces that the port gives."""

    async def stream(_caller: Caller, _state: ServerState, **given: Any) -> Response:
        pieces = operation.of(port_of(_state.operations, _caller.workspace), given)
        return await begin_stream(_closed_at_the_end(pieces), operation.media_type)

    return _signed(stream, operation, [*map(_from_address, operation.parameters())])


async def _closed_at_the_end(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(pieces) as stream:
        async for piece in stream:
            yield piece


def _signed(
    endpoint: Callable[..., Any], operation: AnyOperation, parameters: Sequence[inspect.Parameter]
) -> Callable[..., Any]:
    """The endpoint with the signature that FastAPI shall see."""
    of_all = [_parameter("_caller", CALLERS[operation.scope]), _parameter("_state", State)]
    endpoint.__signature__ = inspect.Signature([*parameters, *of_all])  # type: ignore[attr-defined]
    return endpoint


def _from_address(parameter: Parameter) -> inspect.Parameter:
    bounds = parameter.bounds
    kind = parameter.kind if bounds.one_of is None else bounds.one_of | None
    if bounds.pairs:
        return _parameter(parameter.name, Pairs, [])
    place = InPath(**_limits(bounds)) if parameter.in_path else Query(**_limits(bounds))
    return _parameter(parameter.name, Annotated[kind, place], parameter.default)


def _pairs(written: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE as a mapping. Raises ValidationError."""
    found = {}
    for pair in written:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ValidationError(f"metadata {pair!r}: write it as NAME=VALUE")
        found[name] = value
    return found


def _parameter(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
