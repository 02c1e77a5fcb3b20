"""Templates: what a blueprint's modules do as they are imported, and what they leave behind in the template."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import FrameType

import pytest
import pytest_asyncio

from footprint import children, command_line, descendants, spawners
from harena.core.errors import HarenaError, HostUnsupportedError, PlatformError, SandboxResourceExhaustedError
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.ports import SandboxPort
from harena.core.records.blueprints import Blueprint
from harena.runtime.host import box_files, linux
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.host.mechanisms import without
from harena.runtime.kernel import cgroup_tree
from harena.runtime.spawner import spawner

pytestmark = pytest.mark.asyncio(loop_scope="module")

CALLS = r"""
import ctypes, errno, fcntl, os, socket
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(256)
CALLS = {
    "mount": (165, b"none", b"/tmp", b"tmpfs", 0, 0), "umount2": (166, b"/proc", 2), "pivot_root": (155, b"/", b"/"),
    "unshare pid": (272, 0x20000000), "unshare user": (272, 0x10000000), "unshare net": (272, 0x40000000),
    "setns": (308, 3, 0), "clone with a namespace": (56, 0x10000000 | 17, 0, 0, 0, 0), "clone3": (435, buffer, 88),
    "io_uring_setup": (425, 1, buffer), "bpf": (321, 0, buffer, 8), "keyctl": (250, 0, -3, 1),
    "add_key": (248, b"user", b"a", b"b", 1, -2), "userfaultfd": (323, 0),
    "perf_event_open": (298, buffer, 0, -1, -1, 0), "ptrace": (101, 0, 0, 0, 0),
    "ptrace the parent": (101, 0x4206, 1, 0, 0), "pidfd_getfd": (438, 3, 3, 0),
    "process_vm_readv": (310, 1, buffer, 1, buffer, 1, 0), "kcmp": (312, 1, 1, 0, 0, 0),
    "open_tree": (428, -100, b"/", 1), "fsopen": (430, b"tmpfs", 0), "move_mount": (429, 3, b"", -100, b"/tmp", 4),
    "mount_setattr": (442, 3, b"", 0, buffer, 32),
    "chroot": (161, b"/tmp"), "mknod": (133, b"/dev/device", 0o20666, 0x103), "init_module": (175, buffer, 1, b""),
    "sethostname": (170, b"x", 1), "open_by_handle_at": (304, 3, buffer, 0), "quotactl": (179, 0, 0, 0, 0),
    "io_setup": (206, 1, buffer), "fanotify_init": (300, 0, 0), "personality": (135, 0x0400000),
}
SOCKETS = {"netfilter": (16, 3, 12), "packet": (17, 3, 3), "vsock": (40, 1, 0), "alg": (38, 5, 0), "raw": (2, 3, 255)}
def ask():
    found = {}
    for name, arguments in CALLS.items():
        ctypes.set_errno(0)
        result = libc.syscall(*arguments)
        if result == 0 and name.startswith("clone"):
            os._exit(0)
        found[name] = errno.errorcode[ctypes.get_errno()] if result < 0 else "ok"
    for name, arguments in SOCKETS.items():
        try:
            socket.socket(*arguments).close()
            found[name] = "ok"
        except OSError as error:
            found[name] = errno.errorcode[error.errno]
    table = socket.socket()
    try:
        table.getsockopt(0, 64, 84)  # IPT_SO_GET_INFO
        found["iptables"] = "ok"
    except OSError as error:
        found["iptables"] = errno.errorcode[error.errno]
    table.close()
    return found
def state():
    status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
    return {
        **{name: status[name].split()[-1] for name in
           ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters")},
        "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit()),
        "files": sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1],
        "uid map": open("/proc/self/uid_map").read().split(),
        "network": [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]],
        "can write": [place for place in ("/", "/tmp", "/proc/self/autogroup", "/dev/shm", "/root", "/workspace")
                      if os.path.exists(place) and os.access(place, os.W_OK)],
    }
at_import = ask(), state()
in_init = []
def before():
    if os.getpid() == 1 and not in_init:
        in_init.append((ask(), state()))
os.register_at_fork(before=before)
"""
"""What nobody who is not trusted may do, asked from an import, and from the init of a sandbox that is a fork of it."""

THROUGH_KEEPER = r"""
import os, socket, struct, time
keeper = socket.socket(fileno=3)
"""
"""An import that speaks to the keeper in the interpreter's place."""

