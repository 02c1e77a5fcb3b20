"""Commands on terminals, alone and beside others."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
from test_exec_edges import read_until

from harena.core.models import ExecOutcome, ExecRequest, SandboxSpec
from harena.core.ports import RunningExec, SandboxPort
from harena.runtime.host.linux import LinuxRuntime
from harena.testing.conformance_base import run

WINDOW = (80, 24)


@pytest.fixture(params=["alone", "beside a command", "beside a daemon", "beside a terminal"])
async def sandbox(runtime: LinuxRuntime, request: pytest.FixtureRequest) -> AsyncIterator[SandboxPort]:
    """A fresh sandbox; what runs in it already is alive at the end."""
    sandbox = await runtime.create(SandboxSpec())
    other: RunningExec | None = None
    if request.param == "beside a daemon":
        await run(sandbox, "sh", "-c", "sleep 3600 & true")
    elif request.param != "alone":
        on_terminal = request.param == "beside a terminal"
        other = await sandbox.exec(
            ExecRequest(argv=("cat",), stdin_stream=True, terminal=WINDOW if on_terminal else None)
        )
    yield sandbox
    if other is not None:
        await other.write_stdin(b"alive\n")
        other.close_stdin()
        async with asyncio.timeout(30):
            result = await other.wait()
        assert (result.outcome, b"alive" in result.stdout) == (ExecOutcome.EXITED, True)
    elif request.param == "beside a daemon":
        assert [each.command for each in await sandbox.processes()] == [("sleep", "3600")]
    await sandbox.destroy()


async def ended(running: RunningExec) -> tuple[ExecOutcome, int, bytes]:
    """How it ended, and what it showed."""
    async with asyncio.timeout(30):
        result = await running.wait()
    assert result.stderr == b""
    return result.outcome, result.returncode, result.stdout


async def on_terminal(sandbox: SandboxPort, *argv: str, **request: float) -> RunningExec:
    """Start a command on a terminal."""
    return await sandbox.exec(ExecRequest(argv=argv, terminal=WINDOW, **request))  # type: ignore[arg-type]


async def test_its_ends(sandbox: SandboxPort) -> None:
    """It exits, cannot be found, cannot be started where it shall be, or is ended by itself."""
    shown = await ended(await on_terminal(sandbox, "sh", "-c", "echo out; echo err >&2; tty; exit 7"))
    assert shown == (ExecOutcome.EXITED, 7, b"out\r\nerr\r\nnot a tty\r\n")
    missing = await ended(await on_terminal(sandbox, "no-such-program"))
    assert missing == (ExecOutcome.EXITED, 127, b"harena: no-such-program: command not found\r\n")
    nowhere = await sandbox.exec(ExecRequest(argv=("true",), cwd="/no/such", terminal=WINDOW))
    assert (await ended(nowhere))[:2] == (ExecOutcome.EXITED, 127)
    assert (await ended(await on_terminal(sandbox, "sh", "-c", "kill -TERM $$")))[:2] == (ExecOutcome.SIGNALED, -15)


async def test_size_input_and_end_of_input(sandbox: SandboxPort) -> None:
    """It has its size and hears of a new one; what is typed arrives, and ctrl-D is the end."""
    assert await ended(await on_terminal(sandbox, "stty", "size")) == (ExecOutcome.EXITED, 0, b"24 80\r\n")
    code = (
        "import os, signal, sys\n"
        "def show(*_):\n    size = os.get_terminal_size(0)\n    os.write(1, b'%d %d\\n' % (size.lines, size.columns))\n"
        "signal.signal(signal.SIGWINCH, show)\nshow()\n"
        "for line in sys.stdin: os.write(1, b'got ' + line.encode())\n"
        "os.write(1, b'bye')"
    )
    running = await on_terminal(sandbox, "python3", "-c", code)
    await read_until(running, b"24 80\r\n")
    running.resize(100, 50)
    await read_until(running, b"50 100\r\n")
    await running.write_stdin(b"hello\n")
    await read_until(running, b"got hello\r\n")
    running.close_stdin()
    outcome, code_, shown = await ended(running)
    assert (outcome, code_, shown[-3:]) == (ExecOutcome.EXITED, 0, b"bye")
    running.resize(10, 10)  # as if nothing were to be done


async def test_keys_signal_its_foreground_only(sandbox: SandboxPort) -> None:
    """Ctrl-C reaches what runs in the foreground of that terminal; /dev/tty is that terminal."""
    running = await on_terminal(sandbox, "sh", "-c", "echo up > /dev/tty; exec cat")
    await read_until(running, b"up\r\n")
    await running.write_stdin(b"\x03")
    assert (await ended(running))[:2] == (ExecOutcome.SIGNALED, -2)


async def test_killed_and_out_of_time(sandbox: SandboxPort) -> None:
    """Its whole tree ends, jobs in the background too, and nobody else."""
    before = {each.pid for each in await sandbox.processes()}
    late = await on_terminal(sandbox, "bash", "-c", "sleep 3600 & echo up; wait", timeout_seconds=0.7)
    assert await ended(late) == (ExecOutcome.TIMEOUT, -9, b"up\r\n")
    killed = await on_terminal(sandbox, "bash", "-c", "sleep 3600 & echo up; wait")
    await read_until(killed, b"up\r\n")
    killed.kill()
    assert (await ended(killed))[:2] == (ExecOutcome.CANCELLED, -9)
    assert {each.pid for each in await sandbox.processes()} == before


async def test_a_word_that_is_no_text_harms_nobody_beside(sandbox: SandboxPort) -> None:
    """What cannot be found is told in its own bytes, and ends nothing else."""
    result = await run(sandbox, os.fsdecode(b"/\xff\xfe"), timeout_seconds=30)
    assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 127)
    assert result.stderr == b"harena: /\xff\xfe: command not found\n"
