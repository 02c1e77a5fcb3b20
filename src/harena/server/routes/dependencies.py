"""Dependencies of all routes: the caller and its scope, the state, unknown query parameters, idempotency keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer

from harena.core.errors import ValidationError
from harena.core.idempotency import IdempotencyKey
from harena.core.operations.operation import ADMIN, PUBLISH, READ, WRITE, Scope
from harena.core.threads import BODIES
from harena.server.bodies import AT_ONCE_BYTES
from harena.server.bounds import OnceHeader
from harena.server.identity import Caller
from harena.server.state import ServerState, state_of

BYTES = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
"""how a body of plain bytes is documented"""

_documented = HTTPBearer(auto_error=False, description="An API key; not needed on a server that has none.")


def check_query(request: Request) -> None:
    """Raises ValidationError for a query parameter that the route does not know, or that is given twice."""
    route = request.scope.get("route")
    if isinstance(route, APIRoute):
        known = {parameter.alias for parameter in route.dependant.query_params}
        if unknown := sorted(set(request.query_params) - known):
            there_are = ", ".join(sorted(known)) or "none"
            raise ValidationError(f"unknown query parameter {', '.join(unknown)}; there are: {there_are}")


def _caller(request: Request, scope: Scope) -> Caller:
    caller: Caller = request.state.caller  # told apart by `harena.server.requests`, before the body was read
    caller.check(scope)
    check_query(request)
    return caller


async def _reader(request: Request, _: Annotated[object, Security(_documented, scopes=[READ])]) -> Caller:
    return _caller(request, READ)


async def _writer(request: Request, _: Annotated[object, Security(_documented, scopes=[WRITE])]) -> Caller:
    return _caller(request, WRITE)


async def _admin(request: Request, _: Annotated[object, Security(_documented, scopes=[ADMIN])]) -> Caller:
    return _caller(request, ADMIN)


async def _publisher(request: Request, _: Annotated[object, Security(_documented, scopes=[PUBLISH])]) -> Caller:
    return _caller(request, PUBLISH)


async def _once(request: Request, idempotency_key: OnceHeader = None) -> IdempotencyKey | None:
    return None if idempotency_key is None else await fingerprinted(idempotency_key, await request.body())


async def fingerprinted(idempotency_key: str, body: bytes) -> IdempotencyKey:
    """The key of the request with this body. Raises ValidationError."""
    if len(body) > AT_ONCE_BYTES:
        return await BODIES.run(IdempotencyKey.of, idempotency_key, body)
    return IdempotencyKey.of(idempotency_key, body)


Reader = Annotated[Caller, Depends(_reader)]
Writer = Annotated[Caller, Depends(_writer)]
Admin = Annotated[Caller, Depends(_admin)]
Publisher = Annotated[Caller, Depends(_publisher)]
CALLERS: Mapping[Scope | None, Any] = {READ: Reader, WRITE: Writer, ADMIN: Admin, PUBLISH: Publisher}
"""the caller of an operation of a scope"""
State = Annotated[ServerState, Depends(state_of)]
Once = Annotated[IdempotencyKey | None, Depends(_once)]
"""what every creation takes, for `Idempotency.once`"""