LIES = {
    "garbage": "keeper.send(b'\\xff' * 100); time.sleep(600)",
    "too short": "keeper.send(b'x'); time.sleep(600)",
    "too long": "keeper.send(b'x' * 60000); time.sleep(600)",
    "a failure": "keeper.send(struct.pack('<Ii', 0, 1) + b'no' * 4000); time.sleep(600)",
    "a strange failure": "keeper.send(struct.pack('<Ii', 0xffffffff, -1)); time.sleep(600)",
    "too much": "keeper.send(struct.pack('<Ii', 0, 0) + bytes(40 * 100)); time.sleep(600)",
    "closed": "keeper.close()",
    "ready, and gone": "keeper.send(struct.pack('<Ii', 0, 0)); os._exit(0)",
    "ready, and something else": "keeper.send(struct.pack('<Ii', 0, 0)); os.execv('/bin/sleep', ['sleep', '600'])",
    "ready, and not an init": "keeper.send(struct.pack('<Ii', 0, 0)); keeper.recv(16); os._exit(1)",
    "handlers of signals": (
        "keeper.send(struct.pack('<Ii', 0, 0) + b''.join(struct.pack('<B7xQ24x', n, 1) for n in range(1, 60)));"
        " keeper.recv(16); os.kill(1, 11); os._exit(1)"
    ),
}


class Layers:
    """A directory for each text of a module that is called `hostile`."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def path(self, digest: str) -> Path:
        """See `linux.Layers`."""
        return self.place / digest

    def blueprint(
        self, source: str, *, name: str = "hostile.py", warm: tuple[str, ...] | None = ("hostile",), **env: str
    ) -> Blueprint:
        """One that imports it."""
        digest = f"layer{len(list(self.place.iterdir()))}"
        (self.place / digest).mkdir(mode=0o755)
        (self.place / digest / name).write_text(source)
        return Blueprint(id=f"bp_{digest}", name=digest, layer=digest, warm=warm, env=env)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[LinuxRuntime, Layers]]:
    """A runtime for this module's hostile templates."""
    place = tmp_path_factory.mktemp("layers")
    os.chmod(place, 0o755)
    layers = Layers(place)
    home = tmp_path_factory.mktemp("home")
    runtime = LinuxRuntime(layers=layers, home=home, pool_size=0, mechanisms=without("machine_code"))
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


