"""Namespaces: clone3, unshare, and the identity map of a user namespace."""

from __future__ import annotations

import ctypes
import os
import struct

from harena.runtime.kernel import proc_files
from harena.runtime.kernel.syscalls import CLONE3, StepError, check, libc

NEWNS = 0x00020000
NEWCGROUP = 0x02000000
NEWUTS = 0x04000000
NEWIPC = 0x08000000
NEWUSER = 0x10000000
NEWPID = 0x20000000
NEWNET = 0x40000000

PIDFD = 0x00001000
SIGCHLD = 17

_CLONE_ARGS = struct.Struct("<8Q")  # flags pidfd child_tid parent_tid exit_signal stack stack_size tls


_pidfd = ctypes.c_int(-1)
_arguments = ctypes.create_string_buffer(_CLONE_ARGS.size)
_arguments_size = ctypes.c_size_t(_CLONE_ARGS.size)
_clone3 = ctypes.c_long(CLONE3)


def clone(flags: int) -> tuple[int, int]:
    """Fork into new namespaces. Gives (pid, pidfd) in the parent and (0, -1) in the child.

    The calling process must have one thread only; the child goes on with the caller's Python state as it is, and
    none of Python's fork hooks run.
    """
    _CLONE_ARGS.pack_into(_arguments, 0, flags | PIDFD, ctypes.addressof(_pidfd), 0, 0, SIGCHLD, 0, 0, 0)
    pid = libc.syscall(_clone3, _arguments, _arguments_size)
    if pid < 0:
        raise StepError("clone3", ctypes.get_errno())
    return pid, _pidfd.value if pid else -1


def unshare(flags: int) -> None:
    """`unshare(2)`."""
    check("unshare", libc.unshare(ctypes.c_int(flags)))


def map_identity(process: str, inside: int, outside_uid: int, outside_gid: int, count: int = 1) -> None:
    """Map users and groups of a user namespace: `count` from `inside` on (both) to the given ids of the parent
    namespace and those that follow. For more than one the writer must have the right to map others' ids, in there.

    `process` is a pid or "self". Without privilege the kernel demands that setgroups is denied first; it does no harm
    with privilege either, where there is one group only.
    """
    if count == 1:
        _write(f"/proc/{process}/setgroups", "deny")
    for name, outside in (("uid_map", outside_uid), ("gid_map", outside_gid)):
        _write(f"/proc/{process}/{name}", f"{inside} {outside} {count}")


def map_all(process: str) -> None:
    """Map to itself each user and group that this process's user namespace has, in a namespace right below."""
    for name in ("uid_map", "gid_map"):
        # range by range: one that spans two of those above is refused
        ranges = [line.split() for line in proc_files.lines("/proc/self/" + name)]
        lines = [b"%s %s %s" % (inside, inside, count) for inside, _outside, count in ranges]
        _write(f"/proc/{process}/{name}", b"\n".join(lines).decode())


def with_map(inside: int, outside: int, count: int = 1) -> int:
    """A descriptor of a user namespace without processes, in which `count` users and groups from `inside` on are those
    from `outside` on here. It says whose a mount's files shall be (see `mounts.clone_tree`). Needs the right to map
    others' ids; raises OSError."""
    waits, tells = os.pipe2(os.O_CLOEXEC)
    pid, pidfd = clone(NEWUSER)
    if pid == 0:
        try:
            os.close(tells)
            os.read(waits, 1)  # ends with the parent, whatever happens to it
        finally:
            os._exit(0)
    try:
        map_identity(str(pid), inside, outside, outside, count)
        return os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(waits)
        os.close(tells)
        os.close(pidfd)
        os.waitpid(pid, 0)


def _write(path: str, text: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StepError("write " + path, error.errno or 0) from None
