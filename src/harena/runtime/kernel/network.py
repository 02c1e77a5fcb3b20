"""The network namespace of a sandbox: nothing but a loopback interface, and that one up."""

from __future__ import annotations

SET_FLAGS = 0x8914  # SIOCSIFFLAGS
LOOPBACK_UP = b"lo".ljust(16, b"\0") + (0x41).to_bytes(2, "little").ljust(24, b"\0")  # IFF_UP | IFF_RUNNING
