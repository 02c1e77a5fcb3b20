"""Zeros are written as holes: who says how long a file is, and not what is in it, takes no disk. Needs the standard
library only: this runs in the processes that seal and unpack layers."""

from __future__ import annotations

import os

_LEAST_BYTES = 4096


def write(descriptor: int, piece: bytes) -> None:
    """Write all of a piece at the place where the file is. Its end is there only after `end`. Raises OSError."""
    if len(piece) >= _LEAST_BYTES and not piece[0] and piece.count(0) == len(piece):
        os.lseek(descriptor, len(piece), os.SEEK_CUR)
        return
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def end(descriptor: int, size: int) -> None:
    """Say how long the file is. Raises OSError."""
    os.ftruncate(descriptor, size)
