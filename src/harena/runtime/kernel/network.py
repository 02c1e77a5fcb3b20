"""The network namespace of a sandbox: nothing but a loopback interface, and that one up."""

from __future__ import annotations

import os

SET_FLAGS = 0x8914  # SIOCSIFFLAGS
LOOPBACK_UP = b"lo".ljust(16, b"\0") + (0x41).to_bytes(2, "little").ljust(24, b"\0")  # IFF_UP | IFF_RUNNING

RECYCLED = 48
"""How many a template keeps for sandboxes to come, see networks.c: descriptors are copied into every fork, more would
cost more than they save."""

_COUNTERS = ("/proc/self/net/snmp", "/proc/self/net/netstat", "/proc/self/net/snmp6")


def counters() -> list[tuple[str, bytes]]:
    """What programs can read of this process's network namespace: path and content; empty in a kernel without it."""
    found = []
    for path in _COUNTERS:
        content = b""
        if os.access(path, os.R_OK):
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                content = os.read(descriptor, 65536)
            finally:
                os.close(descriptor)
        found.append((path, content))
    return found
