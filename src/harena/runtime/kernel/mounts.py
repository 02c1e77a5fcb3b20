"""Mounts: the old calls for what a sandbox adds, the new ones (open_tree, move_mount) for what crosses a border."""

from __future__ import annotations

import ctypes
import os
import struct

from harena.runtime.kernel.numbers import NUMBERS
from harena.runtime.kernel.syscalls import (
    FSCONFIG,
    FSMOUNT,
    FSOPEN,
    MOUNT_SETATTR,
    MOVE_MOUNT,
    OPEN_TREE,
    StepError,
    check,
    libc,
    syscall,
)

RDONLY = 1
NOSUID = 2
NODEV = 4
NOEXEC = 8
REMOUNT = 32
BIND = 4096
REC = 16384
PRIVATE = 1 << 18

DETACH = 2

_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 1
_OPEN_TREE_CLOEXEC = os.O_CLOEXEC
CLONE = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC
"""for `open_tree`"""
_MOVE_MOUNT_F_EMPTY_PATH = 4
_FSOPEN_CLOEXEC = _FSMOUNT_CLOEXEC = 1
_SET_STRING, _CREATE = 1, 6
_ATTR_RDONLY = 1
_ATTR_NOSUID = 2
_ATTR_NODEV = 4
_ATTR_IDMAP = 0x00100000


def mount(source: bytes, target: bytes, kind: bytes | None, flags: int = 0, options: bytes | None = None) -> None:
    """`mount(2)`."""
    if libc.mount(source, target, kind, ctypes.c_ulong(flags), options) < 0:
        raise StepError(f"mount {target.decode()} ({(kind or b'bind').decode()})", ctypes.get_errno())


def make_private(target: bytes = b"/") -> None:
    """Nothing that is mounted below goes out, nothing comes in."""
    mount(b"none", target, None, REC | PRIVATE)


def clone_tree(path: str, *, read_only: bool = True, devices: bool = False, owners: int = -1) -> int:
    """A detached copy of the mounts at `path` and below, as a descriptor that `attach_tree` takes.

    It may be made with more privilege than the process that attaches it has. `owners` is a descriptor of a user
    namespace: a file of user n on the disk is shown as the file of who is n in there (an id-mapped mount, Linux 5.12).
    """
    descriptor = syscall(
        "open_tree " + path,
        OPEN_TREE,
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(os.fsencode(path)),
        ctypes.c_uint(_OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_RECURSIVE),
    )
    attributes = _ATTR_NOSUID | (_ATTR_RDONLY if read_only else 0) | (0 if devices else _ATTR_NODEV)
    attributes |= _ATTR_IDMAP if owners >= 0 else 0
    try:
        syscall(
            "mount_setattr " + path,
            MOUNT_SETATTR,
            ctypes.c_int(descriptor),
            ctypes.c_char_p(b""),
            ctypes.c_uint(_AT_EMPTY_PATH | _AT_RECURSIVE),
            ctypes.c_char_p(struct.pack("<4Q", attributes, 0, 0, max(owners, 0))),
            ctypes.c_size_t(32),
        )
    except StepError:
        os.close(descriptor)
        raise
    return descriptor


def attach_tree(descriptor: int, target: bytes) -> None:
    """Mount what `clone_tree` made at `target`."""
    syscall(
        "move_mount " + target.decode(),
        MOVE_MOUNT,
        ctypes.c_int(descriptor),
        ctypes.c_char_p(b""),
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(target),
        ctypes.c_uint(_MOVE_MOUNT_F_EMPTY_PATH),
    )


def new_tmpfs() -> int:
    """An empty tmpfs that is mounted nowhere, as a descriptor of its root that `attach_tree` takes."""
    context = syscall("fsopen", FSOPEN, ctypes.c_char_p(b"tmpfs"), ctypes.c_uint(_FSOPEN_CLOEXEC))
    try:
        for command, key, value in (
            (_SET_STRING, b"size", b"64k"),
            (_SET_STRING, b"mode", b"755"),
            (_CREATE, None, None),
        ):
            syscall(
                "fsconfig",
                FSCONFIG,
                ctypes.c_int(context),
                ctypes.c_uint(command),
                ctypes.c_char_p(key),
                ctypes.c_char_p(value),
                ctypes.c_int(0),
            )
        return syscall("fsmount", FSMOUNT, ctypes.c_int(context), ctypes.c_uint(_FSMOUNT_CLOEXEC), ctypes.c_uint(0))
    finally:
        os.close(context)


def unmount(target: bytes) -> None:
    """Take away what is mounted at and below `target`, from sight at once, and from memory when nobody uses it."""
    check("umount " + target.decode(), libc.umount2(target, ctypes.c_int(DETACH)))


def pivot_into(root: bytes) -> None:
    """Make `root` (a mount) the root directory and forget the old one."""
    os.chdir(root)
    # pivot_root(".", ".") stacks the old root on the new one's mount point; see pivot_root(2), "NOTES"
    syscall("pivot_root", NUMBERS["pivot_root"], ctypes.c_char_p(b"."), ctypes.c_char_p(b"."))
    check("umount old root", libc.umount2(b".", ctypes.c_int(DETACH)))
    os.chdir("/")
