"""Archives of a real sandbox: whoever gives one up is free at once, and what made it inside is ended."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any

import pytest

from harena.core.errors import SandboxFileError
from harena.core.models import MIB, SandboxSpec
from harena.core.ports import SandboxPort
from harena.runtime.host.linux import LinuxRuntime
from harena.testing.conformance_base import run_python
from harena.testing.conformance_files import archived

PATIENCE = 10.0


async def sandbox_with_a_giant(runtime: LinuxRuntime) -> SandboxPort:
    """Its archive takes long: a file of 8 GiB, made of one hole."""
    sandbox = await runtime.create(SandboxSpec())
    program = "import os; os.mkdir('/data/tree'); os.truncate(os.open('/data/tree/giant', 66), 1 << 33)"
    assert (await run_python(sandbox, program)).returncode == 0
    return sandbox


async def read_to_the_end(sandbox: SandboxPort) -> None:
    async with aclosing(sandbox.create_archive("/data/tree")) as stream:
        async for _ in stream:
            pass


async def read_a_little(sandbox: SandboxPort) -> None:
    async with aclosing(sandbox.create_archive("/data/tree")) as stream:
        async for _ in stream:
            await asyncio.get_running_loop().create_future()


async def unpack_something_endless(sandbox: SandboxPort) -> None:
    async def nothing_more() -> AsyncIterator[bytes]:
        yield bytes(100)
        await asyncio.get_running_loop().create_future()

    await sandbox.extract_archive("/data/in", nothing_more())


OPERATIONS: list[Callable[[SandboxPort], Coroutine[Any, Any, None]]] = [
    read_to_the_end,
    read_a_little,
    unpack_something_endless,
]


async def only_process(sandbox: SandboxPort) -> int:
    async with asyncio.timeout(PATIENCE):
        while len(found := await sandbox.processes()) != 1:  # what was before may still be ending
            pass
    (process,) = found
    return process.pid


async def ended(sandbox: SandboxPort) -> None:
    async with asyncio.timeout(PATIENCE):
        while await sandbox.processes():
            pass


def pipes() -> list[str]:
    """Those that this process has; other descriptors come with the sandboxes that wait in the pool."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # that of the listing itself
            found.append(os.readlink(f"/proc/self/fd/{name}"))
    return sorted(name for name in found if name.startswith("pipe:"))


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_cancelled(
    runtime: LinuxRuntime, operation: Callable[[SandboxPort], Coroutine[Any, Any, None]], stopped: bool
) -> None:
    """The one who waits is free at once, even where a program has stopped the process that does the work inside, and
    neither that process nor a descriptor stays."""
    sandbox = await sandbox_with_a_giant(runtime)
    before = pipes()
    under_way = asyncio.ensure_future(operation(sandbox))
    pid = await only_process(sandbox)
    if stopped:
        await sandbox.signal(pid, signal.SIGSTOP)
    under_way.cancel()
    await asyncio.wait([under_way], timeout=PATIENCE)
    assert under_way.cancelled()
    await ended(sandbox)
    assert pipes() == before


async def test_cancelled_listing(runtime: LinuxRuntime) -> None:
    """The same for an operation that only answers."""
    sandbox = await runtime.create(SandboxSpec())
    before = pipes()
    for turns in range(8):
        under_way = asyncio.ensure_future(sandbox.list_dir("/usr/bin"))
        for _ in range(turns):
            await asyncio.sleep(0)
        under_way.cancel()
        await asyncio.wait([under_way], timeout=PATIENCE)
        assert under_way.done()
    await ended(sandbox)
    assert pipes() == before


async def test_deadlines(runtime: LinuxRuntime) -> None:
    """A deadline holds, whenever it comes."""
    sandbox = await sandbox_with_a_giant(runtime)
    before = pipes()
    for milliseconds in range(20, 40):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(milliseconds / 1000):
                await read_to_the_end(sandbox)
    await ended(sandbox)
    assert pipes() == before


async def test_left_in_the_middle(runtime: LinuxRuntime) -> None:
    """A loop that is left by `break`, with nobody to close the stream: it ends when it is collected."""
    sandbox = await sandbox_with_a_giant(runtime)
    before = pipes()
    async for piece in sandbox.create_archive("/data/tree"):
        assert piece
        break
    await ended(sandbox)
    assert pipes() == before


async def test_a_file_that_becomes_shorter(runtime: LinuxRuntime) -> None:
    """An archive that cannot be completed ends with an error that names the file."""
    sandbox = await runtime.create(SandboxSpec())
    await sandbox.write_file("/data/tree/log", b"x" * 8 * MIB)
    stream = sandbox.create_archive("/data/tree")
    assert await anext(stream)
    await sandbox.write_file("/data/tree/log", b"")
    with pytest.raises(SandboxFileError, match="log became shorter while it was packed"):
        async for _ in stream:
            pass


async def test_a_path_that_is_too_long(runtime: LinuxRuntime) -> None:
    """What cannot be reached is not left out in silence."""
    sandbox = await runtime.create(SandboxSpec())
    program = """
import os
os.chdir("/data")
for _ in range(25):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
"""
    assert (await run_python(sandbox, program)).returncode == 0
    with pytest.raises(SandboxFileError, match="ddd: File name too long"):
        await archived(sandbox, "/data")


async def test_inside_the_image(runtime: LinuxRuntime) -> None:
    """A directory of the image is packed when it is asked for."""
    sandbox = await runtime.create(SandboxSpec())
    found = await run_python(sandbox, "import json, os; print(os.path.dirname(json.__file__))")
    members = await archived(sandbox, found.stdout.decode().strip())
    assert b"class JSONDecoder" in members["decoder.py"][1]


@pytest.mark.parametrize("path", ["/proc", "/proc/self", "/proc/1/net", "/proc/self/root", "/proc/self/cwd"])
async def test_the_kernels_files(runtime: LinuxRuntime, path: str) -> None:
    """Nothing of /proc is packed, and nothing through it."""
    sandbox = await runtime.create(SandboxSpec())
    with pytest.raises(SandboxFileError) as caught:
        await archived(sandbox, path)
    assert caught.value.reason == "PERMISSION_DENIED"


async def test_unreadable(runtime: LinuxRuntime) -> None:
    """What programs may not read is left out; a directory that they may not read is refused when it is asked for."""
    sandbox = await runtime.create(SandboxSpec())
    for name in ("a", "closed/b", "c"):
        await sandbox.write_file(f"/data/tree/{name}", b"x")
    program = "import os; os.chmod('/data/tree/closed', 0); os.chmod('/data/tree/c', 0)"
    assert (await run_python(sandbox, program)).returncode == 0
    assert sorted(await archived(sandbox, "/data/tree")) == ["a"]
    with pytest.raises(SandboxFileError) as caught:
        await archived(sandbox, "/data/tree/closed")
    assert caught.value.reason == "PERMISSION_DENIED"
