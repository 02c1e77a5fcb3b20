"""What a sandbox of an image has written becomes a layer of an image, whatever its programs do meanwhile."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from harena.core.clock import SystemClock
from harena.core.errors import ImagePullError, PlatformError, SandboxValidationError
from harena.core.images import ImageChanges
from harena.core.models import ExecOutcome, ExecRequest, SandboxSpec
from harena.core.ports import SandboxPort
from harena.core.records.sandboxes import Limits
from harena.image_store import sealing
from harena.node.images import NodeImages
from harena.runtime.host.linux import LinuxRuntime
from image_trees import archive_of, put_programs, put_python

pytestmark = pytest.mark.asyncio(loop_scope="module")
BASE, CHANGED = "localhost/base:1", "localhost/changed:1"
NOTHING = ImageChanges()


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tree")
    root = place / "root"
    put_programs(root)
    put_python(root)
    for name in ("opt/kept", "opt/gone", "opt/anew"):
        (root / name).mkdir(parents=True)
        (root / name / "file").write_text("base\n")
    (root / "etc/motd").write_text("base\n")
    archive_of(root, place / "root.tar")
    return place / "root.tar"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def images(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[NodeImages]:
    images = NodeImages(tmp_path_factory.mktemp("images"), SystemClock(), for_server=False)

    async def pieces() -> AsyncIterator[bytes]:
        with archive.open("rb") as file:
            while piece := file.read(1 << 20):
                yield piece

    await images.store("default").import_("default", BASE, pieces())
    yield images
    await images.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime(images: NodeImages, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxRuntime]:
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"), images=images)
    await runtime.start()
    yield runtime
    await runtime.close()


async def says(sandbox: SandboxPort, script: str) -> str:
    result = await (await sandbox.exec(ExecRequest(argv=("sh", "-c", script), timeout_seconds=60))).wait()
    assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 0), result.stderr.decode()
    return result.stdout.decode()


async def python(sandbox: SandboxPort, program: str) -> str:
    result = await (await sandbox.exec(ExecRequest(argv=("python3", "-c", program), timeout_seconds=60))).wait()
    assert (result.outcome, result.returncode) == (ExecOutcome.EXITED, 0), result.stderr.decode()
    return result.stdout.decode()


async def committed(images: NodeImages, sandbox: SandboxPort, name: str, base: str = BASE) -> str:
    """Make an image of a sandbox of another one; gives its digest."""
    store = images.store("default")
    layer = await sandbox.upper_layer()  # type: ignore[attr-defined]
    try:
        digest = (await store.get("default", base)).digest
        return (await store.commit("default", digest, layer, name, NOTHING)).digest
    finally:
        await layer.close()


async def layer_of(images: NodeImages, digest: str) -> list[tarfile.TarInfo]:
    """Entries of the uppermost layer of an image, as another reader sees them once it was exported."""
    blobs = images._place / "default/blobs/sha256"
    manifest = json.loads((blobs / digest.removeprefix("sha256:")).read_bytes())
    blob = manifest["layers"][-1]["digest"].removeprefix("sha256:")
    assert not (blobs / blob).exists()
    async for _ in images.store("default").export("default", digest, "oci"):
        pass
    assert hashlib.sha256((blobs / blob).read_bytes()).hexdigest() == blob
    with tarfile.open(blobs / blob, encoding="utf-8", errors="surrogateescape") as found:
        return found.getmembers()


async def test_what_was_written_is_there_again(runtime: LinuxRuntime, images: NodeImages) -> None:
    sandbox = await runtime.create(SandboxSpec(image=BASE))
    await says(
        sandbox,
        "echo mine > /etc/motd; rm -r /opt/gone; rm -r /opt/anew; mkdir /opt/anew; echo new > /opt/anew/other;"
        " echo a > /data/a; ln /data/a /data/b; ln -s ../etc/passwd /data/link; chmod 4751 /data/a; mkdir -p /x/y/z;"
        " rm /bin/chsh || true",
    )
    await python(
        sandbox,
        "import os; os.mkfifo('/data/fifo', 0o640); os.utime('/data/a', ns=(1, 1234567891011121314));"
        " os.makedirs('/data/' + 'long/' * 40); os.setxattr('/data/a', 'user.note', b'\\0\\xff');"
        " open(b'/data/\\xff\\xfe', 'w').write('odd'); open('/data/ü', 'w').close();"
        " os.utime('/x', ns=(-5, -1500000000))",
    )
    digest = await committed(images, sandbox, CHANGED)
    await sandbox.destroy()
    again = await runtime.create(SandboxSpec(image=CHANGED))
    assert await says(again, "cat /etc/motd /opt/anew/* /data/b; ls /opt; ls /opt/anew") == (
        "mine\nnew\na\nanew\nkept\nother\n"
    )
    assert await says(again, "stat -c '%a %h %Y %u:%g' /data/a; [ /data/a -ef /data/b ]; echo $?") == (
        "4751 2 1234567891 0:0\n0\n"
    )
    seen = await python(
        again,
        "import os; a = os.stat('/data/a'); print(a.st_mtime_ns, os.getxattr('/data/a', 'user.note'),"
        " open(b'/data/\\xff\\xfe').read(), os.path.exists('/data/ü'), oct(os.lstat('/data/fifo').st_mode),"
        " os.readlink('/data/link'), os.path.isdir('/data/' + 'long/' * 40), os.stat('/x').st_mtime_ns)",
    )
    assert seen == "1234567891011121314 b'\\x00\\xff' odd True 0o10640 ../etc/passwd True -1500000000\n"
    names = [member.name for member in await layer_of(images, digest)]
    assert {"opt/.wh.gone", "opt/anew/.wh..wh..opq", "data/b", "usr/bin/.wh.chsh"} <= set(names)
    assert not {"etc/hosts", "etc/hostname", "etc/resolv.conf"} & set(names)
    untouched = await runtime.create(SandboxSpec(image=BASE))
    assert await says(untouched, "cat /etc/motd; ls /data") == "base\n"
    await untouched.destroy()
    await again.destroy()


async def test_a_layer_outlives_its_sandbox(runtime: LinuxRuntime, images: NodeImages) -> None:
    sandbox = await runtime.create(SandboxSpec(image=BASE))
    await says(sandbox, "echo last > /data/word; (sleep 100 &) ; true")
    layer = await sandbox.upper_layer()  # type: ignore[attr-defined]
    await sandbox.destroy()
    store = images.store("default")
    base = (await store.get("default", BASE)).digest
    await store.commit("default", base, layer, "localhost/last:1", NOTHING)
    await layer.close()
    again = await runtime.create(SandboxSpec(image="localhost/last:1"))
    assert await says(again, "cat /data/word") == "last\n"
    await again.destroy()


async def test_layers_lie_above_layers_and_equal_ones_are_one(runtime: LinuxRuntime, images: NodeImages) -> None:
    base, seen = BASE, []
    for number in range(3):
        sandbox = await runtime.create(SandboxSpec(image=base))
        await says(sandbox, f"rm -f /data/{number - 1}; echo {number} > /data/{number}")
        name = f"localhost/chain:{number}"
        seen.append(await committed(images, sandbox, name, base))
        await sandbox.destroy()
        base = name
    sandbox = await runtime.create(SandboxSpec(image=base))
    assert await says(sandbox, "ls /data; cat /data/2") == "2\n2\n"
    await sandbox.destroy()
    assert len(set(seen)) == 3


async def test_an_image_with_changes_and_no_layer(runtime: LinuxRuntime, images: NodeImages) -> None:
    store = images.store("default")
    base = (await store.get("default", BASE)).digest
    changes = ImageChanges(environment={"PATH": "/bin", "WORD": "x"}, workdir="/opt", command=("sh",), made_by="ENV")
    made = await store.commit("default", base, None, "localhost/said:1", changes)
    sandbox = await runtime.create(SandboxSpec(image="localhost/said:1"))
    assert await says(sandbox, "echo $WORD; pwd") == "x\n/opt\n"
    await sandbox.destroy()
    root = await images.root_of("default", "localhost/said:1")
    assert (root.command, root.digest) == (("sh",), made.digest)


SEEN = """
import os
for place, folders, files in os.walk('/'):
    folders[:] = sorted(name for name in folders if place != '/' or name not in ('proc', 'dev', 'usr'))
    for name in sorted(files + folders):
        path = os.path.join(place, name)
        about = os.lstat(path)
        content = open(path, 'rb').read() if os.path.isfile(path) and not os.path.islink(path) else b''
        target = os.readlink(path) if os.path.islink(path) else ''
        print(path, oct(about.st_mode), about.st_uid, hash(content), target)
