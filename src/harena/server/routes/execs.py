"""/v1/sandboxes/{id}/execs: commands. The output is one stream of frames, see `harena.core.frames`."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, Callable
from typing import Any

from fastapi import Request

from harena.core.checked import checked_texts, words_of
from harena.core.errors import HarenaError, SandboxValidationError
from harena.core.frames import MEDIA_TYPE, MOST_BYTES, Frame, frames
from harena.core.models import ExecRequest, ExecResult
from harena.core.operations import sandboxes as table
from harena.core.output import OutputBuffer
from harena.core.ports import RunningExec
from harena.core.records.sandbox_answers import ExecReport
from harena.server import shapes
from harena.server.answers import StreamAnswer, begin_stream, problem_of
from harena.server.bodies import read_bounded
from harena.server.bounds import Id
from harena.server.contents import decoded
from harena.server.routes.dependencies import State, Writer
from harena.server.table_routes import TableRoutes

routes = TableRoutes(table.ON_COMMANDS)

_AT_ONCE_BYTES = 1024 * 1024
"""most bytes of a stream that are sent in one piece: what waits for a slow reader is held twice"""
MOST_STDIN_BYTES = 4 * MOST_BYTES
"""size limit of one write"""


@routes.by_hand(table.EXEC)
async def run(sandbox_id: Id, asked: shapes.ExecBody, caller: Writer, state: State) -> StreamAnswer:
    """Run a command and stream its output: frames STARTED, STDOUT and STDERR as they come, then RESULT or PROBLEM.

    The command belongs to this request: it is killed, with everything that it started, when the connection closes.
    """
    state.check_not_draining()
    handle = await state.sandboxes.find(caller.workspace, sandbox_id)
    most = (await state.quotas.limits_of(caller.workspace)).sandbox_output_bytes
    if asked.output_bytes is not None and asked.output_bytes > most:
        raise SandboxValidationError(f"output_bytes: {most} bytes of a stream are kept at most (sandbox_output_bytes)")
    running = await handle.port.exec(await _request(asked))
    exec_id = f"ex_{secrets.token_hex(8)}"
    state.note_exec(caller.workspace, sandbox_id, exec_id, running, asked.argv)
    ended: list[ExecResult] = []

    async def pieces() -> AsyncGenerator[bytes, None]:
        try:
            yield frames(Frame.STARTED, json.dumps({"exec_id": exec_id}).encode())
            async for piece in _output(running, lambda: state.kept_outputs.check(running), ended.append):
                yield piece
        finally:
            running.kill()  # no effect after its end
            state.forget_exec(caller.workspace, sandbox_id, exec_id, ended[0] if ended else None)

    return await begin_stream(pieces(), MEDIA_TYPE)


@routes.by_hand(table.WRITE_STDIN)
async def write_stdin(
    sandbox_id: Id,
    exec_id: Id,
    request: Request,
    caller: Writer,
    state: State,
) -> None:
    """Write the body to the command's standard input; answers when its pipe has taken it."""
    running = state.find_exec(caller.workspace, sandbox_id, exec_id)
    room_bytes = (await state.quotas.limits_of(caller.workspace)).request_memory_bytes
    await running.write_stdin(await read_bounded(request, MOST_STDIN_BYTES, room_bytes))


@routes.by_hand(table.CLOSE_STDIN)
async def close_stdin(sandbox_id: Id, exec_id: Id, caller: Writer, state: State) -> None:
    """End of input."""
    state.find_exec(caller.workspace, sandbox_id, exec_id).close_stdin()


@routes.by_hand(table.KILL)
async def kill(sandbox_id: Id, exec_id: Id, caller: Writer, state: State) -> None:
    """Kill the command's whole process tree; its RESULT says outcome `cancelled`."""
    state.find_exec(caller.workspace, sandbox_id, exec_id).kill()


@routes.by_hand(table.RESIZE)
async def resize(sandbox_id: Id, exec_id: Id, asked: shapes.ResizeBody, caller: Writer, state: State) -> None:
    """Change the size of the pseudo-terminal."""
    state.find_exec(caller.workspace, sandbox_id, exec_id).resize(asked.columns, asked.rows)


async def _output(
    running: RunningExec, check: Callable[[], None], tell: Callable[[ExecResult], object]
) -> AsyncGenerator[bytes, None]:
    """What the command prints while it runs, then the rest and its result, as frames; or the problem that `check`
    raises. `tell` is given the result."""
    ending = asyncio.ensure_future(running.wait())
    streams = [_Stream(Frame.STDOUT, running.stdout), _Stream(Frame.STDERR, running.stderr)]
    try:
        while not ending.done():
            waits: list[asyncio.Future[Any]] = [wait for stream in streams if (wait := stream.wait()) is not None]
            await asyncio.wait([ending, *waits], return_when=asyncio.FIRST_COMPLETED)
            while news := b"".join(stream.news() for stream in streams):
                yield news
                if ending.done():
                    break
        while news := b"".join(stream.news() for stream in streams):
            yield news
        if not ending.cancelled() and ending.exception() is None:
            tell(ending.result())
        yield _last(ending, streams, check)
    finally:
        ending.cancel()
        for stream in streams:
            stream.close()


def _last(ending: asyncio.Future[ExecResult], streams: list[_Stream], check: Callable[[], None]) -> bytes:
    try:
        check()
        result = ending.result()
    except HarenaError as error:
        rest = b"".join(stream.news() for stream in streams)
        return rest + frames(Frame.PROBLEM, json.dumps(problem_of(error, None)).encode())
    rest = streams[0].rest(result.stdout) + streams[1].rest(result.stderr)
    return rest + frames(Frame.RESULT, json.dumps(ExecReport.of(result).to_dict()).encode())


class _Stream:
    """One stream's place: what has been sent of it."""

    def __init__(self, kind: Frame, buffer: OutputBuffer) -> None:
        self._kind = kind
        self._buffer = buffer
        self._index = 0
        self._sent_bytes = 0
        self._waiting: asyncio.Future[bytes | None] | None = None

    def wait(self) -> asyncio.Future[bytes | None] | None:
        """Done when there is more; None at the stream's end."""
        if self._buffer.closed:
            return None
        if self._waiting is None or self._waiting.done():
            self._waiting = asyncio.ensure_future(self._buffer.next_chunk(self._index))
        return self._waiting

    def news(self) -> bytes:
        """Some of what came since, as frames; b"" = all of it was told."""
        content, self._index = self._buffer.content_since(self._index, _AT_ONCE_BYTES)
        self._sent_bytes += len(content)
        return frames(self._kind, content) if content else b""

    def rest(self, whole: bytes) -> bytes:
        """What of the result's output has not been sent, as frames."""
        content = whole[self._sent_bytes :]
        return frames(self._kind, content) if content else b""

    def close(self) -> None:
        """Wait no longer."""
        if self._waiting is not None:
            self._waiting.cancel()


async def _request(asked: shapes.ExecBody) -> ExecRequest:
    return ExecRequest(
        argv=words_of(asked.argv),
        env=checked_texts(asked.env, "env"),
        cwd=asked.cwd,
        user=asked.user,
        timeout_seconds=asked.timeout_seconds,
        stdin=None if asked.stdin is None else await decoded(asked.stdin, "stdin"),
        stdin_stream=asked.stdin_stream,
        output_bytes=asked.output_bytes,
        cpu_seconds=asked.cpu_seconds,
        terminal=None if asked.terminal is None else (asked.terminal[0], asked.terminal[1]),
        warm=asked.warm,
        guarded=asked.guarded,
    )
