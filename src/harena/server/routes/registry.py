"""/v1/objects: capabilities, tasks, data sets, models and checkpoints, by kind, name and version.

Answers are as in `harena.core.registry`. A version is named NAME@VERSION in paths, a bare NAME is the newest.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, cast

from fastapi import APIRouter, Query, Request, Response

from harena.core.parameters import MOST_CURSOR, MOST_WORD
from harena.core.records.catalog import StoredObject, StoredObjectsPage
from harena.core.registry import NAME_PATTERN, VERSION_PATTERN, ObjectKind
from harena.server.answers import JsonAnswer, begun
from harena.server.bounds import Id, OptionalWord
from harena.server.routes.dependencies import OCTETS, Reader, State, Writer

router = APIRouter(prefix="/v1/objects", tags=["objects"])

_TAR = "application/x-tar"
_TREE: dict[int | str, dict[str, object]] = {
    200: {"content": {_TAR: {"schema": {"type": "string", "format": "binary"}}}}
}
DIGEST_PATTERN = "^[0-9a-f]{64}$"


@router.get("", response_model=StoredObjectsPage)
async def list_objects(
    caller: Reader,
    state: State,
    kind: ObjectKind | None = None,
    name: OptionalWord = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    cursor: Annotated[int | None, Query(ge=0, le=MOST_CURSOR)] = None,
) -> JsonAnswer:
    """Every version, newest first, as {objects, next_cursor}."""
    operations = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await operations.list_objects(kind, name=name, cursor=cursor, limit=limit))


@router.post("", response_model=StoredObject, openapi_extra=OCTETS)
async def push_object(
    kind: ObjectKind,
    name: Annotated[str, Query(pattern=NAME_PATTERN, max_length=MOST_WORD)],
    version: Annotated[str, Query(pattern=VERSION_PATTERN, max_length=MOST_WORD)],
    request: Request,
    caller: Writer,
    state: State,
    digest: Annotated[str | None, Query(pattern=DIGEST_PATTERN, max_length=64)] = None,
) -> JsonAnswer:
    """Publish the tree in a tar stream; with `digest` only if that is the tree's. The same content gives the object
    that there is, other content is refused (409)."""
    operations = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await operations.push_object(kind, name, version, _body(request), digest=digest))


@router.get("/{kind}/{ref}", response_model=StoredObject)
async def get_object(kind: ObjectKind, ref: Id, caller: Reader, state: State) -> JsonAnswer:
    """A version, and what was read of it."""
    return JsonAnswer(await state.operations.in_workspace(caller.workspace).get_object(kind, ref))


@router.delete("/{kind}/{ref}", status_code=204, response_class=Response)
async def delete_object(kind: ObjectKind, ref: Id, caller: Writer, state: State) -> Response:
    """Delete a version; 409 while a training job that has not ended refers to it."""
    await state.operations.in_workspace(caller.workspace).delete_object(kind, ref)
    return Response(status_code=204)


@router.get("/{kind}/{ref}/tree", response_class=Response, responses=_TREE)
async def pull_object(kind: ObjectKind, ref: Id, caller: Reader, state: State) -> Response:
    """Its files as a tar stream."""
    pieces = state.operations.in_workspace(caller.workspace).pull_object(kind, ref)

    async def closed_at_the_end() -> AsyncGenerator[bytes, None]:
        async with aclosing(cast("AsyncGenerator[bytes, None]", pieces)) as stream:
            async for piece in stream:
                yield piece

    return await begun(closed_at_the_end(), _TAR)


async def _body(request: Request) -> AsyncIterator[bytes]:
    async for piece in request.stream():
        if piece:
            yield piece
