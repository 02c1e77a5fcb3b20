"""The launch: what is done to a process so that it becomes a template, and to a template's fork so that it becomes a
sandbox. Each step is one line of one of the two lists; every failure names its step.

A template (once per image): a fork of the spawner in new user, mount, pid, ipc, uts and cgroup namespaces.

    await_map -> become_root -> private_mounts -> open_trees -> new_root -> trees -> links_and_files -> copies
    -> own_proc -> pivot -> nest_user_namespace -> name_settings -> read_only_root
    -> (exec of the image's interpreter, see template)

The second user namespace locks every mount that the first one made: not even the template's own privilege can make
/usr writable again or look below a mount. A network namespace is made with it: what a blueprint has imported there
reaches no network.

A sandbox (once per life): a fork of its template in new mount, pid, net, ipc, uts and cgroup namespaces. It is in the
template's root already and adds only what is its own.

    channel, everything else closed -> init's descriptors -> settings -> writable directories -> proc (read-only)
    -> terminals -> hostname -> loopback [-> listeners, passed out] -> init's view of processes -> rlimits
    -> capabilities -> seccomp -> "ready"

A sandbox of an image with layers has a root of its own instead of writable directories: an overlay of the layers, with
an upper layer in its tmpfs. It goes there (pivot_root) once everything is mounted below, and what the template's root
shows, the host's /usr above all, is out of its sight.

A sandbox with a network has listening sockets in its network namespace, which are passed out and served from there
(see harena.egress). It keeps none of them itself, and none of its programs can have one of their addresses.
"""

from __future__ import annotations

import os
import struct

from harena.runtime.guest import host_trees, wire
from harena.runtime.kernel import batch, mounts, namespaces, network, privileges, seccomp, signals
from harena.runtime.kernel.numbers import NUMBERS
from harena.runtime.kernel.syscalls import StepError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypedDict

    Call = Callable[..., int]  # step, name of the system call, arguments

    class Layers(TypedDict):
        """What a sandbox's own root is made of, beside the layers themselves."""

        count: int
        """the layers are mounted at `/layers/0`, the uppermost, and so on"""
        files: list[tuple[str, bytes]]
        """path, content: the sandbox's own, whatever the layers have there"""
        mount_points: list[tuple[str, int]]
        """path, mode: directories that the layers lack, and something is mounted at"""
        directories: list[tuple[str, int]]
        """path, mode: others that they lack"""
        held: list[int]
        """upper layers of other sandboxes that lie above the layers, the uppermost first: see `held_place`"""
        root_mode: int
        """mode of the root"""


TEMPLATE_FLAGS = (
    namespaces.NEWUSER
    | namespaces.NEWNS
    | namespaces.NEWPID
    | namespaces.NEWIPC
    | namespaces.NEWUTS
    | namespaces.NEWCGROUP
)
SANDBOX_FLAGS = (TEMPLATE_FLAGS & ~namespaces.NEWUSER) | namespaces.NEWNET
_NESTED = namespaces.NEWUSER | namespaces.NEWNS | namespaces.NEWNET

WRITABLE = (("tmp", "/tmp", 0o1777), ("workspace", "/workspace", 0o755), ("data", "/data", 0o755),
            ("root", "/root", 0o700), ("shm", "/dev/shm", 0o1777))  # fmt: skip
WRITABLE_PLACES = (*(target for _, target, _ in WRITABLE), "/var/tmp")
_SCRATCH = b"/.new"
_TERMINALS = b"/dev/pts"
MOST_HELD = 200
"""places of a template at which upper layers of its sandboxes can be mounted, for other sandboxes that begin with
them"""
_SETTINGS = tuple(b"/data/.network%d" % place for place, _ in enumerate(network.SETTINGS))
"""links to the files of `network.SETTINGS`; what a sandbox has there covers them"""


def held_place(number: int) -> bytes:
    """Where a template has the folder of an upper layer that it holds."""
    return b"/held/%d" % number


