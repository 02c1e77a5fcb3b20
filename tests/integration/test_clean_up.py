"""Nothing is left behind, and nothing hangs: whatever ends a client, a spawner, a template or an init, and whenever."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

from harena.core.errors import PlatformError, SandboxNotRunningError, SandboxTerminatedError, SandboxUnavailableError
from harena.core.models import ExecOutcome, ExecRequest, Limits, SandboxSpec
from harena.core.ports import RunningExec, SandboxPort
from harena.runtime.linux import LinuxRuntime
from harena.testing.conformance_base import run, run_python
from harena.testing.footprint import (
    cgroup_directories,
    children,
    command_line,
    descendants,
    descriptors,
    inhabited,
    namespaces,
    private_bytes,
    processes,
    spawners,
    wait_ended,
    wait_nothing_below,
)

PATIENCE = 30.0
"""seconds within which everything that is about to end must have ended, on a busy machine"""

# A client that holds sandboxes with running programs (one of them has left a daemon in a session of its own), and
# creates, uses and destroys others all the time. It writes one byte at each step of a life: whoever counts them meets
# it at any moment of any of its lives.
CLIENT = """
import asyncio, os, sys
from harena.core.models import ExecRequest, SandboxSpec
from harena.runtime.linux import LinuxRuntime

def step():
    os.write(1, b".")

async def live(runtime):
    while True:
        step()
        sandbox = await runtime.create(SandboxSpec())
        step()
        running = await sandbox.exec(ExecRequest(argv=("sh", "-c", "sleep 3600 & cat"), stdin=b"x" * 200_000))
        step()
        await running.wait()
        step()
        await sandbox.write_file("/data/file", b"x" * 100_000)
        step()
        await sandbox.destroy()

async def main():
    runtime = LinuxRuntime(pool_size=4)
    await runtime.start()
    kept = await asyncio.gather(*(runtime.create(SandboxSpec()) for _ in range(6)))
    for sandbox in kept:
        await sandbox.exec(ExecRequest(argv=("sh", "-c", "setsid sleep 3600 & trap '' TERM; while :; do wait; done")))
    os.write(1, b"!")
    await asyncio.gather(*(live(runtime) for _ in range(6)))

