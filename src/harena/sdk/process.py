"""Commands in a sandbox: `Process` for programs, `TerminalSession` for people."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from harena.core.checked import check_size
from harena.core.errors import SandboxCommandTimeoutError, SandboxExecutionError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult, ProcessResult
from harena.core.output import OutputBuffer
from harena.sdk.portal import Portal
from harena.sdk.refs import OperationRef
from harena.sdk.streams import BufferSource, StreamReader, StreamWriter, TextSource

if TYPE_CHECKING:
    from harena.core.ports import RunningExec, SandboxPort

R = TypeVar("R")

STDERR_IN_MESSAGE_CHARACTERS = 2000


class CommandOwner(Protocol):
    """The sandbox, as a command knows it. Both are called on the sdk's loop."""

    async def running_port(self) -> SandboxPort:
        """The running sandbox, started and waited for where needed."""

    def exec_ended(self, result: ExecResult | None) -> None:
        """Count it; None = it could not be run to its end."""


class _Command(OperationRef[R]):
    """A command that was asked for: what processes and terminals have in common."""

    __slots__ = ("_begun", "_exec", "_failure", "_kill_asked", "_owner", "_request", "_stdin")

    def __init__(self, portal: Portal, owner: CommandOwner, request: ExecRequest) -> None:
        super().__init__(portal)
        self._owner = owner
        self._request = request
        self._exec: RunningExec | None = None
        self._failure: BaseException | None = None
        self._begun: asyncio.Event | None = None
        self._kill_asked = False
        self._stdin: StreamWriter | None = None
        if request.stdin_stream:
            self._stdin = StreamWriter(portal, self.running_exec, self.done)
        portal.call(portal.launch, self, self._run)

    @property
    def command(self) -> list[str]:
        """The command as it was given."""
        return list(self._request.argv)

    async def running_exec(self) -> RunningExec:
        """The started command; waits for its start. On the sdk's loop only."""
        if self._exec is None and self._failure is None:
            if self._begun is None:
                self._begun = asyncio.Event()
            await self._begun.wait()
        if self._failure is not None:
            raise self._failure
        assert self._exec is not None
        return self._exec

    async def _run(self) -> R:
        try:
            port = await self._owner.running_port()
            if self._kill_asked:
                raise _cancelled()
            self._exec = running = await port.exec(self._request)
        except BaseException as error:
            self._failure = error
            self._owner.exec_ended(None)
            raise
        finally:
            if self._begun is not None:
                self._begun.set()
        return self._converted(await self._to_the_end(running))

    async def _to_the_end(self, running: RunningExec) -> ExecResult:
        if self._kill_asked:
            running.kill()
        result: ExecResult | None = None
        try:
            result = await running.wait()
            return result
        finally:
            self._owner.exec_ended(result)
            for buffer in (running.stdout, running.stderr):
                if not buffer.closed:  # the sandbox was lost: no reader shall wait for ever
                    buffer.close()

    def _converted(self, result: ExecResult) -> R:
        raise NotImplementedError

    def cancelled_before_it_began(self) -> None:
        """No reader shall wait for its output."""
        self._failure = _cancelled()
        self._owner.exec_ended(None)
        if self._begun is not None:
            self._begun.set()

    def _abandon(self) -> None:
        self._kill_asked = True
        if self._exec is not None:
            self._exec.kill()

    async def _stdout_buffer(self) -> OutputBuffer:
        return (await self.running_exec()).stdout

    async def _stderr_buffer(self) -> OutputBuffer:
        return (await self.running_exec()).stderr

    def _ended_well(self) -> bool:
        return self._outcome.state == "value"


