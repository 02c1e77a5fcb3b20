"""A program that makes system calls on its streams slow for whoever holds the other end: the event loop makes one such
call, and threads of the workspace the others."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from escape_world import World

from harena.core.models import ExecOutcome
from harena.runtime.host import execs, slow_calls, terminals

pytestmark = pytest.mark.asyncio(loop_scope="module")

WAITERS = r"""
import select, time
def wait_at(stream, events):
    # each epoll waits there once for each descriptor
    global kept
    ends = [os.dup(stream) for _ in range(400)]
    kept = [select.epoll() for _ in range(400)]
    for epoll in kept:
        for end in ends:
            epoll.register(end, events | select.EPOLLET)
"""
WRITES = """
wait_at(1, select.EPOLLOUT)
os.set_blocking(1, False)
ends = time.monotonic() + 60
full = 0
while full < 12 and time.monotonic() < ends:
    try:
        os.write(1, bytes(65536))
    except BlockingIOError:
        full += 1
        select.select([], [1], [], 5)
"""
READS = """
wait_at(0, select.EPOLLIN)
os.write(1, b"ready")
while os.read(0, 100):
    os.write(1, b"more")
"""


@pytest.fixture
def slow_in_loop(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Processor time of each slow call of the loop's thread; no workspace is slow yet."""
    slow = slow_calls.SlowWorkspaces()
    for module in (slow_calls, execs, terminals):
        monkeypatch.setattr(module, "SLOW_WORKSPACES", slow)
    found: list[float] = []

    def timed(really: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            began = time.thread_time()
            try:
                return really(*given)
            finally:
                used = time.thread_time() - began
                if used > slow_calls.LONG_SECONDS and threading.current_thread() is threading.main_thread():
                    found.append(used)

        return call

    for name in ("read", "write", "close"):
        monkeypatch.setattr(os, name, timed(getattr(os, name)))
    return found


async def test_a_pipe_with_many_waiters_is_read_beside_the_loop(world: World, slow_in_loop: list[float]) -> None:
    """160,000 wait for room in standard output, whenever the loop makes some."""
    result = await world.attack(await world.sandbox(), WAITERS + WRITES, timeout_seconds=90.0)
    assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 0), result
    assert len(slow_in_loop) <= 1, slow_in_loop
    await world.unharmed()


async def test_a_pipe_with_many_waiters_is_written_beside_the_loop(world: World, slow_in_loop: list[float]) -> None:
    """160,000 wait for each byte of standard input, and for its end."""
    running = await world.start(await world.sandbox(), WAITERS + READS, stdin_stream=True, timeout_seconds=90.0)
    for number in range(6):
        assert await running.stdout.next_chunk(number) is not None
        await running.write_stdin(b"x")
    running.close_stdin()
    result = await running.wait()
    assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 0), result
    assert len(slow_in_loop) <= 1, slow_in_loop
    await world.unharmed()
