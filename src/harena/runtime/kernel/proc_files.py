"""Files of /proc, as bytes.

A program may name what such a file tells of: itself, a thread, a file that it has mapped, a mount point. The kernel
escapes the end of a line in such a name, b"\\n", and nothing else. Whoever reads text, or splits by `splitlines`, takes
a b"\\r" (or one of a dozen other characters) for the end of a line, too, and a name can forge a line.
"""

from __future__ import annotations

import os

_READ_BYTES = 1 << 16


def read(path: str) -> bytes:
    """The whole file. Raises OSError; ProcessLookupError where its process has ended meanwhile."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        pieces: list[bytes] = []
        while True:
            piece = os.read(descriptor, _READ_BYTES)
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)
    finally:
        os.close(descriptor)


def lines(path: str) -> list[bytes]:
    """Its lines, without their ends. Raises OSError."""
    found = read(path).split(b"\n")
    if not found[-1]:
        found.pop()
    return found


def fields_after_name(stat: bytes) -> list[bytes]:
    """The fields of a /proc/PID/stat from the third one on, which is the state. The second is the name, in
    parentheses."""
    return stat.rpartition(b")")[2].split()
