"""Entries of a layer's tar stream: ustar, with the extended headers of pax and GNU.

Names are bytes, since an image's may be no UTF-8. Everything is bounded before it is read. This module runs in the
process that unpacks and needs the standard library only.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

BLOCK = 512
MOST_EXTENDED_BYTES = 1024 * 1024
"""size limit of the extended header of one entry"""
MOST_NAME_BYTES = 3072
"""size limit of a path, which a program could open anywhere below /"""
MOST_DEPTH = 256
"""number limit of the parts of a path"""
_FIELDS = struct.Struct("100s8s8s8s12s12s8s1s100s6s2s32s32s8s8s155s12x")
_EMPTY = bytes(BLOCK)
_PAX, _PAX_FOR_ALL, _LONG_NAME, _LONG_LINK = b"x", b"g", b"L", b"K"
FILE, HARD_LINK, SYMLINK, CHARACTERS, BLOCKS, FOLDER, FIFO = b"0", b"1", b"2", b"3", b"4", b"5", b"6"
_FILES = frozenset({b"0", b"\0", b"7"})
_WITHOUT_CONTENT = frozenset({HARD_LINK, SYMLINK, CHARACTERS, BLOCKS, FOLDER, FIFO})
_XATTR = b"SCHILY.xattr."
_MOST_ID = 0xFFFFFFFE
_MOST_TIME = 1 << 40
_NANOSECONDS = 1_000_000_000


class BrokenLayerError(ValueError):
    """The stream is no layer; the message says why."""


class ByteStream(Protocol):
    """Where the bytes come from."""

    def take(self, size: int) -> bytes:
        """Exactly so many bytes, or b"" at the end of the stream. Raises BrokenLayerError where it ends within them."""


@dataclass(slots=True)
class Entry:
    """One entry; its content is what the stream has next."""

    parts: list[bytes]
    """parts of its path; [] = the root itself"""
    kind: bytes
    """one of the constants above, or the type as it is written"""
    size: int
    """bytes of content"""
    mode: int
    user: int
    group: int
    modified_ns: int
    link: bytes
    """target of a link, as it is written"""
    attributes: Mapping[bytes, bytes] = field(default_factory=dict)
    """extended attributes"""


def entries(stream: ByteStream) -> Iterator[Entry]:
    """All entries. Before the next one is asked for, the content of the last one has been taken, padding included.
    Raises BrokenLayerError."""
    extended: dict[bytes, bytes] = {}
    taken = 0
    block = stream.take(BLOCK)
    if not block:
        raise BrokenLayerError("it is empty")
    while True:
        if not block or block == _EMPTY:
            return
        (name, mode, user, group, size, modified, checksum, kind, link, magic, _, _, _, _, _, prefix) = _FIELDS.unpack(
            block
        )
        if _number(checksum) != 256 + sum(block[:148]) + sum(block[156:]):
            raise BrokenLayerError("a header has a wrong check sum: it is no tar archive, or was damaged")
        length = _number(size)
        if length < 0:
            raise BrokenLayerError("a header has a size below 0")
        if kind in (_PAX, _PAX_FOR_ALL, _LONG_NAME, _LONG_LINK):
            taken += length
            if taken > MOST_EXTENDED_BYTES:
                raise BrokenLayerError(f"an entry has more than {MOST_EXTENDED_BYTES} bytes of extended headers")
            content = _content(stream, length)
            if kind == _PAX:
                extended.update(_pax(content))
            elif kind != _PAX_FOR_ALL:
                extended[b"path" if kind == _LONG_NAME else b"linkpath"] = content.rstrip(b"\0")
            block = stream.take(BLOCK)
            continue
        path = name.split(b"\0", 1)[0]
        if magic == b"ustar\0" and prefix[0]:
            path = prefix.split(b"\0", 1)[0] + b"/" + path
        target = link.split(b"\0", 1)[0]
        attributes: Mapping[bytes, bytes] = {}
        numbers = [_number(user), _number(group), _number(modified) * _NANOSECONDS]
        if extended:
            path, target = extended.get(b"path", path), extended.get(b"linkpath", target)
            length = _decimal(extended, b"size", length)
            numbers = [_decimal(extended, b"uid", numbers[0]), _decimal(extended, b"gid", numbers[1]), numbers[2]]
            if b"mtime" in extended:
                numbers[2] = _time(extended[b"mtime"])
            if any(key.startswith(b"GNU.sparse") for key in extended):
                kind = b"S"
            attributes = {key[len(_XATTR) :]: value for key, value in extended.items() if key.startswith(_XATTR)}
            extended = {}
        taken = 0
        if kind == b"S":
            raise BrokenLayerError(f"{shown(path)} is a sparse file: write the archive without them (no --sparse)")
        if kind in _FILES:
            kind = FOLDER if path.endswith(b"/") and not length else FILE
        if not (0 <= numbers[0] <= _MOST_ID and 0 <= numbers[1] <= _MOST_ID):
            raise BrokenLayerError(f"{shown(path)} belongs to a user or group with an impossible number")
        yield Entry(
            parts=parts_of(path),
            kind=kind,
            size=0 if kind in _WITHOUT_CONTENT else length,
            mode=_number(mode) & 0o7777,
            user=numbers[0],
            group=numbers[1],
            modified_ns=numbers[2] if abs(numbers[2]) < _MOST_TIME * _NANOSECONDS else 0,
            link=target,
            attributes=attributes,
        )
        block = stream.take(BLOCK)


def parts_of(path: bytes) -> list[bytes]:
    """The parts of a path below the root, which a leading / means, too. Raises BrokenLayerError for one that climbs."""
    if len(path) > MOST_NAME_BYTES:
        raise BrokenLayerError(f"a path has {len(path)} bytes, and may have {MOST_NAME_BYTES}")
    if b"\0" in path:
        raise BrokenLayerError(f"a path has a NUL byte: {shown(path)}")
    parts = [part for part in path.split(b"/") if part and part != b"."]
    if b".." in parts:
        raise BrokenLayerError(f"a path climbs out of its folder: {shown(path)}")
    if len(parts) > MOST_DEPTH:
        raise BrokenLayerError(f"a path has {len(parts)} parts, and may have {MOST_DEPTH}")
    return parts


def shown(path: bytes) -> str:
    """A path for people."""
    return ascii(path[:200].decode(errors="replace"))


def padding(size: int) -> int:
    """Bytes behind a content of this size."""
    return -size % BLOCK


def _content(stream: ByteStream, size: int) -> bytes:
    content = stream.take(size) if size else b""
    if size and not content:
        raise BrokenLayerError("it ends within a header")
    if padding(size):
        stream.take(padding(size))
    return content


def _number(written: bytes) -> int:
    """Octal digits, or GNU's base 256."""
    if written[0] & 0x80:
        bits = len(written) * 8 - 1
        value = int.from_bytes(written, "big") & ((1 << bits) - 1)
        return value - (1 << bits) if value >> (bits - 1) else value
    try:
        return int(written.split(b"\0", 1)[0].strip() or b"0", 8)
    except ValueError:
        raise BrokenLayerError("a header has a number that is none: it is no tar archive, or was damaged") from None


def _pax(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = 0
    while place < len(content):
        blank = content.find(b" ", place, place + 21)
        digits = content[place:blank] if blank > 0 else b""
        end = place + int(digits) if digits.isdigit() else 0
        key, equals, value = content[blank + 1 : end - 1].partition(b"=")
        if not digits.isdigit() or not blank < end <= len(content) or not equals:
            raise BrokenLayerError("an extended header is damaged")
        yield key, value
        place = end


def _decimal(extended: Mapping[bytes, bytes], key: bytes, otherwise: int) -> int:
    value = extended.get(key)
    if value is None:
        return otherwise
    if not value.isdigit() or len(value) > 19:
        raise BrokenLayerError(f"an extended header has a {key.decode()} that is no number")
    return int(value)


def _time(written: bytes) -> int:
    """Seconds with a fraction, as nanoseconds."""
    whole, _, fraction = written.partition(b".")
    sign = -1 if whole.startswith(b"-") else 1
    digits = whole.lstrip(b"-")
    if not digits.isdigit() or len(digits) > 19 or (fraction and not fraction.isdigit()):
        raise BrokenLayerError("an extended header has a time that is none")
    return sign * (int(digits) * _NANOSECONDS + int(fraction[:9].ljust(9, b"0") or b"0"))