class TemplateRoot:
    """What `launch.TEMPLATE_STEPS` work on.

    `trees` are (source, target, read only, is a file); `opened` is what `host_trees.opened` made of them, None if that
    is left to the template; `files` are (path, content, mode); `links` are (path, target);
    `listens`: its sandboxes have listeners; `directories` are paths;
    `copies` are (source inside the new root, target, mode).
    """

    def __init__(self, plan: dict[str, object], opened: list[host_trees.Tree] | None, map_ready: int) -> None:
        self.ids = 1
        """how many users and groups its user namespace has; known once they are mapped"""
        self.trees: list[tuple[str, str, bool, bool]] = plan["trees"]  # type: ignore[assignment]
        self.layers: list[str] = plan["layers"]  # type: ignore[assignment]
        self.listens: bool = plan["listens"]  # type: ignore[assignment]
        self.opened = opened
        self.shares_inodes = False
        self.links: list[tuple[str, str]] = plan["links"]  # type: ignore[assignment]
        self.files: list[tuple[str, bytes, int]] = plan["files"]  # type: ignore[assignment]
        self.directories: list[str] = plan["directories"]  # type: ignore[assignment]
        self.copies: list[tuple[str, str, int]] = plan["copies"]  # type: ignore[assignment]
        self.map_ready = map_ready


def _await_map(root: TemplateRoot) -> None:
    count = os.read(root.map_ready, 4)
    if len(count) != 4:
        raise StepError("await_map", 32)
    root.ids = int.from_bytes(count, "little")


def _become_root(root: TemplateRoot) -> None:
    if root.ids > 1:  # with one group the kernel allows no such call
        os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    privileges.set_dumpable(True)  # a change of user takes it away, and /proc/self/uid_map with it


def _private_mounts(_: TemplateRoot) -> None:
    mounts.make_private()


def _open_trees(root: TemplateRoot) -> None:
    # before anything is mounted, which could hide them
    if root.opened is None:
        root.opened = host_trees.opened(root.trees, privileged=False)
        root.opened += host_trees.opened_layers(root.layers, -1)


def _new_root(root: TemplateRoot) -> None:
    os.umask(0o022)
    mounts.mount(b"root", b"/tmp", b"tmpfs", mounts.NOSUID, b"mode=755,size=64m,nr_inodes=4096")
    for _name, target, _mode in WRITABLE:
        os.makedirs("/tmp" + target)
    for name in ("/proc", "/run", "/var", "/etc", "/dev/pts", _SCRATCH.decode()):
        os.makedirs("/tmp" + name, exist_ok=True)
    for number in range(MOST_HELD if root.layers else 0):  # a sandbox without layers of its own sees this root
        os.makedirs(b"/tmp" + held_place(number))


def _trees(root: TemplateRoot) -> None:
    root.shares_inodes = not host_trees.attach(root.opened or ())


def _links_and_files(root: TemplateRoot) -> None:
    for directory in root.directories:
        os.makedirs("/tmp" + directory, exist_ok=True)
    for path, target in root.links:
        os.makedirs(os.path.dirname("/tmp" + path), exist_ok=True)
        os.symlink(target, "/tmp" + path)
    for path, content, mode in root.files:
        os.makedirs(os.path.dirname("/tmp" + path), exist_ok=True)
        descriptor = os.open("/tmp" + path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode)
        try:
            os.write(descriptor, content)
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)


def _copies(root: TemplateRoot) -> None:
    for source, target, mode in root.copies:
        os.makedirs(os.path.dirname("/tmp" + target), exist_ok=True)
        given = os.open("/tmp" + source, os.O_RDONLY | os.O_CLOEXEC)
        made = os.open("/tmp" + target, os.O_CREAT | os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC, 0o200)
        try:
            while os.sendfile(made, given, None, 1 << 24):
                pass
            os.fchmod(made, mode)
        finally:
            os.close(given)
            os.close(made)


def _own_proc(_: TemplateRoot) -> None:
    mounts.mount(b"proc", b"/tmp/proc", b"proc", mounts.NOSUID | mounts.NODEV | mounts.NOEXEC)


def _pivot(_: TemplateRoot) -> None:
    mounts.pivot_into(b"/tmp")


