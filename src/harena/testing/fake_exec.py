"""A command of a fake sandbox: a plain child process of the test, found again by a mark in its environment."""

from __future__ import annotations

import asyncio
import fcntl
import math
import os
import resource
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harena.core.errors import HarenaError, SandboxExecutionError
from harena.core.input_files import input_file
from harena.core.models import ExecOutcome, ExecRequest, ExecResult, ResourceUsage
from harena.core.output import OutputBuffer
from harena.core.records.sandboxes import ProcessInfo

MARK = "HARENA_FAKE_EXEC"
_PIPE_BYTES = 64 * 1024
_MOST_LEFT_IN_PIPE_BYTES = 1024 * 1024
_MOST_EXECVE_LOOKS = 100


class FakeExec:
    """Implements `RunningExec`. Without pid namespaces the tree is found by a mark in every descendant's environment,
    which a program that clears its environment escapes."""

    def __init__(self, mark: str, request: ExecRequest, output_bytes: int, on_end: Callable[[FakeExec], None]) -> None:
        self.stdout = OutputBuffer(output_bytes)
        self.stderr = OutputBuffer(output_bytes)
        self._mark = mark
        self._request = request
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._result: ExecResult | None = None
        self._failure: HarenaError | None = None
        self._outcome: ExecOutcome | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._streams: dict[int, OutputBuffer] = {}
        self._stdin: int | None = None
        self._stdin_lock = asyncio.Lock()
        self._stdin_ready: asyncio.Future[None] | None = None
        self._feeder: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._terminal: int | None = None
        self._pidfd = -1
        self._started = time.monotonic()

    def start(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        """Start the process, or end with 126 or 127 and a message on stderr."""
        if not cwd.is_dir():
            self._refuse(127, f"cannot enter directory {self._request.cwd}: No such file or directory")
            return
        ends = self._terminal_ends() if self._request.terminal else None
        command = ["setsid", "--ctty", *argv] if ends else list(argv)
        given = subprocess.PIPE if self._request.stdin_stream else subprocess.DEVNULL
        is_file = self._request.stdin is not None and not self._request.stdin_stream and not ends
        if self._request.stdin is not None and is_file:
            given = input_file(self._request.stdin)
        try:
            self._process = subprocess.Popen(
                command,
                env={**env, MARK: self._mark},
                cwd=cwd,
                stdin=ends[1] if ends else given,
                stdout=ends[1] if ends else subprocess.PIPE,
                stderr=ends[1] if ends else subprocess.PIPE,
                start_new_session=ends is None,
            )
        except FileNotFoundError:
            self._refuse(127, f"{self._request.argv[0]}: not found")
            return
        except OSError as error:
            self._refuse(126, f"{self._request.argv[0]}: {error.strerror}")
            return
        finally:
            if ends:
                os.close(ends[1])
            if is_file:
                os.close(given)
        self._follow(self._process, ends[0] if ends else None)

    def kill(self) -> None:
        """Kill the tree; `wait` gives CANCELLED."""
        self._end_by(ExecOutcome.CANCELLED)

    def fail(self, failure: HarenaError) -> None:
        """The sandbox has ended: kill the tree; `wait` raises `failure`."""
        if self._result is None and self._failure is None:
            self._failure = failure
            self._kill_tree()

    async def wait_ended(self) -> None:
        """Returns when the process is gone, however it ended."""
        await asyncio.shield(self._ended)

    async def wait(self) -> ExecResult:
        """The result, or the sandbox's end as an exception."""
        await self.wait_ended()
        if self._failure is not None:
            raise self._failure
        assert self._result is not None
        return self._result

    async def write_stdin(self, data: bytes) -> None:
        """Write everything, waiting while the pipe is full."""
        async with self._stdin_lock:
            rest = memoryview(data)
            while rest:
                if self._stdin is None:
                    raise SandboxExecutionError(f"cannot write to standard input of {self._request.argv[0]}: closed")
                try:
                    rest = rest[os.write(self._stdin, rest[:_PIPE_BYTES]) :]
                except BlockingIOError:
                    await self._stdin_writable(self._stdin)
                except OSError as error:
                    message = f"cannot write to standard input of {self._request.argv[0]}: nobody reads it"
                    raise SandboxExecutionError(message) from error

    def close_stdin(self) -> None:
        """End of input."""
        if self._stdin is None:
            return
        if self._terminal is not None:
            os.write(self._terminal, b"\x04")
        else:
            self._loop.remove_writer(self._stdin)
            os.close(self._stdin)
        self._stdin = None
        self._wake_writer()

    def resize(self, columns: int, rows: int) -> None:
        """Set the pseudo-terminal's size."""
        if self._terminal is not None:
            _set_size(self._terminal, columns, rows)

    def _follow(self, process: subprocess.Popen[bytes], terminal: int | None) -> None:
        self._pidfd = os.pidfd_open(process.pid)
        if self._request.cpu_seconds is not None:
            seconds = math.ceil(self._request.cpu_seconds)
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds + 1))
        if terminal is not None:
            self._terminal = self._stdin = terminal
            self._read_from(terminal, self.stdout)
        else:
            assert process.stdout is not None
            assert process.stderr is not None
            # the descriptors outlive the file objects, so that this object alone decides when they close
            self._read_from(os.dup(process.stdout.fileno()), self.stdout)
            self._read_from(os.dup(process.stderr.fileno()), self.stderr)
            process.stdout.close()
            process.stderr.close()
            if process.stdin is not None:
                self._stdin = os.dup(process.stdin.fileno())
                process.stdin.close()
                os.set_blocking(self._stdin, False)
        if self._request.stdin is not None and self._stdin is not None:
            self._feeder = self._loop.create_task(self._feed(self._request.stdin))
        if self._request.timeout_seconds is not None:
            self._timer = self._loop.call_later(self._request.timeout_seconds, self._end_by, ExecOutcome.TIMEOUT)
        self._loop.add_reader(self._pidfd, self._main_ended)

    async def _feed(self, data: bytes) -> None:
        try:
            await self.write_stdin(data)
        except SandboxExecutionError:
            return  # the program did not want all of its input, which is its own affair
        self.close_stdin()

    async def _stdin_writable(self, descriptor: int) -> None:
        ready = self._stdin_ready = self._loop.create_future()
        self._loop.add_writer(descriptor, self._wake_writer)
        try:
            await ready
        finally:
            if self._stdin is not None:
                self._loop.remove_writer(descriptor)
            self._stdin_ready = None

    def _wake_writer(self) -> None:
        if self._stdin_ready is not None and not self._stdin_ready.done():
            self._stdin_ready.set_result(None)

    def _read_from(self, descriptor: int, buffer: OutputBuffer) -> None:
        os.set_blocking(descriptor, False)
        self._streams[descriptor] = buffer
        self._loop.add_reader(descriptor, self._readable, descriptor)

    def _readable(self, descriptor: int) -> bool:
        """Move one piece; False when there is none now or ever."""
        try:
            piece = os.read(descriptor, _PIPE_BYTES)
        except BlockingIOError:
            return False
        except OSError:  # EIO: the last owner of the pseudo-terminal is gone
            piece = b""
        if not piece:
            self._close_stream(descriptor)
            return False
        self._streams[descriptor].append(piece)
        return True

    def _close_stream(self, descriptor: int) -> None:
        self._loop.remove_reader(descriptor)
        self._streams.pop(descriptor).close()
        if descriptor != self._terminal:
            os.close(descriptor)

    def _main_ended(self) -> None:
        """The main process has ended: take what is in the pipes, not waiting for children that still hold them."""
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        assert self._process is not None
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = returncode = os.waitstatus_to_exitcode(status)
        if self._timer is not None:
            self._timer.cancel()
        for descriptor in list(self._streams):
            moved = 0
            while moved < _MOST_LEFT_IN_PIPE_BYTES and descriptor in self._streams and self._readable(descriptor):
                moved += _PIPE_BYTES
            if descriptor in self._streams:
                self._close_stream(descriptor)
        self._close_input()
        self._finish(
            self._outcome or (ExecOutcome.SIGNALED if returncode < 0 else ExecOutcome.EXITED),
            returncode,
            ResourceUsage(
                user_seconds=usage.ru_utime,
                system_seconds=usage.ru_stime,
                peak_memory_bytes=usage.ru_maxrss * 1024,
            ),
        )

    def _close_input(self) -> None:
        if self._terminal is not None:
            terminal, self._terminal, self._stdin = self._terminal, None, None
            self._loop.remove_writer(terminal)
            os.close(terminal)
            self._wake_writer()
        self.close_stdin()

    def _refuse(self, returncode: int, message: str) -> None:
        self.stderr.append(f"{message}\n".encode())
        self._finish(ExecOutcome.EXITED, returncode, ResourceUsage())

    def _finish(self, outcome: ExecOutcome, returncode: int, usage: ResourceUsage) -> None:
        self.stdout.close()
        self.stderr.close()
        self._result = ExecResult(
            outcome=outcome,
            returncode=returncode,
            stdout=self.stdout.getvalue(),
            stderr=self.stderr.getvalue(),
            stdout_truncated=self.stdout.truncated,
            stderr_truncated=self.stderr.truncated,
            duration_seconds=time.monotonic() - self._started,
            usage=usage,
        )
        self._ended.set_result(None)
        self._on_end(self)

    def _end_by(self, outcome: ExecOutcome) -> None:
        if not self._ended.done() and self._outcome is None:
            self._outcome = outcome
            self._kill_tree()

    def _kill_tree(self) -> None:
        if self._process is not None:
            signal_process(self._process.pid, signal.SIGKILL)  # not reaped yet, so the number is still its own
        kill_marked(self._mark)

    def _terminal_ends(self) -> tuple[int, int]:
        assert self._request.terminal is not None
        ours, theirs = os.openpty()
        _set_size(ours, *self._request.terminal)
        return ours, theirs


