"""Formats in which archives are compressed, told by how they begin. Needs the standard library only: this runs in the
process that unpacks layers, too."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Protocol

_XZ_MEMORY_BYTES = 256 << 20
"""memory that a stream may ask for, which it says itself; `xz -9` asks for a quarter"""


class Decompressor(Protocol):
    """Decompresses one stream, some bytes at a time."""

    @property
    def eof(self) -> bool:
        """Whether the stream is over."""

    @property
    def unused_data(self) -> bytes:
        """What has come behind its end."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more can be made of what has come."""

    def decompress(self, piece: bytes, most: int = ..., /) -> bytes:
        """What can be made of it, in `most` bytes at most."""


class Gzip:
    """zlib's decompressor, with the others' interface."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        """Whether the stream is over."""
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        """What has come behind its end."""
        return self._zlib.unused_data

    @property
    def needs_input(self) -> bool:
        """Whether nothing more can be made of what has come."""
        return not self._zlib.unconsumed_tail

    def decompress(self, piece: bytes, most: int = 0, /) -> bytes:
        """What can be made of it, in `most` bytes at most. Raises zlib.error."""
        return self._zlib.decompress(self._zlib.unconsumed_tail + piece, most)


FORMATS: tuple[tuple[bytes, Callable[[], Decompressor]], ...] = (
    (b"\x1f\x8b", Gzip),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\0", lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY_BYTES)),
)
"""(how a stream begins, what decompresses it)"""


def decompressor(begin: bytes) -> tuple[bytes, Callable[[], Decompressor]] | None:
    """The format of what begins like this; None = none of these."""
    return next((one for one in FORMATS if begin.startswith(one[0])), None)
