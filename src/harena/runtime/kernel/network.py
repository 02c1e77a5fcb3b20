"""The network namespace of a sandbox: nothing but a loopback interface, and that one up."""

from __future__ import annotations

import _socket
import ctypes

from harena.runtime.kernel.syscalls import check, libc

_SIOCSIFFLAGS = 0x8914
_IFF_UP_RUNNING = 0x41
_REQUEST = b"lo".ljust(16, b"\0") + _IFF_UP_RUNNING.to_bytes(2, "little").ljust(24, b"\0")


def loopback_up() -> None:
    """Bring `lo` up."""
    probe = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM | _socket.SOCK_CLOEXEC, 0)
    try:
        check("loopback up", libc.ioctl(probe.fileno(), ctypes.c_ulong(_SIOCSIFFLAGS), ctypes.c_char_p(_REQUEST)))
    finally:
        probe.close()
