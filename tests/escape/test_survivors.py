"""Survivors: nothing outlives the end of its exec by time-out, nor the end of its sandbox."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import pytest
from escape_world import World
from programs_survivors import COMETS, PROGRAMS, WAIT

from footprint import command_line, processes
from harena.core.models import ExecOutcome, ExecRequest

pytestmark = pytest.mark.asyncio(loop_scope="module")


LOOKS = 500


async def alive(sandbox: Any) -> list[Any]:
    """Its processes, but for those that have ended. The kernel takes a killed process's memory, and with it its command
    line, a moment before it is a zombie: what has none is looked at again, and stays if it only hides it."""
    for _ in range(LOOKS):
        found = [each for each in await sandbox.processes() if each.state != "Z"]
        if all(each.command for each in found):
            break
    return found


async def timed_out(world: World, sandbox: Any, program: str, word: str) -> None:
    running = await world.start(sandbox, program + WAIT, word, timeout_seconds=0.25)
    result = await running.wait()
    assert result.outcome is ExecOutcome.TIMEOUT, result


@pytest.mark.parametrize("name", PROGRAMS)
async def test_nothing_outlives_a_time_out(world: World, name: str) -> None:
    """Alone in its sandbox: when the exec has timed out, nothing runs there."""
    sandbox = await world.sandbox()
    word = secrets.token_hex(16)
    await timed_out(world, sandbox, PROGRAMS[name], word)
    assert await alive(sandbox) == []
    assert (await world.attack(sandbox, "done()")).stdout == b"done\n"
    await sandbox.destroy()
    assert hosts_processes_with(word) == []
    await world.unharmed()


@pytest.mark.parametrize("name", [name for name in PROGRAMS if "all others" not in name])
async def test_others_of_the_sandbox_survive(world: World, name: str) -> None:
    """Beside another exec: that one lives on, and of the timed-out one nothing does."""
    sandbox = await world.sandbox()
    word = secrets.token_hex(16)
    other = await sandbox.exec(ExecRequest(argv=("sh", "-c", "echo up; read line; echo $line"), stdin_stream=True))
    assert await other.stdout.next_chunk(0) == b"up\n"
    await timed_out(world, sandbox, PROGRAMS[name], word)
    left = [each.command for each in await alive(sandbox)]
    assert [command[:2] for command in left] == [("sh", "-c")]
    assert word not in str(left)
    await other.write_stdin(b"still here\n")
    result = await asyncio.wait_for(other.wait(), 20)
    assert result.stdout == b"up\nstill here\n"
    await sandbox.destroy()
    assert hosts_processes_with(word) == []


async def test_orphans_of_a_timed_out_exec_that_ran_first(world: World) -> None:
    """The exec that has no leader is timed out while a later one runs: its orphans go, the later one stays."""
    sandbox = await world.sandbox()
    word = secrets.token_hex(16)
    first = await world.start(
        sandbox, PROGRAMS["a double fork with a session of its own"] + WAIT, word, timeout_seconds=0.8
    )
    assert await first.stdout.next_chunk(0) == b"up\n"
    later = await sandbox.exec(ExecRequest(argv=("cat",), stdin_stream=True))
    assert (await first.wait()).outcome is ExecOutcome.TIMEOUT
    left = [each.command for each in await alive(sandbox)]
    assert [command for command in left if command[:1] == ("sh",)] == []
    await later.write_stdin(b"here")
    later.close_stdin()
    assert (await asyncio.wait_for(later.wait(), 20)).stdout == b"here"


FIRST_THREAD_ENDS = """
import ctypes, fcntl, threading
held = open("/tmp/held", "w")
fcntl.flock(held, fcntl.LOCK_EX)
if os.fork() == 0:
    os.setsid()
    threading.Thread(target=threading.Event().wait).start()
    ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)
