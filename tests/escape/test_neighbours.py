"""Neighbours: who is in one workspace cannot stop, hear or use up what is another one's, or the host's."""

from __future__ import annotations

import asyncio
import os
import platform
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from attacks import PRELUDE
from programs_neighbours import ALONE, HOLD_INODE, KEEP, LOOK, STILL_THERE, USE_UP

from harena.core.models import ExecRequest, SandboxSpec
from harena.core.ports import RunningExec, SandboxPort
from harena.core.records.blueprints import Blueprint
from harena.runtime.host.linux import LinuxRuntime

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.alone]
DEVICE = "/dev/null" if os.geteuid() == 0 else "/tmp"
"""of which each template has one of its own, where it can be made"""
X86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="system-call numbers of x86-64")


class Layer:
    """A store with one layer of packages: a directory of the host that sandboxes see."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def path(self, digest: str) -> Path:
        return self.place


BLUEPRINT = Blueprint(id="bp_shared", name="shared", layer="x")


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file, a socket that listens and a named pipe that somebody reads from, all of the host."""
    place = tmp_path_factory.mktemp("layer")
    place.chmod(0o755)
    (place / "file").write_text("shared")
    (place / "file").chmod(0o644)
    os.mkfifo(place / "pipe")
    (place / "pipe").chmod(0o666)
    with socket.socket(socket.AF_UNIX) as listener, open(place / "pipe", "r+b", 0):
        listener.bind(str(place / "socket"))
        listener.listen()
        (place / "socket").chmod(0o777)
        yield place


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime(layer: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxRuntime]:
    """One node, whose workspaces all see the layer."""
    made = LinuxRuntime(home=tmp_path_factory.mktemp("home"), layers=Layer(layer), pool_size=0)
    await made.start()
    try:
        yield made
    finally:
        await made.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def neighbours(runtime: LinuxRuntime) -> AsyncIterator[tuple[SandboxPort, SandboxPort]]:
    """A sandbox in each of two workspaces."""
    made = [await runtime.create(SandboxSpec(), BLUEPRINT, workspace=name) for name in ("one", "two")]
    yield made[0], made[1]
    for sandbox in made:
        await sandbox.destroy()


@contextmanager
def host_keeps(layer: Path) -> Iterator[Callable[[], None]]:
    """A process of the host has run `KEEP`; it ends at a call of what is given."""
    argv = [sys.executable, "-c", KEEP, str(layer), DEVICE]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as keeping:
        assert keeping.stdin is not None
        assert keeping.stdout is not None
        assert keeping.stdout.readline() == b"kept\n"

        def let_go() -> None:
            keeping.communicate()
            assert keeping.returncode == 0

        yield let_go


async def places(sandbox: SandboxPort) -> tuple[str, str]:
    """Where the layer and the device are in a sandbox."""
    look = "import site; print(site.getsitepackages()[0], end='')"
    result = await (await sandbox.exec(ExecRequest(argv=("python3", "-c", look)))).wait()
    return result.stdout.decode(), DEVICE


async def begin(sandbox: SandboxPort, program: str, *words: str) -> RunningExec:
    """Start a program that waits for the end of its input."""
    argv = ("python3", "-c", PRELUDE + program, *words)
    return await sandbox.exec(ExecRequest(argv=argv, stdin_stream=True, timeout_seconds=60))


async def first_line(running: RunningExec) -> bytes:
    """What it says first."""
    said = b""
    async for chunk in running.stdout:
        said += chunk
        if b"\n" in said:
            return said
    pytest.fail(f"it has ended: {await running.wait()}")


async def end(running: RunningExec) -> str:
    """All that it has said, once its input has ended."""
    running.close_stdin()
    result = await running.wait()
    assert result.returncode == 0, result
    return result.stdout.decode()


@pytest.mark.parametrize("name", LOOK)
async def test_nothing_is_kept_at_a_file_that_another_workspace_sees(
    neighbours: tuple[SandboxPort, SandboxPort], name: str
) -> None:
    """Locks and notices belong to inodes, and each template has inodes of its own."""
    one, two = neighbours
    keeping = await begin(one, KEEP, *await places(one))
    assert await first_line(keeping) == b"kept\n"
    looking = await begin(two, LOOK[name], *await places(two))
    await first_line(looking)
    await end(keeping)
    said = await end(looking)
    assert said.endswith("done\n"), said
    assert "ESCAPED" not in said, said


@pytest.mark.parametrize("name", LOOK)
async def test_nothing_is_kept_at_a_file_that_the_host_sees(
    neighbours: tuple[SandboxPort, SandboxPort], layer: Path, name: str
) -> None:
    """A process of the host locks a file and opens it: no sandbox is stopped by that, nor told of it."""
    one, _ = neighbours
    with host_keeps(layer) as let_go:
        looking = await begin(one, LOOK[name], *await places(one))
        await first_line(looking)
        let_go()
    said = await end(looking)
    assert said.endswith("done\n"), said
    assert "ESCAPED" not in said, said


@pytest.mark.parametrize("name", ALONE)
async def test_what_the_host_has_below_a_tree_is_not_reached(
    neighbours: tuple[SandboxPort, SandboxPort], name: str
) -> None:
    """Sockets and named pipes of the host's processes lead nowhere, and nothing is written to the host's disks."""
    one, _ = neighbours
    said = await end(await begin(one, ALONE[name], *await places(one)))
    assert said == "done\n"


@X86_64
@pytest.mark.parametrize("name", USE_UP)
async def test_what_the_kernel_counts_for_a_user_is_not_used_up_for_another_workspace(
    neighbours: tuple[SandboxPort, SandboxPort], name: str
) -> None:
    """A template's sandboxes have a user of the host that no other template has."""
    if os.geteuid() != 0:
        pytest.skip("an ordinary user's sandboxes have that user's id")
    one, two = neighbours
    taking = await begin(one, USE_UP[name])
    said = await first_line(taking)
    assert int(said.split()[-1]) > 0
    said = await end(await begin(two, STILL_THERE))
    await end(taking)
    assert said == "done\n"


OPERATIONS: dict[str, Callable[[SandboxPort], Awaitable[object]]] = {
    "write": lambda sandbox: sandbox.write_file("/workspace/held", b"x", append=True),
    "write and set a mode": lambda sandbox: sandbox.write_file("/workspace/held", b"", append=True, mode=0o600),
    "read": lambda sandbox: sandbox.read_file("/workspace/held", max_bytes=1 << 30),
}


@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_file_that_is_held_holds_up_nobody_else(neighbours: tuple[SandboxPort, SandboxPort], name: str) -> None:
    """Programs of one sandbox keep the lock of an inode that file operations wait for: meanwhile another one is
    answered, more than once."""
    one, two = neighbours
    await one.write_file("/workspace/held", b"")
    holding = await begin(one, HOLD_INODE)
    assert await first_line(holding) == b"held\n"
    waiting = [asyncio.ensure_future(OPERATIONS[name](one)) for _ in range(8)]
    answered = 0
    try:
        while not all(each.done() for each in waiting) and answered < 3:
            result = await (await two.exec(ExecRequest(argv=("true",)))).wait()
            assert result.returncode == 0
            answered += 1
        assert answered == 3
    finally:
        holding.kill()
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await holding.wait()
