"""A running command, seen from outside, with a sandbox that is only its two questions."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from harena.core.errors import PlatformError
from harena.core.models import ExecOutcome, ExecRequest, ProcessorTime
from harena.runtime.host.execs import LinuxExec


class Outside:
    """What an exec asks of its sandbox."""

    id = "sb_outside"
    workspace = "ours"

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.time: asyncio.Future[ProcessorTime] = self.loop.create_future()
        self.killed = asyncio.Event()

    async def processor_time(self) -> ProcessorTime:
        """Answered when the test says so."""
        return await self.time

    def request_kill(self, number: int) -> None:
        """Noted."""
        self.killed.set()


@contextmanager
def running(sandbox: Outside, **request: Any) -> Iterator[tuple[LinuxExec, int]]:
    """An exec, and the end of its standard output that a program would have."""
    made = LinuxExec(sandbox, 1, ExecRequest(argv=("x",), **request), 1 << 20)  # type: ignore[arg-type]
    stdout, stderr = made.open_descriptors()
    made.started()
    os.close(stderr)
    try:
        yield made, stdout
    finally:
        os.close(stdout)


async def test_a_deadline_does_not_wait_for_a_measurement() -> None:
    """A spawner that has much to do keeps no program running; its answer is still part of the result."""
    sandbox = Outside()
    with running(sandbox, timeout_seconds=0.01) as (exec_, _):
        await sandbox.killed.wait()
        assert not sandbox.time.done()
        exec_.exited(9, 1000, 2000, 0, False)
        waiting = asyncio.ensure_future(exec_.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        sandbox.time.set_result(ProcessorTime(waited_seconds=1.5, used_seconds=4.0))
        result = await waiting
    assert (result.outcome, result.run_delay_seconds) == (ExecOutcome.TIMEOUT, 1.5)
    assert (result.usage.user_seconds, result.usage.system_seconds) == (4.0 - 0.002, 0.002)


async def test_a_pipe_that_is_held_is_left_alone_for_a_while() -> None:
    """Not even somebody who waits for output has it read meanwhile; all of it is there afterwards, or at the end."""
    sandbox = Outside()
    with running(sandbox) as (exec_, stdout):
        first = asyncio.ensure_future(exec_.stdout.next_chunk(0))
        os.write(stdout, b"one")
        assert await first == b"one"
        exec_.rest(0.05)
        os.write(stdout, b"two")
        second = asyncio.ensure_future(exec_.stdout.next_chunk(1))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not second.done()
        assert await second == b"two"
        exec_.rest(1000.0)
        os.write(stdout, b"three")
        exec_.exited(0, 0, 0, 0, False)
        assert (await exec_.wait()).stdout == b"onetwothree"


@pytest.mark.parametrize(
    ("asked", "room"),
    [
        *(({"stdin_stream": True}, room) for room in range(6)),
        *(({}, room) for room in range(4)),
        *(({"terminal": (80, 24)}, room) for room in range(2)),
    ],
)
async def test_where_no_descriptor_is_left_none_is_kept(asked: dict[str, Any], room: int) -> None:
    """The server goes on with as many as before: a command that could not start holds none for ever."""
    made = LinuxExec(Outside(), 1, ExecRequest(argv=("x",), **asked), 1 << 20)  # type: ignore[arg-type]
    gc.collect()  # what other tests have left would close its descriptors meanwhile
    before = sorted(os.listdir("/proc/self/fd"))
    first = os.dup(0)
    os.close(first)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (first + room, hard))
    try:
        with pytest.raises(PlatformError, match="no more descriptors"):
            made.open_descriptors()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert sorted(os.listdir("/proc/self/fd")) == before


async def test_a_pipe_that_is_never_empty_is_read_for_a_bounded_number_of_times() -> None:
    """A daemon can write bytes one by one, as fast as they are read; the event loop does not wait for its end."""
    made = LinuxExec(Outside(), 1, ExecRequest(argv=("x",)), 1 << 20)  # type: ignore[arg-type]
    never_empty = os.eventfd(0xFFFFFFFF, os.EFD_SEMAPHORE | os.EFD_NONBLOCK)  # eight bytes at each read
    made._readers[never_empty] = made.stdout
    made._release()
    await asyncio.gather(*made._calling)  # where it took long, a thread has done the rest
    assert 0 < made.stdout.size_bytes <= 8 * 256
    assert not made._readers


async def test_all_that_lies_in_a_pipe_at_the_end_is_read() -> None:
    """As much as one holds, also where each piece takes a read of its own."""
    made = LinuxExec(Outside(), 1, ExecRequest(argv=("x",)), 1 << 21)  # type: ignore[arg-type]
    written = {}
    for buffer, flags, piece in ((made.stdout, os.O_DIRECT, b"x"), (made.stderr, 0, b"y" * 4096)):
        read_end, write_end = os.pipe2(flags | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 1 << 20)
        written[buffer] = 0
        with suppress(BlockingIOError):
            while True:
                written[buffer] += os.write(write_end, piece)
        os.close(write_end)
        made._readers[read_end] = buffer
    made._release()
    await asyncio.gather(*made._calling)  # where it took long, a thread has done the rest
    assert [buffer.size_bytes for buffer in written] == list(written.values()) == [256, 1 << 20]
