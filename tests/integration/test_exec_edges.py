"""Commands at their edges, on the real runtime: very long, very many, very loud, very short, and badly behaved."""

from __future__ import annotations

import asyncio
import hashlib
import os
import resource
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harena.core.clock import SystemClock
from harena.core.errors import (
    SandboxFileError,
    SandboxTerminatedError,
    SandboxUnavailableError,
)
from harena.core.models import MIB, ExecOutcome, ExecRequest, SandboxSpec
from harena.core.ports import RunningExec, SandboxPort
from harena.core.records.sandboxes import Limits, SandboxStatus
from harena.runtime.host.blueprints import Blueprints
from harena.runtime.host.layers import LayerStore
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.host.sandboxes import Sandboxes
from harena.testing.conformance_base import run, run_python


@pytest.fixture
async def sandbox(runtime: LinuxRuntime) -> AsyncIterator[SandboxPort]:
    """A fresh sandbox with the default limits."""
    sandbox = await runtime.create(SandboxSpec())
    yield sandbox
    await sandbox.destroy()


async def limited(runtime: LinuxRuntime, **limits: object) -> SandboxPort:
    """A sandbox with these limits."""
    return await runtime.create(SandboxSpec(limits=Limits(**limits)))  # type: ignore[arg-type]


async def read_until(running: RunningExec, wanted: bytes) -> bytes:
    """What it prints, until `wanted` is in it."""
    seen, index = b"", 0
    async with asyncio.timeout(30):
        while wanted not in seen:
            chunk = await running.stdout.next_chunk(index)
            assert chunk is not None, seen
            seen, index = seen + chunk, index + 1
    return seen


