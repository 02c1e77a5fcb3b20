"""A running command, seen from outside: its pipes, its deadline, its result."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import signal
import struct
import termios
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from harena.core.clock import STOPPED_SECONDS
from harena.core.errors import SandboxExecutionError, SandboxUnavailableError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult, ResourceUsage
from harena.core.output import OutputBuffer
from harena.core.shared_future import SharedFuture
from harena.core.threads import CONTENT
from harena.runtime.host import box_files, slow_calls, terminals
from harena.runtime.host.slow_calls import SLOW_WORKSPACES, Timed
from harena.runtime.host.wide_pipes import WIDE_PIPES

if TYPE_CHECKING:
    from harena.runtime.host.box import LinuxSandbox

_CHUNK = 1 << 18
_FIRST_LOOK_SECONDS = 0.02
_LAST_LOOK_SECONDS = 0.1
"""What nobody waits for is left in its pipe, and looked at after the first time, after twice that ...: most programs
have ended by then, and are read once. One that runs on, or has written much, is read as it writes."""
_MUCH_BYTES = 1 << 14
_MOST_IN_A_PIPE = 1 << 20
"""bytes: what an ordinary user may make one hold (fs.pipe-max-size)"""
_MOST_PIECES_IN_A_PIPE = 256
"""pages of _MOST_IN_A_PIPE: of a pipe that keeps what was written at one time apart (O_DIRECT) each read gives one"""
_JOINED_AT_ONCE = 1 << 22
"""bytes of output that are put together in the event loop; of more, a copy takes some ten milliseconds"""
_RESTS_PER_SLOW = 20.0
_LONGEST_REST_SECONDS = 5.0
"""After a slow read a thread stays away for so many times as long: nobody counts its processor time."""
_MEASURE_SECONDS = 0.5
"""for which a program that is to be killed runs on, so that its time can be measured"""
_LATE_SECONDS = 0.05
"""a deadline that is met later waits so long for what came before it"""
_MICROSECONDS = 1e-6
_CANNOT_START = 126
"""what a shell says"""
_OPENED_TO_READ, _OPENED_TO_WRITE = 0o644, 0o622
"""A pipe's modes: programs open their streams by name (/dev/stdin), as another user than the one that made them. A name
leads through /proc, which shows a process's pipes to nobody who may not see its memory."""


