"""A mount namespace in which a folder is empty but for a few places in it: for kernels without Landlock.

It holds for the calling thread, and for what that starts. Only root may have it in one of several threads.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18


def hide_folder(folder: Path, shown: Iterable[Path], *, as_root: bool = False) -> None:
    """From now on this thread sees nothing of `folder` but what is at or below `shown`, and cannot write there. With
    `as_root` it has no user namespace, and needs the right to mount; without, its process must have one thread. Raises
    OSError where the kernel lets it make no namespaces."""
    libc = ctypes.CDLL(None, use_errno=True)
    if as_root:
        _raise_for(libc.unshare(_NEW_MOUNTS), "unshare")
    else:
        user, group = os.geteuid(), os.getegid()
        _raise_for(libc.unshare(_NEW_USER | _NEW_MOUNTS), "unshare")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _raise_for(libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None), "private mounts")
    hidden = folder.resolve()
    below = sorted({place.resolve() for place in shown if place.exists() and place.resolve().is_relative_to(hidden)})
    with ExitStack() as stack:
        held = []
        for place in below:
            held.append((place, place.is_dir(), os.open(place, os.O_PATH | os.O_CLOEXEC)))
            stack.callback(os.close, held[-1][2])
        _raise_for(libc.mount(b"none", os.fsencode(hidden), b"tmpfs", 0, b"mode=0755,size=64k"), "hide")
        for place, is_folder, descriptor in held:
            (place if is_folder else place.parent).mkdir(parents=True, exist_ok=True)
            if not is_folder:
                place.touch()
            source = f"/proc/self/fd/{descriptor}".encode()
            _raise_for(libc.mount(source, os.fsencode(place), None, _BIND | _RECURSIVE, None), f"show {place.name}")
            flags = _REMOUNT | _BIND | _READ_ONLY | _lasting_flags(place)
            _raise_for(libc.mount(None, os.fsencode(place), None, flags, None), f"{place.name} read only")
        _raise_for(libc.mount(None, os.fsencode(hidden), None, _REMOUNT | _BIND | _READ_ONLY, None), "read only")
    _leave_what_is_hidden()


def _leave_what_is_hidden() -> None:
    """A working directory is what it was, below what hides it: go by its name to what is shown there."""
    try:
        os.chdir(os.getcwd())
    except OSError:
        os.chdir("/")


def _lasting_flags(place: Path) -> int:
    """Flags that a mount has from outside, and that no namespace may take away."""
    return os.statvfs(place).f_flag & (os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC)


def _raise_for(result: int, step: str) -> None:
    if result:
        code = ctypes.get_errno()
        raise OSError(code, f"{step}: {os.strerror(code)}")
