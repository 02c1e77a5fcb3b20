"""Nothing is left behind, and nothing hangs: whatever ends a client, a spawner, a template or an init, and whenever."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from footprint import (
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
from harena.core.errors import PlatformError, SandboxNotRunningError, SandboxTerminatedError, SandboxUnavailableError
from harena.core.models import ExecOutcome, ExecRequest, SandboxSpec
from harena.core.ports import Death, SandboxPort
from harena.core.records.sandboxes import Limits
from harena.runtime.host import linux
from harena.runtime.host.linux import LinuxRuntime
from harena.testing.conformance_base import run, run_python

PATIENCE = 30.0
"""seconds within which everything that is about to end must have ended, on a busy machine"""
MADE_AHEAD = 8
"""sandboxes that a runtime keeps ready at most"""

# A client that holds sandboxes with running programs (one of them has left a daemon in a session of its own), and
# creates, uses and destroys others all the time. It writes one byte at each step of a life: whoever counts them meets
# it at any moment of any of its lives.
CLIENT = """
import asyncio, os, sys
from harena.core.models import ExecRequest, SandboxSpec
from harena.runtime.host.linux import LinuxRuntime

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
    assert inhabited(held, os.getpid()) == set()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("stopped", ["client", "spawner"])
def test_killed_together_leaves_nothing(stopped: str, adopting: Callable[[], None]) -> None:
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
    adopting()
    with client() as process:
        read_steps(process, 0)
        assert cgroup_directories(owners) == []
        process.kill()
        process.wait()
        assert wait_nothing_below(os.getpid(), PATIENCE) == []


@pytest.mark.usefixtures("home", "adopting")
@pytest.mark.parametrize(
    ("way", "code"),
    [("sys.exit(3)", 3), ("os._exit(3)", 3), ("os.abort()", -6), ("os.execv('/bin/true', ['true'])", 0)],
)
def test_client_that_ends_without_closing(way: str, code: int) -> None:
    """However a client's process ends, or becomes another program, its sandboxes end."""
    no_core = "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); "
    script = CLIENT.replace('os.write(1, b"!")', no_core + way)
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert process.returncode == code
    assert wait_nothing_below(os.getpid(), PATIENCE) == []


# -- the client survives -------------------------------------------------------------------------------------------


