"""Templates: what a blueprint's modules do as they are imported, and what they leave behind in the template."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from harena.core.errors import HarenaError, HostUnsupportedError, PlatformError, SandboxResourceExhaustedError
from harena.core.models import Blueprint, ExecRequest, SandboxSpec
from harena.core.ports import SandboxPort
from harena.runtime.host import linux
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.spawner import spawner
from harena.testing.footprint import children, command_line, descendants, processes, spawners

pytestmark = pytest.mark.asyncio(loop_scope="module")

CALLS = r"""
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    ctypes.set_errno(0)
    if libc.syscall(*arguments) < 0:
        return errno.errorcode[ctypes.get_errno()]
    return "ok"
found = {}
buffer = ctypes.create_string_buffer(256)
found["io_uring_setup"] = call("io_uring_setup", 425, 1, buffer)
found["bpf"] = call("bpf", 321, 0, buffer, 8)
found["keyctl"] = call("keyctl", 250, 0, -3, 1)
found["ptrace"] = call("ptrace", 101, 0, 0, 0, 0)
found["pidfd_getfd"] = call("pidfd_getfd", 438, 3, 3, 0)
found["unshare"] = call("unshare", 272, 0x20000000)
found["setns"] = call("setns", 308, 3, 0)
found["open_tree"] = call("open_tree", 428, -100, b"/", 1)
found["fsopen"] = call("fsopen", 430, b"tmpfs", 0)
found["chroot"] = call("chroot", 161, b"/tmp")
found["mknod"] = call("mknod", 133, b"/tmp/device", 0o20666, 0x103)
found["init_module"] = call("init_module", 175, buffer, 1, b"")
for name, arguments in {"netfilter": (16, 3, 12), "packet": (17, 3, 3), "vsock": (40, 1, 0), "alg": (38, 5, 0)}.items():
    try:
        socket.socket(*arguments).close()
        found[name] = "ok"
    except OSError as error:
        found[name] = errno.errorcode[error.errno]
status = open("/proc/self/status").read()
held = int(status.split("CapEff:")[1].split()[0], 16)
found["capabilities"] = ",".join(str(bit) for bit in range(64) if held >> bit & 1)
"""
"""What is not a launch's business, asked from an import."""

THROUGH_LOOP = r"""
import gc, os, socket, struct, sys, types
template = next(each for each in gc.get_objects() if isinstance(each, types.ModuleType)
                and each.__name__ == "harena.runtime.guest.template")
def loop(self):
    while True:
        message, descriptors = self._receive()
        answer(self.control, int.from_bytes(message[:4], "little"), descriptors)
template._Template.loop = property(lambda self: lambda: loop(self))
def send(control, data, *descriptors):
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("%di" % len(descriptors), *descriptors))]
    control.sendmsg([data], rights if descriptors else [])
"""
"""Takes over the template's own loop, after it has said that it is ready."""

ANSWERS = {
    "garbage": "def answer(control, number, given): send(control, b'\\xff' * 100)",
    "too short": "def answer(control, number, given): send(control, b'x')",
    "another's": "def answer(control, number, given): send(control, struct.pack('<Ii', number + 1000, 0))",
    "no process": "def answer(control, number, given): send(control, struct.pack('<Ii', number, 0))",
    "no pidfd": "def answer(control, number, given): send(control, struct.pack('<Ii', number, 0), 1)",
    "itself": "def answer(control, number, given): send(control, struct.pack('<Ii', number, 0), os.pidfd_open(1))",
    "closed": "def answer(control, number, given): control.close(); import time; time.sleep(600)",
    "ready again": "def answer(control, number, given): send(control, struct.pack('<Ii', 0, 0))",
    "the end": "def answer(control, number, given): os._exit(3)",
}


class Layers:
    """A directory for each text of a module that is called `hostile`."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def path(self, digest: str) -> Path:
        """See `linux.Layers`."""
        return self.place / digest

    def blueprint(self, source: str) -> Blueprint:
        """One that imports it."""
        digest = f"layer{len(list(self.place.iterdir()))}"
        (self.place / digest).mkdir(mode=0o755)
        (self.place / digest / "hostile.py").write_text(source)
        return Blueprint(id=f"bp_{digest}", name=digest, layer=digest, warm=("hostile",))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[LinuxRuntime, Layers]]:
    """A runtime for this module's hostile templates."""
    place = tmp_path_factory.mktemp("layers")
    os.chmod(place, 0o755)
    layers = Layers(place)
    runtime = LinuxRuntime(layers=layers, home=tmp_path_factory.mktemp("home"), pool_size=0, fast_path=False)
    await runtime.start()
    yield runtime, layers
    await runtime.close()


async def run(sandbox: SandboxPort, program: str) -> str:
    """What a program prints."""
    result = await (await sandbox.exec(ExecRequest(argv=("python3", "-c", program), timeout_seconds=30))).wait()
    assert result.returncode == 0, result.stderr
    return result.stdout.decode().strip()


async def serves_on(runtime: LinuxRuntime, neighbour: SandboxPort) -> None:
    """Another template's sandbox answers, and another one can be had."""
    assert await run(neighbour, "print('here')") == "here"
    another = await runtime.create(SandboxSpec())
    assert await run(another, "print('new')") == "new"
    await another.destroy()


