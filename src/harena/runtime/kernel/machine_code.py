"""Machine code as a callable: for the few things that Python would do by writing to too many pages."""

from __future__ import annotations

import ctypes
import os

from harena.runtime.kernel.syscalls import check, libc

_PROT_READ, _PROT_WRITE, _PROT_EXEC = 1, 2, 4
_MAP_PRIVATE_ANONYMOUS, _MAP_FIXED = 0x22, 0x10


def load(x86_64: bytes, *arguments: object) -> object | None:
    """A function that takes `arguments` (ctypes types) and gives a long; None where this machine cannot run it.

    The interpreter's lock is not released around a call: what this is for has one thread, and a fork made in there
    goes on in the interpreter.
    """
    if os.uname().machine != "x86_64" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    libc.mmap.restype = ctypes.c_void_p
    size = ctypes.c_size_t(len(x86_64))
    place = libc.mmap(None, size, _PROT_READ | _PROT_WRITE, _MAP_PRIVATE_ANONYMOUS, -1, ctypes.c_long(0))
    if place in (None, ctypes.c_void_p(-1).value):
        return None
    ctypes.memmove(place, x86_64, len(x86_64))
    if libc.mprotect(ctypes.c_void_p(place), size, _PROT_READ | _PROT_EXEC) < 0:
        return None
    return ctypes.PYFUNCTYPE(ctypes.c_long, *arguments)(place)  # type: ignore[arg-type]


def replace_by_copy(place: int, size: int, protection: int) -> None:
    """Map private memory with the same content in the place of whatever is mapped there. Raises OSError."""
    address, length = ctypes.c_void_p(place), ctypes.c_size_t(size)
    check("mprotect", libc.mprotect(address, length, protection | _PROT_READ))
    content = ctypes.string_at(place, size)
    libc.mmap.restype = ctypes.c_void_p
    flags = _MAP_PRIVATE_ANONYMOUS | _MAP_FIXED
    found = libc.mmap(address, length, _PROT_READ | _PROT_WRITE, flags, -1, ctypes.c_long(0))
    check("mmap", 0 if found == place else -1)
    ctypes.memmove(place, content, size)
    check("mprotect", libc.mprotect(address, length, protection))
