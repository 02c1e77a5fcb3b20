"""/v1/sandboxes/{id}/files, directories and archive: the file system inside. Contents are plain bytes, streamed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing
from typing import Annotated, cast

from fastapi import Query, Request, Response

from harena.core.checked import MOST_BYTES, MOST_MODE
from harena.core.errors import SandboxFileError
from harena.core.models import MIB, FileInfo
from harena.core.operations import sandboxes as table
from harena.core.ports import SandboxPort
from harena.sdk.options import check_path
from harena.server.answers import JsonAnswer, answer_list, begin_stream
from harena.server.bodies import arriving
from harena.server.bounds import Id
from harena.server.identity import Caller
from harena.server.routes.dependencies import Reader, State, Writer
from harena.server.state import ServerState
from harena.server.table_routes import TableRoutes

routes = TableRoutes(table.ON_FILES)

AT_ONCE_BYTES = MIB
"""what says that it is no larger is given to the sandbox, or taken from it, in one piece"""
LEAST_ANSWER_BYTES = 1024 * MIB
"""file content that one answer may have in any workspace; a workspace whose sandboxes may write more gets more"""
PathInside = Annotated[str, Query(min_length=1, max_length=4096, description="An absolute path inside the sandbox.")]
Mode = Annotated[int | None, Query(ge=0, le=MOST_MODE)]


@routes.by_hand(table.READ_FILE)
async def read(
    sandbox_id: Id,
    path: PathInside,
    caller: Reader,
    state: State,
    max_bytes: Annotated[int | None, Query(ge=0, le=MOST_BYTES)] = None,
) -> Response:
    """A file's content. One larger than `max_bytes`, or than the workspace's sandboxes may write (and 1 GiB), is
    refused before anything is sent."""
    port = await _sandbox(state, caller, sandbox_id, path)
    limits = await state.quotas.limits_of(caller.workspace)
    most = max(LEAST_ANSWER_BYTES, limits.sandbox_disk_bytes)
    if max_bytes is not None and max_bytes <= AT_ONCE_BYTES:
        return Response(await port.read_file(path, max_bytes=max_bytes), media_type=table.OCTETS)
    bound = most if max_bytes is None else min(max_bytes, most)
    pieces = cast("AsyncGenerator[bytes, None]", port.read_stream(path, max_bytes=bound))
    return await begin_stream(_at_most(pieces, path, bound), table.OCTETS)


@routes.by_hand(table.WRITE_FILE)
async def write(
    sandbox_id: Id,
    path: PathInside,
    request: Request,
    caller: Writer,
    state: State,
    mode: Mode = None,
) -> None:
    """Create or replace a file, creating missing parents. `mode` is a decimal number."""
    await _write(state, caller, sandbox_id, path, request, append=False, mode=mode)


@routes.by_hand(table.APPEND)
async def append(
    sandbox_id: Id,
    path: PathInside,
    request: Request,
    caller: Writer,
    state: State,
    mode: Mode = None,
) -> None:
    """Add to a file's end; it is created where it is missing."""
    await _write(state, caller, sandbox_id, path, request, append=True, mode=mode)


@routes.by_hand(table.REMOVE)
async def remove(
    sandbox_id: Id,
    path: PathInside,
    caller: Writer,
    state: State,
    recursive: bool = False,
    missing_ok: bool = False,
) -> None:
    """Remove a file, a link or an empty directory; with `recursive` a whole tree."""
    port = await _sandbox(state, caller, sandbox_id, path)
    await port.remove(path, recursive=recursive, missing_ok=missing_ok)


@routes.by_hand(table.STAT)
async def stat(sandbox_id: Id, path: PathInside, caller: Reader, state: State) -> JsonAnswer:
    """About one path; a link is described, not followed."""
    port = await _sandbox(state, caller, sandbox_id, path)
    return JsonAnswer(FileInfo.to_dict(await port.stat(path)))


@routes.by_hand(table.LIST_FILES)
async def list_files(sandbox_id: Id, path: PathInside, caller: Reader, state: State) -> Response:
    """A directory's entries, sorted by name."""
    port = await _sandbox(state, caller, sandbox_id, path)
    return await answer_list("entries", await port.list_dir(path), FileInfo.to_dict)


@routes.by_hand(table.MAKE_DIR)
async def make_dir(sandbox_id: Id, path: PathInside, caller: Writer, state: State, parents: bool = True) -> None:
    """Create a directory; with `parents` like `mkdir -p`."""
    port = await _sandbox(state, caller, sandbox_id, path)
    await port.make_dir(path, parents=parents)


@routes.by_hand(table.EXTRACT)
async def extract(sandbox_id: Id, path: PathInside, request: Request, caller: Writer, state: State) -> None:
    """Unpack a tar stream into a directory, which is created where it is missing."""
    port = await _sandbox(state, caller, sandbox_id, path)
    await port.extract_archive(path, await _arriving(request))


@routes.by_hand(table.ARCHIVE)
async def archive(sandbox_id: Id, path: PathInside, caller: Reader, state: State) -> Response:
    """A tar stream of the files and directories below a directory; links are left out."""
    port = await _sandbox(state, caller, sandbox_id, path)
    limits = await state.quotas.limits_of(caller.workspace)
    most = 2 * max(LEAST_ANSWER_BYTES, limits.sandbox_disk_bytes)  # with the headers of many small files
    return await begin_stream(_at_most(port.create_archive(path), path, most), table.TAR)


async def _sandbox(state: ServerState, caller: Caller, sandbox_id: str, path: str) -> SandboxPort:
    """The caller's sandbox, for what it is to do at this path. Raises SandboxValidationError, SandboxNotFoundError."""
    check_path(path)
    return (await state.sandboxes.find(caller.workspace, sandbox_id)).port


async def _at_most(pieces: AsyncGenerator[bytes, None], path: str, most: int) -> AsyncGenerator[bytes, None]:
    """The pieces, as long as they are no more than one answer may be. Raises SandboxFileError."""
    sent = 0
    async with aclosing(pieces) as stream:
        async for piece in stream:
            sent += len(piece)
            if sent > most:
                raise _too_large(path, f"more than the {most} bytes that one answer may have")
            yield piece


def _too_large(path: str, what: str) -> SandboxFileError:
    return SandboxFileError(f"{path}: {what}", filepath=path, reason="TOO_LARGE")


async def _write(
    state: ServerState, caller: Caller, sandbox_id: Id, path: str, request: Request, *, append: bool, mode: int | None
) -> None:
    port = await _sandbox(state, caller, sandbox_id, path)
    length = request.headers.get("content-length", "")
    small = length.isdecimal() and int(length) <= AT_ONCE_BYTES
    await request.state.write_turn.come()
    if small:
        room_bytes = (await state.quotas.limits_of(caller.workspace)).request_memory_bytes
        await request.state.share.hold(int(length), room_bytes)
    content: bytes | AsyncIterable[bytes] = await request.body() if small else await _arriving(request)
    await port.write_file(path, content, append=append, mode=mode)


async def _arriving(request: Request) -> AsyncIterator[bytes]:
    """The body, once its first piece is there: a sender that has gone before changes nothing."""
    pieces = arriving(request)
    first = await anext(pieces, b"")

    async def all_of_it() -> AsyncIterator[bytes]:
        if first:
            yield first
        async for piece in pieces:
            yield piece

    return all_of_it()
