"""Conformance: commands."""

from __future__ import annotations

import asyncio
import hashlib
import signal

import pytest

from harena.core.errors import SandboxExecutionError, SandboxValidationError
from harena.core.models import ExecOutcome, ExecRequest
from harena.core.ports import RunningExec, SandboxPort
from harena.testing.conformance_base import gather_bytes, run, run_python

MIB = 1024 * 1024

# Leaves a grandchild in a session of its own that holds a lock for as long as it lives, says "ready", and stays.
DAEMON = """
import fcntl, os, signal, sys
told, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        lock = open("lock", "w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.write(tell, b"x")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            signal.pause()
    os._exit(0)
os.wait()
os.read(told, 1)
print("ready", flush=True)
signal.pause()
"""
# Exit code 0 where that grandchild is gone, 7 where it still holds its lock.
LOCK_IS_FREE = """
import fcntl
try:
    fcntl.flock(open("lock", "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    raise SystemExit(7)
"""


async def start(sandbox: SandboxPort, code: str, *, stdin_stream: bool = False) -> RunningExec:
    """Start program text."""
    return await sandbox.exec(ExecRequest(argv=("python3", "-c", code), stdin_stream=stdin_stream))


class ExecConformance:
    """Starting, feeding, reading, limiting and ending commands."""

    async def test_arguments_arrive_as_they_are(self, sandbox: SandboxPort) -> None:
        """No shell touches argv: blanks, quotes, dollars and empty words arrive unchanged."""
        words = ["a b", "", "$HOME", "'q'", '"', "*", "é\n"]
        result = await run_python(sandbox, "import sys; print(ascii(sys.argv[1:]))", *words)
        assert result.stdout.decode().strip() == ascii(words)

    async def test_streams_are_separate(self, sandbox: SandboxPort) -> None:
        """stdout and stderr are kept apart, byte for byte."""
        result = await run(sandbox, "sh", "-c", r"printf 'out\377'; printf 'err' >&2")
        assert (result.stdout, result.stderr) == (b"out\xff", b"err")
        assert not result.stdout_truncated
        assert not result.stderr_truncated

    async def test_streams_are_opened_by_name(self, sandbox: SandboxPort) -> None:
        """Many programs that read all of their input open it by name."""
        program = (
            "text = open('/dev/stdin').read()\n"
            "for name in ('/dev/stdout', '/dev/stderr'):\n"
            "    with open(name, 'w') as stream:\n"
            "        stream.write(text + name)\n"
        )
        result = await run_python(sandbox, program, stdin=b"given ")
        assert (result.stdout, result.stderr) == (b"given /dev/stdout", b"given /dev/stderr"), result

    @pytest.mark.parametrize("code", [0, 1, 3, 255])
    async def test_exit_code(self, sandbox: SandboxPort, code: int) -> None:
        """The exit code is the program's."""
        result = await run(sandbox, "sh", "-c", f"exit {code}")
        assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, code)

    @pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
    async def test_signal(self, sandbox: SandboxPort, signum: int) -> None:
        """A program that a signal ends has minus its number as return code."""
        result = await run_python(sandbox, f"import os; os.kill(os.getpid(), {int(signum)})")
        assert (result.outcome, result.returncode) == (ExecOutcome.SIGNALED, -signum)

    async def test_missing_program(self, sandbox: SandboxPort) -> None:
        """A program that does not exist is 127 and is named on stderr."""
        result = await run(sandbox, "no-such-program", "x")
        assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 127)
        assert b"no-such-program" in result.stderr

    async def test_program_that_cannot_be_executed(self, sandbox: SandboxPort) -> None:
        """A file without permission to execute is 126 and is named on stderr."""
        await sandbox.write_file("/workspace/plain", b"text", mode=0o644)
        result = await run(sandbox, "/workspace/plain")
        assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 126)
        assert b"plain" in result.stderr

    async def test_environment_is_added(self, sandbox: SandboxPort) -> None:
        """The request's environment is added to the sandbox's, for this exec only."""
        code = "import os; print(os.environ.get('COLOUR'), 'PATH' in os.environ)"
        with_colour = await run_python(sandbox, code, env={"COLOUR": "blåe x"})
        without = await run_python(sandbox, code)
        assert with_colour.stdout.decode() == "blåe x True\n"
        assert without.stdout == b"None True\n"

    async def test_default_directory_is_workspace(self, sandbox: SandboxPort) -> None:
        """Without cwd a command starts in /workspace."""
        await run(sandbox, "touch", "here")
        assert (await sandbox.stat("/workspace/here")).kind == "file"

    async def test_directory_of_the_request(self, sandbox: SandboxPort) -> None:
        """cwd is where the command starts."""
        await sandbox.make_dir("/data/deep/er")
        await run(sandbox, "touch", "here", cwd="/data/deep/er")
        assert (await sandbox.stat("/data/deep/er/here")).kind == "file"

    async def test_missing_directory(self, sandbox: SandboxPort) -> None:
        """A cwd that does not exist is 126 or 127 with a message, as in a shell, and nothing runs."""
        result = await run(sandbox, "sh", "-c", "echo ran", cwd="/workspace/absent")
        assert result.returncode in (126, 127)
        assert b"absent" in result.stderr
        assert result.stdout == b""

    async def test_no_input_is_end_of_file(self, sandbox: SandboxPort) -> None:
        """Without stdin a program that reads sees the end at once."""
        assert (await run(sandbox, "cat")).stdout == b""

    @pytest.mark.parametrize("size_bytes", [0, 5, 3 * MIB])
    async def test_input_given_at_once(self, sandbox: SandboxPort, size_bytes: int) -> None:
        """stdin bytes of any size arrive whole, and then the end."""
        given = bytes(range(256)) * (size_bytes // 256 + 1)
        result = await run(sandbox, "sha256sum", stdin=given[:size_bytes])
        assert result.stdout.split()[0].decode() == hashlib.sha256(given[:size_bytes]).hexdigest()

    @pytest.mark.parametrize("size", [300, 300_000])
    @pytest.mark.parametrize("flags", [(), ("-u",)])
    async def test_input_given_at_once_is_a_file(self, sandbox: SandboxPort, flags: tuple[str, ...], size: int) -> None:
        """Its size is known, it can be read at once, mapped and read again, by name too, and nobody can change it."""
        program = (
            "import mmap, os, sys\n"
            "size = os.fstat(0).st_size\n"
            "assert os.read(0, size) == mmap.mmap(0, 0, access=mmap.ACCESS_READ)[:] == b'ab\\n' * (size // 3)\n"
            "os.lseek(0, 0, 0)\n"
            "assert sys.stdin.seekable() and sys.stdin.readline() == 'ab\\n'\n"
            "assert sys.stdin.tell() == 3 and len(sys.stdin.read()) == size - 3 and sys.stdin.seek(0) == 0\n"
            "assert len(sys.stdin.buffer.read()) == size == len(open('/dev/stdin').read())\n"
            "changes = (lambda: os.write(0, b'x'), lambda: os.ftruncate(0, 1), lambda: open('/dev/stdin', 'w'),\n"
            "           lambda: os.write(os.open('/dev/stdin', os.O_WRONLY), b'x'))\n"
            "for change in changes:\n"
            "    try: change()\n"
            "    except OSError: continue\n"
            "    print('changed')\n"
            "print(size)\n"
        )
        result = await run(sandbox, "python3", *flags, "-c", program, stdin=b"ab\n" * (size // 3))
        assert (result.stdout, result.stderr) == (b"%d\n" % size, b"")

    async def test_input_that_nobody_reads(self, sandbox: SandboxPort) -> None:
        """A program that ends without reading a large input ends normally."""
        result = await run(sandbox, "true", stdin=bytes(3 * MIB))
        assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 0)

    async def test_streamed_input(self, sandbox: SandboxPort) -> None:
        """Input can be written piece by piece and closed, more than once."""
        running = await sandbox.exec(ExecRequest(argv=("cat",), stdin_stream=True))
        for piece in (b"one ", b"", b"two ", b"x" * MIB):
            await running.write_stdin(piece)
        running.close_stdin()
        running.close_stdin()
        assert (await running.wait()).stdout == b"one two " + b"x" * MIB

    async def test_input_in_a_pipe(self, sandbox: SandboxPort) -> None:
        """It is given at once, can be read once, and ends."""
        code = "import os, stat, sys; print(stat.S_ISFIFO(os.fstat(0).st_mode), sys.stdin.read())"
        request = ExecRequest(argv=("python3", "-c", code), stdin=b"word", stdin_stream=True)
        running = await sandbox.exec(request)
        assert (await running.wait()).stdout.split() == [b"True", b"word"]

    async def test_writing_to_a_program_that_has_ended(self, sandbox: SandboxPort) -> None:
        """Writing where nobody reads any more is a clear error."""
        running = await sandbox.exec(ExecRequest(argv=("true",), stdin_stream=True))
        await running.wait()
        with pytest.raises(SandboxExecutionError):
            await running.write_stdin(b"x" * MIB)
        running.close_stdin()

    async def test_output_is_live(self, sandbox: SandboxPort) -> None:
        """What a program prints arrives while it runs: it answers only after its question was read."""
        code = "print('question', flush=True); print(input()[::-1])"
        running = await start(sandbox, code, stdin_stream=True)
        assert await running.stdout.next_chunk(0) == b"question\n"
        await running.write_stdin(b"abc\n")
        result = await running.wait()
        assert result.stdout == b"question\ncba\n"
        assert await gather_bytes(aiter(running.stdout)) == result.stdout

    async def test_big_output_on_both_streams(self, sandbox: SandboxPort) -> None:
        """Megabytes on stdout and stderr at once arrive whole; nothing waits for anything."""
        code = "import os\nfor _ in range(64): os.write(1, b'o' * 131072); os.write(2, b'e' * 131072)"
        result = await run_python(sandbox, code)
        assert result.returncode == 0, result.stderr[-300:]
        assert (len(result.stdout), len(result.stderr)) == (8 * MIB, 8 * MIB)
        assert set(result.stdout) == {ord("o")}

    async def test_output_over_the_limit(self, sandbox: SandboxPort) -> None:
        """Output over the limit is read and dropped, the program goes on, and the result says so, per stream."""
        code = "import os, sys\nfor _ in range(64): os.write(1, b'o' * 65536)\nsys.stderr.write('end'); sys.exit(5)"
        result = await run_python(sandbox, code, output_bytes=100_000)
        assert result.returncode == 5
        assert result.stdout == b"o" * 100_000
        assert result.stdout_truncated
        assert result.stderr == b"end"
        assert not result.stderr_truncated

    async def test_output_exactly_at_the_limit(self, sandbox: SandboxPort) -> None:
        """Output of exactly the limit is not truncated."""
        result = await run(sandbox, "printf", "12345", output_bytes=5)
        assert (result.stdout, result.stdout_truncated) == (b"12345", False)

    async def test_many_commands_at_once(self, sandbox: SandboxPort) -> None:
        """Many commands run at once in one sandbox, and each result is its own."""

        async def one(number: int) -> bytes:
            result = await run(sandbox, "sh", "-c", f"cat; echo {number}; exit {number}", stdin=b"%d " % number)
            assert result.returncode == number
            return result.stdout

        assert await asyncio.gather(*(one(number) for number in range(16))) == [b"%d %d\n" % (n, n) for n in range(16)]

    async def test_commands_run_side_by_side(self, sandbox: SandboxPort) -> None:
        """Two commands of one sandbox run at the same time: the second ends the wait of the first."""
        first = await start(sandbox, "print('up', flush=True); input()", stdin_stream=True)
        assert await first.stdout.next_chunk(0) == b"up\n"
        second = await run(sandbox, "echo", "done")
        await first.write_stdin(b"\n")
        assert (second.stdout, (await first.wait()).returncode) == (b"done\n", 0)

    async def test_result_can_be_awaited_twice(self, sandbox: SandboxPort) -> None:
        """Several tasks get the same result, also after the end, and a cancelled one does not disturb the others."""
        running = await start(sandbox, "input(); print('x')", stdin_stream=True)
        impatient = asyncio.ensure_future(running.wait())
        patient = asyncio.ensure_future(running.wait())
        await asyncio.sleep(0)
        impatient.cancel()
        running.close_stdin()
        results = [await patient, await running.wait()]
        assert results[0] == results[1]
        assert results[0].returncode == 1  # EOFError

    async def test_background_child_does_not_delay_the_result(self, sandbox: SandboxPort) -> None:
        """A command's result comes when the command ends, though a child of it still holds its output."""
        result = await asyncio.wait_for(run(sandbox, "sh", "-c", "sleep 3600 & echo started"), timeout=30)
        assert (result.returncode, result.stdout) == (0, b"started\n")

    async def test_timeout(self, sandbox: SandboxPort) -> None:
        """A time-out ends the command, keeps what it had printed, and leaves the sandbox usable."""
        running = await sandbox.exec(
            ExecRequest(argv=("sh", "-c", "echo before; sleep 3600; echo after"), timeout_seconds=0.5)
        )
        result = await running.wait()
        assert (result.outcome, result.returncode) == (ExecOutcome.TIMEOUT, -signal.SIGKILL)
        assert result.stdout == b"before\n"
        assert 0.4 <= result.duration_seconds < 20
        assert (await run(sandbox, "echo", "again")).stdout == b"again\n"

    async def test_timeout_reaches_daemons(self, sandbox: SandboxPort) -> None:
        """A time-out ends the whole tree: also a double-forked child in a session of its own that ignores SIGTERM."""
        result = await run_python(sandbox, DAEMON, timeout_seconds=2.0)
        assert (result.outcome, result.stdout) == (ExecOutcome.TIMEOUT, b"ready\n")
        assert (await run_python(sandbox, LOCK_IS_FREE)).returncode == 0

    async def test_timeout_that_is_not_reached(self, sandbox: SandboxPort) -> None:
        """A command that ends in time is not touched by its time-out."""
        result = await run(sandbox, "echo", "x", timeout_seconds=60)
        assert (result.outcome, result.stdout) == (ExecOutcome.EXITED, b"x\n")

    async def test_kill(self, sandbox: SandboxPort) -> None:
        """kill() ends the whole tree at once; the outcome is CANCELLED and the sandbox stays usable."""
        running = await start(sandbox, DAEMON)
        assert await running.stdout.next_chunk(0) == b"ready\n"
        running.kill()
        running.kill()
        result = await running.wait()
        assert (result.outcome, result.returncode, result.stdout) == (
            ExecOutcome.CANCELLED,
            -signal.SIGKILL,
            b"ready\n",
        )
        assert (await run_python(sandbox, LOCK_IS_FREE)).returncode == 0

    async def test_kill_after_the_end(self, sandbox: SandboxPort) -> None:
        """kill() after the end changes nothing."""
        running = await sandbox.exec(ExecRequest(argv=("sh", "-c", "exit 4")))
        before = await running.wait()
        running.kill()
        assert await running.wait() == before
        assert (before.outcome, before.returncode) == (ExecOutcome.EXITED, 4)

    async def test_kill_leaves_other_commands_alone(self, sandbox: SandboxPort) -> None:
        """Killing one exec does not touch another of the same sandbox."""
        other = await start(sandbox, "print(input())", stdin_stream=True)
        victim = await sandbox.exec(ExecRequest(argv=("sleep", "3600")))
        victim.kill()
        await victim.wait()
        await other.write_stdin(b"alive\n")
        assert (await other.wait()).stdout == b"alive\n"

    async def test_usage(self, sandbox: SandboxPort) -> None:
        """CPU time, peak memory and wall time are reported."""
        code = "import time\nkept = bytearray(30_000_000)\nwhile time.process_time() < 0.2: pass"
        result = await run_python(sandbox, code)
        assert result.usage.cpu_seconds >= 0.15
        assert result.usage.peak_memory_bytes >= 30_000_000
        assert result.duration_seconds >= 0.15

    async def test_cpu_limit(self, sandbox: SandboxPort) -> None:
        """A program that passes its CPU limit is ended by a signal."""
        result = await run_python(sandbox, "while True: pass", cpu_seconds=1, timeout_seconds=60)
        assert result.outcome is ExecOutcome.SIGNALED
        assert result.returncode in (-signal.SIGXCPU, -signal.SIGKILL)

    async def test_terminal(self, sandbox: SandboxPort) -> None:
        """With `terminal` a program runs on a pseudo-terminal of that size, both streams merged, and can be resized."""
        code = (
            "import os, sys\n"
            "print(os.isatty(0), os.isatty(1), os.isatty(2), *os.get_terminal_size(), flush=True)\n"
            "input()\nprint(*os.get_terminal_size(), file=sys.stderr)"
        )
        running = await sandbox.exec(ExecRequest(argv=("python3", "-c", code), stdin_stream=True, terminal=(91, 33)))
        assert await running.stdout.next_chunk(0) == b"True True True 91 33\r\n"
        running.resize(70, 20)
        await running.write_stdin(b"\n")
        result = await running.wait()
        assert result.stdout.replace(b"\r", b"").split(b"\n")[-2] == b"70 20"
        assert result.stderr == b""

    async def test_terminal_beside_another_command(self, sandbox: SandboxPort) -> None:
        """A command on a terminal ends as it would alone, and does not touch another one."""
        other = await start(sandbox, "print(input())", stdin_stream=True)
        result = await run(sandbox, "sh", "-c", "echo out; echo err >&2; exit 3", terminal=(80, 24))
        assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 3)
        assert (result.stdout, result.stderr) == (b"out\r\nerr\r\n", b"")
        await other.write_stdin(b"alive\n")
        assert (await other.wait()).stdout == b"alive\n"

    async def test_processes_and_signal(self, sandbox: SandboxPort) -> None:
        """A running program is listed with its command, can be signalled, and is gone from the list afterwards."""
        running = await start(sandbox, "print('up', flush=True); input('marker-7f3a')", stdin_stream=True)
        await running.stdout.next_chunk(0)
        found = [process for process in await sandbox.processes() if "marker-7f3a" in " ".join(process.command)]
        assert len(found) == 1
        assert found[0].pid > 1
        await sandbox.signal(found[0].pid, signal.SIGTERM)
        result = await running.wait()
        assert (result.outcome, result.returncode) == (ExecOutcome.SIGNALED, -signal.SIGTERM)
        assert found[0].pid not in [process.pid for process in await sandbox.processes()]

    @pytest.mark.parametrize("pid", [-1, 0, 1, 999_999_999])
    async def test_signal_to_nobody(self, sandbox: SandboxPort, pid: int) -> None:
        """Groups, init and processes that do not exist cannot be signalled."""
        with pytest.raises(SandboxValidationError):
            await sandbox.signal(pid, signal.SIGTERM)