REFUSED = {"EPERM", "ENOSYS", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ENOPROTOOPT", "EROFS"}
NOTHING = "0" * 16


async def test_a_module_meets_the_final_walls_as_it_is_imported(host: tuple[LinuxRuntime, Layers]) -> None:
    """The filter of sandboxes, no capability that it has or could get, nobody else to be seen, nothing to write to."""
    runtime, layers = host
    sandbox = await runtime.create(SandboxSpec(), layers.blueprint(CALLS))
    at_import, in_init = eval(await run(sandbox, "import hostile; print((hostile.at_import, hostile.in_init[0]))"))
    for refused, state in (at_import, in_init):
        assert set(refused.values()) <= REFUSED, refused
        assert {state[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {NOTHING}
        assert (state["NoNewPrivs"], state["Seccomp"], state["Seccomp_filters"]) == ("1", "2", "1")
        assert state["processes"] == [1]
        assert state["uid map"] == ["0", "0", "1"]
        assert state["network"] == ["lo"]
    assert at_import[1]["can write"] == []
    assert at_import[1]["files"] == [0, 1, 2, 3]
    assert in_init[1]["files"][:7] == [0, 1, 2, 3, 4, 5, 6]
    await sandbox.destroy()


SENDS_WHAT_IT_LIKES = r"""
import os, socket, struct, time
keeper = socket.socket(fileno=3)
keeper.send(struct.pack('<Ii', 0, 0))
keeper.recv(16)
# from here on it is the init of a sandbox
_, number, *_ = __import__("marshal").loads(keeper.recv(1 << 15))
there = os.open("/workspace/there", os.O_RDWR | os.O_CREAT)
opened = struct.pack("<cIiQI", b"O", number, 0, 0, 0o644)
socket.send_fds(keeper, [opened], [there])
_, number, *_ = __import__("marshal").loads(keeper.recv(1 << 15))
socket.send_fds(keeper, [b"Ethis was all"], [there, os.pipe()[0]])
time.sleep(600)
"""
"""An init that answers one order, and says at the second one that it has failed, with descriptors."""


async def test_what_an_init_sends_that_holds_modules_is_used_and_closed_beside_the_loop(
    host: tuple[LinuxRuntime, Layers],
) -> None:
    """Before any program has run there, too: modules can arrange that a step with a descriptor, or its end, takes as
    long as they like."""
    runtime, layers = host
    sandbox = await runtime.create(SandboxSpec(), layers.blueprint(SENDS_WHAT_IT_LIKES))
    in_the_loop: list[str] = []

    def note(frame: FrameType, event: str, called: object) -> None:
        if event == "c_call" and frame.f_code in STEPS:
            in_the_loop.append(getattr(called, "__name__", ""))

    sys.setprofile(note)
    try:
        await sandbox.write_file("/workspace/there", b"something")
        with pytest.raises(HarenaError, match="this was all"):
            await sandbox.read_file("/workspace/there", max_bytes=1 << 20)
    finally:
        sys.setprofile(None)
    assert not {"fstat", "read", "write", "close"}.intersection(in_the_loop), in_the_loop
    await sandbox.destroy()


STEPS = {
    function.__code__
    for function in (
        *(box_files.OpenFile.size, box_files.OpenFile.read_small, box_files.OpenFile.write, box_files.OpenFile.end),
        *(box_files.OpenFile.close, box_files.write_now, box_files._read, box_files._regular_size),
    )
}
"""what is done with a descriptor that came from a sandbox"""


OF_THE_PROCESS = r"""
import ctypes, mmap, os, resource, signal
libc = ctypes.CDLL(None)
class Stack(ctypes.Structure):
    _fields_ = [("place", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]
room = ctypes.create_string_buffer(1 << 16)
libc.sigaltstack(ctypes.byref(Stack(ctypes.addressof(room), 0, 1 << 16)), None)
os.umask(0o077)
os.chdir("/usr")
resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))
libc.prctl(15, b"tool")
libc.prctl(29, 1_000_000)
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
signal.signal(signal.SIGUSR1, lambda *_: print("handled"))
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
pages = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
key = libc.pkey_alloc(0, 0)
if key > 0:
    place = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    libc.pkey_mprotect(ctypes.c_void_p(place), ctypes.c_size_t(4096), 3, key)
def state():
    stack = Stack()
    libc.sigaltstack(None, ctypes.byref(stack))
    os.kill(os.getpid(), signal.SIGUSR1)
    limits = [resource.getrlimit(which) for which in (resource.RLIMIT_STACK, resource.RLIMIT_NOFILE)]
    return (stack.flags, stack.size, os.umask(0), os.getcwd(), limits, open("/proc/self/comm").read(), libc.prctl(30),
            os.sched_getaffinity(0), signal.pthread_sigmask(signal.SIG_BLOCK, []), key, pages[:1])
"""
"""A module that sets what the kernel keeps for a process, and not in its memory."""


async def test_what_an_import_has_set_in_its_process_a_program_finds(host: tuple[LinuxRuntime, Layers]) -> None:
    """As after a real start; commands that are no program of Python's have nothing of it."""
    runtime, layers = host
    sandbox = await runtime.create(SandboxSpec(), layers.blueprint(OF_THE_PROCESS))
    found = []
    for warm in (None, False):
        program = ("python3", "-c", "import hostile; print(hostile.state())")
        result = await (await sandbox.exec(ExecRequest(argv=program, warm=warm))).wait()
        assert (result.returncode, result.warm) == (0, warm is None), result.stderr
        found.append(result.stdout.decode())
    assert found[0] == found[1]
    plain = await (await sandbox.exec(ExecRequest(argv=("sh", "-c", "umask; pwd; ulimit -n")))).wait()
    started = await (await sandbox.exec(ExecRequest(argv=("python3", "-c", "(", "x")))).wait()
    assert b"SyntaxError" in started.stderr
    umask, directory, files = plain.stdout.decode().split()
    assert (umask, directory) == ("0022", "/workspace")
    assert int(files) > 200
    await sandbox.destroy()


SIX = sum(1 << number for number in (6, 7, 8, 12, 21, 31))
"""CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_SETFCAP"""


def rights(pid: int) -> tuple[int, int, int, bool]:
    """(filters, capabilities, bounding set, no_new_privs)."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    permitted, effective, bounding = (int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd"))
    assert permitted == effective
    return int(status["Seccomp_filters"]), effective, bounding, status["NoNewPrivs"].strip() == "1"


async def test_each_process_has_the_filters_and_capabilities_that_are_stated(host: tuple[LinuxRuntime, Layers]) -> None:
    """The threat model has a table of them."""
    runtime, layers = host
    (spawner_pid,) = spawners(os.getpid())
    found = []
    for blueprint in (Blueprint(id="bp_plain", name="plain"), layers.blueprint("fine = True\n")):
        before = set(children(spawner_pid))
        sandbox = await runtime.create(SandboxSpec(), blueprint)
        (template,) = set(children(spawner_pid)) - before
        running = await sandbox.exec(ExecRequest(argv=("sh", "-c", "echo up; exec cat"), stdin_stream=True))
        await anext(aiter(running.stdout))
        (init,) = children(template)
        (program,) = children(init)
        found += [rights(template), rights(init), rights(program)]
        running.close_stdin()
        await running.wait()
        await sandbox.destroy()
    nothing = 0, 0, True
    assert found[:3] == [(1, SIX, 0, True), (2, *nothing), (2, *nothing)], "nothing of a blueprint"
    assert found[3:] == [(0, SIX, 0, True), (1, *nothing), (1, *nothing)], "memory that holds modules"
    before = set(children(spawner_pid))
    making = asyncio.create_task(runtime.create(SandboxSpec(), layers.blueprint("import time\ntime.sleep(600)\n")))
    importer: set[int] = set()
    while not importer:
        await asyncio.sleep(0)
        below = [entry.pid for entry in descendants(spawner_pid) if entry.parent not in (spawner_pid, *before)]
        importer = {pid for pid in below if rights(pid)[:2] == (1, 0)}
    (template,) = set(children(spawner_pid)) - before
    (keeper,) = set(below) - importer
    (every,) = {bounding for _, effective, bounding, _ in [rights(keeper)] if bounding == effective}
    assert every & SIX == SIX
    assert rights(template) == (0, SIX, SIX, True)
    assert [rights(pid) for pid in importer] == [(1, *nothing)]
    assert os.stat(f"/proc/{keeper}/ns/user").st_ino == os.stat(f"/proc/{template}/ns/user").st_ino
    os.kill(template, signal.SIGKILL)
    with pytest.raises(HarenaError, match="ended while it started"):
        await making


@pytest.mark.parametrize("name", LIES)
async def test_an_import_that_lies_ends_alone(host: tuple[LinuxRuntime, Layers], name: str) -> None:
    """Its blueprint's sandboxes cannot be had, and the caller is told so soon; nobody else notices."""
    runtime, layers = host
    neighbour = await runtime.create(SandboxSpec())
    blueprint = layers.blueprint(THROUGH_KEEPER + LIES[name])
    with pytest.raises(HarenaError):  # noqa: PT012 (some have a template, whose sandboxes end at once)
        sandbox = await runtime.create(SandboxSpec(), blueprint)
        await run(sandbox, "print('here')")
    await serves_on(runtime, neighbour)
    await neighbour.destroy()


async def test_what_a_module_starts_is_gone_when_the_template_is_ready(host: tuple[LinuxRuntime, Layers]) -> None:
    """A process of an import would see, and outlive, every sandbox of its blueprint; one that shares its memory would
    change theirs; and a descriptor would lead from one sandbox to another."""
    runtime, layers = host
    forks = """
import ctypes, os, time
ends = os.pipe()
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
libc = ctypes.CDLL(None)
stack = ctypes.create_string_buffer(1 << 16)
with_my_memory = 0x100 | 17
assert libc.clone(libc.pause, ctypes.c_void_p(ctypes.addressof(stack) + 60000), with_my_memory, None) > 0
"""
    (spawner_pid,) = spawners(os.getpid())
    before = {entry.pid for entry in descendants(spawner_pid)}
    sandbox = await runtime.create(SandboxSpec(), layers.blueprint(forks))
    asked = "import hostile, os\nfor end in hostile.ends:\n  try: os.fstat(end)\n  except OSError as e: print(e.errno)"
    assert await run(sandbox, asked) == "9\n9"
    left = {entry.pid: entry.parent for entry in descendants(spawner_pid) if entry.pid not in before}
    assert len(left) == 2, [command_line(pid) for pid in left]
    assert set(left.values()) & set(left), "the template, and the sandbox's init below it"
    await sandbox.destroy()


KERNELS_OWN_FILES = r"""
import ctypes, mmap, os, socket
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.shmat.restype = ctypes.c_void_p
kept = []
def mapped(file, size, flags=mmap.MAP_PRIVATE):
    kept.append(mmap.mmap(file, size, flags, mmap.PROT_READ))
private = os.memfd_create("private")
os.ftruncate(private, 8 << 30)
os.pwrite(private, b"kept", 5 << 30)
mapped(private, 8 << 30)
sealed = os.memfd_create("sealed", os.MFD_ALLOW_SEALING)
os.ftruncate(sealed, 1 << 20)
os.pwrite(sealed, b"kept", 4096)
import fcntl
fcntl.fcntl(sealed, 1033, 0x10)  # nobody writes any more
mapped(sealed, 1 << 20, mmap.MAP_SHARED)
segment = libc.shmat(libc.shmget(0, 1 << 20, 0o1600), None, 0o10000)
connection = socket.socket()
received = libc.mmap(None, 1 << 16, 1, 1, connection.fileno(), ctypes.c_long(0))
assert min(segment, received) > 0
"""
"""Mappings of what every fork of a process would refer to, none of which may be written to."""

AS_SEEN = """
import hostile
print([line.split(None, 5)[5].strip() for line in open('/proc/self/maps')
       if 'deleted' in line or 'socket:' in line])
print(hostile.kept[0][5 << 30:(5 << 30) + 5], hostile.kept[1][4096:4101], hostile.ctypes.string_at(hostile.segment, 3))
"""


async def test_files_of_the_kernels_own_are_replaced_by_what_is_in_them(host: tuple[LinuxRuntime, Layers]) -> None:
    """A sandbox that read a hole would leave a page there: memory that no sandbox has, and word for a later one."""
    runtime, layers = host
    sandbox = await runtime.create(SandboxSpec(), layers.blueprint(KERNELS_OWN_FILES))
    left, content = (await run(sandbox, AS_SEEN)).splitlines()
    assert left == "['/memfd:template (deleted)']", "the forker's own code, which has no holes"
    assert content == r"b'kept\x00' b'kept\x00' b'\x00\x00\x00'"
    await sandbox.destroy()


@pytest.mark.parametrize("maps", ["import mmap\nkept = mmap.mmap(-1, 4096)\n", KERNELS_OWN_FILES])
async def test_no_memory_leads_from_one_sandbox_to_another(host: tuple[LinuxRuntime, Layers], maps: str) -> None:
    """An import that keeps the interpreter from making its memory private has no template."""
    runtime, layers = host
    shared = (
        maps + "import gc, types\n"
        "for each in gc.get_objects():\n"
        "    if isinstance(each, types.ModuleType) and each.__name__ == 'harena.runtime.guest.template':\n"
        "        each._keep_memory_private = lambda: None\n"
    )
    with pytest.raises(HostUnsupportedError, match="share memory"):
        await runtime.create(SandboxSpec(), layers.blueprint(shared))


BEGINS_BEFORE_ITS_INIT = """
import gc, os, signal, types
modules = {each.__name__: each for each in gc.get_objects() if isinstance(each, types.ModuleType)}
def loop(self):
    assert len(self.control.recv(16)) == 7
    if os.fork() == 0:
        signal.pause()
    self.base.fast.context.is_template = 0
    return modules["harena.runtime.guest.init"].serve(self.control, self.base, None)
modules["harena.runtime.guest.template"]._Parked.loop = loop
"""
"""An import that starts a process as soon as a fork of its memory has become a sandbox."""


async def test_nothing_of_a_blueprint_runs_in_a_sandbox_before_it_is_in_its_cgroup(
    host: tuple[LinuxRuntime, Layers],
) -> None:
    """What was started before would stay in the template's group, without the limits of the sandbox."""
    runtime, layers = host
    blueprint = layers.blueprint(BEGINS_BEFORE_ITS_INIT)
    for _ in range(6):
        sandbox = await runtime.create(SandboxSpec(), blueprint)
        early, own = eval(await run(sandbox, "print([open(f'/proc/{pid}/cgroup').read() for pid in ('2', 'self')])"))
        assert early == own
        await sandbox.destroy()


@pytest.mark.parametrize(
    "how", ["ctypes.memset(start, 0xCC, end - start)", "libc.munmap(place, size)", "libc.mprotect(place, size, 0)"]
)
async def test_an_import_has_no_hold_on_what_forks_its_memory(host: tuple[LinuxRuntime, Layers], how: str) -> None:
    """The code of the template lies in the memory that it shares, and is put there anew when it is gone."""
    runtime, layers = host
    source = f"""
import ctypes
libc = ctypes.CDLL(None)
for line in open("/proc/self/maps"):
    if "memfd:template" in line:
        start, end = (int(word, 16) for word in line.split()[0].split("-"))
        place, size = ctypes.c_void_p(start), ctypes.c_size_t(end - start)
        {how}
        found = True
"""
    sandbox = await runtime.create(SandboxSpec(), layers.blueprint(source))
    asked = (
        "import hostile; print(hostile.found, [each.split()[1] for each in open('/proc/1/status') if 'CapBnd' in each])"
    )
    assert await run(sandbox, asked) == f"True ['{NOTHING}']"
    await sandbox.destroy()


async def test_a_blueprints_environment_and_start_up_files_do_not_reach_a_templates_interpreter(
    host: tuple[LinuxRuntime, Layers],
) -> None:
    """Programs get them; the interpreter that is pid 1 of a template does not, where nothing is kept warm."""
    runtime, layers = host
    ending = "import os\nif os.getpid() == 1:\n    os._exit(7)\nstarted = True\n"
    blueprint = layers.blueprint(
        ending,
        name="sitecustomize.py",
        warm=None,
        PYTHONWARNINGS="error",
        SECRET="of the blueprint",
        PYTHONSTARTUP="/x",
    )
    (spawner_pid,) = spawners(os.getpid())
    before = children(spawner_pid)
    sandbox = await runtime.create(SandboxSpec(), blueprint)
    (template,) = set(children(spawner_pid)) - set(before)
    environment = Path(f"/proc/{template}/environ").read_bytes()
    assert b"of the blueprint" not in environment
    assert b"PYTHONWARNINGS" not in environment
    asked = "import os, sys, sitecustomize; print(sitecustomize.started, os.environ['SECRET'], sys.warnoptions)"
    assert await run(sandbox, asked) == "True of the blueprint ['error']"
    await sandbox.destroy()


async def test_a_module_that_opens_a_browser_runs_what_it_likes_in_vain(host: tuple[LinuxRuntime, Layers]) -> None:
    """`antigravity` runs $BROWSER: another program, behind the same walls."""
    runtime, _layers = host
    browser = "sh -c 'mount -t tmpfs x /tmp; unshare -Ur true; touch /tmp/x /proc/self/autogroup' %s"
    blueprint = Blueprint(id="bp_browser", name="browser", warm=("antigravity",), env={"BROWSER": browser})
    sandbox = await runtime.create(SandboxSpec(), blueprint)
    assert await run(sandbox, "import antigravity; print('here')") == "here"
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
    with pytest.raises(PlatformError, match=said):  # on a small machine the sum of all templates comes first
        await runtime.create(SandboxSpec(), layers.blueprint(source))
    await serves_on(runtime, neighbour)
    while len(descendants(spawner_pid)) > before:  # the news of a failure comes a moment before the end
        await serves_on(runtime, neighbour)
    await neighbour.destroy()


async def test_an_import_weighs_hardly_anything_until_it_is_ready(host: tuple[LinuxRuntime, Layers]) -> None:
    """Whatever it starts: all of that is in one group, which yields to other templates."""
    runtime, layers = host
    (spawner_pid,) = spawners(os.getpid())
    fine = layers.blueprint("fine = True\n")
    before = set(children(spawner_pid))
    sandbox = await runtime.create(SandboxSpec(), fine)
    if not sandbox.enforcement["cpu"].startswith("cgroup"):
        pytest.skip("no cpu cgroup can be written here")
    (template,) = set(children(spawner_pid)) - before
    assert weight_of(cpu_group(template)) in ("1024", "100")
    others = set(children(spawner_pid))
    before = {entry.pid for entry in descendants(spawner_pid)}
    forks = "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        os.setsid()\ntime.sleep(600)\n"
    making = asyncio.create_task(runtime.create(SandboxSpec(), layers.blueprint(forks)))
    importing: list[int] = []
    while len(importing) < 34:  # the template, its keeper, the importer and what it starts
        await asyncio.sleep(0)
        importing = [entry.pid for entry in descendants(spawner_pid) if entry.pid not in before]
    (group,) = {cpu_group(pid) for pid in importing}
    assert weight_of(group) in ("8", "1")
    assert group.parent == cpu_group(template).parent
    (importing_template,) = set(children(spawner_pid)) - others
    os.kill(importing_template, signal.SIGKILL)
    with pytest.raises(HarenaError, match="ended while it started"):
        await making
    await sandbox.destroy()


def cpu_group(pid: int) -> Path:
    """The directory of its cpu cgroup, as this process sees it."""
    paths = cgroup_tree.parse_own_paths(Path(f"/proc/{pid}/cgroup").read_text())
    mounts = cgroup_tree.parse_mounts(Path("/proc/self/mountinfo").read_text(), "/sys")
    name = "cpu" if "cpu" in paths else ""
    mount = next(each for each in mounts if (name in each.controllers if name else each.version == 2))
    return Path(mount.directory_of(paths[name]))


def weight_of(group: Path) -> str:
    """What it weighs against its siblings."""
    (file,) = (group / name for name in ("cpu.shares", "cpu.weight") if (group / name).exists())
    return file.read_text().strip()


async def test_a_failed_import_is_not_tried_again_at_once(host: tuple[LinuxRuntime, Layers]) -> None:
    """The same words come back at once; later, and for another blueprint, it is tried."""
    runtime, layers = host
    broken = layers.blueprint("import nothing_of_this_name\n")
    with pytest.raises(HostUnsupportedError, match="nothing_of_this_name"):
        await runtime.create(SandboxSpec(), broken)
    (layers.path(str(broken.layer)) / "hostile.py").write_text("fine = True\n")
    with pytest.raises(HostUnsupportedError, match=r"nothing_of_this_name.*next attempt is possible in \d+ s"):
        await runtime.create(SandboxSpec(), broken)
    await (await runtime.create(SandboxSpec(), layers.blueprint("fine = True\n"))).destroy()
    await (await runtime.create(SandboxSpec(), broken, workspace="other")).destroy()
    for key, (_, error, text) in runtime._failures.items():
        runtime._failures[key] = 0.0, error, text
    await (await runtime.create(SandboxSpec(), broken)).destroy()
    assert not runtime._failures


async def test_an_import_that_does_not_end_is_ended(
    host: tuple[LinuxRuntime, Layers], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has time, but not for ever."""
    runtime, layers = host
    monkeypatch.setattr(linux, "READY_SECONDS", 1.0)
    began = time.monotonic()
    blueprint = layers.blueprint("import time\ntime.sleep(600)\n")
    for again in ("", ".* next attempt"):  # who tries again waits until that is worth while
        with pytest.raises(PlatformError, match="were not imported within 1 s" + again) as failed:
            await runtime.create(SandboxSpec(), blueprint)
        assert failed.value.retry_delay is not None
    assert time.monotonic() - began < 60
    (spawner_pid,) = spawners(os.getpid())
    assert not [entry for entry in descendants(spawner_pid) if "sleep" in command_line(entry.pid)]


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
    assert linux.FAILURE_SECONDS == (3.0, 60.0)
    assert linux.IDLE_TO_END_SECONDS == 5 * 60


WITHOUT_TRACING = r"""
import asyncio, struct, sys, tempfile
from pathlib import Path
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.records.blueprints import Blueprint
from harena.runtime.kernel import privileges, seccomp
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.host.mechanisms import without

async def main(home):
    runtime = LinuxRuntime(home=home)
    await runtime.start()
    try:
        sandbox = await runtime.create(SandboxSpec(), Blueprint(id="bp", name="b", warm=("json",), env={"A": "b"}))
        program = "import json, os; print(os.environ['A'], json.dumps([1]))"
        result = await (await sandbox.exec(ExecRequest(argv=("python3", "-c", program)))).wait()
        print(result.warm, result.stdout.decode(), end="")
    finally:
        await runtime.close()

ptrace = 101
rows = [(0x20, 0, 0, 0), (0x15, 0, 1, ptrace), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
privileges.prctl("no_new_privs", 38, 1)
seccomp.load(b"".join(struct.pack("<HBBI", *row) for row in rows))
with tempfile.TemporaryDirectory() as home:
    Path(home).chmod(0o755)
    asyncio.run(main(Path(home)))
"""
"""A host that lets no process trace another one."""


async def test_without_tracing_nothing_of_a_blueprint_is_kept_warm() -> None:
    """Its programs start for real."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WITHOUT_TRACING, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert out.decode() == "False b [1]\n"
