"""The border, files: no path, link, pipe, lease or race makes a file operation reach outside, hang, or eat the host."""

from __future__ import annotations

import asyncio
import io
import os
import platform
import tarfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from escape_world import World, answered
from programs_files import ACTS, FLIP, HUNT, PATHS, PREPARE, TAKE_OVER

from harena.core.errors import SandboxFileError
from harena.core.models import MIB, ExecRequest
from harena.core.ports import SandboxPort
from harena.runtime.host import box_files
from harena.sdk import archive

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECONDS = 15.0
"""an operation that takes longer hangs"""


async def pack(sandbox: SandboxPort, path: str) -> bytes:
    return b"".join([piece async for piece in sandbox.create_archive(path)])


async def stream(sandbox: SandboxPort, path: str) -> bytes:
    return b"".join([piece async for piece in sandbox.read_stream(path)])


async def pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content


def tar_of(*members: tuple[str, bytes, str, bytes]) -> bytes:
    """(name, type, link target, content) each."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, kind, target, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size, member.mode = kind, target, len(content), 0o644
            tar.addfile(member, io.BytesIO(content))
    return made.getvalue()


OPERATIONS: dict[str, Callable[[SandboxPort, str], Awaitable[Any]]] = {
    "read": lambda sandbox, path: sandbox.read_file(path, max_bytes=1 << 20),
    "stream": stream,
    "write": lambda sandbox, path: sandbox.write_file(path, b"written"),
    "append": lambda sandbox, path: sandbox.write_file(path, b"written", append=True),
    "mode": lambda sandbox, path: sandbox.write_file(path, b"written", mode=0o4777),
    "stat": lambda sandbox, path: sandbox.stat(path),
    "list": lambda sandbox, path: sandbox.list_dir(path),
    "make": lambda sandbox, path: sandbox.make_dir(path),
    "remove": lambda sandbox, path: sandbox.remove(path, recursive=True),
    "unpack": lambda sandbox, path: sandbox.extract_archive(path, pieces(tar_of(("a/b", b"0", "", b"x")))),
    "pack": pack,
}


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_paths(world: World, operation: str) -> None:
    """Each operation on each path that points somewhere else ends soon, inside, and harms nothing."""
    sandbox = await world.sandbox()
    running = await world.start(sandbox, PREPARE, str(world.canary_file), timeout_seconds=200.0)
    assert await running.stdout.next_chunk(0) == b"ready\n"
    for path in PATHS:
        content: Any = b""
        async with answered():
            content = await OPERATIONS[operation](sandbox, path.replace("HOST", str(world.canary_file)))
        assert world.host["secret"] not in str(content)
    if world.kind in ("image", "machine"):  # its programs may be removed as any other file
        sandbox = await world.sandbox()
    assert (await world.attack(sandbox, "done()")).stdout == b"done\n"
    running.kill()
    await running.wait()
    await world.unharmed()


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_races(world: World, operation: str) -> None:
    """While a program flips a path between a directory, a link to the host's files and a pipe."""
    sandbox = await world.sandbox()
    running = await world.start(sandbox, FLIP, str(world.canary_file), timeout_seconds=200.0)
    assert await running.stdout.next_chunk(0) == b"ready\n"
    for turn in range(40):
        path = ("/workspace/target", "/workspace/target/b/file", "/workspace/target/secret", "/workspace")[turn % 4]
        if operation == "remove" and path == "/workspace":
            continue
        content: Any = b""
        async with answered():
            content = await OPERATIONS[operation](sandbox, path)
        assert world.host["secret"] not in str(content)
    running.kill()
    await running.wait()
    await world.unharmed()


UNPACK = {
    "absolute": (("/etc/harena-escape", b"0", "", b"x"),),
    "above": (("../../../../tmp/../../harena-escape", b"0", "", b"x"),),
    "a link and what goes through it": (("l", b"2", "/usr", b""), ("l/harena-escape", b"0", "", b"x")),
    "a hard link": (("h", b"1", "/etc/passwd", b""),),
    "a device": (("d", b"3", "", b""), ("b", b"4", "", b""), ("f", b"6", "", b"")),
}