print(os.path.samefile('/data/a', '/data/hard'))
"""
HOSTILE = """
import os, socket, threading, time
os.chdir('/data')
for place in ('/etc', '/etc/shadow', '/proc/1/environ', '/../../../etc/shadow', '/data/loop'):
    os.symlink(place, 'to' + place.replace('/', '_'))
os.symlink('/data/loop', 'loop')
s = socket.socket(socket.AF_UNIX); s.bind('socket'); os.mkfifo('pipe')
for mode, name in ((0, 'closed'), (0o111, 'run')):
    open(name, 'w').write(name); os.chmod(name, mode)
os.mkdir('shut'); open('shut/in', 'w').write('in'); os.chmod('shut', 0)
open('.wh.kept', 'w'); os.mkdir('.wh.folder')
open('sparse', 'w').truncate(5 << 20)
print('ready', flush=True)
if os.fork(): os._exit(0)
while True:  # a file that grows, shrinks, and is sometimes something else
    try:
        with open('restless', 'wb') as f:
            f.write(b'x' * 500_000); f.flush(); f.truncate(10)
        os.unlink('restless')
        os.mkdir('restless'); os.rmdir('restless')
        os.symlink('/etc/passwd', 'restless'); os.unlink('restless')
        os.mkfifo('restless'); os.unlink('restless')
    except OSError: pass
