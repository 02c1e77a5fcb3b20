"""Resources: whatever a program takes, it takes from its own share."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from escape_world import World
from programs_resources import ENDED, MEMORY, OTHERS, SMALL, TAKE

from harena.core.models import MIB, ExecOutcome

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("name", MEMORY)
async def test_memory(world: World, name: str) -> None:
    """64 MiB are 64 MiB, whatever they are made of."""
    sandbox = await world.sandbox(**SMALL)
    result = await world.attack(sandbox, TAKE + MEMORY[name] + "\ndone()", "96")
    assert b"ESCAPED" not in result.stdout, result.stdout
    assert result.outcome in ENDED, result
    assert result.outcome is ExecOutcome.MEMORY or result.stdout.endswith(b"done\n"), result
    await sandbox.destroy()
    await world.unharmed()


@pytest.mark.parametrize("name", OTHERS)
async def test_other_resources(world: World, name: str) -> None:
    """Processes, files, descriptors and the processor are counted too."""
    hog = OTHERS[name]
    sandbox = await world.sandbox(**hog.limits)
    result = await world.attack(sandbox, hog.program, **hog.request)
    assert result.outcome in hog.outcomes, result
    assert b"ESCAPED" not in result.stdout, result.stdout
    assert not list(Path("/tmp").glob("core*"))
    await world.unharmed()
    after = await world.attack(sandbox, "done()") if sandbox.alive else None  # type: ignore[attr-defined]
    full = result.outcome is ExecOutcome.MEMORY  # and its files are still there
    assert after is None or full or after.returncode in (0, 126), after


async def test_no_more_of_the_processors_than_the_limit(world: World) -> None:
    """Many that compute, and start others, have together what one may have that asks for a fifth of a processor."""
    sandbox = await world.sandbox(cpu=0.2)
    if not sandbox.enforcement["cpu"].startswith("cgroup"):
        pytest.skip(f"capability:cgroups {sandbox.enforcement['cpu']}")
    program = "for _ in range(7):\n    if os.fork() == 0:\n        os.setsid()\n        break\nwhile True:\n    pass\n"
    began = asyncio.get_running_loop().time()
    before = await sandbox.processor_time()
    result = await world.attack(sandbox, program, timeout_seconds=1.0)
    after = await sandbox.processor_time()
    assert result.outcome is ExecOutcome.TIMEOUT
    elapsed = asyncio.get_running_loop().time() - began
    # the kernel's bound, which no load of the machine raises: what a period of 0.1 s may be over, and one period more
    assert after.used_seconds - before.used_seconds < 0.2 * elapsed * 1.5 + 0.2
    await world.unharmed()


@pytest.mark.parametrize("stream", ["stdout", "stderr", "both"])
@pytest.mark.parametrize("ends", [True, False])
async def test_output_flood(world: World, stream: str, ends: bool) -> None:
    """An endless output is cut at the limit and said to be; memory of the host does not grow with it."""
    limit = 1 * MIB
    streams = {"stdout": [1], "stderr": [2], "both": [1, 2]}[stream]
    turns = "range(4000)" if ends else "iter(int, 1)"
    program = f"for _ in {turns}:\n    for each in {streams}:\n        os.write(each, b'x' * 4096)\n"
    sandbox = await world.sandbox(output_bytes=limit)
    before = _resident_bytes()
    result = await world.attack(sandbox, program, timeout_seconds=20.0 if ends else 0.5)
    assert result.outcome is (ExecOutcome.EXITED if ends else ExecOutcome.TIMEOUT)
    seen = (("stdout", result.stdout, result.stdout_truncated), ("stderr", result.stderr, result.stderr_truncated))
    for name, text, cut in seen:
        flooded = stream in (name, "both")
        assert len(text) == (limit if flooded else 0)
        assert cut == flooded
    assert _resident_bytes() - before < 32 * MIB
    await world.unharmed()


@pytest.mark.parametrize("what", ["argv", "word", "env"])
async def test_huge_request(world: World, what: str) -> None:
    """More words than the kernel takes: the command fails, the sandbox and its init do not."""
    sandbox = await world.sandbox()
    huge = {"argv": ["x"] * 500_000, "word": ["x" * 4_000_000], "env": []}[what]
    env = {f"V{number}": "x" * 100_000 for number in range(60)} if what == "env" else {}
    result = await world.attack(sandbox, "done()", *huge, env=env)
    assert result.returncode == 126 or result.stdout == b"done\n"
    assert (await world.attack(sandbox, "done()")).stdout == b"done\n"


async def test_next_sandbox_has_all_its_memory(world: World) -> None:
    """What an ended sandbox held in files and segments is not counted against the one that comes after it."""
    fill = r"""
libc.shmat.restype = ctypes.c_void_p
ctypes.memset(libc.shmat(libc.shmget(0, 60 << 20, 0o1600), None, 0), 1, 60 << 20)
with open("/dev/shm/x", "wb", 0) as file:
    for _ in range(100):
        file.write(b"x" * (1 << 20))
done()
"""
    for _ in range(6):
        sandbox = await world.sandbox(memory_bytes=200 * MIB)
        assert (await world.attack(sandbox, fill)).stdout == b"done\n"
        await sandbox.destroy()


async def test_aio_of_the_host_is_untouched(world: World) -> None:
    """fs.aio-nr is one number for the whole machine: no sandbox may use it up."""
    sandbox = await world.sandbox()
    program = (
        "context = ctypes.create_string_buffer(8)\ncall(206, 30000, context)\ndone()\nsys.stdout.flush()\n"
        "import signal\nsignal.pause()"
    )
    before = int(Path("/proc/sys/fs/aio-nr").read_text())
    running = await world.start(sandbox, program, timeout_seconds=20.0)
    assert await running.stdout.next_chunk(0) == b"done\n"
    assert int(Path("/proc/sys/fs/aio-nr").read_text()) <= before
    running.kill()
    await running.wait()


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