class Life:
    """Everything that can be under way in a client at one moment."""

    def __init__(self, runtime: LinuxRuntime) -> None:
        self.runtime = runtime
        self.kept: list[SandboxPort] = []
        self.waits: list[asyncio.Task[object]] = []
        self.writes: list[asyncio.Task[object]] = []
        self.deaths: list[asyncio.Task[Death]] = []
        self.lives: list[asyncio.Task[object]] = []
        self.steps = 0
        self._next_step: list[asyncio.Future[None]] = []

    async def set_up(self, kept: int = 5, lives: int = 5) -> None:
        """Hold sandboxes with a running program each, and create, use and destroy others all the time."""
        self.kept = list(await asyncio.gather(*(self.runtime.create(SandboxSpec()) for _ in range(kept))))
        for number, sandbox in enumerate(self.kept):
            code = "echo up; setsid sleep 3600 & sleep 3600"
            running = await sandbox.exec(
                ExecRequest(argv=("sh", "-c", code, f"kept-{os.getpid()}-{number}"), stdin_stream=True)
            )
            assert await running.stdout.next_chunk(0) == b"up\n"
            self.waits.append(asyncio.ensure_future(running.wait()))
            self.writes.append(asyncio.ensure_future(running.write_stdin(bytes(1 << 20))))  # nobody reads it
            self.deaths.append(asyncio.ensure_future(sandbox.wait_dead()))
        self.lives = [asyncio.ensure_future(self._live()) for _ in range(lives)]

    def init_of(self, number: int) -> int:
        """The init of a kept sandbox, as a pid of ours."""
        marker = f"kept-{os.getpid()}-{number}"
        below = {entry.pid: entry.parent for entry in descendants(os.getpid())}
        found = {parent for pid, parent in below.items() if command_line(pid).endswith(marker)}
        assert len(found) == 1
        return found.pop()

    async def _live(self) -> None:
        while True:
            sandbox = await self.runtime.create(SandboxSpec())
            self._step()
            running = await sandbox.exec(ExecRequest(argv=("sh", "-c", "sleep 3600 & cat"), stdin=bytes(200_000)))
            self._step()
            result = await running.wait()
            assert (result.outcome, result.stdout) == (ExecOutcome.EXITED, bytes(200_000))
            self._step()
            await sandbox.write_file("/data/file", bytes(100_000))
            self._step()
            assert [entry.name for entry in await sandbox.list_dir("/data")] == ["file"]
            self._step()
            await sandbox.destroy()
            self._step()

    def _step(self) -> None:
        self.steps += 1
        waiting, self._next_step = self._next_step, []
        for future in waiting:
            future.set_result(None)

    async def reach(self, steps: int) -> None:
        """Returns when the lives have gone through so many steps together."""
        while self.steps < steps:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._next_step.append(future)
            await future

    async def __aenter__(self) -> Life:
        await self.set_up()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Whatever is still under way is given up."""
        tasks: list[asyncio.Task[Any]] = [*self.waits, *self.writes, *self.deaths, *self.lives]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def end_lives(self) -> None:
        """No new lives; what was under way in them is cancelled."""
        for task in self.lives:
            task.cancel()
        await asyncio.gather(*self.lives, return_exceptions=True)


async def errors_of(tasks: list[asyncio.Task[object]]) -> list[str]:
    """Of each task the class of its error; or its result, which there should not be. A hang is a TimeoutError."""
    async with asyncio.timeout(PATIENCE):
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    return [
        "lost" if isinstance(end, SandboxUnavailableError | PlatformError) else repr(end)  #
        for end in ends
    ]


async def works(runtime: LinuxRuntime) -> bool:
    """A new sandbox runs a program."""
    async with asyncio.timeout(PATIENCE):
        sandbox = await runtime.create(SandboxSpec())
        result = await run(sandbox, "echo", "again")
        await sandbox.destroy()
    return result.stdout == b"again\n"


async def below_ended(pids: list[int]) -> list[int]:
    """Wait for processes without holding up the event loop. Gives those that still run."""
    return await asyncio.to_thread(wait_ended, pids, PATIENCE)


async def works_soon(runtime: LinuxRuntime) -> bool:
    """The same, of a runtime that may not have heard yet that those which it keeps ready were killed too."""
    for _ in range(MADE_AHEAD):
        with suppress(SandboxUnavailableError):
            return await works(runtime)
    return await works(runtime)


@pytest.mark.usefixtures("adopting")
@pytest.mark.parametrize("victim", ["spawner", "template"])
@pytest.mark.parametrize("seed", range(5))
async def test_killed_spawner_or_template(runtime: LinuxRuntime, victim: str, seed: int) -> None:
    """kill -9 of the spawner or a template at any moment: all that was under way ends with a clear error, nothing of
    it runs on, a new sandbox works, and the cgroup directories are gone by then."""
    async with Life(runtime) as life:
        await life.reach(random_of(victim, seed).choice([0, 1, 2, 3, 4, 5, 6, 11, 29, 120]))
        parts = parts_of(os.getpid())
        below = [
            entry.pid for entry in descendants(os.getpid()) if victim == "spawner" or entry.pid not in parts["spawner"]
        ]
        os.kill(parts[victim][0], signal.SIGKILL)
        assert await errors_of(life.waits) == ["lost"] * len(life.waits)
        deaths = await asyncio.gather(*life.deaths)
        assert {death.by_request for death in deaths} == {False}
        assert await works_soon(runtime)
        assert set(await errors_of([task for task in life.lives if task.done()])) <= {"lost"}
        survivors = [task for task in life.lives if not task.done()]  # those that were between two sandboxes
        if survivors:
            async with asyncio.timeout(PATIENCE):
                await life.reach(life.steps + 12)
        assert not [task for task in survivors if task.done()]
        await life.end_lives()
        if victim == "spawner":
            assert cgroup_directories(parts["spawner"]) == []
        else:
            assert spawners(os.getpid()) == parts["spawner"]
        await asyncio.wait(life.writes)
        assert {type(task.exception()).__name__ for task in life.writes} <= {
            "SandboxExecutionError",
            "SandboxUnavailableError",
        }
        assert await below_ended(below) == []
        for sandbox in life.kept:
            with pytest.raises(SandboxUnavailableError):
                await sandbox.exec(ExecRequest(argv=("true",)))
            with pytest.raises(SandboxUnavailableError):
                await sandbox.read_file("/etc/hosts", max_bytes=1 << 20)
            await sandbox.destroy()


@pytest.mark.parametrize("seed", range(3))
async def test_killed_init(runtime: LinuxRuntime, seed: int) -> None:
    """kill -9 of one init: its sandbox is lost, with a clear error; its neighbours notice nothing."""
    async with Life(runtime) as life:
        choice = random_of("init", seed)
        await life.reach(choice.randrange(60))
        number = choice.randrange(len(life.kept))
        init = life.init_of(number)
        below = [init, *(entry.pid for entry in descendants(init))]
        assert len(below) >= 4
        os.kill(init, signal.SIGKILL)
        assert await errors_of([life.waits[number]]) == ["lost"]
        assert not (await life.deaths[number]).by_request
        assert await below_ended(below) == []
        await life.reach(life.steps + 30)
        assert [task.done() for task in (*life.waits, *life.lives)].count(True) == 1
        for other, sandbox in enumerate(life.kept):
            if other != number:
                assert (await run(sandbox, "echo", "here")).stdout == b"here\n"
        await life.end_lives()
        assert await works(runtime)
        await runtime.close()
        ends = await asyncio.gather(*life.waits, *life.writes, return_exceptions=True)
        assert sum(isinstance(end, SandboxTerminatedError) for end in ends) == len(life.kept) - 1


async def test_killed_inits_everywhere(runtime: LinuxRuntime) -> None:
    """Every init killed at once, those that wait in the pool too: nobody is ever given a dead sandbox."""
    async with Life(runtime) as life:
        await life.reach(40)
        await life.end_lives()
        inits = parts_of(os.getpid())["init"]
        for pid in inits:
            with suppress(ProcessLookupError):  # the life that was given up is being ended just now
                os.kill(pid, signal.SIGKILL)
        assert await errors_of(life.waits) == ["lost"] * len(life.waits)
        assert await below_ended(inits) == []
        # one of another kind, made by the same spawner: what it has seen before is known to the client after it
        await (await runtime.create(SandboxSpec(limits=Limits(pids=99)))).destroy()
        assert [await works(runtime) for _ in range(12)] == [True] * 12


@pytest.mark.parametrize("operation", ["list_dir", "create_archive", "extract_archive", "processes", "read_file"])
async def test_file_operation_of_a_lost_sandbox(runtime: LinuxRuntime, operation: str) -> None:
    """A file operation that is under way when the sandbox is lost ends as lost: not as a file's fault, and not never.

    Init is stopped, so that the operation cannot get an answer before the kill.
    """
    sandbox = await runtime.create(SandboxSpec())
    marker = f"marker-{os.getpid()}"
    await sandbox.exec(ExecRequest(argv=("sh", "-c", "sleep 3600; true", marker)))
    await run(sandbox, "true")
    init = next(entry.parent for entry in descendants(os.getpid()) if command_line(entry.pid).endswith(marker))
    os.kill(init, signal.SIGSTOP)

    async def nothing_yet() -> AsyncIterator[bytes]:
        await asyncio.get_running_loop().create_future()
        yield b""

    async def read_archive() -> list[bytes]:
        return [chunk async for chunk in sandbox.create_archive("/data")]

    operations: dict[str, Callable[[], Awaitable[object]]] = {
        "list_dir": lambda: sandbox.list_dir("/data"),
        "create_archive": read_archive,
        "extract_archive": lambda: sandbox.extract_archive("/data", nothing_yet()),
        "processes": sandbox.processes,
        "read_file": lambda: sandbox.read_file("/etc/hosts", max_bytes=1 << 20),
    }
    under_way: asyncio.Task[object] = asyncio.ensure_future(_as_coroutine(operations[operation]()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    os.kill(init, signal.SIGKILL)
    assert await errors_of([under_way]) == ["lost"]


async def _as_coroutine(work: Awaitable[object]) -> object:
    return await work


# -- ordinary ends -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
async def test_close_in_the_middle(home: object, seed: int) -> None:
    """close() while sandboxes are being created and used: what was under way ends with an error, and nothing stays."""
    runtime = LinuxRuntime()
    await runtime.start()
    async with Life(runtime) as life:
        await life.reach(random_of("close", seed).randrange(80))
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(runtime.close(), runtime.close())
            await runtime.close()
            ends = await asyncio.gather(*life.waits, *life.lives, return_exceptions=True)
        ends = [end for end in ends if not isinstance(end, SandboxTerminatedError | SandboxUnavailableError)]
        assert ends == []
        assert {death.by_request for death in await asyncio.gather(*life.deaths)} == {True}
        await asyncio.wait(life.writes)
        with pytest.raises(SandboxUnavailableError, match="closed"):
            await runtime.create(SandboxSpec())


async def test_limits_that_are_asked_for_once_leave_no_sandbox_behind(home: object) -> None:
    """No limit of a workspace counts what is made ahead; a second claim of the same limits has the budget's share."""
    runtime = LinuxRuntime()
    await runtime.start()
    for times, most in ((1, 0), (2, MADE_AHEAD)):
        for number in range(2 * MADE_AHEAD):
            for _ in range(times):
                limits = Limits(memory_bytes=(64 * times << 20) + number * 4096)
                await (await runtime.create(SandboxSpec(limits=limits))).destroy()
        async with asyncio.timeout(PATIENCE):
            while len(runtime._sandboxes) > most:  # noqa: ASYNC110 - those given up end unwaited for
                await asyncio.sleep(0.01)
        assert len(runtime._pools) <= MADE_AHEAD
    await runtime.close()


