"""What comes into a sandbox from outside is the sandbox's memory: files, standard inputs, archives."""

from __future__ import annotations

import asyncio
import hashlib
import io
import itertools
import os
import tarfile
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import pytest_asyncio

from harena.core.errors import SandboxFileError, SandboxNotRunningError
from harena.core.models import MIB, ExecOutcome, ExecRequest, SandboxSpec
from harena.core.ports import SandboxPort
from harena.core.records.sandboxes import Limits
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.host.outside_bytes import MOST_AT_ONCE, MOST_OF_SANDBOX, SHARE_OF_LIMIT
from harena.testing.conformance_base import pieces, run, run_python

pytestmark = pytest.mark.asyncio(loop_scope="module")

MEMORY = 32 * MIB
BESIDE = min(MOST_OF_SANDBOX, MEMORY // SHARE_OF_LIMIT)
"""what the node may write itself"""


KEEPER = """
import os, socket
ours = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
ours.bind('/tmp/keeper')
print('up', flush=True)
kept = []
while True:
    kept += socket.recv_fds(ours, 10, 10)[1]
"""
SENDER = """
import os, socket
to = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
to.connect('/tmp/keeper')
socket.send_fds(to, [b'x'], [0])
"""


FORKS = """
import os, time
try:
    while os.fork():
        pass
except OSError:
    print('full', flush=True)
time.sleep(1000)
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def small_ones(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxRuntime]:
    """A runtime whose sandboxes have a memory limit of a cgroup's."""
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"))
    await runtime.start()
    sandbox = await runtime.create(SandboxSpec())
    how = sandbox.enforcement["memory_bytes"]
    await sandbox.destroy()
    if not how.startswith("cgroup"):
        await runtime.close()
        pytest.skip(f"capability:cgroups {how}")
    yield runtime
    await runtime.close()


async def made(runtime: LinuxRuntime, memory_bytes: int = MEMORY) -> SandboxPort:
    """A sandbox whose disk is much larger than its memory."""
    return await runtime.create(SandboxSpec(limits=Limits(memory_bytes=memory_bytes, disk_bytes=1024 * MIB)))


@pytest.mark.parametrize("size", [12 * MIB, MOST_AT_ONCE - 4096], ids=["large", "small"])
async def test_standard_inputs_that_a_program_keeps_are_its_own_memory(small_ones: LinuxRuntime, size: int) -> None:
    """It holds their descriptors when their commands have ended. Together they are no more than the memory limit: what
    goes beyond it ends a command, the program or the sandbox, as it does when a program takes too much."""
    sandbox = await made(small_ones)
    keeper = await sandbox.exec(ExecRequest(argv=("python3", "-c", KEEPER)))
    assert await keeper.stdout.next_chunk(0) == b"up\n"
    kept, has_all = 0, True
    with suppress(SandboxNotRunningError):
        while has_all and kept < 3 * MEMORY:
            result = await run_python(sandbox, SENDER, stdin=bytes(size))
            has_all = result.returncode == 0
            kept += has_all * size
    assert kept <= MEMORY + BESIDE
    await sandbox.destroy()


@pytest.mark.parametrize("append", [False, True])
async def test_writes_of_one_path_at_one_time_are_not_mixed(small_ones: LinuxRuntime, append: bool) -> None:
    """Each is whole, whichever comes last; what is appended stands one after the other."""
    sandbox = await made(small_ones, 256 * MIB)
    contents = [letter * (5 * MIB - 1000 * number) for number, letter in enumerate((b"a", b"b", b"c"))]
    await asyncio.gather(*(sandbox.write_file("/data/file", content, append=append) for content in contents))
    found = await sandbox.read_file("/data/file", max_bytes=256 * MIB)
    assert found in {b"".join(each) for each in itertools.permutations(contents)} if append else found in contents
    await sandbox.destroy()


async def test_a_file_for_which_no_process_is_left_says_what_to_do(small_ones: LinuxRuntime) -> None:
    """A large one is written by a process of the sandbox, whose programs may have started all that there may be."""
    sandbox = await small_ones.create(SandboxSpec(limits=Limits(memory_bytes=64 * MIB, pids=12)))
    filling = await sandbox.exec(ExecRequest(argv=("python3", "-c", FORKS)))
    assert await filling.stdout.next_chunk(0) == b"full\n"
    await sandbox.write_file("/tmp/small", b"x")
    with pytest.raises(SandboxFileError, match="raise pids") as caught:
        await sandbox.write_file("/tmp/large", bytes(MOST_AT_ONCE + 1))
    assert caught.value.reason == "NO_MEMORY"
    await sandbox.destroy()


async def test_a_standard_input_that_finds_no_memory_says_what_to_do(small_ones: LinuxRuntime) -> None:
    """Larger than the limit, or than what is left of it; a command with a smaller one runs."""
    sandbox = await made(small_ones)
    for left, size in ((0, MEMORY + 1), (20 * MIB, 20 * MIB)):
        await sandbox.write_file("/data/beside", bytes(left))
        result = await run(sandbox, "wc", "-c", stdin=bytes(size))
        assert (result.outcome, result.returncode) == (ExecOutcome.MEMORY, -9)
        assert b"raise memory_bytes" in result.stderr
    assert (await run(sandbox, "wc", "-c", stdin=bytes(MIB))).stdout == b"%d\n" % MIB
    await sandbox.destroy()


@pytest.mark.parametrize("way", ["at once", "pieces", "append", "small files", "archive"])
async def test_files_from_outside_are_the_sandboxs_memory(small_ones: LinuxRuntime, way: str) -> None:
    """However they are written, all of them are no more than the memory limit. The error says what to do, or the
    sandbox has ended, out of memory."""
    sandbox, written = await made(small_ones), 0

    async def write(number: int) -> int:
        if way == "archive":
            await sandbox.extract_archive(f"/data/{number}", pieces(_packed(8 * MIB)))
            return 8 * MIB
        if way == "pieces":
            await sandbox.write_file(f"/data/{number}", pieces(*[bytes(100_000)] * 100))
            return 10_000_000
        size = 12 * MIB if way == "at once" else 200_000
        await sandbox.write_file("/data/file" if way == "append" else f"/data/{number}", bytes(size), append=True)
        return size

    with pytest.raises((SandboxFileError, SandboxNotRunningError)) as caught:  # noqa: PT012 (of many the last fails)
        for number in range(1000):
            written += await write(number)
    assert written <= MEMORY + BESIDE
    told = str(caught.value)
    assert "out of memory" in told or (caught.value.reason == "NO_MEMORY" and "raise memory_bytes" in told)
    await sandbox.destroy()


async def test_what_finds_no_memory_leaves_none_of_it(small_ones: LinuxRuntime) -> None:
    """A file that is larger than the limit is refused before the old one is emptied; one that turns out to be is left
    empty, as it would be in everybody's way."""
    sandbox = await made(small_ones)
    await sandbox.write_file("/data/file", b"before")
    with pytest.raises(SandboxFileError):
        await sandbox.write_file("/data/file", bytes(MEMORY + 1))
    assert await sandbox.read_file("/data/file", max_bytes=MIB) == b"before"
    with pytest.raises(SandboxFileError):
        await sandbox.write_file("/data/file", pieces(*[bytes(MIB)] * 100))
    assert await sandbox.read_file("/data/file", max_bytes=MIB) == b""
    await sandbox.destroy()


async def test_large_content_for_which_there_is_room_arrives_whole(small_ones: LinuxRuntime) -> None:
    """As a file that has the mode that was asked for, appended to it, and as standard input."""
    sandbox = await made(small_ones, 256 * MIB)
    content = os.urandom(MIB) * 20
    await sandbox.write_file("/data/file", content, mode=0o640)
    await sandbox.write_file("/data/file", pieces(content[:MIB], content[MIB:]), append=True, mode=0o600)
    about = await sandbox.stat("/data/file")
    assert (about.size_bytes, about.mode) == (2 * len(content), 0o600)
    told = await run(sandbox, "sha256sum", "/data/file")
    assert told.stdout.split()[0].decode() == hashlib.sha256(content * 2).hexdigest()
    told = await run(sandbox, "sha256sum", stdin=content)
    assert told.stdout.split()[0].decode() == hashlib.sha256(content).hexdigest()
    await sandbox.destroy()


async def test_a_write_that_was_given_up_writes_nothing_later(small_ones: LinuxRuntime) -> None:
    """What writes in there has ended when the failure is told: it cannot spoil the next content."""
    sandbox = await made(small_ones, 256 * MIB)

    async def broken() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield bytes(MIB)
        raise ConnectionResetError

    for number in range(10):
        with pytest.raises(ConnectionResetError):
            await sandbox.write_file("/data/file", broken())
        await sandbox.write_file("/data/file", b"whole %d" % number)
        assert await sandbox.read_file("/data/file", max_bytes=MIB) == b"whole %d" % number
    assert await sandbox.processes() == []
    await sandbox.destroy()


def _packed(size: int) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        member = tarfile.TarInfo("file")
        member.size = size
        archive.addfile(member, io.BytesIO(bytes(size)))
    return made.getvalue()