"""


async def test_a_hostile_layer_is_sealed_and_leads_nowhere(runtime: LinuxRuntime, images: NodeImages) -> None:
    sandbox = await runtime.create(SandboxSpec(image=BASE))
    await python(sandbox, HOSTILE)
    for number in range(5):
        digest = await committed(images, sandbox, f"localhost/hostile:{number}")
        members = {member.name: member for member in await layer_of(images, digest)}
        assert members["data/to_etc_shadow"].issym()
        assert members["data/sparse"].size == 5 << 20
        assert (members["data/closed"].mode, members["data/shut"].mode) == (0, 0)
        assert members["data/shut/in"].isreg()
        assert not {"data/socket", "data/.wh.kept", "data/.wh.folder"} & set(members)
        assert members["data/pipe"].isfifo()
    await sandbox.destroy()
    again = await runtime.create(SandboxSpec(image="localhost/hostile:4"))
    assert await python(again, "import os; os.chmod('/data/closed', 0o400); print(open('/data/closed').read())") == (
        "closed\n"
    )
    await again.destroy()


async def test_a_tree_that_is_too_deep_is_refused(runtime: LinuxRuntime, images: NodeImages) -> None:
    sandbox = await runtime.create(SandboxSpec(image=BASE))
    await python(sandbox, "import os\nfor _ in range(2000): os.mkdir('d'); os.chdir('d')")
    with pytest.raises(ImagePullError, match="lies too deep") as raised:
        await committed(images, sandbox, "localhost/deep:1")
    assert raised.value.reason == "IMAGE_BROKEN"
    await sandbox.destroy()
    assert not list((images._place / "default/work").iterdir())


async def test_more_than_a_layer_may_hold_is_refused(
    runtime: LinuxRuntime, images: NodeImages, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = await runtime.create(SandboxSpec(image=BASE))
    await python(sandbox, "for n in range(300): open(f'/data/{n}', 'w').write('x' * 1000)")
    for setting, value in (("HARENA_IMAGE_MOST_FILES", "100"), ("HARENA_IMAGE_MOST_BYTES", "10000")):
        with monkeypatch.context() as patched:
            patched.setenv(setting, value)
            with pytest.raises(ImagePullError, match="too large") as raised:
                await committed(images, sandbox, "localhost/large:1")
        assert raised.value.reason == "IMAGE_TOO_LARGE"
    assert not list((images._place / "default/work").iterdir())
    await sandbox.destroy()


async def test_the_default_image_has_no_layer(runtime: LinuxRuntime) -> None:
    sandbox = await runtime.create(SandboxSpec(image="default"))
    with pytest.raises(SandboxValidationError, match="no layer of its own"):
        await sandbox.upper_layer()  # type: ignore[attr-defined]
    await sandbox.destroy()


async def test_programs_stand_still_while_they_are_paused(runtime: LinuxRuntime) -> None:
    """Also one that forks all the time; what was stopped before stays so."""
    sandbox = await runtime.create(SandboxSpec(image=BASE, limits=Limits(pids=64)))
    await python(
        sandbox,
        "import os, signal\n"
        "if not os.fork():\n"
        "    open('/data/pid', 'w').write(str(os.getpid()))\n"
        "    while True: os.kill(os.getpid(), signal.SIGSTOP)\n"
        "if os.fork(): os._exit(0)\n"
        "n = 0\n"
        "while True:\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        n += 1; open('/data/n', 'w').write(str(n))\n"
        "    else: os._exit(0)\n",
    )
    while {"n", "pid"} - {entry.name for entry in await sandbox.list_dir("/data")}:
        pass
    paused = sandbox.paused()  # type: ignore[attr-defined]
    async with paused:
        before = (await sandbox.stat("/data/n")).modified_at, await sandbox.read_file("/data/n", max_bytes=100)
        for _ in range(20):
            await sandbox.processes()
        after = (await sandbox.stat("/data/n")).modified_at, await sandbox.read_file("/data/n", max_bytes=100)
        assert before == after
        waiting = asyncio.ensure_future(sandbox.exec(ExecRequest(argv=("true",), timeout_seconds=60)))
        await asyncio.sleep(0)
        assert not waiting.done()
    assert (await (await waiting).wait()).returncode == 0
    while await sandbox.read_file("/data/n", max_bytes=100) == before[1]:
        pass
    stopped = await says(sandbox, "until grep -q 'State:.T' /proc/$(cat /data/pid)/status; do :; done; echo stopped")
    assert stopped == "stopped\n"
    await sandbox.destroy()


async def test_a_program_that_is_just_being_started_holds_no_pause_up(runtime: LinuxRuntime) -> None:
    """Who starts a program waits in the kernel until that has begun, and comes to no stop before. Here it never has:
    before it begins it opens a FIFO that nobody writes to."""
    sandbox = await runtime.create(SandboxSpec(image=BASE))
    await python(
        sandbox,
        "import os\n"
        "os.mkfifo('/data/fifo')\n"
        "if os.fork(): os._exit(0)\n"
        "open('/data/pid', 'w').write(str(os.getpid()))\n"
        "first = (os.POSIX_SPAWN_OPEN, 0, '/data/fifo', os.O_RDONLY, 0)\n"
        "os.posix_spawn('/bin/sh', ['sh'], {}, file_actions=[first])\n",
    )
    await says(sandbox, "until grep -q 'State:.D' /proc/$(cat /data/pid)/status; do :; done")
    async with sandbox.paused():  # type: ignore[attr-defined]
        await sandbox.check_still()  # type: ignore[attr-defined]
    await sandbox.destroy()


async def test_a_program_that_goes_on_by_a_timer_is_told(runtime: LinuxRuntime) -> None:
    """The kernel sends what the timer says, also to a program that was stopped."""
    sandbox = await runtime.create(SandboxSpec(image=BASE))
    async with sandbox.paused():  # type: ignore[attr-defined]
        await sandbox.processes()
        await sandbox.check_still()  # type: ignore[attr-defined]
    program = (
        "import ctypes, os, signal, struct\n"
        "signal.signal(signal.SIGCONT, lambda *_: None)\n"
        "if os.fork(): os._exit(0)\n"
        "libc, timer = ctypes.CDLL(None), ctypes.c_int()\n"
        "create, settime = (222, 223) if os.uname().machine == 'x86_64' else (107, 110)\n"
        "for turn in range(1, 200):\n"
        "    assert not libc.syscall(create, 1, struct.pack('Qii48x', 0, 18, 0), ctypes.byref(timer))\n"
        "    assert not libc.syscall(settime, timer, 0, struct.pack('4q', 0, 0, turn // 5, turn % 5 * 10**8), None)\n"
        "open('/data/began', 'w').close()\n"
        "while True: pass\n"
    )
    await python(sandbox, program)
    while "began" not in {entry.name for entry in await sandbox.list_dir("/data")}:
        pass

    async def asked_while_paused() -> None:
        async with sandbox.paused():  # type: ignore[attr-defined]
            for _ in range(2_000):
                await sandbox.check_still()  # type: ignore[attr-defined]

    with pytest.raises(PlatformError):  # it cannot be stopped, or has run since
        await asked_while_paused()
    await sandbox.destroy()


async def test_a_long_line_of_layers_is_one_again(
    runtime: LinuxRuntime, images: NodeImages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written, removed and made anew on the way is as it is without: beside what is below the line."""
    monkeypatch.setattr(sealing, "_FLATTENED_LAYERS", 3)
    store = images.store("default")
    steps = (
        "echo a > /data/a; mkdir /data/d; echo x > /data/d/x; rm /etc/motd; ln /data/a /data/hard",
        "rm -r /data/d; mkdir /data/d; echo y > /data/d/y; echo f > /data/f; rm -r /opt/gone",
        "rm /data/f; mkdir /data/f; echo in > /data/f/in; echo new > /etc/motd; chmod 700 /opt/kept",
        "rm -r /data/f; echo again > /data/f; mkdir /opt/gone; echo made > /opt/gone/made; rm -r /opt/anew",
        "mkdir /opt/anew; echo b >> /data/d/y; ln -s d/y /data/link; rm /etc/motd",
        "true",
    )
    layers, base = [], BASE
    for step in steps:
        sandbox = await runtime.create(SandboxSpec(image=base))
        await says(sandbox, step)
        layer = await sandbox.upper_layer()  # type: ignore[attr-defined]
        made = await store.snapshot("default", layer, base, sandbox.id, None, None)
        await layer.close()
        await sandbox.destroy()
        base = f"snapshot://{made.id}"
        layers.append(made.layers)
    sandbox = await runtime.create(SandboxSpec(image=base))
    seen = await python(sandbox, SEEN)
    await sandbox.destroy()
    straight = await runtime.create(SandboxSpec(image=BASE))
    for step in steps:
        await says(straight, step)
    assert await python(straight, SEEN) == seen
    await straight.destroy()
    assert layers == [2, 3, 4, 2, 3, 4]


async def test_no_work_is_left(images: NodeImages) -> None:
    assert os.listdir(images._place / "default/work") == []
