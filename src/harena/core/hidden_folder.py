"""A mount namespace in which a folder is empty but for a few places in it: for kernels without Landlock.

It holds for the calling process, which must have one thread, and for what that starts.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18


def hide_folder(folder: Path, shown: Iterable[Path]) -> None:
    """From now on this process sees nothing of `folder` but what is at or below `shown`, and cannot write there. Raises
    OSError where the kernel lets it make no namespaces."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    _checked(libc.unshare(_NEW_USER | _NEW_MOUNTS), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _checked(libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None), "private mounts")
    hidden = folder.resolve()
    below = sorted({place.resolve() for place in shown if place.exists() and place.resolve().is_relative_to(hidden)})
    with ExitStack() as stack:
        held = []
        for place in below:
            held.append((place, place.is_dir(), os.open(place, os.O_PATH | os.O_CLOEXEC)))
            stack.callback(os.close, held[-1][2])
        _checked(libc.mount(b"none", os.fsencode(hidden), b"tmpfs", 0, b"mode=0755,size=64k"), "hide")
        for place, is_folder, descriptor in held:
            (place if is_folder else place.parent).mkdir(parents=True, exist_ok=True)
            if not is_folder:
                place.touch()
            source = f"/proc/self/fd/{descriptor}".encode()
            _checked(libc.mount(source, os.fsencode(place), None, _BIND | _RECURSIVE, None), f"show {place.name}")
            flags = _REMOUNT | _BIND | _READ_ONLY | _kept(place)
            _checked(libc.mount(None, os.fsencode(place), None, flags, None), f"{place.name} read only")
        _checked(libc.mount(None, os.fsencode(hidden), None, _REMOUNT | _BIND | _READ_ONLY, None), "read only")


def _kept(place: Path) -> int:
    """Flags that a mount has from outside, and that no namespace may take away."""
    return os.statvfs(place).f_flag & (os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC)


def _checked(result: int, step: str) -> None:
    if result:
        code = ctypes.get_errno()
        raise OSError(code, f"{step}: {os.strerror(code)}")
