"""Frames: how the output of a command travels as one stream of bytes.

Each frame is one byte that says what it is, four bytes of length (unsigned, big-endian), and that many bytes:

    STARTED  JSON {exec_id}      first
    STDOUT   bytes               in the order in which they were written, any number of frames
    STDERR   bytes
    RESULT   JSON                last, where the command came to an end: `ExecReport`
    PROBLEM  JSON                last, where it did not: `harena.core.problems.to_problem`

A stream without one of the last two is broken off, and its command's end is unknown.
"""

from __future__ import annotations

import struct
from enum import IntEnum

MEDIA_TYPE = "application/vnd.harena.frames"
HEADER = struct.Struct(">BI")
MOST_BYTES = 1024 * 1024
"""largest content of one frame that carries output"""
MOST_JSON_BYTES = 16 * 1024 * 1024


class Frame(IntEnum):
    """What a frame is."""

    STARTED = 1
    STDOUT = 2
    STDERR = 3
    RESULT = 4
    PROBLEM = 5


def frames(kind: Frame, content: bytes) -> bytes:
    """The content as one frame, or as several where it is output and larger than MOST_BYTES."""
    if len(content) <= MOST_BYTES or kind not in (Frame.STDOUT, Frame.STDERR):
        return HEADER.pack(kind, len(content)) + content
    pieces = (content[start : start + MOST_BYTES] for start in range(0, len(content), MOST_BYTES))
    return b"".join(HEADER.pack(kind, len(piece)) + piece for piece in pieces)
