"""The launch: what is done to a process so that it becomes a template, and to a template's fork so that it becomes a
sandbox. Each step is one line of one of the two lists; every failure names its step.

A template (once per image): a fork of the spawner in new user, mount, pid, net, ipc, uts and cgroup namespaces.

    await_map -> become_root -> private_mounts -> new_root -> trees -> links_and_files -> own_proc -> pivot
    -> nest_user_namespace -> read_only_root -> (exec of the image's interpreter, see template)

The second user namespace locks every mount that the first one made: not even the template's own privilege can make
/usr writable again or look below a mount.

A sandbox (once per life): a fork of its template in new mount, pid, net, ipc, uts and cgroup namespaces. It is in the
template's root already and adds only what is its own.

    writable -> proc -> terminals -> hostname -> loopback -> rlimits -> capabilities -> seccomp -> workdir
"""

from __future__ import annotations

import os

from harena.runtime.kernel import mounts, namespaces, network, privileges, seccomp
from harena.runtime.kernel.syscalls import StepError

TEMPLATE_FLAGS = (
    namespaces.NEWUSER
    | namespaces.NEWNS
    | namespaces.NEWPID
    | namespaces.NEWNET
    | namespaces.NEWIPC
    | namespaces.NEWUTS
    | namespaces.NEWCGROUP
)
SANDBOX_FLAGS = TEMPLATE_FLAGS & ~namespaces.NEWUSER

WRITABLE = (("tmp", "/tmp", 0o1777), ("workspace", "/workspace", 0o755), ("data", "/data", 0o755),
            ("root", "/root", 0o700), ("shm", "/dev/shm", 0o1777))  # fmt: skip
_SCRATCH = b"/.new"


class TemplateRoot:
    """What `launch.TEMPLATE_STEPS` work on.

    `trees` are (source, target, read only, is a file), source being a path or a descriptor made by
    `mounts.clone_tree`; `files` are (path, content, mode); `links` are (path, target); `directories` are paths.
    """

    def __init__(self, plan: dict[str, object], trees: list[tuple[object, str, bool, bool]], map_ready: int) -> None:
        self.trees = trees
        self.links: list[tuple[str, str]] = plan["links"]  # type: ignore[assignment]
        self.files: list[tuple[str, bytes, int]] = plan["files"]  # type: ignore[assignment]
        self.directories: list[str] = plan["directories"]  # type: ignore[assignment]
        self.map_ready = map_ready


def _await_map(root: TemplateRoot) -> None:
    if os.read(root.map_ready, 1) != b"m":
        raise StepError("await_map", 32)


def _become_root(_: TemplateRoot) -> None:
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    privileges.set_dumpable(True)  # a change of user takes it away, and /proc/self/uid_map with it


def _private_mounts(_: TemplateRoot) -> None:
    mounts.make_private()


def _new_root(_: TemplateRoot) -> None:
    os.umask(0o022)
    mounts.mount(b"root", b"/tmp", b"tmpfs", mounts.NOSUID, b"mode=755,size=16m,nr_inodes=4096")
    for _name, target, _mode in WRITABLE:
        os.makedirs("/tmp" + target)
    for name in ("/proc", "/run", "/var", "/etc", "/dev/pts", _SCRATCH.decode()):
        os.makedirs("/tmp" + name, exist_ok=True)


def _trees(root: TemplateRoot) -> None:
    for source, target, read_only, is_file in root.trees:
        inside = "/tmp" + target
        if isinstance(source, int):
            descriptor = source
        else:
            descriptor = mounts.clone_tree(str(source), read_only=read_only, devices=is_file)
        try:
            if is_file:
                os.makedirs(os.path.dirname(inside), exist_ok=True)
                os.close(os.open(inside, os.O_CREAT | os.O_WRONLY, 0o644))
            else:
                os.makedirs(inside, exist_ok=True)
            mounts.attach_tree(descriptor, os.fsencode(inside))
        finally:
            os.close(descriptor)


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


def _own_proc(_: TemplateRoot) -> None:
    mounts.mount(b"proc", b"/tmp/proc", b"proc", mounts.NOSUID | mounts.NODEV | mounts.NOEXEC)