class Process(_Command[ProcessResult]):
    """A command that runs in a sandbox. Made by `Sandbox.exec`.

    `result()` raises SandboxCommandTimeoutError (with `exec_result`) when the command passed its `timeout_seconds`,
    SandboxExecutionError (with `exec_result`) when `check=True` and it ended with anything but 0,
    SandboxTerminatedError when the sandbox was stopped meanwhile, and a PlatformError when the platform failed.
    Whatever else the program does, being killed for its memory included, is a result.
    """

    __slots__ = ("_check", "_stderr", "_stdout")

    def __init__(self, portal: Portal, owner: CommandOwner, request: ExecRequest, *, check: bool = False) -> None:
        self._check = check
        self._stdout: StreamReader[str] | None = None
        self._stderr: StreamReader[str] | None = None
        super().__init__(portal, owner, request)

    @property
    def stdout(self) -> StreamReader[str]:
        """Standard output as it comes, in pieces (not lines) of text."""
        if self._stdout is None:
            self._stdout = StreamReader(self._portal, TextSource(BufferSource(self._stdout_buffer)))
        return self._stdout

    @property
    def stderr(self) -> StreamReader[str]:
        """Standard error, likewise."""
        if self._stderr is None:
            self._stderr = StreamReader(self._portal, TextSource(BufferSource(self._stderr_buffer)))
        return self._stderr

    def byte_streams(self) -> tuple[StreamReader[bytes], StreamReader[bytes]]:
        """Standard output and standard error as the bytes that they are, each from its begin."""
        return (
            StreamReader(self._portal, BufferSource(self._stdout_buffer)),
            StreamReader(self._portal, BufferSource(self._stderr_buffer)),
        )

    @property
    def stdin(self) -> StreamWriter | None:
        """Standard input, where `stdin=True` was given."""
        return self._stdin

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, when the command has ended. Raises as `result` does."""
        return self.result(timeout).returncode

    def poll(self) -> int | None:
        """The exit code, or None while the command runs (or when it has none: cancelled, or the platform failed)."""
        return self.returncode

    @property
    def returncode(self) -> int | None:
        """Exit code, like `poll`; also set where `result()` raises because of a time-out or `check=True`."""
        if self.done() and self._ended_well():
            return self._outcome.get().returncode
        ended: ProcessResult | None = getattr(self._outcome.error, "exec_result", None)
        return None if ended is None else ended.returncode

    def _converted(self, result: ExecResult) -> ProcessResult:
        converted = process_result(result, self._request.argv)
        shown = _shorten_argv(self._request.argv)
        if result.outcome is ExecOutcome.TIMEOUT:
            raise SandboxCommandTimeoutError(
                f"{shown} passed its timeout_seconds={self._request.timeout_seconds:g} and was killed with everything "
                "that it had started; its output so far is in .exec_result",
                exec_result=converted,
            )
        if self._check and result.returncode != 0:
            tail = converted.stderr[-STDERR_IN_MESSAGE_CHARACTERS:].strip()
            raise SandboxExecutionError(
                f"{shown} ended with {result.returncode} and check=True was asked for" + (f":\n{tail}" if tail else ""),
                exec_result=converted,
            )
        return converted


@dataclass(frozen=True, slots=True)
class TerminalResult:
    """How a terminal's command ended."""

    returncode: int
    command: list[str] = field(default_factory=list)


class TerminalSession(_Command[TerminalResult]):
    """A command on a pseudo-terminal. Made by `Sandbox.shell`."""

    __slots__ = ("_output",)

    def __init__(self, portal: Portal, owner: CommandOwner, request: ExecRequest) -> None:
        self._output: StreamReader[bytes] | None = None
        super().__init__(portal, owner, request)

    @property
    def output(self) -> StreamReader[bytes]:
        """What the terminal shows, as bytes, standard error included."""
        if self._output is None:
            self._output = StreamReader(self._portal, BufferSource(self._stdout_buffer))
        return self._output

    @property
    def stdin(self) -> StreamWriter:
        """The keyboard."""
        assert self._stdin is not None
        return self._stdin

    def resize(self, width: int, height: int) -> None:
        """The window is now `width` columns and `height` rows. No effect after the end."""
        check_size(width, height)
        self._portal.submit(self._resize, width, height)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, when the command has ended."""
        return self.result(timeout).returncode

    @property
    def returncode(self) -> int | None:
        """The exit code, or None while the command runs."""
        return self._outcome.get().returncode if self.done() and self._ended_well() else None

    async def _resize(self, width: int, height: int) -> None:
        (await self.running_exec()).resize(width, height)

    def _converted(self, result: ExecResult) -> TerminalResult:
        return TerminalResult(result.returncode, list(self._request.argv))


def process_result(result: ExecResult, argv: Sequence[str]) -> ProcessResult:
    """What a command did, with its output as text too."""
    return ProcessResult(
        stdout=result.stdout.decode("utf-8", "replace"),
        stderr=result.stderr.decode("utf-8", "replace"),
        returncode=result.returncode,
        stdout_bytes=result.stdout,
        stderr_bytes=result.stderr,
        command=list(argv),
        stdout_truncated=result.stdout_truncated,
        stderr_truncated=result.stderr_truncated,
        duration_seconds=result.duration_seconds,
        usage=result.usage,
        outcome=result.outcome,
        warm=result.warm,
    )


def _cancelled() -> SandboxExecutionError:
    return SandboxExecutionError("the command was cancelled before it started", reason="CANCELLED")


def _shorten_argv(argv: Sequence[str]) -> str:
    text = repr(list(argv))
    return text if len(text) <= 200 else f"{text[:200]}..."
