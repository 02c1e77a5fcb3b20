"""Machine code as a callable: for the few things that Python would do by writing to too many pages."""

from __future__ import annotations

import ctypes
import os
import struct

from harena.runtime.kernel.syscalls import libc

_PROT_READ, _PROT_WRITE, _PROT_EXEC = 1, 2, 4
_MAP_PRIVATE_ANONYMOUS = 0x22
_ARCH_PRCTL, _GET_XCOMP_PERM = 158, 0x1022


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


def extended_states() -> bytes:
    """What of the processor's states this process has asked for (x86-64), in a form as `signals.describe_actions`."""
    allowed = ctypes.c_ulong(0)
    libc.syscall(ctypes.c_long(_ARCH_PRCTL), ctypes.c_ulong(_GET_XCOMP_PERM), ctypes.byref(allowed))
    return struct.pack("<B7xQ24x", 0, allowed.value)
