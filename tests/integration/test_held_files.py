"""Files of a sandbox are held in memory, and others begin with them, whatever goes on in it meanwhile."""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from harena.core.clock import SystemClock
from harena.core.errors import NotFoundError, SandboxTerminatedError, SandboxValidationError
from harena.core.images import ImageChanges
from harena.core.models import ExecOutcome, ExecRequest, SandboxSpec
from harena.node.images import NodeImages
from harena.runtime.host import held_layers
from harena.runtime.host.box import LinuxSandbox
from harena.runtime.host.linux import LinuxRuntime
from image_trees import put_programs, put_python

pytestmark = pytest.mark.asyncio(loop_scope="module")
BASE = "localhost/base:1"
SEEN = """
import os
for above, folders, files in os.walk("/", topdown=True):
    folders[:] = sorted(one for one in folders if above != "/" or one in ("data", "etc", "opt", "x"))
    for name in ["."] + sorted(folders + files):
        path = os.path.join(above, name)
        if path in ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf"): continue
        about = os.lstat(path)
        what = [oct(about.st_mode), about.st_uid]
        if above != "/" and (above, name) != ("/etc", ".") and name != "etc": what.append(about.st_mtime_ns)
        if os.path.islink(path): what.append(os.readlink(path))
        elif os.path.isfile(path): what += [about.st_nlink, open(path, "rb").read()[:50], os.listxattr(path)]
        print(path.encode(errors="surrogateescape"), *what)
"""
WRITES = (
    "echo mine > /etc/motd; rm -r /opt/gone /opt/anew; mkdir /opt/anew; echo new > /opt/anew/other; chmod 751 /;"
    " echo a > /data/a; ln /data/a /data/b; ln -s ../etc/passwd /data/link; chmod 4751 /data/a; mkdir -p /x/y/z;"
    " chmod 700 /opt/kept; mkdir /data/d; echo x > /data/d/x"
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    root = tmp_path_factory.mktemp("tree")
    put_programs(root)
    put_python(root)
    for name in ("opt/kept", "opt/gone", "opt/anew"):
        (root / name).mkdir(parents=True)
        (root / name / "file").write_text("base\n")
    (root / "etc/motd").write_text("base\n")
    return subprocess.run(["tar", "-C", root, "-cf", "-", "."], check=True, capture_output=True).stdout


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def images(archive: bytes, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[NodeImages]:
    images = NodeImages(tmp_path_factory.mktemp("images"), SystemClock(), for_server=False)

    async def pieces() -> AsyncIterator[bytes]:
        yield archive

    await images.store("default").import_("default", BASE, pieces())
    yield images
    await images.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime(images: NodeImages, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxRuntime]:
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"), images=images)
    await runtime.start()
    yield runtime
    await runtime.close()


async def made(runtime: LinuxRuntime, image: str = BASE, **more: object) -> LinuxSandbox:
    sandbox = await runtime.create(SandboxSpec(image=image, **more))  # type: ignore[arg-type]
    assert isinstance(sandbox, LinuxSandbox)
    return sandbox


async def says(sandbox: LinuxSandbox, *words: str) -> str:
    argv = words if len(words) > 1 else ("sh", "-c", *words)
    result = await (await sandbox.exec(ExecRequest(argv=argv, timeout_seconds=60))).wait()
    assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 0), result.stderr.decode()
    return result.stdout.decode(errors="surrogateescape")


async def all_let_go(runtime: LinuxRuntime) -> None:
    """No layer is held any more: each goes when the last sandbox above it is known to have ended."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(30):
        while runtime._held._held:
            turn = loop.create_future()
            loop.call_soon(turn.set_result, None)
            await turn


async def seen(sandbox: LinuxSandbox) -> str:
    return await says(sandbox, "python3", "-c", SEEN)


def templates_hold(runtime: LinuxRuntime) -> bool:
    """Whether a template has a layer of a sandbox among its mounts."""
    link = runtime._link
    assert link is not None
    assert link._process is not None
    pid = link._process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return any(" /held/" in Path(f"/proc/{child}/mountinfo").read_text() for child in children)


async def test_others_begin_with_what_is_held(runtime: LinuxRuntime, images: NodeImages) -> None:
    """The sandbox itself, forks, forks of forks and an image that is made of it have the same files, and each writes
    for itself. When the last has gone, nobody holds anything."""
    first = await made(runtime, env={"WORD": "x"})
    await says(first, WRITES)
    await says(
        first, "python3", "-c", "import os; os.setxattr('/data/a', 'user.note', b'n'); open(b'/data/\\xff', 'w')"
    )
    before, used = await seen(first), (await first.processor_time()).used_seconds
    assert (await first.hold_files("snap_one", 600)) is not None
    assert templates_hold(runtime)
    assert await seen(first) == before
    assert (await first.processor_time()).used_seconds >= used
    assert await says(first, "echo $WORD") == "x\n"
    fork = await made(runtime, "snapshot://snap_one")
    assert await seen(fork) == before
    assert (
        await says(fork, "cat /etc/hostname; echo mine > /data/a; rm -r /data/d; echo fork > /data/fork") == "sandbox\n"
    )
    assert await seen(first) == before
    await says(first, "rm /data/link; echo first > /data/first; mkdir /opt/gone")
    changed = await seen(first)
    assert await first.hold_files("snap_two", 600)
    assert await fork.hold_files("snap_three", 600)
    later, of_fork = await made(runtime, "snapshot://snap_two"), await made(runtime, "snapshot://snap_three")
    assert await seen(later) == changed
    assert await says(of_fork, "cat /data/a; ls /data") == "mine\na\nb\nfork\nlink\n\udcff\n"
    store = images.store("default")
    layer = await later.upper_layer()
    await store.commit("default", layer.image, layer, "localhost/made:1", ImageChanges())
    await layer.close()
    image = await made(runtime, "localhost/made:1")
    lines, expected = (await seen(image)).splitlines()[1:], changed.splitlines()[1:]  # a layer has no mode of the root
    assert [*map(mode_and_name, lines)] == [*map(mode_and_name, expected)]
    await first.destroy()
    again = await made(runtime, "snapshot://snap_one")
    assert await seen(again) == before
    for identity in ("snap_one", "snap_two", "snap_three"):
        assert runtime.forget_held(identity)
    assert not runtime.forget_held("snap_one")
    with pytest.raises(NotFoundError):
        await made(runtime, "snapshot://snap_one")
    assert await says(of_fork, "cat /data/a") == "mine\n"
    for sandbox in (fork, later, of_fork, image, again):
        await sandbox.destroy()
    await all_let_go(runtime)
    await let_go(runtime)


async def let_go(runtime: LinuxRuntime) -> None:
    """Returns when no template has a layer of a sandbox among its mounts."""
    assert runtime._link is not None
    async with asyncio.timeout(60):
        while templates_hold(runtime):
            await runtime._link.ask("oom", 0)  # the spawner has read what was said before


def mode_and_name(line: str) -> str:
    """A line without a time."""
    return re.sub(r" \d{19}\b", "", line)


BUSY = {
    "a program runs": "sleep 100 > /dev/null 2>&1 &",
    "a program is stopped": "sleep 100 > /dev/null 2>&1 & kill -STOP $!",
    "memory that no process has": "python3 -c 'import ctypes; assert ctypes.CDLL(None).shmget(77, 4096, 0o1600) >= 0'",
    "files in no layer": "echo x > /dev/shm/x",
}


@pytest.mark.parametrize("script", BUSY.values(), ids=BUSY.keys())
async def test_what_would_be_lost_stays(runtime: LinuxRuntime, script: str) -> None:
    """Where the sandbox could not go on as it is, it goes on, and is told so: nothing is held."""
    sandbox = await made(runtime)
    await says(sandbox, script)
    number = sandbox.number
    assert await sandbox.hold_files("snap_busy", 600) is None
    assert sandbox.number == number
    assert not runtime.forget_held("snap_busy")
    assert await says(sandbox, "echo on") == "on\n"
    await sandbox.destroy()
    await let_go(runtime)


async def test_a_file_that_is_open_or_watched_from_outside(runtime: LinuxRuntime) -> None:
    sandbox = await made(runtime)
    await says(sandbox, "dd if=/dev/zero of=/data/large bs=1M count=4 2> /dev/null || python3 -c "
                        "'open(\"/data/large\", \"wb\").write(bytes(4 << 20))'")  # fmt: skip
    stream = sandbox.read_stream("/data/large", chunk_bytes=1000)
    await anext(stream)
    assert await sandbox.hold_files("snap_open", 600) is None
    await stream.aclose()  # type: ignore[attr-defined]
    assert await sandbox.hold_files("snap_open", 600)
    running = await sandbox.exec(ExecRequest(argv=("cat",), stdin_stream=True))
    assert await sandbox.hold_files("snap_run", 600) is None
    running.kill()
    await running.wait()
    watch = await sandbox.watch_files(["/data/large"])
    assert await sandbox.hold_files("snap_watched", 600) is None
    watch.close()
    await sandbox.destroy()
    assert runtime.forget_held("snap_open")


async def test_a_layer_that_is_read_later_stays_the_sandboxs(runtime: LinuxRuntime, images: NodeImages) -> None:
    """A snapshot that waits for its turn has what was written until then: its sandbox may end with it."""
    sandbox = await made(runtime)
    layer = await sandbox.upper_layer()
    assert await sandbox.hold_files("snap_beside", 600) is None
    await says(sandbox, "echo late > /data/late")
    async with sandbox.paused():
        await images.store("default").commit("default", layer.image, layer, "localhost/late:1", ImageChanges())
    await layer.close()
    assert await sandbox.hold_files("snap_beside", 600)
    await sandbox.destroy()
    assert runtime.forget_held("snap_beside")
    image = await made(runtime, "localhost/late:1")
    assert await says(image, "cat /data/late") == "late\n"
    await image.destroy()


async def test_who_asks_and_goes_leaves_nothing(runtime: LinuxRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sandbox that was to take the place ends where nobody waits for that any more."""
    sandbox = await made(runtime)
    link = runtime._link
    assert link is not None
    asked = asyncio.Event()
    ask = link.ask

    async def told(what: str, number: int) -> object:
        asked.set()
        return await ask(what, number)

    monkeypatch.setattr(link, "ask", told)
    holding = asyncio.ensure_future(sandbox.hold_files("snap_gone", 600))
    await asked.wait()
    (other,) = (one for one in runtime._sandboxes.values() if one.chain)
    holding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holding
    async with asyncio.timeout(60):
        await other.wait_dead()
    assert other.number not in runtime._sandboxes
    await all_let_go(runtime)
    assert await says(sandbox, "echo on") == "on\n"
    await sandbox.destroy()


async def test_nothing_that_is_written_meanwhile_is_lost_or_slips_in(runtime: LinuxRuntime) -> None:
    """Commands and files come while it is held: each is in the sandbox afterwards. A fork has what was there before,
    and of what came meanwhile all or nothing; what came afterwards it lacks."""
    sandbox = await made(runtime)
    held = 0
    for turn in range(12):

        async def late(turn: int = turn) -> None:
            for _ in range(turn % 6):
                await asyncio.sleep(0)
            await asyncio.gather(
                sandbox.write_file(f"/data/file{turn}", b"whole" * 2000),
                says(sandbox, f"echo whole > /data/said{turn}"),
            )

        size, _ = await asyncio.gather(sandbox.hold_files(f"snap_{turn}", 600), late())
        names = await says(sandbox, "ls /data")
        assert {f"{kind}{one}" for kind in ("file", "said") for one in range(turn + 1)} == set(names.split())
        assert await says(sandbox, f"cat /data/file{turn} /data/said{turn}") == "whole" * 2000 + "whole\n"
        await says(sandbox, "rm -f /data/after; echo after > /data/after; rm /data/after; true")
        if size is not None:
            held += 1
            fork = await made(runtime, f"snapshot://snap_{turn}")
            there = (await says(fork, "ls /data")).split()
            assert "after" not in there
            assert {f"file{one}" for one in range(turn)} <= set(there)
            for name in there:
                text = await says(fork, f"cat /data/{name}")
                assert text in ("whole" * 2000, "whole\n")
            await fork.destroy()
            assert runtime.forget_held(f"snap_{turn}")
    await sandbox.destroy()
    assert await made_and_held(runtime)


async def made_and_held(runtime: LinuxRuntime) -> bool:
    """Whether files of a sandbox in which nothing goes on can be held."""
    sandbox = await made(runtime)
    size = await sandbox.hold_files("snap_quiet", 600)
    runtime.forget_held("snap_quiet")
    await sandbox.destroy()
    return size is not None


async def test_no_more_is_held_than_may_be(runtime: LinuxRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = await made(runtime)
    monkeypatch.setenv("HARENA_FORK_BYTES", str(1 << 20))
    await says(sandbox, "python3", "-c", "open('/data/much', 'wb').write(bytes(2 << 20))")
    assert await sandbox.hold_files("snap_much", 600) is None
    await says(sandbox, "rm /data/much")
    await says(sandbox, "python3", "-c", "import os\nfor one in range(600): os.mknod(f'/data/{one}')")
    assert await sandbox.hold_files("snap_many", 600) is None  # an empty file takes memory, too
    await says(sandbox, "rm -r /data; mkdir /data")
    monkeypatch.setattr(held_layers, "MOST_BELOW", 3)
    monkeypatch.setattr("harena.runtime.host.linux.MOST_BELOW", 3)
    sizes = [await sandbox.hold_files(f"snap_{number}", 600) for number in range(4)]
    assert [size is None for size in sizes] == [False, False, False, True]
    for number in range(3):
        assert runtime.forget_held(f"snap_{number}")
    await sandbox.destroy()
    await all_let_go(runtime)


async def test_what_a_fork_cannot_be_is_told(runtime: LinuxRuntime) -> None:
    sandbox = await made(runtime)
    await sandbox.hold_files("snap_told", 600)
    with pytest.raises(SandboxValidationError, match="a fork has the profile of its sandbox"):
        await runtime.create(SandboxSpec(image="snapshot://snap_told", profile="machine"))
    with pytest.raises(NotFoundError):
        await runtime.create(SandboxSpec(image="snapshot://snap_told"), workspace="other")
    assert runtime.forget_held("snap_told")
    plain = await runtime.create(SandboxSpec())
    assert isinstance(plain, LinuxSandbox)
    assert await plain.hold_files("snap_plain", 600) is None
    await plain.destroy()
    await sandbox.destroy()
    with pytest.raises(SandboxTerminatedError):
        await sandbox.hold_files("snap_dead", 600)
