"""Many sandboxes at once: they work, creating them does not get slow, and they all go."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from footprint import cgroup_directories, children, descendants, descriptors, processes, spawners
from harena.core.models import MIB, ExecOutcome, SandboxSpec
from harena.core.ports import SandboxPort
from harena.core.records.sandboxes import Limits
from harena.runtime.host.linux import LinuxRuntime
from harena.testing.conformance_base import run

pytestmark = pytest.mark.alone

SOAK = Path(__file__).parents[2] / "scripts" / "soak.py"
MEMORY_OF_ONE = 4 * MIB
"""more than an idle sandbox needs, its share of the kernel's memory included"""


def available_bytes() -> int:
    """Memory that can be had without swapping."""
    with open("/proc/meminfo", encoding="ascii") as file:
        fields = dict(line.split(":") for line in file)
    return int(fields["MemAvailable"].split()[0]) * 1024


def need_memory_for(count: int) -> None:
    """Skip, loudly, where the machine is too small."""
    if available_bytes() < count * MEMORY_OF_ONE + 512 * MIB:
        pytest.skip(f"{count} sandboxes need about {count * MEMORY_OF_ONE // MIB} MiB of free memory")


def makers_cpu_seconds() -> float:
    """CPU time of spawner and template so far: what creating costs, whatever else the machine is doing."""
    spawner = spawners(os.getpid())[0]
    everything = processes()
    return sum(everything[pid].cpu_seconds for pid in (spawner, *children(spawner)))


async def create(runtime: LinuxRuntime, count: int) -> list[SandboxPort]:
    """So many, at most fifty at a time under way."""
    room = asyncio.Semaphore(50)

    async def one() -> SandboxPort:
        async with room:
            return await runtime.create(SandboxSpec(limits=Limits(memory_bytes=64 * MIB, disk_bytes=16 * MIB)))

    return list(await asyncio.gather(*(one() for _ in range(count))))


async def answers(sandboxes: list[SandboxPort]) -> int:
    """How many of them run a program of their own rightly, at most fifty at a time under way."""
    room = asyncio.Semaphore(50)

    async def one(number: int, sandbox: SandboxPort) -> bool:
        async with room:
            result = await run(sandbox, "sh", "-c", f"read word; echo {number} $word; exit 3", stdin=b"given\n")
        return (result.outcome, result.returncode, result.stdout) == (
            ExecOutcome.EXITED,
            3,
            b"%d given\n" % number,
        )

    return sum(await asyncio.gather(*(one(*pair) for pair in enumerate(sandboxes))))


@pytest.mark.slow
async def test_a_thousand_at_once(runtime: LinuxRuntime) -> None:
    """A thousand sandboxes are held at once, each answers an exec, and the last quarter costs what the first did."""
    need_memory_for(1000)
    await create(runtime, 20)
    costs, sandboxes = [], []
    for _ in range(4):
        before = makers_cpu_seconds()
        sandboxes += await create(runtime, 250)
        costs.append(makers_cpu_seconds() - before)
    assert len({sandbox.id for sandbox in sandboxes}) == 1000
    assert await answers(sandboxes) == 1000
    assert costs[-1] < 3 * costs[0] + 0.5, costs
    spawner = spawners(os.getpid())
    await asyncio.gather(*(sandbox.destroy() for sandbox in sandboxes[:500]))
    assert await answers(sandboxes[500:]) == 500
    await runtime.close()
    assert cgroup_directories(spawner) == []
    assert descendants(os.getpid(), zombies=True) == []


@pytest.mark.slow
async def test_two_thousand_idle(runtime: LinuxRuntime) -> None:
    """Two thousand idle sandboxes can be held; some of them still answer, and closing ends them all."""
    need_memory_for(2000)
    spare = 12_000
    assert len(descriptors()) < spare
    sandboxes = await create(runtime, 2000)
    spawner = spawners(os.getpid())
    assert len(children(children(spawner[0])[0])) >= 2000
    assert await answers(sandboxes[::100]) == 20
    async with asyncio.timeout(30):
        await runtime.close()
    assert cgroup_directories(spawner) == []
    assert descendants(os.getpid(), zombies=True) == []


async def test_two_hundred_at_once(runtime: LinuxRuntime) -> None:
    """The same at a size for every day: created all at once, used all at once, ended all at once."""
    sandboxes = await asyncio.gather(*(runtime.create(SandboxSpec()) for _ in range(200)))
    assert await answers(list(sandboxes)) == 200
    await asyncio.gather(*(sandbox.destroy() for sandbox in sandboxes))
    template = children(spawners(os.getpid())[0])[0]
    assert len(children(template)) <= 16  # what waits in the pool


def soak(*arguments: str) -> str:
    """Run the soak and give what it printed."""
    process = subprocess.run(
        [sys.executable, SOAK, *arguments], capture_output=True, text=True, check=False, timeout=110
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@pytest.mark.usefixtures("home")
def test_a_short_soak() -> None:
    """Two hundred mixed lives: every verdict right, nothing left."""
    assert "200 lives, 0 wrong" in soak("--lives", "200", "--quiet")


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_a_soak() -> None:
    """Fifteen hundred mixed lives: every verdict right, and client, spawner and template are as they were."""
    assert "1500 lives, 0 wrong" in soak("--lives", "1500", "--quiet", "--seed", "7")