async def test_a_module_meets_the_walls_as_it_is_imported(host: tuple[LinuxRuntime, Layers]) -> None:
    """No call that a launch does not need, no socket that no sandbox may have, no capability beyond a launch's."""
    runtime, layers = host
    sandbox = await runtime.create(SandboxSpec(), layers.blueprint(CALLS))
    found = dict(eval(await run(sandbox, "import hostile; print(hostile.found)")))
    assert found.pop("capabilities") == "6,7,8,12,21,31"
    assert set(found.values()) <= {"EPERM", "ENOSYS", "EAFNOSUPPORT", "EROFS"}, found
    await sandbox.destroy()


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_template_that_lies_ends_alone(host: tuple[LinuxRuntime, Layers], name: str) -> None:
    """Its blueprint's sandboxes cannot be had, and the caller is told so soon; nobody else notices."""
    runtime, layers = host
    neighbour = await runtime.create(SandboxSpec())
    blueprint = layers.blueprint(THROUGH_LOOP + ANSWERS[name])
    with pytest.raises(HarenaError):
        await runtime.create(SandboxSpec(), blueprint)
    await serves_on(runtime, neighbour)
    await neighbour.destroy()


async def test_what_a_module_starts_is_gone_when_the_template_is_ready(host: tuple[LinuxRuntime, Layers]) -> None:
    """A process of an import would see, and outlive, every sandbox of its blueprint."""
    runtime, layers = host
    forks = (
        "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\n"
    )
    sandbox = await runtime.create(SandboxSpec(), layers.blueprint(forks))
    assert await run(sandbox, "print('here')") == "here"
    (spawner_pid,) = spawners(os.getpid())
    sleeping = [pid for pid in descendants(spawner_pid) if "hostile" in command_line(pid)]
    assert not sleeping
    templates = children(spawner_pid)
    everything = processes()
    assert max(sum(everything[pid].parent == template for pid in everything) for template in templates) <= 2
    await sandbox.destroy()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("held = []\nwhile True:\n    held.append(b'x' * (1 << 22))\n", "memory|MemoryError"),
        ("import os, time\nwhile True:\n    os.fork()\n", "hostile"),
        ("import os\nos._exit(0)\n", "ended while it started"),
        ("import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n", "thread"),
    ],
    ids=["memory", "forks", "exit", "thread"],
)
async def test_an_import_has_limits(
    host: tuple[LinuxRuntime, Layers], monkeypatch: pytest.MonkeyPatch, source: str, said: str
) -> None:
    """The blueprint cannot be used, the reason is said, and nothing of it is left."""
    runtime, layers = host
    neighbour = await runtime.create(SandboxSpec())
    (spawner_pid,) = spawners(os.getpid())
    before = len(descendants(spawner_pid))
    with pytest.raises(HostUnsupportedError, match=said):
        await runtime.create(SandboxSpec(), layers.blueprint(source))
    await serves_on(runtime, neighbour)
    while len(descendants(spawner_pid)) > before:  # the news of a failure comes a moment before the end
        await serves_on(runtime, neighbour)
    await neighbour.destroy()


async def test_an_import_that_does_not_end_is_ended(
    host: tuple[LinuxRuntime, Layers], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has time, but not for ever."""
    runtime, layers = host
    monkeypatch.setattr(linux, "READY_SECONDS", 1.0)
    began = time.monotonic()
    with pytest.raises(PlatformError, match="were not imported within 1 s"):
        await runtime.create(SandboxSpec(), layers.blueprint("import time\ntime.sleep(600)\n"))
    assert time.monotonic() - began < 60
    (spawner_pid,) = spawners(os.getpid())
    assert not [pid for pid in descendants(spawner_pid) if "sleep" in command_line(pid)]


async def test_templates_end_with_their_blueprint_when_idle_and_beyond_the_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that somebody uses live on until the last sandbox has ended."""
    runtime = LinuxRuntime(home=tmp_path, pool_size=4, templates_per_workspace=3)
    before = spawners(os.getpid())
    await runtime.start()
    (spawner_pid,) = [pid for pid in spawners(os.getpid()) if pid not in before]

    async def until_templates(count: int) -> None:
        for _ in range(2000):
            if len(children(spawner_pid)) == count:
                return
            sandbox = await runtime.create(SandboxSpec(), workspace="ticking")
            await sandbox.destroy()
        assert len(children(spawner_pid)) == count

    try:
        made = [Blueprint(id=f"bp_{number}", name=f"b{number}", warm=()) for number in range(5)]
        held = [await runtime.create(SandboxSpec(), each) for each in made[:3]]
        with pytest.raises(SandboxResourceExhaustedError, match="3 different blueprints"):
            await runtime.create(SandboxSpec(), made[3])
        await (await runtime.create(SandboxSpec(), made[3], workspace="other")).destroy()
        runtime.forget_blueprint("bp_0")
        assert await run(held[0], "print('here')") == "here"
        await held[0].destroy()
        await held[1].destroy()
        await until_templates(4)  # bp_1 idle, bp_2, the other workspace's, the ticking one
        fourth = await runtime.create(SandboxSpec(), made[3])
        runtime.forget_blueprint("bp_1")
        runtime.forget_blueprint("bp_3", workspace="other")
        await until_templates(3)
        monkeypatch.setattr(linux, "IDLE_TO_END_SECONDS", 0.0)
        await fourth.destroy()
        await held[2].destroy()
        runtime._end_idle_templates()
        await until_templates(1)
    finally:
        await runtime.close()


async def test_limits_of_templates_are_stated() -> None:
    """The threat model quotes them."""
    stated = (Path(__file__).parents[2] / "docs/explanation/threat-model.md").read_text()
    assert f"at most {spawner.TEMPLATE_MEMORY_BYTES >> 30} GiB and {spawner.TEMPLATE_PROCESSES} processes" in stated
    assert f"{linux.READY_SECONDS:.0f} seconds to get ready" in stated
    assert f"at most {linux.TEMPLATES_PER_WORKSPACE} templates" in stated
    assert linux.IDLE_TO_END_SECONDS == 5 * 60