def _set_size(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def fake_mark() -> str:
    """What the marks of all fake sandboxes of this process begin with."""
    return f"{os.getpid():x}"


def marked(mark: str) -> list[int]:
    """Process ids of all living descendants of the execs with this mark, or with one below it ("a/b" is below "a")."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            words = environment(name).split(b"\0")
            if any(word == wanted or word.startswith(wanted + b"/") for word in words):
                found.append(int(name))
    return sorted(found)


def environment(pid: str) -> bytes:
    """What /proc shows; empty for a process that has ended, has none, or is not ours."""
    try:
        # a process in the middle of execve has no environment for a moment; only the dead have no program file
        for _ in range(_MOST_EXECVE_LOOKS):
            if found := Path("/proc", pid, "environ").read_bytes():
                return found
            os.readlink(f"/proc/{pid}/exe")
            if _environment_end(pid):
                return b""  # it was started with none: to look again costs a time slice of each busy process
            os.sched_yield()
    except OSError:
        pass
    return b""


def _environment_end(pid: str) -> int:
    """The address behind its environment, which execve sets last; 0 = not yet."""
    return int(Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[48])


def kill_marked(mark: str) -> None:
    """SIGKILL to all of them, until none is left: a process that forks meanwhile is found in the next round."""
    while pids := marked(mark):
        for pid in pids:
            signal_process(pid, signal.SIGKILL)


def signal_process(pid: int, signum: int) -> bool:
    """Send a signal; False where there is no such process."""
    try:
        os.kill(pid, signum)
    except ProcessLookupError:
        return False
    return True


def used_seconds(pid: int) -> float:
    """Processor time of a process and of the children that it has waited for; 0 when it has ended."""
    try:
        fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(word) for word in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def describe(pid: int) -> ProcessInfo | None:
    """What /proc says about one process; None when it has ended."""
    try:
        command = Path("/proc", str(pid), "cmdline").read_bytes()
        fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    words = tuple(word.decode(errors="replace") for word in command.rstrip(b"\0").split(b"\0"))
    return ProcessInfo(pid=pid, parent_pid=int(fields[1]), state=fields[0], command=words)
