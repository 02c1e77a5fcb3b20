"""The bridge to the kernel: libc through ctypes, and errors that name the step that failed."""

from __future__ import annotations

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)

# Numbers are the same on every architecture since Linux 5.1 unified the tables.
PIDFD_SEND_SIGNAL = 424
OPEN_TREE = 428
MOVE_MOUNT = 429
FSOPEN = 430
FSCONFIG = 431
FSMOUNT = 432
PIDFD_OPEN = 434
CLONE3 = 435
CLOSE_RANGE = 436
OPENAT2 = 437
MOUNT_SETATTR = 442


class StepError(OSError):
    """A system call failed; `step` says which step of the launch it was."""

    def __init__(self, step: str, code: int) -> None:
        super().__init__(code, os.strerror(code))
        self.step = step

    def __str__(self) -> str:
        return "%s: %s" % (self.step, os.strerror(self.errno or 0))


def syscall(step: str, number: int, *args: object) -> int:
    """`syscall(2)`; raises StepError."""
    result = libc.syscall(ctypes.c_long(number), *args)
    if result < 0:
        raise StepError(step, ctypes.get_errno())
    return int(result)


def check(step: str, result: int) -> int:
    """Raise StepError if a libc call returned -1."""
    if result < 0:
        raise StepError(step, ctypes.get_errno())
    return result


def prctl(step: str, option: int, value: int = 0, third: int = 0, fourth: int = 0) -> int:
    """`prctl(2)`; raises StepError."""
    return check(
        step,
        libc.prctl(
            ctypes.c_int(option),
            ctypes.c_ulong(value),
            ctypes.c_ulong(third),
            ctypes.c_ulong(fourth),
            ctypes.c_ulong(0),
        ),
    )


def close_from(first: int) -> None:
    """Close every descriptor from `first` on."""
    if libc.syscall(ctypes.c_long(CLOSE_RANGE), ctypes.c_uint(first), ctypes.c_uint(0xFFFFFFFF), ctypes.c_uint(0)) < 0:
        os.closerange(first, 65536)  # before Linux 5.9