def _nest_user_namespace(root: TemplateRoot) -> None:
    if root.ids == 1:
        namespaces.unshare(_NESTED)
        namespaces.map_identity("self", 0, 0, 0)
        return
    # more ids than its own are mapped by who has the right to that in the namespace above, which this process leaves
    process, (unshared, tells) = str(os.getpid()), os.pipe2(os.O_CLOEXEC)
    mapper = os.fork()
    if mapper == 0:
        code = 1
        try:
            os.close(tells)
            if os.read(unshared, 1):
                namespaces.map_all(process)
                code = 0
        except OSError as error:
            code = error.errno or 1
        finally:
            os._exit(code)
    try:
        namespaces.unshare(_NESTED)
        os.write(tells, b"u")
    finally:
        os.close(unshared)
        os.close(tells)
        code = os.waitstatus_to_exitcode(os.waitpid(mapper, 0)[1])
    if code:
        raise StepError("map_users", max(code, 1))


def _name_settings(_: TemplateRoot) -> None:
    # in the template's own network namespace; where such a setting is the host's, a sandbox writes to nothing
    for link, (file, _value) in zip(_SETTINGS, network.SETTINGS, strict=True):
        os.symlink(file if os.access(file, os.W_OK) else b"/dev/null", link)


def _read_only_root(_: TemplateRoot) -> None:
    mounts.mount(b"none", b"/", None, mounts.REMOUNT | mounts.BIND | mounts.RDONLY | mounts.NOSUID)


TEMPLATE_STEPS = (
    _await_map,
    _become_root,
    _private_mounts,
    _open_trees,
    _new_root,
    _trees,
    _links_and_files,
    _copies,
    _own_proc,
    _pivot,
    _nest_user_namespace,
    _name_settings,
    _read_only_root,
)


# -- sandboxes -----------------------------------------------------------------------------------------------------

# the descriptors that a sandbox's init starts with
CONTROL, ENDED, OOM_ADJUST, NOTHING, PROCESSES = 3, 4, 5, 6, 7
UPPER = 8
"""the folder that has the upper layer of a root of its own; a sandbox of the default image lacks it"""
OWN_DOMAINS, PRELOADED = b"/opt/guard/domains", b"/opt/guard/preloaded"
"""a folder with what the loader is to load into each program, and where it looks for that folder"""
_AT_FDCWD = -100
PROC_FLAGS = mounts.RDONLY | mounts.NOSUID | mounts.NODEV | mounts.NOEXEC
_HIDING = b"hidepid=4"
"""a process has a folder only for those who may trace it"""
_SCRATCH_FLAGS = mounts.NOSUID | mounts.NODEV
_SIGCHLD = 17
_SIG_SETMASK = 2