@pytest.mark.parametrize("name", UNPACK)
async def test_archive_going_in(world: World, name: str) -> None:
    """An archive with hostile names stays in the sandbox, and makes no link and no device there."""
    sandbox = await world.sandbox()
    async with answered():
        await sandbox.extract_archive("/data/in", pieces(tar_of(*UNPACK[name])))
    for folder in ("/", "/usr", "/etc"):
        assert "harena-escape" not in [entry.name for entry in await sandbox.list_dir(folder)]
    assert all(entry.kind in ("file", "directory") for entry in await sandbox.list_dir("/data/in"))
    assert not any(Path(place, "harena-escape").exists() for place in ("/", "/usr", "/etc", "/tmp"))
    await world.unharmed()


async def test_endless_archive_going_in(world: World) -> None:
    """An archive larger than the sandbox's disk fails there, and does not hang."""

    async def endless() -> AsyncIterator[bytes]:
        for number in range(64):
            yield tar_of((f"f{number}", b"0", "", b"x" * MIB))[: MIB + 512]

    sandbox = await world.sandbox(disk_bytes=8 * MIB)
    with pytest.raises(SandboxFileError):
        async with asyncio.timeout(SECONDS):
            await sandbox.extract_archive("/data/in", endless())
    assert (await world.attack(sandbox, "done()")).stdout == b"done\n"


async def test_archive_coming_out(world: World, tmp_path: Path) -> None:
    """Links, pipes, sockets and devices are left out, and what is unpacked on the host stays where it shall be."""
    sandbox = await world.sandbox()
    program = r"""
os.makedirs("/data/out/deep")
open("/data/out/file", "w").write("x")
os.symlink(sys.argv[1], "/data/out/link")
os.symlink("/", "/data/out/deep/root")
os.mkfifo("/data/out/pipe")
open("/data/out/deep/\n\x1b[31m..name", "w").close()
open(b"/data/out/\xff\xfe", "w").close()
done()
"""
    assert (await world.attack(sandbox, program, str(world.canary_file))).stdout == b"done\n"
    content = await asyncio.wait_for(pack(sandbox, "/data/out"), SECONDS)
    target = tmp_path / "target"
    archive.unpack(io.BytesIO(content), target)
    assert not any(path.is_symlink() or path.is_fifo() for path in target.rglob("*"))
    assert (target / "file").read_text() == "x"
    await world.unharmed()


@pytest.mark.parametrize(
    "members",
    [
        (("/harena-escape", b"0", "", b"x"),),
        (("../harena-escape", b"0", "", b"x"),),
        (("a/../../harena-escape", b"0", "", b"x"),),
        (("l", b"2", "..", b""), ("l/harena-escape", b"0", "", b"x")),
        (("h", b"1", "/etc/passwd", b""),),
        (("p", b"6", "", b""),),
        (("d", b"3", "", b""),),
        (("a", b"0", "", b"x"), ("a/harena-escape", b"0", "", b"x")),
    ],
)
async def test_forged_archive_on_the_host(tmp_path: Path, members: tuple[Any, ...]) -> None:
    """An archive made by a sandbox that lies is refused on the host, and nothing is written outside."""
    target = tmp_path / "in" / "target"
    with pytest.raises(SandboxFileError):
        archive.unpack(io.BytesIO(tar_of(*members)), target)
    assert {path.name for path in tmp_path.rglob("*")} <= {"in", "target", "a"}


async def test_sparse_giant(world: World) -> None:
    """A file that claims to be larger than anything is refused, before memory of the host is taken for it."""
    sandbox = await world.sandbox()
    program = """
for power in (40, 50, 60):
    os.truncate(os.open(f"/tmp/{power}", os.O_CREAT | os.O_RDWR), 1 << power)
done()
"""
    assert (await world.attack(sandbox, program)).stdout == b"done\n"
    for power in (40, 50, 60):
        try:
            with pytest.raises(SandboxFileError) as caught:
                await sandbox.read_file(f"/tmp/{power}", max_bytes=1 << 20)
        except (MemoryError, OverflowError) as error:
            pytest.fail(f"the host tried to have 2**{power} bytes of memory: {type(error).__name__}", pytrace=False)
        assert caught.value.reason == "TOO_LARGE"
    await world.unharmed()


PLANTED = "import os\nopen('/tmp/planted', 'a').write(__name__)\n"