async def test_close_right_after_start(home: object) -> None:
    """A node that is closed while its first sandboxes are asked for leaves nothing."""
    for turns in range(6):
        runtime = LinuxRuntime()
        creates = [asyncio.ensure_future(runtime.create(SandboxSpec())) for _ in range(3)]
        for _ in range(turns):
            await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE):
            await runtime.close()
            ends = await asyncio.gather(*creates, return_exceptions=True)
        assert not [end for end in ends if not isinstance(end, PlatformError | SandboxNotRunningError)]


async def test_a_template_that_is_too_slow_takes_nobodys_sandbox_along(
    home: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host under load is slow, too: whoever waits gets a sandbox of another template, and what somebody has stays.
    The slow one ends when nobody has anything of it."""
    runtime = LinuxRuntime()
    await runtime.start()
    held = await runtime.create(SandboxSpec())
    (spawner,) = spawners(os.getpid())
    (slow,) = children(spawner)
    os.kill(slow, signal.SIGSTOP)
    monkeypatch.setattr(linux, "START_SECONDS", 4.0)
    other = await runtime.create(SandboxSpec(limits=Limits(pids=77)))
    for sandbox in (held, other):
        assert (await run(sandbox, "echo", "here")).stdout == b"here\n"
    assert slow in children(spawner)
    await held.destroy()
    assert await below_ended([slow]) == []
    assert (await run(other, "echo", "here")).stdout == b"here\n"
    await runtime.close()


async def test_cancelled_create(runtime: LinuxRuntime) -> None:
    """Somebody who gives up while a sandbox is made for him leaves none behind."""
    await works(runtime)
    for turns in range(12):
        task = asyncio.ensure_future(runtime.create(SandboxSpec(limits=Limits(pids=100 + turns))))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            await task.result().destroy()
    assert await works(runtime)
    template = parts_of(os.getpid())["template"][0]
    pooled = 8 * 14  # at most this many of each kind wait in pools
    assert len(children(template)) <= pooled


async def test_cancelled_wait_leaves_the_command(runtime: LinuxRuntime) -> None:
    """A wait that is given up does not end the command, and a destroyed sandbox ends both."""
    sandbox = await runtime.create(SandboxSpec())
    running = await sandbox.exec(ExecRequest(argv=("cat",), stdin_stream=True))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await running.wait()
    await running.write_stdin(b"still here")
    running.close_stdin()
    assert (await running.wait()).stdout == b"still here"
    await sandbox.destroy()


async def test_descriptors_and_memory_return(runtime: LinuxRuntime) -> None:
    """After many lives client, spawner and template hold what they held after the first few."""

    async def live(number: int) -> None:
        sandbox = await runtime.create(SandboxSpec())
        await run_python(sandbox, "print(1)", stdin=bytes(100_000))
        await run(sandbox, "sh", "-c", "sleep 3600 & exit 1")
        await run(sandbox, "sleep", "3600", timeout_seconds=0.01)
        await sandbox.write_file("/data/x", bytes(1000))
        await sandbox.list_dir("/data")
        if number % 3:
            await sandbox.destroy(grace_seconds=number % 2)
        else:
            os.kill(0, 0)  # left to the pool of those that end with their sandbox
            await sandbox.destroy()

    def held() -> dict[str, int]:
        parts = parts_of(os.getpid())
        counts = {name: len(descriptors(parts[name][0])) for name in ("spawner", "template")}
        return {"client": len(descriptors()), **counts, "inits": len(parts["init"])}

    async def lives(count: int) -> None:
        for _ in range(count // 10):
            await asyncio.gather(*(live(number) for number in range(10)))

    await lives(120)
    before, memory = held(), private_bytes(spawners(os.getpid())[0])
    await lives(200)
    after = held()
    tolerance = {"client": 16, "spawner": 16, "template": 4, "inits": 16}  # what waits in the pool, more or less
    assert {name: after[name] - before[name] for name in after if after[name] - before[name] > tolerance[name]} == {}
    assert private_bytes(spawners(os.getpid())[0]) - memory < 4 << 20


async def test_zombies_are_reaped(runtime: LinuxRuntime) -> None:
    """Neither spawner nor template nor init collects dead children."""
    sandbox = await runtime.create(SandboxSpec())
    for _ in range(5):
        await run(sandbox, "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do (sleep 0 & true); done")
        await works(runtime)
    async with asyncio.timeout(30):  # those that end last end at any time
        while True:
            running = await sandbox.processes()  # asked of init after it has reaped
            zombies = [entry for entry in descendants(os.getpid(), zombies=True) if entry.state == "Z"]
            if len(zombies) <= 1:  # the one that has answered just now
                break
    assert [process for process in running if process.command[:1] == ("sleep",)] == []


def test_the_check_sees_what_it_shall_see() -> None:
    """A leak check that sees nothing proves nothing."""
    from footprint import Footprint

    before = Footprint.take()
    read_end, write_end = os.pipe()
    child = subprocess.Popen(["sleep", "3600"])
    try:
        found = Footprint.take().beyond(before)
        assert [line for line in found if line.startswith("process") and "sleep 3600" in line]
        assert len([line for line in found if line.startswith("descriptor") and "pipe" in line]) == 2
        assert wait_ended([child.pid], 0.01) == [child.pid]
        assert processes()[child.pid].parent == os.getpid()
    finally:
        child.kill()
        child.wait()
        os.close(read_end)
        os.close(write_end)
    assert wait_ended([child.pid], 1) == []
    assert Footprint.take().beyond(before) == []
