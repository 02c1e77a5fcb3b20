"""Signals as readable events, and children that need no burial."""

from __future__ import annotations

import ctypes
import struct

from harena.runtime.kernel.numbers import NUMBERS
from harena.runtime.kernel.syscalls import syscall

SIGCHLD = 17
CHILD_MASK = struct.pack("<Q", 1 << (SIGCHLD - 1))
_SA_NOCLDWAIT = 2


def forget_children() -> None:
    """Children vanish when they end, unwaited for. Behind Python's back: its table of handlers stays a program's."""
    action = struct.pack("<QQQQ", 0, _SA_NOCLDWAIT, 0, 0)
    syscall(
        "forget children",
        NUMBERS["rt_sigaction"],
        ctypes.c_int(SIGCHLD),
        ctypes.c_char_p(action),
        None,
        ctypes.c_size_t(8),
    )


def describe_actions() -> bytes:
    """What this process does at each signal, where it is not the default: number and the kernel's struct, each in 40
    bytes. Not SIGCHLD."""
    found = b""
    for number in range(1, 65):
        action = ctypes.create_string_buffer(32)
        if number not in (9, 19, SIGCHLD):
            syscall(
                "read action",
                NUMBERS["rt_sigaction"],
                ctypes.c_int(number),
                None,
                action,
                ctypes.c_size_t(8),
            )
            if action.raw[:8] != bytes(8):
                found += struct.pack("<B7x32s", number, action.raw)
    return found