# -- requests ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("total_bytes", [60_000, 99_900, 100_100, 128 * 1024, 300_000, 1024 * 1024])
@pytest.mark.parametrize("place", ["argv", "env"])
async def test_long_requests(sandbox: SandboxPort, total_bytes: int, place: str) -> None:
    """Arguments or environment of up to a megabyte in all arrive unchanged, whichever way they travel."""
    pieces = [f"{number:06}" * 5000 for number in range(total_bytes // 30_000)]
    pieces.append("x" * (total_bytes - sum(map(len, pieces))))
    code = (
        "import hashlib, os, sys\n"
        "given = sys.argv[1:] or [os.environ['PIECE_%d' % n] for n in range(int(os.environ['PIECES']))]\n"
        "print(len(given), hashlib.sha256('/'.join(given).encode()).hexdigest())"
    )
    if place == "argv":
        result = await run_python(sandbox, code, *pieces)
    else:
        names = {f"PIECE_{number}": piece for number, piece in enumerate(pieces)}
        result = await run_python(sandbox, code, env={**names, "PIECES": str(len(pieces))})
    digest = hashlib.sha256("/".join(pieces).encode()).hexdigest()
    assert result.stdout.decode() == f"{len(pieces)} {digest}\n", result.stderr


async def test_request_that_the_kernel_refuses(sandbox: SandboxPort) -> None:
    """One argument of more than the kernel takes is the command's failure, not the sandbox's end."""
    result = await run(sandbox, "echo", "x" * (200 * 1024))
    assert result.returncode in (126, 127)
    assert result.stderr
    assert (await run(sandbox, "echo", "on")).stdout == b"on\n"


async def test_undecodable_words(sandbox: SandboxPort) -> None:
    """Bytes that are no UTF-8 travel as Python writes them (surrogateescape), and arrive as they were."""
    word = os.fsdecode(b"\xff\xfe file")
    result = await run(sandbox, "printf", "%s", word)
    assert result.stdout == b"\xff\xfe file"


async def test_missing_directory_after_it_was_there(sandbox: SandboxPort) -> None:
    """A working directory that has been removed is named, and the next command is not affected."""
    await sandbox.make_dir("/data/gone")
    assert (await run(sandbox, "pwd", cwd="/data/gone")).stdout == b"/data/gone\n"
    await sandbox.remove("/data/gone", recursive=True)
    result = await run(sandbox, "pwd", cwd="/data/gone")
    assert result.returncode in (126, 127)
    assert b"/data/gone" in result.stderr
    assert (await run(sandbox, "pwd")).stdout == b"/workspace\n"


# -- many ----------------------------------------------------------------------------------------------------------


async def test_a_hundred_at_once(sandbox: SandboxPort) -> None:
    """A hundred commands at once in one sandbox: each gets its input and gives its own answer."""

    async def one(number: int) -> tuple[int, bytes]:
        result = await run(sandbox, "sh", "-c", "read word; echo $word; exit $(($word % 100))", stdin=b"%d\n" % number)
        return result.returncode, result.stdout

    answers = await asyncio.gather(*(one(number) for number in range(100)))
    assert answers == [(number % 100, b"%d\n" % number) for number in range(100)]
    for _ in range(1000):  # init tells of an end before it has reaped the last of them
        if not (left := await sandbox.processes()):
            break
    assert left == []


async def test_more_than_the_process_limit(runtime: LinuxRuntime) -> None:
    """More commands than processes are allowed: some cannot start and say so; the sandbox lives on."""
    sandbox = await limited(runtime, pids=20)
    running = [await sandbox.exec(ExecRequest(argv=("cat",), stdin_stream=True)) for _ in range(40)]
    refused = [one for one in running if one.stderr.closed or await refusal(one)]
    for one in running:
        one.close_stdin()
    results = [await one.wait() for one in running]
    codes = [result.returncode for result in results]
    assert 0 in codes
    assert 126 in codes
    assert len(refused) == codes.count(126)
    assert (await run(sandbox, "echo", "on")).stdout == b"on\n"


async def refusal(running: RunningExec) -> bool:
    """It has been told that it cannot start; a `cat` that runs answers instead."""
    try:
        await running.write_stdin(b"x")
    except Exception:  # noqa: BLE001 (whoever cannot start has no input, in whichever way that is told)
        return True
    chunks = [asyncio.ensure_future(stream.next_chunk(0)) for stream in (running.stdout, running.stderr)]
    done, rest = await asyncio.wait(chunks, return_when="FIRST_COMPLETED")
    for task in rest:
        task.cancel()
    return chunks[0] not in done or chunks[0].result() is None


# -- output and input ----------------------------------------------------------------------------------------------


async def test_output_far_over_the_cap(sandbox: SandboxPort) -> None:
    """300 MB of output are read to their end; the cap's worth is kept, and the flag says that it is not all."""
    code = "import os\nblock = b'o' * (1 << 20)\nfor _ in range(300): os.write(1, block)\nos.write(2, b'end')"
    result = await run_python(sandbox, code, output_bytes=1 * MIB, timeout_seconds=100)
    assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 0)
    assert len(result.stdout) == MIB
    assert (result.stdout_truncated, result.stderr, result.stderr_truncated) == (True, b"end", False)


async def test_endless_output_ends_with_its_time(sandbox: SandboxPort) -> None:
    """A program that never stops printing is ended by its time-out, not later."""
    result = await run(sandbox, "yes", timeout_seconds=0.5, output_bytes=1000)
    assert (result.outcome, result.stdout[:4], len(result.stdout)) == (ExecOutcome.TIMEOUT, b"y\ny\n", 1000)
    assert result.stdout_truncated
    assert result.duration_seconds < 20


async def test_exit_with_output_pending(sandbox: SandboxPort) -> None:
    """What lies in the pipe when a program ends belongs to its result: ten times over, to the last byte."""
    for _ in range(10):
        code = "import os\nos.write(1, b'o' * 65536)\nos.write(2, b'e' * 65536)\nos._exit(7)"
        result = await run_python(sandbox, code)
        assert (result.returncode, len(result.stdout), len(result.stderr)) == (7, 65536, 65536)


async def test_big_input(sandbox: SandboxPort) -> None:
    """50 MB of standard input arrive whole, and what comes back does too."""
    given = os.urandom(MIB) * 50
    result = await run(sandbox, "sha256sum", stdin=given)
    assert result.stdout.split()[0].decode() == hashlib.sha256(given).hexdigest()


async def test_input_through_a_program(sandbox: SandboxPort) -> None:
    """A program that answers while it is still being fed: neither side waits for the other."""
    given = os.urandom(MIB) * 8
    result = await run(sandbox, "cat", stdin=given)
    assert result.stdout == given


async def test_program_that_closes_its_output_and_lives_on(sandbox: SandboxPort) -> None:
    """Closing both streams is not the end: the result waits for the program."""
    code = "import os, sys\nos.write(1, b'first')\nos.close(1); os.close(2)\nsys.exit(len(sys.stdin.readline()))"
    running = await sandbox.exec(ExecRequest(argv=("python3", "-c", code), stdin_stream=True))
    chunks = [chunk async for chunk in running.stdout]
    assert chunks == [b"first"]
    assert [chunk async for chunk in running.stderr] == []
    await running.write_stdin(b"12345\n")
    assert (await running.wait()).returncode == 6


async def test_daemon_that_holds_the_output(sandbox: SandboxPort) -> None:
    """A daemon in a session of its own that keeps stdout open, silent or printing all the time, delays no result."""
    code = (
        "import os, subprocess\n"
        "for text in ('while :; do echo noise; done', 'sleep 3600; echo silent'):\n"
        "    subprocess.Popen(['sh', '-c', text], start_new_session=True)\n"
        "os.write(2, b'told')\n"
    )
    async with asyncio.timeout(30):
        result = await run_python(sandbox, code, output_bytes=10 * MIB)
    assert (result.returncode, result.stderr) == (0, b"told")
    assert (await run(sandbox, "echo", "on")).stdout == b"on\n"
    assert [process for process in await sandbox.processes() if "silent" in " ".join(process.command)]


# -- ends ----------------------------------------------------------------------------------------------------------


async def test_kill_right_after_the_start(sandbox: SandboxPort) -> None:
    """Cancelled before it could do anything: cancelled, whatever it was about to do; twenty times."""
    for _ in range(20):
        running = await sandbox.exec(ExecRequest(argv=("sleep", "3600")))
        running.kill()
        async with asyncio.timeout(30):
            result = await running.wait()
        assert (result.outcome, result.returncode) == (ExecOutcome.CANCELLED, -9)
    assert await sandbox.processes() == []


async def test_kill_right_after_the_start_beside_others(sandbox: SandboxPort) -> None:
    """The same while another command runs: its tree is told apart from the first moment on."""
    other = await sandbox.exec(ExecRequest(argv=("cat",), stdin_stream=True))
    for _ in range(20):
        running = await sandbox.exec(ExecRequest(argv=("sleep", "3600")))
        running.kill()
        async with asyncio.timeout(5):
            result = await running.wait()
        assert (result.outcome, result.returncode) == (ExecOutcome.CANCELLED, -9)
    await other.write_stdin(b"alive")
    other.close_stdin()
    assert (await other.wait()).stdout == b"alive"


async def test_start_while_others_are_killed(runtime: LinuxRuntime) -> None:
    """A kill stops everything for a moment, also a program that is just being forked: it goes on, too."""
    for _ in range(25):
        sandbox = await runtime.create(SandboxSpec())
        others = [await sandbox.exec(ExecRequest(argv=("sleep", "300"))) for _ in range(3)]
        starting = asyncio.create_task(run(sandbox, "echo", "alive"))
        for other in others:
            await asyncio.sleep(0)
            other.kill()
        assert (await asyncio.wait_for(starting, 20)).stdout == b"alive\n"
        assert {(await other.wait()).outcome for other in others} == {ExecOutcome.CANCELLED}
        await sandbox.destroy()


@pytest.mark.parametrize("daemon", [False, True], ids=["alone", "beside a daemon"])
async def test_timeout_of_a_millisecond(sandbox: SandboxPort, daemon: bool) -> None:
    """Too short to start in: a time-out, and nothing of it runs afterwards; twenty times."""
    if daemon:
        await run(sandbox, "sh", "-c", "sleep 3600 & true")
    async with asyncio.timeout(60):
        for _ in range(20):
            result = await run(sandbox, "sleep", "3600", timeout_seconds=0.001)
            assert (result.outcome, result.returncode) == (ExecOutcome.TIMEOUT, -9)
            assert result.duration_seconds < 5
    assert len(await sandbox.processes()) == int(daemon)


async def test_stopped_program_is_timed_out(sandbox: SandboxPort) -> None:
    """A program that stops itself and its children is ended by its time-out all the same."""
    code = "sleep 3600 & kill -STOP $! ; kill -STOP $$"
    result = await run(sandbox, "sh", "-c", code, timeout_seconds=0.5)
    assert result.outcome is ExecOutcome.TIMEOUT
    assert await sandbox.processes() == []


async def test_destroy_while_it_runs(runtime: LinuxRuntime) -> None:
    """Stopping the sandbox ends a wait with an error that says so; afterwards nothing can be asked of it."""
    sandbox = await runtime.create(SandboxSpec())
    running = await sandbox.exec(ExecRequest(argv=("sleep", "3600")))
    waiting = asyncio.ensure_future(running.wait())
    await asyncio.gather(sandbox.destroy(), sandbox.destroy())
    with pytest.raises(SandboxTerminatedError):
        await waiting
    with pytest.raises(SandboxTerminatedError):
        await sandbox.exec(ExecRequest(argv=("true",)))
    with pytest.raises(SandboxTerminatedError):
        await sandbox.write_file("/data/x", b"")
    assert (await sandbox.wait_dead()).by_request


async def test_grace(runtime: LinuxRuntime) -> None:
    """With grace a program gets SIGTERM and may tidy up; one that ignores it does not get more than the grace."""
    polite, stubborn = await runtime.create(SandboxSpec()), await runtime.create(SandboxSpec())
    code = (
        "import os, signal\n"
        "signal.signal(15, lambda *_: (os.write(1, b'tidy'), os._exit(0)))\n"
        "os.write(1, b'up')\nwhile True: signal.pause()"
    )
    running = await polite.exec(ExecRequest(argv=("python3", "-c", code)))
    await read_until(running, b"up")
    async with asyncio.timeout(20):
        await polite.destroy(grace_seconds=600)
    assert (await running.wait()).stdout == b"uptidy"
    ignoring = await stubborn.exec(ExecRequest(argv=("sh", "-c", "trap '' TERM; echo up; while :; do sleep 1; done")))
    await read_until(ignoring, b"up\n")
    async with asyncio.timeout(20):
        await stubborn.destroy(grace_seconds=0.2)
    with pytest.raises(SandboxTerminatedError):
        await ignoring.wait()


# -- terminals -----------------------------------------------------------------------------------------------------


async def test_terminal_has_no_name(sandbox: SandboxPort) -> None:
    """A listed limit: the terminal comes from outside, so inside it works and has no name; /dev/tty opens it."""
    result = await run(
        sandbox, "sh", "-c", "tty; test -t 0 && echo yes; : <>/dev/tty && echo opened", terminal=(80, 24)
    )
    assert (result.returncode, result.stdout) == (0, b"not a tty\r\nyes\r\nopened\r\n")


async def test_interrupt_on_a_terminal(sandbox: SandboxPort) -> None:
    """Ctrl-C typed into the terminal reaches the program in the foreground as SIGINT."""
    running = await sandbox.exec(ExecRequest(argv=("sh", "-c", "echo up; exec cat"), terminal=(80, 24)))
    await read_until(running, b"up\r\n")
    await running.write_stdin(b"\x03")
    async with asyncio.timeout(30):
        result = await running.wait()
    assert (result.outcome, result.returncode) == (ExecOutcome.SIGNALED, -2)


async def test_terminal_ends_with_its_time(sandbox: SandboxPort) -> None:
    """A shell on a terminal with a job in the background is ended whole by its time-out."""
    result = await run(sandbox, "bash", "-c", "sleep 3600 & echo up; wait", terminal=(80, 24), timeout_seconds=0.7)
    assert (result.outcome, result.stdout) == (ExecOutcome.TIMEOUT, b"up\r\n")
    assert await sandbox.processes() == []


# -- limits --------------------------------------------------------------------------------------------------------


async def test_open_files(runtime: LinuxRuntime) -> None:
    """A program gets as many descriptors as it may have, and EMFILE for the next."""
    sandbox = await limited(runtime, open_files=64)
    code = (
        "import os\nopened = []\n"
        "try:\n    while True: opened.append(os.dup(1))\nexcept OSError as e: print(e.errno, max(opened))"
    )
    assert (await run_python(sandbox, code)).stdout == b"24 63\n"


async def test_disk(runtime: LinuxRuntime) -> None:
    """No space: NO_SPACE for who writes from outside, ENOSPC inside, and everything as before when it is freed."""
    sandbox = await limited(runtime, disk_bytes=4 * MIB)
    with pytest.raises(SandboxFileError) as caught:
        await sandbox.write_file("/data/big", bytes(8 * MIB))
    assert (caught.value.reason, caught.value.filepath) == ("NO_SPACE", "/data/big")
    inside = "import os\ntry: os.write(os.open('/tmp/x', 65), b'x')\nexcept OSError as e: print(e.errno)"
    assert (await run_python(sandbox, inside)).stdout == b"28\n"
    await sandbox.remove("/data/big")
    await sandbox.write_file("/data/small", bytes(MIB))
    assert (await sandbox.stat("/data/small")).size_bytes == MIB


async def test_inodes(runtime: LinuxRuntime) -> None:
    """Files can be made until their number is reached, from inside and from outside."""
    sandbox = await limited(runtime, inodes=100)
    code = (
        "n = 0\n"
        "try:\n    while True: open('/data/%d' % n, 'w').close(); n += 1\nexcept OSError as e: print(e.errno, n < 100)"
    )
    assert (await run_python(sandbox, code)).stdout == b"28 True\n"
    with pytest.raises(SandboxFileError) as caught:
        await sandbox.write_file("/tmp/another", b"")
    assert caught.value.reason == "NO_SPACE"


async def test_cpu_seconds(sandbox: SandboxPort) -> None:
    """A program that uses more CPU than it may is ended by a signal; a sleeping one is not."""
    spinning, sleeping = await asyncio.gather(
        run_python(sandbox, "while True: pass", cpu_seconds=1, timeout_seconds=60),
        run(sandbox, "sleep", "1.2", cpu_seconds=1),
    )
    assert spinning.outcome is ExecOutcome.SIGNALED
    assert spinning.returncode in (-24, -9)
    # the kernel counts the limit in ticks of its clock, beside others up to a third more than what it measured as used
    assert 0.4 < spinning.usage.cpu_seconds < 2.6
    assert (sleeping.outcome, sleeping.returncode) == (ExecOutcome.EXITED, 0)


async def test_memory_is_the_program_s_failure(runtime: LinuxRuntime) -> None:
    """Over the limit: MEMORY for that command; the sandbox, and the client's own memory, are as before."""
    sandbox = await limited(runtime, memory_bytes=64 * MIB)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(3):
        result = await run_python(sandbox, "kept = bytearray(500_000_000)\nprint('no')", timeout_seconds=60)
        assert result.outcome is ExecOutcome.MEMORY or b"MemoryError" in result.stderr
        assert result.stdout == b""
    assert (await run(sandbox, "echo", "on")).stdout == b"on\n"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


async def test_fork_bomb(runtime: LinuxRuntime) -> None:
    """A fork bomb ends with its time-out, and with it all of its processes."""
    sandbox = await limited(runtime, pids=64)
    code = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    result = await run_python(sandbox, code, timeout_seconds=1)
    assert result.outcome is ExecOutcome.TIMEOUT
    assert await sandbox.processes() == []
    assert (await run(sandbox, "echo", "on")).stdout == b"on\n"


async def test_streaming_a_big_file_needs_little_memory(runtime: LinuxRuntime) -> None:
    """300 MB read as a stream, in pieces no larger than asked for."""
    sandbox = await limited(runtime, memory_bytes=600 * MIB, disk_bytes=400 * MIB)
    await run_python(sandbox, "file = open('/data/big', 'wb')\nfor _ in range(300): file.write(bytes(1 << 20))")
    before, total, largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 0, 0
    async for chunk in sandbox.read_stream("/data/big"):
        total, largest = total + len(chunk), max(largest, len(chunk))
    assert (total, largest) == (300 * MIB, MIB)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024


# Puts as many descriptors as the kernel lets it into sockets that nobody reads; the kernel counts them for each user.
IN_FLIGHT = """
import array, os, signal, socket
kept = []
descriptors = array.array("i", [1] * 250)
try:
    while True:
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        kept.append(pair)
        for _ in range(8):
            pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)], socket.MSG_DONTWAIT)
except OSError as error:
    print(error.errno, flush=True)
signal.pause()
"""


async def test_descriptors_in_flight_are_the_sandboxs_own(runtime: LinuxRuntime) -> None:
    """A program that holds all the descriptors in flight that its user may have does not stop anybody's file
    operations: neither its own sandbox's, nor a neighbour's."""
    greedy, neighbour = await runtime.create(SandboxSpec()), await runtime.create(SandboxSpec())
    running = await greedy.exec(ExecRequest(argv=("python3", "-c", IN_FLIGHT)))
    assert await read_until(running, b"\n")
    for sandbox in (neighbour, greedy):
        await sandbox.write_file("/data/x", b"content")
        assert await sandbox.read_file("/data/x", max_bytes=1 << 20) == b"content"
        assert (await run(sandbox, "echo", "on")).stdout == b"on\n"


# Takes all that the kernel gives to one user, and says how often it got it.
GREEDY = """
import ctypes, os, signal
libc = ctypes.CDLL(None)
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
take = {"inotify": lambda: libc.inotify_init1(0) >= 0,
        "signals": lambda: libc.sigqueue(os.getpid(), 40, ctypes.c_void_p(0)) == 0}[os.environ["WHAT"]]
got = 0
while got < int(os.environ["MOST"]) and take():
    got += 1
print(got, flush=True)
if got > 1:
    signal.pause()
"""


@pytest.mark.parametrize("what", ["inotify", "signals"])
async def test_what_the_kernel_counts_by_user(runtime: LinuxRuntime, what: str) -> None:
    """A listed limit (threat model, "Limits per host user"): a template's sandboxes share what a user gets in all."""
    greedy, neighbour = await runtime.create(SandboxSpec()), await runtime.create(SandboxSpec())
    argv = ("python3", "-c", GREEDY)
    running = await greedy.exec(ExecRequest(argv=argv, env={"WHAT": what, "MOST": "200000"}))
    assert int(await read_until(running, b"\n")) > 1
    assert (await run(neighbour, *argv, env={"WHAT": what, "MOST": "1"})).stdout == b"0\n"
    assert (await run(neighbour, "echo", "on")).stdout == b"on\n"


# -- through the node ----------------------------------------------------------------------------------------------


async def test_lifetime(runtime: LinuxRuntime, home: Path) -> None:
    """A sandbox whose lifetime is over is TERMINATED, and a command that ran in it ends with an error that says so."""
    layers = LayerStore(home / "empty")
    node = Sandboxes(runtime, Blueprints(SystemClock(), layers=layers, root=home / "empty"), SystemClock())
    short = await node.create("default", SandboxSpec(limits=Limits(lifetime_seconds=0.4)))
    longer = await node.create("default", SandboxSpec(limits=Limits(lifetime_seconds=0.4)))
    await longer.extend_lifetime(3600)
    assert (short.info.expires_at or datetime.max.replace(tzinfo=UTC)) < (
        longer.info.expires_at or datetime.min.replace(tzinfo=UTC)
    )
    running = await short.port.exec(ExecRequest(argv=("sleep", "3600")))
    async with asyncio.timeout(30):
        info = await short.wait_terminal()
    assert info.status is SandboxStatus.TERMINATED
    assert "lifetime" in (info.status_reason or "")
    with pytest.raises((SandboxTerminatedError, SandboxUnavailableError)):
        await running.wait()
    with pytest.raises(SandboxTerminatedError, match="lifetime"):
        _ = short.port
    assert (await run(longer.port, "echo", "here")).stdout == b"here\n"
    await node.close()
    assert longer.info.status is SandboxStatus.COMPLETED


async def test_a_read_that_is_given_up_as_its_file_comes(runtime: LinuxRuntime) -> None:
    """Cancelled when the descriptor has come and before the reader has gone on with it: nobody would close it."""
    sandbox = await runtime.create(SandboxSpec())
    await sandbox.write_file("/data/file", b"x")
    reading: list[asyncio.Task[bytes]] = []

    class CancelsFirst(dict[int, asyncio.Future[Any]]):
        def __setitem__(self, number: int, answer: asyncio.Future[Any]) -> None:
            answer.add_done_callback(lambda _: reading[0].cancel())  # before whoever awaits it is woken
            super().__setitem__(number, answer)

    before = sorted(os.listdir("/proc/self/fd"))
    sandbox._opens = CancelsFirst()
    reading.append(asyncio.create_task(sandbox.read_file("/data/file", max_bytes=1 << 20)))
    with pytest.raises(asyncio.CancelledError):
        await reading[0]
    assert sorted(os.listdir("/proc/self/fd")) == before
    sandbox._opens = {}
    assert await sandbox.read_file("/data/file", max_bytes=1 << 20) == b"x"
    await sandbox.destroy()


async def test_a_loud_program_and_a_daemon_that_goes_on_writing(sandbox: SandboxPort) -> None:
    """All that the program wrote is in the result, also what is put together aside; a daemon's flood is not waited
    for."""
    code = "import os, sys\nsys.stdout.write('x' * (9 << 20))\nsys.stderr.write('y' * (5 << 20))\n"
    result = await run_python(sandbox, code)
    assert (len(result.stdout), len(result.stderr), result.outcome) == (9 * MIB, 5 * MIB, ExecOutcome.EXITED)
    daemon = "import os\nif os.fork():\n    os._exit(0)\nos.setsid()\nwhile True: os.write(1, b'z' * 65536)\n"
    result = await run_python(sandbox, daemon)
    assert result.outcome is ExecOutcome.EXITED
    assert not result.stdout_truncated
