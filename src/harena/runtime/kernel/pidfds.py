"""Processes by descriptor: never by a number that somebody else may have by now."""

from __future__ import annotations

import ctypes
import os

from harena.runtime.kernel.syscalls import PIDFD_OPEN, PIDFD_SEND_SIGNAL, StepError, syscall


def open_pidfd(pid: int) -> int:
    """`pidfd_open(2)`."""
    return syscall("pidfd_open", PIDFD_OPEN, ctypes.c_int(pid), ctypes.c_uint(0))


def send_signal(pidfd: int, signum: int) -> bool:
    """Send a signal; False if the process has already ended."""
    try:
        syscall(
            "pidfd_send_signal", PIDFD_SEND_SIGNAL, ctypes.c_int(pidfd), ctypes.c_int(signum), None, ctypes.c_uint(0)
        )
    except StepError as error:
        if error.errno == 3:  # ESRCH
            return False
        raise
    return True


def pid_of(pidfd: int) -> int:
    """The process's number in this process's pid namespace; <= 0 if it has ended or is not visible here."""
    descriptor = os.open(f"/proc/self/fdinfo/{pidfd}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = os.read(descriptor, 4096)
    finally:
        os.close(descriptor)
    start = text.index(b"Pid:") + 4
    return int(text[start : text.index(b"\n", start)])