class SandboxLaunch:
    """The calls that make a fork of a template a sandbox of one kind; prepared in the template, made in the fork.

    Without a filter: all calls but the last ones, which lock it down, as somebody else makes them (see forker)."""

    def __init__(self, settings: dict[str, object], filter_: seccomp.Filter | None) -> None:
        self.own_users: bool = settings["own_users"]  # type: ignore[assignment]
        self._batch = batch.Batch()
        self._own_channel()
        if self.own_users and filter_ is None:
            self._own_users()
        self._init_descriptors()
        self._own_settings()  # through the template's /proc, too
        if settings["layers"]:
            self._own_root(settings["tmpfs"], settings["layers"])  # type: ignore[arg-type]
        else:
            self._own_files(settings["tmpfs"])  # type: ignore[arg-type]
            self._own_proc(b"")
        self._own_names(settings["hostname"])  # type: ignore[arg-type]
        self._own_loopback()
        if settings["listeners"]:
            self._own_listeners(settings["listeners"], has_upper=bool(settings["layers"]))  # type: ignore[arg-type]
        self._own_processes(hides=settings["hides_processes"])  # type: ignore[arg-type]
        if settings["own_domains"]:
            self._mount("own domains", OWN_DOMAINS, PRELOADED, None, mounts.BIND)
        self._limits(settings["rlimits"])  # type: ignore[arg-type]
        if filter_ is not None:
            lock_down(self._call, filter_.address, settings["rights"])  # type: ignore[arg-type]
            self._call("ready", "sendto", CONTROL, wire.READY, 1, 0, None, 0)
        self._batch.seal()

    def _call(self, step: str, name: str, *arguments: int | bytes | None) -> int:
        return self._batch.add(step, NUMBERS[name], *arguments)

    def _own_channel(self) -> None:
        self.channel_call = self._call("channel", "dup3", -1, CONTROL, os.O_CLOEXEC)
        self._call("close everything else", "close_range", CONTROL + 1, 0xFFFFFFFF, 0)

    def _own_settings(self) -> None:
        for link, (_, value) in zip(_SETTINGS, network.SETTINGS, strict=True):
            self._call("network setting", "openat", _AT_FDCWD, link, os.O_WRONLY | os.O_CLOEXEC, 0)
            self._call("network setting", "write", NOTHING + 1, value, len(value))
            self._call("network setting", "close", NOTHING + 1)

    def _own_files(self, options: bytes) -> None:
        # Where devpts comes over it: to take it away would wait for every processor of the machine (a grace period of
        # RCU, 0.2 to 0.9 ms). There is nothing in it but the directories that are mounted elsewhere.
        self._mount("writable", b"sandbox", _TERMINALS, b"tmpfs", _SCRATCH_FLAGS, options)
        for name, target, mode in WRITABLE:
            source = _TERMINALS + b"/" + name.encode()
            self._directory(source, mode)
            self._mount("bind " + target, source, target.encode(), None, mounts.BIND)

    def _own_root(self, options: bytes, layers: Layers) -> None:
        upper, work, root, shared = (_SCRATCH + b"/" + name for name in (b"upper", b"work", b"root", b"shm"))
        self._mount("writable", b"sandbox", _SCRATCH, b"tmpfs", _SCRATCH_FLAGS, options)
        self._directory(upper, layers["root_mode"])
        for place in (work, root):
            self._directory(place, 0o755)
        self._directory(shared, 0o1777)
        for path, mode in layers["mount_points"]:
            self._directory(upper + os.fsencode(path), mode)
        if layers["files"]:
            self._directory(upper + b"/etc", 0o755)
        for path, content in layers["files"]:  # in the upper layer: an image may have links there
            self._file(upper + os.fsencode(path), content)
        # a mount of its own, attached nowhere, so that the template can attach it when it is to hold the layer
        self._call("layer", "open_tree", _AT_FDCWD, _SCRATCH, mounts.CLONE)
        self._call("layer", "dup3", NOTHING + 1, UPPER, os.O_CLOEXEC)
        self._call("layer", "close", NOTHING + 1)
        lower = [held_place(number) + b"/upper" for number in layers["held"]]
        lower += [b"%s/%d" % (host_trees.LAYERS.encode(), number) for number in range(layers["count"])]
        place = b"lowerdir=%s,upperdir=%s,workdir=%s,userxattr,xino=on" % (b":".join(lower), upper, work)
        self._mount("overlay", b"overlay", root, b"overlay", _SCRATCH_FLAGS, place)
        self._mount("devices", b"/dev", root + b"/dev", None, mounts.BIND | mounts.REC)
        self._mount("bind /dev/shm", shared, root + b"/dev/shm", None, mounts.BIND)
        self._own_proc(root)
        self._call("root", "chdir", root)
        self._call("root", "pivot_root", b".", b".")
        self._call("old root", "umount2", b".", mounts.DETACH)
        self._call("root", "chdir", b"/")
        for path, mode in layers["directories"]:
            self._directory(os.fsencode(path), mode)

    def _directory(self, place: bytes, mode: int) -> None:
        self._call("mkdir " + place.decode(), "mkdirat", _AT_FDCWD, place, mode)
        if mode & 0o1022:  # mkdir obeys the umask, and knows no sticky bit
            self._call("chmod " + place.decode(), "fchmodat", _AT_FDCWD, place, mode)

    def _file(self, place: bytes, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._call("file", "openat", _AT_FDCWD, place, flags, 0o644)
        self._call("file", "write", NOTHING + 1, content, len(content))
        self._call("file", "close", NOTHING + 1)

    def _own_proc(self, root: bytes) -> None:
        # Read-only: a process owns its files there, init's among them, and what is written to some of them changes how
        # all of its session is scheduled (autogroup) or measured (sched, clear_refs).
        self._mount("proc", b"proc", root + b"/proc", b"proc", PROC_FLAGS)
        self._mount(
            "terminals",
            b"devpts",
            root + _TERMINALS,
            b"devpts",
            mounts.NOSUID | mounts.NOEXEC,
            b"newinstance,ptmxmode=0666,mode=0620,max=64",  # they are limited for the whole host
        )

    def _own_names(self, hostname: bytes) -> None:
        self._call("hostname", "sethostname", hostname, len(hostname))

    def _own_loopback(self) -> None:
        self._call("loopback socket", "socket", 2, 2 | os.O_CLOEXEC, 0)
        self._call("loopback up", "ioctl", NOTHING + 1, network.SET_FLAGS, network.LOOPBACK_UP)
        self._call("loopback socket", "close", NOTHING + 1)

    def _own_listeners(self, listeners: list[tuple[int, bytes, int]], *, has_upper: bool) -> None:
        numbers = range(NOTHING + 1, NOTHING + 2 + len(listeners))  # the lowest that are free
        made = [number for number in numbers if number != UPPER or not has_upper][: len(listeners)]
        for descriptor, (kind, address, port) in zip(made, listeners):
            where = network.socket_address(address, port)
            self._call("listener", "socket", 2, network.socket_kind(kind), 0)
            self._call("listener", "bind", descriptor, where, len(where))
            if kind == network.STREAMS:
                self._call("listener", "listen", descriptor, network.WAITING_AT_ONE)
        self._batch.add("pass listeners", NUMBERS["sendmsg"], CONTROL, batch.message(wire.LISTENERS, made), 0)
        for descriptor in made:
            self._call("close listeners", "close", descriptor)

    def _own_processes(self, *, hides: bool) -> None:
        # init sees all, also where programs do not: it has to end them
        self._call("processes", "openat", _AT_FDCWD, b"/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, 0)
        if hides:
            self._mount("hide processes", b"proc", b"/proc", b"proc", PROC_FLAGS, _HIDING)

    def _init_descriptors(self) -> None:
        self._call("session", "setsid")  # where the kernel schedules by session, it is not one with other sandboxes
        self._call("SIGCHLD", "rt_sigaction", _SIGCHLD, bytes(32), None, 8)
        self._call("signalfd", "signalfd4", -1, signals.CHILD_MASK, 8, os.O_CLOEXEC | os.O_NONBLOCK)
        # of the template's /proc, which is still in the place of its own: that one cannot be written to
        path, flags = b"/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC
        self._call("oom_score_adj", "openat", _AT_FDCWD, path, flags, 0)
        self._call("/dev/null", "openat", _AT_FDCWD, b"/dev/null", os.O_RDWR | os.O_CLOEXEC, 0)

    def _limits(self, rlimits: list[tuple[int, int]]) -> None:
        for which, value in rlimits:
            self._call("rlimit %d" % which, "prlimit64", 0, which, struct.pack("<QQ", value, value), None)

    def _own_users(self) -> None:
        """What `run` does in Python for a sandbox with a user namespace of its own."""
        self._call("dumpable", "prctl", privileges.PR_SET_DUMPABLE, 1, 0, 0, 0)
        for name, text in (("setgroups", b"deny"), ("uid_map", b"0 0 1"), ("gid_map", b"0 0 1")):
            path, file = b"/proc/self/" + name.encode(), CONTROL + 1
            self._call("open " + name, "openat", _AT_FDCWD, path, os.O_WRONLY | os.O_CLOEXEC, 0)
            self._call("write " + name, "write", file, text, len(text))
            self._call("close " + name, "close", file)
        forbid_gains(self._call)
        self._call("not dumpable", "prctl", privileges.PR_SET_DUMPABLE, 0, 0, 0, 0)

    def _mount(
        self, step: str, source: bytes, target: bytes, kind: bytes | None, flags: int, options: bytes | None = None
    ) -> None:
        self._call(step, "mount", source, target, kind, flags, options)

    def prepare(self, channel: int) -> None:
        """Before the fork: its channel."""
        self._batch.patch(self.channel_call, 0, channel)

    def calls(self) -> tuple[int, int]:
        """Address and count of the calls."""
        return self._batch.address, len(self._batch)

    def laid_out(self, place: int, gap: int) -> tuple[bytes, bytes, list[int]]:
        """Give the calls as bytes that may lie at `place` in another process, what they point to, `gap` bytes behind
        them, and where the calls hold an address."""
        return self._batch.laid_out(place, gap)

    def steps(self) -> list[str]:
        """The name of each call's step."""
        return [self._batch.step(index) for index in range(len(self._batch))]

    @property
    def flags(self) -> int:
        """For `clone3`."""
        return SANDBOX_FLAGS | (namespaces.NEWUSER if self.own_users else 0)

    def step(self, index: int) -> str:
        """The name of a call's step. Behind the last one: machine code enters the cgroups first."""
        return self._batch.step(index) if index < len(self._batch) else "cgroup"

    def run(self) -> None:
        """In the fork: make the calls. Raises StepError."""
        if self.own_users:  # processes are counted per user namespace where there is no pids cgroup
            privileges.set_dumpable(True)
            namespaces.map_identity("self", 0, 0, 0)
            privileges.forbid_gains()  # a new user namespace starts with every privilege again
            privileges.set_dumpable(False)
        self._batch.run()


def enter_groups(entries: list[int]) -> None:
    """Go into the cgroups whose `tasks` files these descriptors are. Who moves itself there waits for nobody; who is
    moved by another process waits until no process of the machine is being forked. Raises StepError."""
    try:
        for entry in entries:
            os.write(entry, b"0")
    except OSError as error:
        raise StepError("cgroup", error.errno or 0) from None


def lock_down(call: Call, filter_address: int, rights: bytes = privileges.CAPSET_NOTHING) -> None:
    """The last rights go, but for `rights`, which `capset` takes, and the filter comes."""
    call("capabilities", "capset", privileges.CAPSET_HEADER, rights)
    call("workdir", "chdir", b"/")
    call("seccomp", "prctl", seccomp.PR_SET_SECCOMP, seccomp.MODE_FILTER, filter_address, 0, 0)


def forbid_gains(call: Call) -> None:
    """Add the calls by which a process gives up every gain of privilege, as `privileges.forbid_gains` does at once."""
    for option, value, third in privileges.calls_that_forbid_gains():
        call("prctl %d %d" % (option, value), "prctl", option, value, third, 0, 0)


class ProgramLaunch:
    """The calls that every warm child makes before its program; prepared in the template, made in the child."""

    def __init__(self) -> None:
        self._batch = batch.Batch()
        self._batch.add("setsid", NUMBERS["setsid"])
        self._copies = [self._batch.add("standard stream", NUMBERS["dup3"], -1, number, 0) for number in (0, 1, 2)]
        self._batch.add("close everything else", NUMBERS["close_range"], CONTROL, 0xFFFFFFFF, 0)
        self._batch.add("signal mask", NUMBERS["rt_sigprocmask"], _SIG_SETMASK, bytes(8), None, 8)
        self._batch.add("dumpable", NUMBERS["prctl"], privileges.PR_SET_DUMPABLE, 1)
        self._batch.seal()

    def prepare(self, descriptors: list[int]) -> None:
        """Before the fork: what shall be the program's stdin, stdout and stderr, all of them above 2."""
        for index, descriptor in zip(self._copies, descriptors):
            self._batch.patch(index, 0, descriptor)

    def run(self) -> None:
        """In the fork: a session of its own, those three descriptors and no other, nothing blocked, traceable."""
        self._batch.run()


def apply(steps: tuple[object, ...], root: object) -> None:
    """Take the steps in order. Raises StepError naming the first that failed."""
    for step in steps:
        try:
            step(root)  # type: ignore[operator]
        except StepError:
            raise
        except OSError as error:
            raise StepError("%s (%s)" % (step.__name__.lstrip("_"), error), error.errno or 0) from None  # type: ignore[attr-defined]
