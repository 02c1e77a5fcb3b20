"""Commands of FakeRuntime beside many others: all of them end, and looking for them costs what looking costs."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from harena.core.errors import SandboxError, SandboxExecutionError
from harena.core.models import ExecOutcome, ExecRequest, SandboxSpec
from harena.testing import FakeRuntime
from harena.testing.fake_exec import environment, fake_mark, marked
from harena.testing.fake_runtime import FakeSandbox

TWO_MIB = bytes(2 * 1024 * 1024)


@pytest.fixture
def bare() -> Iterator[subprocess.Popen[bytes]]:
    """A process that was started without any environment, as many of those are that tests of walls start."""
    with subprocess.Popen(["/bin/sleep", "3600"], env={}) as process:
        yield process
        process.kill()


def _reads() -> int:
    """How often this process has read from files."""
    return int(dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())["syscr"])


def test_a_process_without_environment_is_looked_at_once(bare: subprocess.Popen[bytes]) -> None:
    """To look again is to give way to each busy process of the machine: twenty such processes once took half a minute,
    in which the loop of the one who looked stood still."""
    while Path("/proc", str(bare.pid), "cmdline").read_bytes() != b"/bin/sleep\x003600\x00":
        time.sleep(0)
    before = _reads()
    reading_alone = _reads() - before
    before = _reads()
    assert environment(str(bare.pid)) == b""
    assert _reads() - before - reading_alone <= 10


def test_who_has_ended_has_no_environment() -> None:
    """Neither has who is not waited for yet, nor who was never there."""
    with subprocess.Popen(["/bin/true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert environment(str(process.pid)) == b""
    assert environment(str(process.pid)) == b""


async def test_who_writes_to_a_terminal_hears_of_its_end() -> None:
    """Also while it waits for room in it."""
    sandbox = await FakeRuntime().create(SandboxSpec())
    running = await sandbox.exec(ExecRequest(argv=("sleep", "3600"), stdin_stream=True, terminal=(80, 24)))
    writing = asyncio.ensure_future(running.write_stdin(b"line\n" * 1_000_000))
    await asyncio.wait([writing], timeout=0.2)
    assert not writing.done()
    running.kill()
    async with asyncio.timeout(60):
        with pytest.raises(SandboxExecutionError):
            await writing
        assert (await running.wait()).outcome is ExecOutcome.CANCELLED
    await sandbox.destroy()


async def _reads_all(sandbox: FakeSandbox) -> None:
    running = await sandbox.exec(ExecRequest(argv=("cat",), stdin_stream=True))
    await running.write_stdin(TWO_MIB)
    running.close_stdin()
    result = await running.wait()
    assert (result.outcome, len(result.stdout) + running.stdout.dropped_bytes) == (ExecOutcome.EXITED, len(TWO_MIB))


async def _is_killed(sandbox: FakeSandbox) -> None:
    running = await sandbox.exec(ExecRequest(argv=("sh", "-c", "echo up; sleep 3600")))
    assert await running.stdout.next_chunk(0) == b"up\n"
    running.kill()
    assert (await running.wait()).outcome is ExecOutcome.CANCELLED


async def _is_killed_while_it_is_told_something(sandbox: FakeSandbox) -> None:
    running = await sandbox.exec(ExecRequest(argv=("sleep", "3600"), stdin_stream=True))
    writing = asyncio.ensure_future(running.write_stdin(TWO_MIB))
    await asyncio.sleep(0)
    running.kill()
    assert (await running.wait()).outcome is ExecOutcome.CANCELLED
    with pytest.raises(SandboxExecutionError):
        await writing


async def _takes_too_long(sandbox: FakeSandbox) -> None:
    request = ExecRequest(argv=("sh", "-c", "sleep 3600 & sleep 3600"), stdin=TWO_MIB, timeout_seconds=0.05)
    assert (await (await sandbox.exec(request)).wait()).outcome is ExecOutcome.TIMEOUT


async def _closes_its_input(sandbox: FakeSandbox) -> None:
    running = await sandbox.exec(ExecRequest(argv=("sh", "-c", "exec <&-; echo closed"), stdin_stream=True))
    with pytest.raises(SandboxExecutionError):
        await running.write_stdin(TWO_MIB)
    assert (await running.wait()).stdout == b"closed\n"
    running.close_stdin()


async def _sits_at_a_terminal(sandbox: FakeSandbox) -> None:
    request = ExecRequest(argv=("sh", "-c", "read line; echo $line"), stdin_stream=True, terminal=(80, 24))
    running = await sandbox.exec(request)
    await running.write_stdin(b"word\n")
    result = await running.wait()
    assert (result.outcome, b"word" in result.stdout) == (ExecOutcome.EXITED, True)


async def _loses_its_sandbox(sandbox: FakeSandbox) -> None:
    running = await sandbox.exec(ExecRequest(argv=("sleep", "3600"), stdin_stream=True))
    await sandbox.destroy()
    with pytest.raises(SandboxError):
        await running.wait()


LIVES: tuple[Callable[[FakeSandbox], Awaitable[None]], ...] = (
    _reads_all,
    _is_killed,
    _is_killed_while_it_is_told_something,
    _takes_too_long,
    _closes_its_input,
    _sits_at_a_terminal,
    _loses_its_sandbox,
)


async def test_many_commands_end_beside_each_other(bare: subprocess.Popen[bytes]) -> None:
    """However they end, and whoever gets the number of a descriptor next: each hears of its own end, none of another's,
    and nothing is left of them."""
    runtime = FakeRuntime()
    before = os.listdir("/proc/self/fd")

    async def live(life: Callable[[FakeSandbox], Awaitable[None]]) -> None:
        sandbox = await runtime.create(SandboxSpec())
        async with asyncio.timeout(120):
            await life(sandbox)
            await sandbox.destroy()

    turns = [iter(LIVES[first:] + LIVES[:first]) for first in range(len(LIVES))]

    async def one_after_another(lives: Iterator[Callable[[FakeSandbox], Awaitable[None]]]) -> None:
        for life in lives:
            await live(life)

    await asyncio.gather(*map(one_after_another, turns))
    assert runtime.sandboxes == {}
    assert marked(fake_mark()) == []
    assert len(os.listdir("/proc/self/fd")) == len(before)