asyncio.run(main())
"""


def random_of(*words: object) -> random.Random:
    """The same choices in every run."""
    return random.Random("/".join(map(str, words)))


@contextmanager
def client(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A busy client in a process of its own; it is killed at the end if it still runs."""
    process = subprocess.Popen([sys.executable, "-c", CLIENT, *words], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def read_steps(process: subprocess.Popen[bytes], count: int) -> None:
    """Until the client has gone through so many steps after it was set up."""
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    seen = -1
    while seen < count:
        chunk = os.read(descriptor, 1)
        assert chunk, "the client ended by itself"
        if seen >= 0 or chunk == b"!":
            seen += 1


def parts_of(pid: int) -> dict[str, list[int]]:
    """Who is who below a client: "spawner", "template", "init"."""
    found: dict[str, list[int]] = {"spawner": spawners(pid), "template": [], "init": []}
    for spawner in found["spawner"]:
        found["template"] += children(spawner)
    for template in found["template"]:
        found["init"] += children(template)
    return found


@pytest.mark.usefixtures("home", "adopting")
@pytest.mark.parametrize("seed", range(6))
def test_killed_client_leaves_nothing(seed: int) -> None:
    """kill -9 of a busy client, at any moment: every process, namespace and cgroup of its node goes with it."""
    steps = random_of("client", seed).choice([0, 1, 2, 3, 5, 8, 40, 133])
    with client() as process:
        read_steps(process, steps)
        owners = spawners(process.pid)
        held = namespaces(entry.pid for entry in descendants(process.pid)) - namespaces([process.pid])
        assert len(owners) == 1
        assert cgroup_directories(owners) or os.geteuid() != 0
        process.kill()
        process.wait()
        assert wait_nothing_below(os.getpid(), PATIENCE) == []
    assert cgroup_directories(owners) == []
    assert inhabited(held) == set()


@pytest.mark.usefixtures("home", "adopting")
@pytest.mark.parametrize("stopped", ["client", "spawner"])
def test_killed_together_leaves_nothing(stopped: str) -> None:
    """Client and spawner killed while one of them is stopped and can tidy nothing up: the kernel ends the rest, and
    the next node removes the cgroup directories."""
    with client() as process:
        read_steps(process, 20)
        owners = spawners(process.pid)
        os.kill({"client": process.pid, "spawner": owners[0]}[stopped], signal.SIGSTOP)
        for pid in (owners[0], process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait()
        assert wait_nothing_below(os.getpid(), PATIENCE) == []
    with client() as process:
        read_steps(process, 0)
        assert cgroup_directories(owners) == []
        process.kill()
        process.wait()
        assert wait_nothing_below(os.getpid(), PATIENCE) == []


@pytest.mark.usefixtures("home", "adopting")
@pytest.mark.parametrize("way", ["sys.exit(3)", "os._exit(3)", "os.abort()", "os.execv('/bin/true', ['true'])"])
def test_client_that_ends_without_closing(way: str) -> None:
    """However a client's process ends, or becomes another program, its sandboxes end."""
    code = CLIENT.replace('os.write(1, b"!")', f"import resource; resource.setrlimit(4, (0, 0)); {way}")
    process = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert process.returncode == {"s": 3, "e": 0}.get(way[0], 3) if "_exit" in way or "exec" in way else True
    assert wait_nothing_below(os.getpid(), PATIENCE) == []


# -- the client survives -------------------------------------------------------------------------------------------


class Life:
    """Everything that can be under way in a client at one moment."""

    def __init__(self, runtime: LinuxRuntime) -> None:
        self.runtime = runtime
        self.kept: list[SandboxPort] = []
        self.running: list[RunningExec] = []
        self.pending: list[asyncio.Task[object]] = []
        self.steps = 0
        self._next_step: list[asyncio.Future[None]] = []

    async def set_up(self) -> None:
        """Six sandboxes with a running program each; waits, a long input and a file are under way in each."""
        self.kept = list(await asyncio.gather(*(self.runtime.create(SandboxSpec()) for _ in range(6))))
        for sandbox in self.kept:
            running = await sandbox.exec(ExecRequest(argv=("sh", "-c", "echo up; sleep 3600"), stdin_stream=True))
            await running.stdout.next_chunk(0)
            self.running.append(running)
            self._begin(running.wait())
            self._begin(running.write_stdin(bytes(1 << 20)))  # nobody reads it
            self._begin(sandbox.wait_dead())
            self._begin(sandbox.extract_archive("/data", _endless_archive()))
        for _ in range(6):
            self._begin(self._live())

    def _begin(self, work: Awaitable[object]) -> None:
        self.pending.append(asyncio.ensure_future(work))

    async def _live(self) -> None:
        while True:
            sandbox = await self.runtime.create(SandboxSpec())
            self._step()
            running = await sandbox.exec(ExecRequest(argv=("sh", "-c", "sleep 3600 & cat"), stdin=bytes(200_000)))
            self._step()
            await running.wait()
            self._step()
            await sandbox.write_file("/data/file", bytes(100_000))
            self._step()
            await sandbox.list_dir("/data")
            self._step()
            await sandbox.destroy()
            self._step()

    def _step(self) -> None:
        self.steps += 1
        waiting, self._next_step = self._next_step, []
        for future in waiting:
            future.set_result(None)

    async def reach(self, steps: int) -> None:
        """Returns at exactly this step."""
        while self.steps < steps:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._next_step.append(future)
            await future

    async def ends(self) -> list[object]:
        """What becomes of everything that was under way."""
        async with asyncio.timeout(PATIENCE):
            return await asyncio.gather(*self.pending, return_exceptions=True)


async def _endless_archive() -> AsyncIterator[bytes]:
    await asyncio.get_running_loop().create_future()
    yield b""


async def works(runtime: LinuxRuntime) -> bool:
    """A new sandbox runs a program."""
    async with asyncio.timeout(PATIENCE):
        sandbox = await runtime.create(SandboxSpec())
        result = await run(sandbox, "echo", "again")
        await sandbox.destroy()
    return result.stdout == b"again\n"
