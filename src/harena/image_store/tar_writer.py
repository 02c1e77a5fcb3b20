"""Writes the entries of a layer as a tar stream: ustar, with extended headers of pax for what does not fit.

Names are bytes, and stand in an extended header as they are, as Docker and GNU tar write them. This module runs in the
process that seals a layer and needs the standard library only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from harena.image_store.tar_entries import BLOCK, FOLDER, Entry, padding

_NAME_BYTES, _OCTAL_12, _OCTAL_8 = 100, 8**11, 8**7
_NANOSECONDS = 1_000_000_000
_END = bytes(2 * BLOCK)


def header(entry: Entry) -> bytes:
    """What stands before the content of an entry."""
    path = b"/".join(entry.parts) + (b"/" if entry.kind == FOLDER else b"")
    extended = [(b"SCHILY.xattr." + name, value) for name, value in sorted(entry.attributes.items())]
    if len(path) > _NAME_BYTES or not path.isascii():
        extended.append((b"path", path))
    if len(entry.link) > _NAME_BYTES or not entry.link.isascii():
        extended.append((b"linkpath", entry.link))
    if entry.size >= _OCTAL_12:
        extended.append((b"size", b"%d" % entry.size))
    for name, number in ((b"uid", entry.user), (b"gid", entry.group)):
        if number >= _OCTAL_8:
            extended.append((name, b"%d" % number))
    seconds, rest = divmod(entry.modified_ns, _NANOSECONDS)
    if rest or not 0 <= seconds < _OCTAL_12:
        sign, whole, rest = (b"-", *divmod(-entry.modified_ns, _NANOSECONDS)) if seconds < 0 else (b"", seconds, rest)
        extended.append((b"mtime", sign + b"%d.%09d" % (whole, rest)))
    plain = _block(path, entry.mode, entry.user, entry.group, entry.size, seconds, entry.kind, entry.link)
    if not extended:
        return plain
    records = b"".join(_record(name, value) for name, value in extended)
    return _before_records(len(records)) + records + bytes(padding(len(records))) + plain


@lru_cache(maxsize=1024)
def _before_records(size: int) -> bytes:
    """The header of an extended header, which almost every file has: its time has a fraction."""
    return _block(b"PaxHeaders", 0o644, 0, 0, size, 0, b"x", b"")


def end(write: Callable[[bytes], object]) -> None:
    """Write what ends a stream."""
    write(_END)


def _record(name: bytes, value: bytes) -> bytes:
    """A record of an extended header, whose length counts its own digits."""
    rest = b" " + name + b"=" + value + b"\n"
    length = len(rest) + 1
    while length != len(rest) + len(b"%d" % length):
        length = len(rest) + len(b"%d" % length)
    return b"%d" % length + rest


def _block(path: bytes, mode: int, user: int, group: int, size: int, seconds: int, kind: bytes, link: bytes) -> bytes:
    fields = (
        path[:_NAME_BYTES].ljust(100, b"\0"),
        b"%07o\0" % (mode & 0o7777),
        b"%07o\0" % (user if user < _OCTAL_8 else 0),
        b"%07o\0" % (group if group < _OCTAL_8 else 0),
        b"%011o\0" % (size if size < _OCTAL_12 else 0),
        b"%011o\0" % (seconds if 0 <= seconds < _OCTAL_12 else 0),
        b" " * 8,
        kind,
        link[:_NAME_BYTES].ljust(100, b"\0"),
        b"ustar\x0000",
        bytes(32 + 32),
        b"%07o\0%07o\0" % (0, 0),
        bytes(155 + 12),
    )
    block = b"".join(fields)
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]
