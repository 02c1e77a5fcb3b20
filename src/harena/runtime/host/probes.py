"""Probes: what the kernel lets this user do, found out by doing it in processes that end at once.

`run()` starts one short-lived interpreter; in there every probe is a fork of its own, so that a refused or a
successful step changes nothing for anybody else. The steps are those of the launch, in its order (see launch).
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harena.runtime.kernel import mounts, namespaces, network, pidfds, ptrace, seccomp
from harena.runtime.kernel.syscalls import CLOSE_RANGE, check, libc, prctl

_ALL_NAMESPACES = (
    namespaces.NEWUSER
    | namespaces.NEWNS
    | namespaces.NEWPID
    | namespaces.NEWNET
    | namespaces.NEWIPC
    | namespaces.NEWUTS
    | namespaces.NEWCGROUP
)
_ALLOW_EVERYTHING = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
_TIMEOUT_SECONDS = 20.0

STEPS = (
    "clone3",
    "pidfd",
    "close_range",
    "seccomp_filter",
    "user_namespace",
    "identity_map",
    "ptrace",
    "namespaces",
    "identity_map_from_outside",
    "mount_private",
    "mount_tmpfs",
    "read_only_tree",
    "overlay",
    "mount_proc",
    "mount_devpts",
    "loopback",
    "pivot_root",
    "nested_user_namespace",
)


def run(executable: str = sys.executable) -> dict[str, int]:
    """Step -> errno (0 = it worked). A step that was not reached is missing; "probes" holds the errno of a failure to
    run them at all."""
    package_parent = str(Path(__file__).resolve().parents[3])
    code = f"import sys; sys.path.insert(0, {package_parent!r}); from harena.runtime.host.probes import main; main()"
    try:
        done = subprocess.run(
            [executable, "-I", "-S", "-c", code], capture_output=True, timeout=_TIMEOUT_SECONDS, check=False, cwd="/"
        )
        answer = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return {"probes": 5}
    return {str(step): int(code) for step, code in answer.items()}


def main() -> None:
    """In the short-lived interpreter: every probe, and what came of it as JSON on standard output."""
    results: dict[str, int] = {}
    for probe in (_calls, _user_namespace, _launch):
        for step, code in _in_a_fork(probe):
            results[step] = code
    sys.stdout.write(json.dumps(results))


Note = Callable[[str, int], None]


def _in_a_fork(probe: Callable[[Note], None]) -> Iterator[tuple[str, int]]:
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read_end)
            probe(lambda step, code: _send(write_end, step, code))
        finally:
            os._exit(0)
    os.close(write_end)
    with open(read_end, encoding="utf-8") as pipe:
        for line in pipe:
            step, _, code = line.rpartition(" ")
            yield step, int(code)
    os.waitpid(pid, 0)


def _send(descriptor: int, step: str, code: int) -> None:
    os.write(descriptor, f"{step} {code}\n".encode())


@contextmanager
def _note_step(note: Note, step: str, *, go_on: bool = False) -> Iterator[None]:
    """Tell how a step ended; unless `go_on`, a failure ends the process, because later steps need this one."""
    try:
        yield
    except OSError as error:
        note(step, error.errno or 5)
        if not go_on:
            os._exit(0)
    else:
        note(step, 0)


def _calls(note: Note) -> None:
    """System calls that need no privilege."""
    with _note_step(note, "clone3", go_on=True):
        pid, _ = namespaces.clone(0)
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    with _note_step(note, "pidfd", go_on=True):
        pidfds.send_signal(pidfds.open_pidfd(os.getpid()), 0)
    with _note_step(note, "close_range", go_on=True):
        arguments = (ctypes.c_uint(1 << 20), ctypes.c_uint(0xFFFFFFFF), ctypes.c_uint(0))
        check("close_range", libc.syscall(ctypes.c_long(CLOSE_RANGE), *arguments))
    with _note_step(note, "seccomp_filter", go_on=True):
        prctl("no_new_privs", 38, 1)
        allow = seccomp.Filter(_ALLOW_EVERYTHING)
        prctl("seccomp", seccomp.PR_SET_SECCOMP, seccomp.MODE_FILTER, allow.address)


def _user_namespace(note: Note) -> None:
    """A user namespace alone, its identity map, and tracing in it: tells what exactly is forbidden where the launch
    fails early."""
    uid, gid = os.geteuid(), os.getegid()
    with _note_step(note, "user_namespace"):
        namespaces.unshare(namespaces.NEWUSER)
    with _note_step(note, "identity_map"):
        namespaces.map_identity("self", 0, uid, gid)
    with _note_step(note, "ptrace"):
        _trace()


def _trace() -> None:
    """A child of this process holds it, as the keeper of a template does. Raises OSError."""
    if not ptrace.is_known():
        raise OSError(errno.ENOSYS, "no registers of this machine are known")
    held = os.getpid()
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            ptrace.Tracee(held)  # until it ends itself
        except OSError as error:
            os.write(write_end, bytes([error.errno or errno.EIO]))
        finally:
            os._exit(0)
    os.close(write_end)
    os.waitpid(pid, 0)
    if code := os.read(read_end, 1):
        raise OSError(code[0], "ptrace")


def _launch(note: Note) -> None:
    """All namespaces at once, and the mounts of a template's and a sandbox's root."""
    uid, gid = os.geteuid(), os.getegid()
    ready_read, ready_write = os.pipe()
    with _note_step(note, "namespaces"):
        pid, _ = namespaces.clone(_ALL_NAMESPACES)
    if pid == 0:
        try:
            os.read(ready_read, 1)
            _launch_inside(note)
        finally:
            os._exit(0)
    with _note_step(note, "identity_map_from_outside", go_on=True):
        namespaces.map_identity(str(pid), 0, uid, gid)
    os.write(ready_write, b"m")
    os.waitpid(pid, 0)


def _launch_inside(note: Note) -> None:
    with _note_step(note, "mount_private"):
        mounts.make_private()
    with _note_step(note, "mount_tmpfs"):
        mounts.mount(b"root", b"/tmp", b"tmpfs", mounts.NOSUID, b"mode=755,size=1m")
    for name in ("usr", "proc", "pts", "empty", "shown"):
        os.mkdir("/tmp/" + name)
    with _note_step(note, "read_only_tree", go_on=True):
        mounts.attach_tree(mounts.clone_tree("/usr"), b"/tmp/usr")
    with _note_step(note, "overlay", go_on=True):
        mounts.mount(b"overlay", b"/tmp/shown", b"overlay", mounts.RDONLY, b"lowerdir=/tmp/usr:/tmp/empty")
    with _note_step(note, "mount_proc", go_on=True):
        mounts.mount(b"proc", b"/tmp/proc", b"proc", mounts.NOSUID | mounts.NODEV | mounts.NOEXEC)
    with _note_step(note, "mount_devpts", go_on=True):
        mounts.mount(b"devpts", b"/tmp/pts", b"devpts", mounts.NOSUID | mounts.NOEXEC, b"newinstance,ptmxmode=0666")
    with _note_step(note, "loopback", go_on=True):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            fcntl.ioctl(probe, network.SET_FLAGS, network.LOOPBACK_UP)
    with _note_step(note, "pivot_root"):
        mounts.pivot_into(b"/tmp")
    with _note_step(note, "nested_user_namespace"):
        namespaces.unshare(namespaces.NEWUSER | namespaces.NEWNS)
