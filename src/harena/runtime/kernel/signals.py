"""Signals as readable events: signalfd, and the mask that goes with it."""

from __future__ import annotations

import ctypes
import os

from harena.runtime.kernel.syscalls import OLD, syscall

SIGCHLD = 17
_MASK = ctypes.c_ulong(1 << (SIGCHLD - 1))


def open_child_signal() -> int:
    """A descriptor that is readable when a child has ended. SIGCHLD must be blocked by the caller."""
    return syscall(
        "signalfd",
        OLD["signalfd4"],
        ctypes.c_int(-1),
        ctypes.byref(_MASK),
        ctypes.c_size_t(8),
        ctypes.c_int(os.O_CLOEXEC | os.O_NONBLOCK),
    )
