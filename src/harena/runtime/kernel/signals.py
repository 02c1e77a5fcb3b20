"""Signals as readable events."""

from __future__ import annotations

import struct

SIGCHLD = 17
CHILD_MASK = struct.pack("<Q", 1 << (SIGCHLD - 1))