def _pivot(_: TemplateRoot) -> None:
    mounts.pivot_into(b"/tmp")


def _nest_user_namespace(_: TemplateRoot) -> None:
    namespaces.unshare(namespaces.NEWUSER | namespaces.NEWNS)
    namespaces.map_identity("self", 0, 0, 0)


def _read_only_root(_: TemplateRoot) -> None:
    mounts.mount(
        b"none", b"/", None, mounts.REMOUNT | mounts.BIND | mounts.RDONLY | mounts.NOSUID
    )


TEMPLATE_STEPS = (
    _await_map,
    _become_root,
    _private_mounts,
    _new_root,
    _trees,
    _links_and_files,
    _own_proc,
    _pivot,
    _nest_user_namespace,
    _read_only_root,
)


class SandboxRoot:
    """What `launch.SANDBOX_STEPS` work on: one sandbox's own settings, and what its template has prepared."""

    def __init__(self, settings: dict[str, object], filter_: seccomp.Filter) -> None:
        self.tmpfs_options: bytes = settings["tmpfs"]  # type: ignore[assignment]
        self.hostname: bytes = settings["hostname"]  # type: ignore[assignment]
        self.rlimits: list[tuple[int, int]] = settings["rlimits"]  # type: ignore[assignment]
        self.own_users: bool = settings["own_users"]  # type: ignore[assignment]
        self.workdir: str = settings["workdir"]  # type: ignore[assignment]
        self.filter = filter_


_BINDS = tuple((os.fsencode(_SCRATCH.decode() + "/" + name), os.fsencode(target)) for name, target, _ in WRITABLE)


def _own_users(root: SandboxRoot) -> None:
    if root.own_users:  # processes are counted per user namespace where there is no pids cgroup
        privileges.set_dumpable(True)
        namespaces.map_identity("self", 0, 0, 0)
        privileges.set_dumpable(False)


def _writable(root: SandboxRoot) -> None:
    mounts.mount(b"sandbox", _SCRATCH, b"tmpfs", mounts.NOSUID | mounts.NODEV, root.tmpfs_options)
    for (name, _target, mode), (source, target) in zip(WRITABLE, _BINDS):
        os.mkdir(source, mode)
        if mode & 0o1000:
            os.chmod(source, mode)
        mounts.bind(source, target)
    mounts.unmount(_SCRATCH)


def _proc(_: SandboxRoot) -> None:
    mounts.mount(b"proc", b"/proc", b"proc", mounts.NOSUID | mounts.NODEV | mounts.NOEXEC)


def _terminals(_: SandboxRoot) -> None:
    mounts.mount(b"devpts", b"/dev/pts", b"devpts", mounts.NOSUID | mounts.NOEXEC, b"newinstance,ptmxmode=0666,mode=0620")


def _hostname(root: SandboxRoot) -> None:
    namespaces.set_hostname(root.hostname)


def _loopback(_: SandboxRoot) -> None:
    network.loopback_up()


def _rlimits(root: SandboxRoot) -> None:
    import resource

    for which, value in root.rlimits:
        _soft, hard = resource.getrlimit(which)
        if hard != resource.RLIM_INFINITY and value > hard:
            value = hard
        resource.setrlimit(which, (value, value))


def _capabilities(_: SandboxRoot) -> None:
    privileges.drop_capabilities()


def _seccomp(root: SandboxRoot) -> None:
    root.filter.load()


def _workdir(root: SandboxRoot) -> None:
    os.chdir(root.workdir)


SANDBOX_STEPS = (
    _own_users,
    _writable,
    _proc,
    _terminals,
    _hostname,
    _loopback,
    _rlimits,
    _capabilities,
    _seccomp,
    _workdir,
)


def apply(steps: tuple[object, ...], root: object) -> None:
    """Take the steps in order. Raises StepError naming the first that failed."""
    for step in steps:
        try:
            step(root)  # type: ignore[operator]
        except StepError:
            raise
        except OSError as error:
            raise StepError("%s (%s)" % (step.__name__.lstrip("_"), error), error.errno or 0) from None  # type: ignore[attr-defined]  # noqa: UP031
