"""A command that a server runs. Its output arrives as frames (`harena.core.frames`) and is kept as it would be here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

import aiohttp

from harena.core.errors import HarenaError, SandboxExecutionError
from harena.core.frames import HEADER, MOST_BYTES, MOST_JSON_BYTES, Frame
from harena.core.models import ExecRequest, ExecResult
from harena.core.operations import sandboxes as table
from harena.core.operations.operation import Operation
from harena.core.output import OutputBuffer
from harena.core.records.sandbox_answers import ExecReport
from harena.core.wire import request_to_json
from harena.sdk.http.connection import Connection, address

MOST_STDIN_IN_THE_REQUEST = 8 * 1024 * 1024
"""larger input given at once follows the request, as streamed input does"""
_UNLIMITED = 1 << 62
"""the server keeps the limit of a command's output"""


class RemoteExec:
    """Implements `RunningExec`. Made by `start`; the command dies when the connection that carries it does."""

    def __init__(self, connection: Connection, sandbox_id: str) -> None:
        self.stdout = OutputBuffer(_UNLIMITED)
        self.stderr = OutputBuffer(_UNLIMITED)
        self._connection = connection
        self._steps = {"sandbox_id": sandbox_id}
        self._argv0 = ""
        self._streamed_stdin = False
        self._stdin_closed = False
        self._last: asyncio.Task[None] | None = None
        """the last request that steers it: they are sent one after the other, in the order of their calls"""
        self._end: asyncio.Future[ExecResult] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, request: ExecRequest) -> None:
        """Returns when the command has started. Raises what the server raises."""
        written = request_to_json(request)
        large = request.stdin is not None and len(request.stdin) > MOST_STDIN_IN_THE_REQUEST
        if large:
            written["stdin"], written["stdin_stream"] = None, True
        self._argv0 = request.argv[0] if request.argv else ""
        self._streamed_stdin = bool(written["stdin_stream"])
        async with AsyncExitStack() as stack:
            body = json.dumps(written).encode()
            headers = {"content-type": "application/json"}
            response = await stack.enter_async_context(
                self._connection.request(*address(table.EXEC, **self._steps), body=body, headers=headers)
            )
            kind, content = await self._next(response.content)
            if kind is Frame.PROBLEM:
                raise self._connection.problem(self._connection.parse_json(content))
            if kind is not Frame.STARTED:
                raise self._connection.broken(f"a command's output begins with frame {kind.name}")
            with self._connection.understanding("the begin of a command"):
                self._steps["exec_id"] = str(json.loads(content)["exec_id"])
            self._spawn(self._follow(response.content, stack.pop_all()))
        if large:
            self._in_turn(lambda: self._feed(request.stdin or b""))
            if not request.stdin_stream:
                self.close_stdin()

    async def wait(self) -> ExecResult:
        """The result, or the sandbox's end as an exception."""
        return await asyncio.shield(self._end)

    def kill(self) -> None:
        """Kill the tree."""
        if not self._end.done():
            self._spawn(self._ask(table.KILL))

    async def write_stdin(self, data: bytes) -> None:
        """Write all of `data`; done when the command's pipe has taken it."""
        await self._in_turn(lambda: self._write(data))

    def close_stdin(self) -> None:
        """End of input, after what was written before."""
        if not self._end.done():
            self._in_turn(self._close_stdin)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the pseudo-terminal."""
        if not self._end.done():
            self._in_turn(lambda: self._ask(table.RESIZE, {"columns": columns, "rows": rows}))

    async def _write(self, data: bytes) -> None:
        if self._end.done() or self._stdin_closed or not self._streamed_stdin:
            why = "the command has ended" if self._end.done() else "it is closed"
            raise SandboxExecutionError(
                f"cannot write to standard input of {self._argv0}: {why}", reason="STDIN_CLOSED"
            )
        for start in range(0, len(data), MOST_BYTES):
            await self._connection.send(*address(table.WRITE_STDIN, **self._steps), data[start : start + MOST_BYTES])

    async def _close_stdin(self) -> None:
        if not self._stdin_closed:
            self._stdin_closed = True
            await self._ask(table.CLOSE_STDIN)

    def _in_turn(self, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        before = self._last

        async def after() -> None:
            if before is not None:
                await asyncio.wait([before])
            await work()

        self._last = self._spawn(after())
        return self._last

    async def _feed(self, data: bytes) -> None:
        try:
            await self._write(data)
        except HarenaError:
            return  # the program did not want all of its input; or the stream is lost, and the result says so

    async def _ask(self, operation: Operation[..., Any], content: Any = None) -> None:
        try:
            await self._connection.json(*address(operation, **self._steps), content=content)
        except SandboxExecutionError:
            return  # it has ended meanwhile
        except HarenaError as error:
            # nobody waits for this answer: the command's result must say that it can no longer be steered
            self._fail(error)

    async def _follow(self, content: aiohttp.StreamReader, connected: AsyncExitStack) -> None:
        try:
            async with connected:
                while not self._end.done():
                    self._take(*await self._next(content))
        except HarenaError as error:
            self._fail(error)
        except asyncio.CancelledError:
            self._fail(self._connection.broken("the command was given up"))
            raise
        finally:
            self._fail(self._connection.broken("a command's output cannot be followed"))  # unless there is an end

    def _take(self, kind: Frame, content: bytes) -> None:
        if kind is Frame.STDOUT:
            self.stdout.append(content)
        elif kind is Frame.STDERR:
            self.stderr.append(content)
        elif kind is Frame.RESULT:
            read = self._connection.parse_json(content)
            with self._connection.understanding("a command's result"):
                report = ExecReport.from_dict(read)
                result = report.result(stdout=self.stdout.getvalue(), stderr=self.stderr.getvalue())
            self._close_output()
            self._end.set_result(result)
        elif kind is Frame.PROBLEM:
            self._fail(self._connection.problem(self._connection.parse_json(content)))

    async def _next(self, content: aiohttp.StreamReader) -> tuple[Frame, bytes]:
        try:
            number, length = HEADER.unpack(await content.readexactly(HEADER.size))
            kind = Frame(number)
            if length > (MOST_BYTES if kind in (Frame.STDOUT, Frame.STDERR) else MOST_JSON_BYTES):
                raise self._connection.broken(f"a frame of {length} bytes is too large")
            return kind, await content.readexactly(length)
        except asyncio.IncompleteReadError as error:
            raise self._connection.broken("a command's output broke off before its result") from error
        except ValueError as error:
            raise self._connection.broken(f"a command's output holds an unknown frame ({error})") from error

    def _fail(self, error: HarenaError) -> None:
        if not self._end.done():
            self._close_output()
            self._end.set_exception(error)
            self._end.exception()  # whoever waits is told; that nobody does is no news

    def _close_output(self) -> None:
        self.stdout.close()
        self.stderr.close()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