held.close()
"""
TAKES_THE_LOCK = "import fcntl; fcntl.flock(open('/tmp/held', 'w'), fcntl.LOCK_EX); print('free')"


async def test_a_process_whose_first_thread_has_ended(world: World) -> None:
    """It shows as one that has ended and waits to be collected, and runs on in its other threads: a lock that it has
    is free behind the time-out, also where another exec lives on."""
    sandbox = await world.sandbox()
    other = await sandbox.exec(ExecRequest(argv=("sleep", "100000")))
    await timed_out(world, sandbox, FIRST_THREAD_ENDS, "x")
    assert (await world.attack(sandbox, TAKES_THE_LOCK, timeout_seconds=20.0)).stdout == b"free\n"
    other.kill()
    await other.wait()
    await world.unharmed()


@pytest.mark.parametrize("beside", [False, True])
async def test_comets(world: World, beside: bool) -> None:
    """Processes that fork and exit at once, for ever, do not slip through between two looks."""
    # the kernel frees dead processes a moment after their end, and until then they count: up to a gigabyte of them
    sandbox = await world.sandbox(memory_bytes=4 << 30)
    other = await sandbox.exec(ExecRequest(argv=("sleep", "100000"))) if beside else None
    for _ in range(6):
        await timed_out(world, sandbox, COMETS, "x")
        first = await world.attack(sandbox, "print(os.getpid())")
        await world.attack(sandbox, "import time; time.sleep(0.02)")
        second = await world.attack(sandbox, "print(os.getpid())")
        passed = int(second.stdout) - int(first.stdout)
        assert passed < 40, f"ESCAPED: {passed} processes came and went while nothing should have run"
    if other is not None:
        left: list[tuple[str, ...]] = []
        for _ in range(50):  # what has been killed, and what init has begun, may be there for a moment
            left = [each.command for each in await sandbox.processes()]
            if left == [("sleep", "100000")]:
                break
        assert left == [("sleep", "100000")]
    await world.unharmed()


async def test_killing_the_leader(world: World) -> None:
    """A program that kills the process above it, which keeps its tree together, ends itself and harms nobody else."""
    sandbox = await world.sandbox()
    first = await sandbox.exec(ExecRequest(argv=("cat",), stdin_stream=True))
    word = secrets.token_hex(16)
    program = PROGRAMS["a double fork with a session of its own"] + "os.kill(os.getppid(), 9)\n" + WAIT
    second = await (await world.start(sandbox, program, word, timeout_seconds=10.0)).wait()
    assert second.outcome is ExecOutcome.SIGNALED, second
    assert (await world.attack(sandbox, "done()")).stdout == b"done\n"
    first.kill()
    await first.wait()
    await sandbox.destroy()
    assert hosts_processes_with(word) == []
    await world.unharmed()


async def test_daemons_end_with_the_sandbox(world: World) -> None:
    """What an exec that ended by itself has left running ends with its sandbox."""
    sandbox = await world.sandbox()
    words = {name: secrets.token_hex(16) for name in PROGRAMS if "itself" not in name and "chain" not in name}
    for name, word in words.items():
        await asyncio.gather(world.attack(sandbox, PROGRAMS[name], word, timeout_seconds=1.0))
    await sandbox.destroy()
    assert [name for name, word in words.items() if hosts_processes_with(word)] == []
    await world.unharmed()


async def test_destroy_with_grace_is_not_held_up(world: World) -> None:
    """Grace is over when it is over, whatever a program does with SIGTERM."""
    sandbox = await world.sandbox()
    name = "one that forks again when it is signalled"
    running = await world.start(sandbox, PROGRAMS[name] + WAIT, "x")
    await running.stdout.next_chunk(0)
    await asyncio.wait_for(sandbox.destroy(grace_seconds=0.3), 20)
    await world.unharmed()


def hosts_processes_with(word: str) -> list[int]:
    """Seen from the host."""
    return [pid for pid in processes() if word in command_line(pid)]