@pytest.mark.parametrize("place", ["/workspace", "/tmp", "/root/.local/lib/python3.11/site-packages"])
async def test_planted_modules(world: World, place: str) -> None:
    """A module in the working directory is not what file operations import."""
    sandbox = await world.sandbox()
    names = ("tarfile", "shutil", "bz2", "lzma", "zlib", "gzip", "copy", "pwd", "grp", "stat", "fnmatch", "struct")
    for name in names:
        await sandbox.write_file(f"{place}/{name}.py", PLANTED.encode())
    cwd = "/" if "site-packages" in place else place
    assert (await (await sandbox.exec(request("true", cwd=cwd))).wait()).returncode == 0
    await sandbox.make_dir("/data/x/y")
    for operation in ("pack", "unpack", "list", "remove"):
        async with answered():
            await OPERATIONS[operation](sandbox, "/data/x")
    assert "planted" not in [entry.name for entry in await sandbox.list_dir("/tmp")], "a planted module was run"


def request(*argv: str, **more: Any) -> ExecRequest:
    """A command, as it is."""
    return ExecRequest(argv=argv, **more)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code of x86-64")
async def test_flooded_answer(world: World) -> None:
    """A program rewrites the memory of the process that does the file operation (it is its own user's), and has it give
    an endless answer: that does not fill the host's memory."""
    sandbox = await world.sandbox()
    running = await world.start(sandbox, TAKE_OVER, timeout_seconds=200.0)
    assert await running.stdout.next_chunk(0) == b"ready\n"
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts here
    before = _peak_bytes()
    for _ in range(8):
        async with answered():
            await sandbox.list_dir("/usr/lib/x86_64-linux-gnu")
    assert _peak_bytes() - before < 200 * MIB
    running.kill()
    await running.wait()
    await world.unharmed()


@pytest.mark.parametrize("act", ACTS)
async def test_hunted_file_operations(world: World, act: str) -> None:
    """A program that stops, kills or rewrites every process it sees cannot make a file operation hang."""
    sandbox = await world.sandbox()
    running = await world.start(sandbox, HUNT.replace("ACT", ACTS[act]), timeout_seconds=200.0)
    assert await running.stdout.next_chunk(0) == b"ready\n"
    for turn in range(4):
        operation = ("list", "stat", "pack", "unpack")[turn % 4]
        async with answered():
            await OPERATIONS[operation](sandbox, "/usr/lib" if turn % 4 < 2 else "/data")
    running.kill()
    await running.wait()
    await world.unharmed()


def _peak_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) * 1024


async def test_files_of_the_host_by_descriptor(world: World) -> None:
    """Whatever file a sandbox hands out was its own."""
    sandbox = await world.sandbox()
    for path in ("/proc/version", "/proc/self/status", "/proc/sys/kernel/hostname", "/proc/mounts"):
        with pytest.raises(SandboxFileError):
            await sandbox.read_file(path, max_bytes=1 << 20)
        with pytest.raises(SandboxFileError):
            await sandbox.write_file(path, b"x")
    assert os.uname().nodename == world.host["name"]


@pytest.mark.parametrize("what", ["files", "processes"])
async def test_a_long_list_is_read_beside_the_loop(world: World, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """A program decides how long it is; the loop serves everybody meanwhile. A short one takes less than a thread."""
    sandbox = await world.sandbox(inodes=20_000, pids=300, memory_bytes=1024 * MIB)
    parse = "parse_entries" if what == "files" else "parse_processes"
    original, threads = getattr(box_files, parse), list[bool]()

    def parsed(fields: list[str]) -> Any:
        threads.append(threading.current_thread() is threading.main_thread())
        return original(fields)

    async def listed() -> int:
        return len(await (sandbox.list_dir("/workspace") if what == "files" else sandbox.processes()))

    monkeypatch.setattr(box_files, parse, parsed)
    await listed()
    fill = {
        "files": "for number in range(4000):\n    open(f'/workspace/{number:0200}', 'w').close()\n",
        "processes": "import signal\nfor number in range(150):\n    if os.fork() == 0:\n        break\n"
        "rest = 'print(0, flush=True); import signal; signal.pause()'\n"
        "os.execv(sys.executable, [sys.executable, '-c', rest, 'x' * 4000])\n",
    }[what]
    running = await world.start(sandbox, fill + "done()\n", stdin_stream=True)
    if what == "files":
        await running.wait()
    while await listed() < {"files": 4000, "processes": 150}[what]:
        continue
    assert threads[0]
    assert not threads[-1], "it was parsed in the event loop"
    running.kill()
    await running.wait()
