"""Calls on the streams of commands: the event loop makes them until one was slow, and threads from then on."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
from test_execs import Outside, running

from harena.core.errors import SandboxExecutionError
from harena.core.models import ExecOutcome, ExecRequest
from harena.runtime.host import slow_calls, terminals
from harena.runtime.host.execs import LinuxExec
from harena.runtime.host.shares import Shares
from harena.runtime.host.slow_calls import SlowWorkspaces, Timed, in_thread
from harena.runtime.host.terminals import LeftTerminals

Calls = list[tuple[str, int, bool]]
"""what was called, with which descriptor, and whether it was in the loop's thread"""


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> SlowWorkspaces:
    """Workspaces that are slow, none at first."""
    slow = SlowWorkspaces()
    for module in (slow_calls, terminals):
        monkeypatch.setattr(module, "SLOW_WORKSPACES", slow)
    monkeypatch.setattr("harena.runtime.host.execs.SLOW_WORKSPACES", slow)
    return slow


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Those of this process; each is slow."""
    found: Calls = []

    def noted(name: str, really: Callable[..., Any]) -> Callable[..., Any]:
        def call(descriptor: int, *given: Any) -> Any:
            found.append((name, descriptor, threading.current_thread() is threading.main_thread()))
            return really(descriptor, *given)

        return call

    for name in ("read", "write", "close"):
        monkeypatch.setattr(os, name, noted(name, getattr(os, name)))
    monkeypatch.setattr(slow_calls, "LONG_SECONDS", -1.0)
    return found


def in_loop(calls: Calls, descriptor: int) -> list[str]:
    """The calls on one descriptor that the loop made."""
    return [name for name, number, is_loops in calls if number == descriptor and is_loops]


async def test_streams_whose_calls_are_slow_leave_the_loop(calls: Calls) -> None:
    """Reads, writes and closes alike, and nothing is lost."""
    made = LinuxExec(Outside(), 1, ExecRequest(argv=("x",), stdin_stream=True), 1 << 20)  # type: ignore[arg-type]
    read_end, *written = made.open_descriptors()
    made.started()
    calls.clear()
    ours = [made._stdin, *made._readers]
    for number, text in enumerate((b"a", b"b", b"c")):
        os.write(written[0], text)
        assert await made.stdout.next_chunk(number) == text
    await made.write_stdin(b"in")
    assert os.read(read_end, 10) == b"in"
    os.write(written[0], b"d")
    os.write(written[1], b"e")
    made.close_stdin()
    with pytest.raises(SandboxExecutionError, match="it is closed"):
        await made.write_stdin(b"more")
    calls_before_the_end = len(calls)
    made.exited(0, 0, 0, 0, False)
    result = await made.wait()
    assert (result.stdout, result.stderr, result.outcome) == (b"abcd", b"e", ExecOutcome.EXITED)
    assert len([one for each in ours for one in in_loop(calls, each)]) <= 1, calls
    assert {("close", each, False) for each in ours} <= set(calls)
    assert not any(is_loops for _, number, is_loops in calls[calls_before_the_end:] if number in ours)
    for descriptor in (read_end, *written):
        os.close(descriptor)


async def test_a_slow_end_goes_on_in_a_thread(calls: Calls) -> None:
    """The loop makes one of its calls; the result has everything."""
    sandbox = Outside()
    with running(sandbox) as (exec_, stdout):
        ours = list(exec_._readers)
        calls.clear()  # another descriptor may have had one of these numbers, and been closed
        os.write(stdout, b"all")
        exec_.exited(0, 0, 0, 0, False)
        assert (await exec_.wait()).stdout == b"all"
    assert [in_loop(calls, each) for each in ours] == [["read"], []]


async def test_the_end_of_a_sandbox_closes_what_is_slow(calls: Calls) -> None:
    """Whoever waits hears of it at once."""
    sandbox = Outside()
    with running(sandbox, stdin_stream=False) as (exec_, _):
        ours = list(exec_._readers)
        exec_.lost(SandboxExecutionError("ended"))
        with pytest.raises(SandboxExecutionError, match="ended"):
            await exec_.wait()
        await asyncio.gather(*exec_._calling)
    assert {("close", each, False) for each in ours} <= set(calls)


async def test_what_a_slow_program_does_not_read_is_written_in_a_thread(calls: Calls, slow: SlowWorkspaces) -> None:
    """A standard input that was given at once, larger than a pipe: it is fed as it is read."""
    slow.note("ours", 1.0)
    content = os.urandom(300_000)
    request = ExecRequest(argv=("x",), stdin_stream=True, stdin=content)
    made = LinuxExec(Outside(), 1, request, 1 << 20)  # type: ignore[arg-type]
    read_end, *written = made.open_descriptors()
    stdin = made._stdin
    made.started()
    got = b""
    while piece := await asyncio.to_thread(os.read, read_end, 1 << 16):
        got += piece
    assert got == content
    made.exited(0, 0, 0, 0, False)
    await made.wait()
    assert in_loop(calls, stdin) == []
    for descriptor in (read_end, *written):
        os.close(descriptor)


async def test_slow_terminals_leave_the_loop(
    calls: Calls, slow: SlowWorkspaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that outlives its command, until nobody has it."""
    shares = Shares(4)
    monkeypatch.setattr(terminals, "TERMINALS", shares)
    monkeypatch.setattr(terminals, "_REST_SECONDS", 0.0)
    slow.note("ours", 1.0)
    sandbox: Any = Outside()
    sandbox.left_terminals = LeftTerminals(sandbox.loop, "ours")
    made = LinuxExec(sandbox, 1, ExecRequest(argv=("x",), terminal=(80, 24)), 1 << 20)
    (theirs,) = made.open_descriptors()
    ours = made._terminal
    made.started()
    await made.write_stdin(b"in\n")
    made.resize(100, 30)
    assert await made.stdout.next_chunk(0) is not None  # the echo
    assert os.read(theirs, 10) == b"in\n"
    async with asyncio.timeout(30):
        # a thread that nobody waits for changes it, and the kernel tells nobody
        while os.get_terminal_size(theirs) != (100, 30):  # noqa: ASYNC110
            await asyncio.sleep(0)
    made.exited(0, 0, 0, 0, False)
    await made.wait()
    os.write(theirs, b"after")
    assert shares.count_of("ours") == 1
    os.close(theirs)
    async with asyncio.timeout(30):
        while sandbox.left_terminals._looking or sandbox.left_terminals._resting:
            await asyncio.gather(*sandbox.left_terminals._looking.values())
            await asyncio.sleep(0)
    assert shares.count_of("ours") == 0
    assert in_loop(calls, ours) == []