class LinuxExec:
    """Implements `RunningExec`. Lives in the sandbox's event loop.

    System calls on its streams are made there, too, until one was slow (see slow_calls): from then on threads make
    them, one after the other.
    """

    def __init__(self, sandbox: LinuxSandbox, number: int, request: ExecRequest, output_bytes: int) -> None:
        self.number = number
        self.request = request
        self.stdout = OutputBuffer(output_bytes, self._listen)
        self.stderr = OutputBuffer(output_bytes, self._listen)
        self._sandbox = sandbox
        self._loop = sandbox.loop
        self._readers: dict[int, OutputBuffer] = {}
        self._stdin = -1
        self._terminal = -1
        self._result: SharedFuture[ExecResult] = SharedFuture(loop=self._loop)
        self._outcome: ExecOutcome | None = None
        self._is_real = False
        self._is_over = False
        self._run_delay = 0.0
        self._stopped = 0.0
        self._processor_time = 0.0
        self._listening: asyncio.TimerHandle | None = None
        """the next look at what nobody waits for; None while everything is read as it comes"""
        self._is_resting = False
        self._turn: asyncio.Lock | None = None
        """held for each call of a thread; None while the event loop makes them"""
        self._calling: set[asyncio.Task[None]] = set()
        self._last: list[tuple[OutputBuffer, bytes]] = []
        """what was read at the end"""
        self._is_released = False
        self._timer: asyncio.TimerHandle | None = None
        self._started = time.perf_counter()
        self._finishing: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None

    # -- starting ------------------------------------------------------------------------------------------------

    def open_descriptors(self) -> list[int]:
        """Make the pipes (or the terminal); gives the ends that the program shall have, beside a file that was given as
        its standard input. The caller closes them. Raises PlatformError where this process can open no more, and
        LimitExceededError where the workspace has too many terminals."""
        theirs: list[int] = []
        try:
            self._open_into(theirs)
        except OSError as error:
            for descriptor in theirs:
                os.close(descriptor)
            self.forget()
            raise box_files.no_more_descriptors(error) from None
        return theirs

    def _open_into(self, theirs: list[int]) -> None:
        if self.request.terminal is not None:
            self._terminal, inside = terminals.open_terminal(self._sandbox.workspace)
            theirs.append(inside)
            os.set_blocking(self._terminal, False)
            self.resize(*self.request.terminal)
            self._readers[self._terminal] = self.stdout
            return
        if self.request.stdin_stream:
            read_end, self._stdin = os.pipe2(os.O_CLOEXEC)
            theirs.append(read_end)
            os.fchmod(read_end, _OPENED_TO_READ)
            os.set_blocking(self._stdin, False)
        for buffer in (self.stdout, self.stderr):
            read_end, write_end = os.pipe2(os.O_CLOEXEC)
            if buffer is self.stdout and WIDE_PIPES.take(read_end, self._sandbox.workspace):
                box_files.widen(write_end)  # a program of Node's that calls process.exit() loses what does not fit in
            self._readers[read_end] = buffer
            theirs.append(write_end)
            os.fchmod(write_end, _OPENED_TO_WRITE)
            os.set_blocking(read_end, False)

    def abandon(self) -> None:
        """Nobody will start it: let go of this side's ends of what was opened for it. The caller has closed the
        others."""
        self.forget()

    def started(self) -> None:
        """The request has been sent: the clock runs."""
        self._started = time.perf_counter()
        self._listening = self._loop.call_later(_FIRST_LOOK_SECONDS, self._look, _FIRST_LOOK_SECONDS)
        if self.request.timeout_seconds is not None:
            self._timer = self._loop.call_later(self.request.timeout_seconds, self._deadline)
        if self.request.stdin is not None and self._stdin >= 0:
            self._feed(memoryview(self.request.stdin))

    def _look(self, after_seconds: float) -> None:
        if self._is_apart():
            self._listen()
            return
        sizes, batch = 0, Timed(self._sandbox.workspace)
        for descriptor, buffer in self._readers.items():
            chunk = _read(descriptor)
            if chunk:
                sizes += len(chunk)
                buffer.append(chunk)
            if batch.is_long:
                break
        if batch.end():
            self._go_apart()
        if self._turn is not None or sizes >= _MUCH_BYTES or after_seconds >= _LAST_LOOK_SECONDS:
            self._listen()
        else:
            self._listening = self._loop.call_later(2 * after_seconds, self._look, 2 * after_seconds)

    def _listen(self) -> None:
        """Read what is written from now on as it comes."""
        if self._listening is not None and not self._is_resting:
            self._listening.cancel()
            self._listening = None
            for descriptor in self._readers:
                self._loop.add_reader(descriptor, self._on_output, descriptor)

    def _is_apart(self) -> bool:
        """Whether threads make the calls: from now on, where the workspace's have become slow."""
        if self._turn is None and self._sandbox.workspace in SLOW_WORKSPACES:
            self._go_apart()
        return self._turn is not None

    def _go_apart(self) -> None:
        if self._turn is None:
            self._turn = asyncio.Lock()

    def _begin(self, call: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(call)
        self._calling.add(task)
        task.add_done_callback(self._calling.discard)

    def _call(self, call: Callable[[], object]) -> None:
        """Have it made, now or in its turn."""
        if self._is_apart():
            self._begin(self._call_apart(call))
            return
        batch = Timed(self._sandbox.workspace)
        call()
        if batch.end():
            self._go_apart()

    async def _call_apart(self, call: Callable[[], object]) -> None:
        assert self._turn is not None
        async with self._turn:
            await slow_calls.in_thread(self._sandbox.workspace, call)

    def rest(self, seconds: float) -> None:
        """Read nothing for so long, or until the program has ended."""
        if self._listening is None:
            for descriptor in self._readers:
                self._loop.remove_reader(descriptor)
        else:
            self._listening.cancel()
        self._is_resting = True
        self._listening = self._loop.call_later(seconds, self._rested)

    def _rested(self) -> None:
        self._is_resting = False
        self._listen()

    # -- while it runs -------------------------------------------------------------------------------------------

    def _on_output(self, descriptor: int) -> None:
        if self._is_apart():
            self._loop.remove_reader(descriptor)
            self._begin(self._read_apart(descriptor))
            return
        batch = Timed(self._sandbox.workspace)
        chunk = _read(descriptor)
        if chunk:
            self._readers[descriptor].append(chunk)
        elif chunk is not None:
            if self._listening is None:
                self._loop.remove_reader(descriptor)
            buffer = self._readers.pop(descriptor)
            self._close(descriptor)
            buffer.close()
        if batch.end():
            self._go_apart()

    async def _read_apart(self, descriptor: int) -> None:
        assert self._turn is not None
        workspace = self._sandbox.workspace
        async with self._turn:
            if self._is_released or descriptor not in self._readers:
                return
            chunk, seconds = await slow_calls.in_thread(workspace, partial(_read, descriptor))
            if chunk:
                self._readers[descriptor].append(chunk)
            elif chunk is not None:
                buffer = self._readers.pop(descriptor)
                await slow_calls.in_thread(workspace, partial(self._close, descriptor))
                buffer.close()
        if self._is_released:
            return
        if seconds > slow_calls.LONG_SECONDS:
            self.rest(min(_RESTS_PER_SLOW * seconds, _LONGEST_REST_SECONDS))
        elif self._listening is None and descriptor in self._readers:
            self._loop.add_reader(descriptor, self._on_output, descriptor)

    def _close(self, descriptor: int) -> None:
        """Close a stream that is read; the terminal is closed elsewhere."""
        if descriptor != self._terminal:
            WIDE_PIPES.give_back(descriptor)
            os.close(descriptor)

    def _feed(self, rest: memoryview) -> None:
        """Write what was given at once; the program need not read it all."""
        if self._is_apart():
            self._loop.remove_writer(self._stdin)
            self._begin(self._feed_apart(rest))
            return
        try:
            written = self._write(self._stdin, rest) if rest else 0
        except BlockingIOError:
            written = 0
        except OSError:
            self.close_stdin()
            return
        rest = rest[written:]
        if not rest:
            self.close_stdin()
        else:
            self._loop.add_writer(self._stdin, self._feed, rest)

    async def _feed_apart(self, rest: memoryview) -> None:
        with contextlib.suppress(SandboxExecutionError):  # the program need not read it all
            await self.write_stdin(rest)
        self.close_stdin()

    async def write_stdin(self, data: bytes | memoryview) -> None:
        """Write to the command's standard input, waiting where it does not read. Raises SandboxExecutionError where the
        input is closed."""
        rest = memoryview(data)
        while rest:
            target = self._terminal if self._terminal >= 0 else self._stdin
            if target < 0 or self._is_released:
                raise SandboxExecutionError("cannot write to standard input: it is closed, or the command has ended")
            try:
                written = await self._write_apart(target, rest) if self._is_apart() else self._write(target, rest)
            except BlockingIOError:
                await self._writable(target)
            except OSError as error:
                self.close_stdin()
                raise SandboxExecutionError(
                    f"cannot write to standard input: nobody reads it any more ({error.strerror})"
                ) from None
            else:
                rest = rest[written:]

    def _write(self, target: int, rest: memoryview) -> int:
        batch = Timed(self._sandbox.workspace)
        try:
            return os.write(target, rest)
        finally:
            if batch.end():
                self._go_apart()

    async def _write_apart(self, target: int, rest: memoryview) -> int:
        assert self._turn is not None
        async with self._turn:
            if self._is_released or target not in (self._stdin, self._terminal):
                raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
            written, seconds = await slow_calls.in_thread(self._sandbox.workspace, partial(os.write, target, rest))
        if seconds > slow_calls.LONG_SECONDS:
            await asyncio.sleep(min(_RESTS_PER_SLOW * seconds, _LONGEST_REST_SECONDS))
        return written

    async def _writable(self, descriptor: int) -> None:
        ready: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_writer(descriptor, box_files.finish, ready)
        try:
            await asyncio.wait(
                {asyncio.ensure_future(ready), asyncio.ensure_future(self._result)}, return_when="FIRST_COMPLETED"
            )  # type: ignore[type-var]
        finally:
            if descriptor in (self._stdin, self._terminal):
                self._loop.remove_writer(descriptor)

    def close_stdin(self) -> None:
        """Close the command's standard input; on a terminal, send what ends it."""
        if self._stdin >= 0:
            descriptor, self._stdin = self._stdin, -1
            self._loop.remove_writer(descriptor)
            self._call(partial(os.close, descriptor))
        elif self._terminal >= 0 and not self._is_released:
            self._call(partial(_end_input, self._terminal))

    def resize(self, columns: int, rows: int) -> None:
        """Tell the command's terminal its size; no effect without one."""
        if self._terminal >= 0 and not self._is_released:
            size = struct.pack("HHHH", rows, columns, 0, 0)
            self._call(partial(fcntl.ioctl, self._terminal, termios.TIOCSWINSZ, size))

    def kill(self) -> None:
        """End the command with all its processes."""
        self._end(ExecOutcome.CANCELLED)

    def _deadline(self) -> None:
        assert self._timer is not None
        late = self._loop.time() - self._timer.when()
        self._stopped = late if late > STOPPED_SECONDS else 0.0
        if late > _LATE_SECONDS:
            # a process that was stopped meets its deadlines before it reads what came meanwhile (a wait that a signal
            # has interrupted tells of nothing): a program that ended in time has ended in time
            self._timer = self._loop.call_later(_LATE_SECONDS, self._out_of_time)
        else:
            self._out_of_time()

    def _out_of_time(self) -> None:
        self._timer = None
        self._end(ExecOutcome.TIMEOUT)

    def _end(self, outcome: ExecOutcome) -> None:
        if self._outcome is None and not self._result.done():
            self._outcome = outcome
            self._ending = self._loop.create_task(self._measure_and_kill())

    async def _measure_and_kill(self) -> None:
        # Asked before the kill: without a cgroup there is nobody left afterwards whose time could be measured. But a
        # deadline does not wait long for a spawner that has much to do.
        measuring = asyncio.ensure_future(self._measure())
        await asyncio.wait([measuring], timeout=_MEASURE_SECONDS)
        self._sandbox.request_kill(self.number)
        await measuring

    async def _measure(self) -> None:
        found = await self._sandbox.processor_time()
        self._processor_time = found.used_seconds
        # this process was stopped, and perhaps the whole machine: then the program had as little of the time
        self._run_delay = found.waited_seconds + self._stopped

    # -- its end -------------------------------------------------------------------------------------------------

    def started_really(self) -> None:
        """Init's child says that only a real start is right."""
        self._is_real = True

    def exited(self, status: int, user: int, system: int, peak_kilobytes: int, warm: bool) -> None:
        """Init says that the main process has ended. All that it wrote lies in the pipes by now."""
        code = os.waitstatus_to_exitcode(status) if _is_end(status) else -signal.SIGKILL
        user_seconds, system_seconds = user * _MICROSECONDS, system * _MICROSECONDS
        usage = ResourceUsage(
            # of a killed tree the kernel reports only the main process; what was measured before the kill has it all
            user_seconds=max(user_seconds, self._processor_time - system_seconds),
            system_seconds=system_seconds,
            peak_memory_bytes=peak_kilobytes * 1024,
        )
        if code == -signal.SIGKILL and self._outcome is None:
            self._finishing = self._loop.create_task(self._finish_killed(code, usage, warm))
        elif self._ending is not None and not self._ending.done():
            self._finishing = self._loop.create_task(self._finish_measured(code, usage, warm))
        else:
            self._finish(self._outcome or _outcome(code), code, usage, warm)

    async def _finish_measured(self, code: int, usage: ResourceUsage, warm: bool) -> None:
        assert self._ending is not None
        await asyncio.wait([self._ending])
        used = max(usage.user_seconds, self._processor_time - usage.system_seconds)
        self._finish(self._outcome or _outcome(code), code, replace(usage, user_seconds=used), warm)

    async def _finish_killed(self, code: int, usage: ResourceUsage, warm: bool) -> None:
        try:
            by_memory = await self._sandbox.was_out_of_memory()
        except SandboxUnavailableError as error:
            self.lost(error)
            return
        self._finish(self._outcome or (ExecOutcome.MEMORY if by_memory else ExecOutcome.SIGNALED), code, usage, warm)

    def _finish(self, outcome: ExecOutcome, code: int, usage: ResourceUsage, warm: bool) -> None:
        if self._result.done() or self._is_over:
            return
        self._is_over = True
        is_released = self._release()
        seconds = time.perf_counter() - self._started
        if is_released and self.stdout.size_bytes + self.stderr.size_bytes <= _JOINED_AT_ONCE:
            self._tell(outcome, code, usage, warm, seconds, self.stdout.getvalue(), self.stderr.getvalue())
        else:
            self._finishing = self._loop.create_task(self._tell_joined(outcome, code, usage, warm, seconds))

    async def _tell_joined(
        self, outcome: ExecOutcome, code: int, usage: ResourceUsage, warm: bool, seconds: float
    ) -> None:
        await asyncio.gather(*self._calling, return_exceptions=True)
        stdout, stderr = await CONTENT.run_for(
            self._sandbox.id, lambda: (self.stdout.getvalue(), self.stderr.getvalue())
        )
        self._tell(outcome, code, usage, warm, seconds, stdout, stderr)

    def _tell(
        self,
        outcome: ExecOutcome,
        code: int,
        usage: ResourceUsage,
        warm: bool,
        seconds: float,
        stdout: bytes,
        stderr: bytes,
    ) -> None:
        self._result.set_result(
            ExecResult(
                outcome=outcome,
                returncode=code if outcome not in (ExecOutcome.TIMEOUT, ExecOutcome.CANCELLED) else -signal.SIGKILL,
                stdout=stdout,
                stderr=stderr,
                stdout_truncated=self.stdout.truncated,
                stderr_truncated=self.stderr.truncated,
                duration_seconds=seconds,
                usage=usage,
                run_delay_seconds=self._run_delay,
                warm=warm and not self._is_real,
            )
        )

    def refused(self, why: str, *, is_memory: bool) -> None:
        """It cannot be started, or (`is_memory`) there is not enough memory for it."""
        self.stderr.append(why.encode("utf-8", "replace"))
        if is_memory:
            self._finish(ExecOutcome.MEMORY, -signal.SIGKILL, ResourceUsage(), False)
        else:
            self._finish(ExecOutcome.EXITED, _CANNOT_START, ResourceUsage(), False)

    def lost(self, error: BaseException | None) -> None:
        """The sandbox has ended under it; None = its memory limit did it."""
        if self._result.done() or self._is_over:
            return
        if error is None:
            self._finish(ExecOutcome.MEMORY, -signal.SIGKILL, ResourceUsage(), False)
            return
        self._release()
        self._result.set_exception(error)
        self._result.exception()  # nobody need be waiting for it

    def _release(self) -> bool:
        """Take what was written and let go of all. False: a thread does what is left of that, see `_calling`."""
        self._is_released = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._listening is not None:
            self._listening.cancel()
        else:
            for descriptor in self._readers:
                self._loop.remove_reader(descriptor)
        for descriptor in {self._stdin, self._terminal} - {-1}:
            self._loop.remove_writer(descriptor)
        stdin, self._stdin = self._stdin, -1
        calls = self._last_calls(stdin)
        if not self._is_apart():
            batch = Timed(self._sandbox.workspace)
            is_all = all(not batch.is_long for _ in calls)
            if batch.end() or not is_all:
                self._go_apart()
            if is_all:
                self._released()
                return True
        self._begin(self._release_apart(calls))
        return False

    async def _release_apart(self, calls: Iterator[None]) -> None:
        await self._call_apart(partial(deque, calls, 0))
        self._released()

    def _last_calls(self, stdin: int) -> Iterator[None]:
        """Stops after each system call; any thread may go on."""
        for descriptor in list(self._readers):
            yield from self._drain(descriptor)
            self._readers.pop(descriptor)
            self._close(descriptor)
            yield
        if stdin >= 0:
            os.close(stdin)
            yield
        if self._terminal >= 0 and terminals.closed_if_let_go(self._terminal):
            self._terminal = -1

    def _drain(self, descriptor: int) -> Iterator[None]:
        """Take what is there now. A daemon that still holds the other end is not waited for, nor what it goes on to
        write: as much is taken as a pipe can hold."""
        left = _MOST_IN_A_PIPE
        for _ in range(_MOST_PIECES_IN_A_PIPE):
            chunk = _read(descriptor)
            yield
            left -= len(chunk or b"")
            if not chunk or left < 0:
                break
            self._last.append((self._readers[descriptor], chunk))

    def _released(self) -> None:
        for buffer, chunk in self._last:
            buffer.append(chunk)
        self._last.clear()
        if self._terminal >= 0:
            terminal, self._terminal = self._terminal, -1
            self._sandbox.left_terminals.keep(terminal)
        self.stdout.close()
        self.stderr.close()

    def forget(self) -> None:
        """In a forked child: let go of the parent's pipes. No event loop is touched."""
        held = {*self._readers, self._stdin, self._terminal} - {-1}
        self._readers.clear()
        self._stdin = self._terminal = -1
        for descriptor in held:
            WIDE_PIPES.give_back(descriptor)
            terminals.TERMINALS.give_back(descriptor)
            os.close(descriptor)

    async def wait(self) -> ExecResult:
        """Wait until the command has ended and its output has been read."""
        return await self._result.wait()


def _read(descriptor: int) -> bytes | None:
    """What is there: b"" at the end, None for nothing yet."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""  # EIO: the last program on the terminal has gone


def _end_input(terminal: int) -> None:
    with contextlib.suppress(OSError):  # a terminal's end of input is a character
        os.write(terminal, b"\x04")


def _is_end(status: int) -> bool:
    return os.WIFEXITED(status) or os.WIFSIGNALED(status)


def _outcome(code: int) -> ExecOutcome:
    return ExecOutcome.EXITED if code >= 0 else ExecOutcome.SIGNALED
