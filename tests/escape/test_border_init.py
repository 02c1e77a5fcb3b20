"""The border, init: nothing that a program does to pid 1 ends it, deafens it, or makes a fault of the platform out of a
fault of the program. Whoever can do that can excuse every wrong answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from escape_world import World, answered
from programs_init import FILL, PROGRAMS, STARVE

from harena.core.models import MIB, ExecOutcome, ExecRequest

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECONDS = 20.0


async def works(world: World, sandbox: Any) -> None:
    """Commands, files, operations, several at once, and a time-out."""
    async with asyncio.timeout(SECONDS):
        assert (await world.attack(sandbox, "done()")).stdout == b"done\n"
        await sandbox.write_file("/data/file", b"content")
        assert await sandbox.read_file("/data/file", max_bytes=1 << 20) == b"content"
        assert "file" in [entry.name for entry in await sandbox.list_dir("/data")]
        await sandbox.processes()
        first, second = await asyncio.gather(*(world.attack(sandbox, "done()") for _ in range(2)))
        assert first.stdout == second.stdout == b"done\n"
        late = await world.attack(sandbox, "while True: pass", timeout_seconds=0.2)
        assert late.outcome is ExecOutcome.TIMEOUT


@pytest.mark.parametrize("name", PROGRAMS)
async def test_init_goes_on(world: World, name: str) -> None:
    """Init does its work as if nothing had been."""
    sandbox = await world.sandbox(memory_bytes=128 * MIB)
    result = await world.attack(sandbox, PROGRAMS[name])
    assert b"ESCAPED" not in result.stdout, result.stdout
    assert result.outcome in (ExecOutcome.EXITED, ExecOutcome.MEMORY), result
    await works(world, sandbox)
    await world.unharmed()


@pytest.mark.parametrize("what", ["exec", "list", "read", "write", "archive", "processes", "many"])
async def test_no_process_left(world: World, what: str) -> None:
    """A program that holds every process it may have: requests fail, and the sandbox is not lost."""
    sandbox = await world.sandbox(pids=24)
    running = await world.start(sandbox, FILL, timeout_seconds=100.0)
    assert await running.stdout.next_chunk(0) == b"full\n"

    async def ask() -> None:
        if what == "exec":
            assert (await world.attack(sandbox, "done()")).returncode in (126, 127, 1)
        elif what == "read":
            await sandbox.read_file("/usr/bin/env", max_bytes=1 << 20)
        elif what == "write":
            await sandbox.write_file("/data/x", b"x")
        elif what == "processes":
            await sandbox.processes()
        elif what == "archive":
            async for _ in sandbox.create_archive("/data"):
                pass
        else:
            await sandbox.list_dir("/data")

    for _ in range(40 if what == "many" else 3):
        async with answered():
            await ask()
    running.kill()
    assert (await asyncio.wait_for(running.wait(), SECONDS)).outcome is ExecOutcome.CANCELLED
    await works(world, sandbox)
    await world.unharmed()


WORDS = {
    "a lone surrogate in the program": {"argv": ("python3", "-c", "print('\ud800')")},
    "a lone surrogate in the environment": {"argv": ("true",), "env": {"X": "\udfff"}},
    "a lone surrogate in the directory": {"argv": ("true",), "cwd": "/\ud800"},
    "a directory that is a file": {"argv": ("true",), "cwd": "/etc/passwd"},
    "a very long name": {"argv": ("x" * 10_000,)},
    "a very deep directory": {"argv": ("true",), "cwd": "/tmp/" + "a/" * 2000},
    "a directory that loops": {"argv": ("true",), "cwd": "/proc/self/fd/../../self/root/../proc/self/cwd"},
    "an empty name": {"argv": ("",)},
    "a name that is a directory": {"argv": ("/usr",)},
}


@pytest.mark.parametrize("name", WORDS)
async def test_words_that_a_model_wrote(world: World, name: str) -> None:
    """Candidates' text reaches init as words of a command: whatever they are, init lives."""
    sandbox = await world.sandbox()
    async with answered():
        await (await sandbox.exec(ExecRequest(**WORDS[name], timeout_seconds=10.0))).wait()  # type: ignore[arg-type]
    await works(world, sandbox)


PLACES = {
    "a lone surrogate": "/tmp/\ud800",
    "very deep": "/tmp/" + "a/" * 1990 + "x",
    "very long": "/tmp/" + "x" * 300,
    "control characters": "/tmp/\n\x1b",
}


@pytest.mark.parametrize("name", PLACES)
async def test_paths_that_a_model_wrote(world: World, name: str) -> None:
    """The same for names of files."""
    path = PLACES[name]
    sandbox = await world.sandbox()
    for act in (
        lambda: sandbox.write_file(path, b"x"),
        lambda: sandbox.read_file(path, max_bytes=1 << 20),
        lambda: sandbox.list_dir(path),
    ):
        async with answered():
            await act()
    await works(world, sandbox)


@pytest.mark.parametrize("what", ["writes", "lists", "execs"])
async def test_many_requests_at_once(world: World, what: str) -> None:
    """More requests than init reads at a time wait for it; they do not end the sandbox."""
    sandbox = await world.sandbox()
    spin = "for _ in range(4):\n    if os.fork() == 0:\n        break\nwhile True: pass"
    busy = await world.start(sandbox, spin, timeout_seconds=60.0)

    async def one(number: int) -> None:
        if what == "writes":
            await sandbox.write_file(f"/data/{number}", b"x")
        elif what == "lists":
            await sandbox.list_dir("/tmp")
        else:
            result = await (await sandbox.exec(ExecRequest(argv=("true",), timeout_seconds=30.0))).wait()
            assert result.returncode in (0, 126)

    outcomes = await asyncio.wait_for(
        asyncio.gather(*map(one, range(1500 if what == "writes" else 120)), return_exceptions=True), 60
    )
    lost = [error for error in outcomes if isinstance(error, Exception)]
    assert lost == [], f"{len(lost)} of {len(outcomes)} failed, the first: {lost[0]!r}"
    busy.kill()
    await busy.wait()
    await works(world, sandbox)


async def test_a_starved_init_still_ends_a_command(world: World) -> None:
    """However little of the processor a program leaves to init, a time-out is a time-out and no lost sandbox."""
    sandbox = await world.sandbox()
    result = await asyncio.wait_for(world.attack(sandbox, STARVE, timeout_seconds=0.5), 30)
    assert result.outcome is ExecOutcome.TIMEOUT
    assert result.duration_seconds < 5
    await works(world, sandbox)


async def test_a_program_of_a_warm_fork_holds_no_door(world: World) -> None:
    """Objects of init that a warm program finds in its memory open nothing: no socket, no descriptor."""
    program = r"""
import gc, socket, _socket
for found in gc.get_objects():
    try:
        if isinstance(found, _socket.socket):
            number = found.fileno()
            if number > 2:
                os.fstat(number)
                escaped("a socket", number)
    except OSError:
        pass
for name, module in list(sys.modules.items()):
    if name.startswith("harena"):
        escaped(name)
done()
"""
    await world.attempt(program)