def test_a_workspace_is_slow_for_a_thousand_times_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """And for ten minutes at most, whatever its calls have taken."""
    now = 50.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    slow = SlowWorkspaces()
    slow.note("ours", 0.01)
    slow.note("ours", 0.02)
    now = 79.9
    assert "ours" in slow
    assert "others" not in slow
    now = 80.0
    assert "ours" not in slow
    for _ in range(10):
        slow.note("ours", 1.0)
    now = 679.9
    assert "ours" in slow
    now = 680.0
    assert "ours" not in slow


def test_processor_time_makes_a_workspace_slow(slow: SlowWorkspaces) -> None:
    """Computing counts against the workspace."""
    batch = Timed("ours")
    while not batch.is_long:
        pass
    while "ours" not in slow:  # this thread may have lost its processor, or waited for a page, meanwhile
        batch.end()


def test_who_has_merely_lost_its_processor_stays_in_the_loop(
    slow: SlowWorkspaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread would lose it, too. Who has waited for somebody else goes on in a thread."""
    now, used, waits = 1.0, 0.5, 7
    monkeypatch.setattr("time.perf_counter", lambda: now)
    monkeypatch.setattr(slow_calls, "_of_this_thread", lambda: (used, waits))
    batch = Timed("ours")
    now, used = 2.0, 0.501
    assert batch.is_long
    assert not batch.end()
    waits = 8
    assert batch.end()
    assert "ours" not in slow


async def test_a_call_is_waited_for_where_its_caller_is_cancelled() -> None:
    """Nobody closes its descriptor before."""
    began, may_end = threading.Event(), threading.Event()

    def call() -> None:
        began.set()
        may_end.wait()

    caller = asyncio.ensure_future(in_thread("ours", call))
    await asyncio.to_thread(began.wait)
    for _ in range(2):
        caller.cancel()
        await asyncio.sleep(0)
    assert not caller.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
