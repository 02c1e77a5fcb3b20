"""A reader of tar streams from elsewhere: ustar, with the extended headers of pax and GNU for long names and sizes.

The library's reader takes extended headers of any size into memory, and searches them in quadratic time, in one call
that no other thread interrupts. Here each one is bounded, and read in linear time; of what they say, names, sizes,
owners, times and where the parts of a sparse member lie are kept, until that member.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

BLOCK = 512
MOST_EXTENDED_BYTES = 64 * 1024
"""size limit of one extended header; a path has 4096 bytes at most, extended attributes may be some KiB"""
MOST_EXTENDED_BYTES_IN_ALL = 256 * 1024**2
MOST_EXTENDED_HEADERS = 8
"""number limit before one member; writers have one for all, one of pax, a long name and a long link"""
MOST_EXTENDED_BYTES_OF_A_MEMBER = 2 * MOST_EXTENDED_BYTES
_PIECE_BYTES = 1024 * 1024
MOST_PARTS = 10_000
"""number limit of the parts between the holes of a sparse file"""
_FILES, _FOLDER, _SPARSE_FILE = (b"0", b"\0", b"7"), b"5", b"S"
_PAX, _PAX_FOR_ALL, _LONG_NAME, _LONG_LINK = b"x", b"g", b"L", b"K"
_HARD_LINK, _SYMLINK = b"1", b"2"
_PATH, _SIZE, _SPARSE, _LINK = b"path", b"size", b"GNU.sparse", b"linkpath"
_SPARSE_MAJOR, _SPARSE_NAME, _SPARSE_SIZE = b"GNU.sparse.major", b"GNU.sparse.name", b"GNU.sparse.realsize"
_PARTS_OF_HEADER, _PARTS_OF_BLOCK = (386, 4), (0, 21)
"""(begin, number) of the parts that a header, and each block behind it, has room for"""
_USER, _GROUP, _MODIFIED = b"uid", b"gid", b"mtime"
_MOST_ID = (1 << 32) - 2
_MOST_DIGITS = 19
_DIGITS_OF_PARTS = 2 * MOST_PARTS * 12
"""bytes in which the parts of a sparse file are named by lines, at most"""


class TarStreamError(ValueError):
    """What was sent is no tar stream that is read here; the message says why."""


@dataclass(frozen=True, slots=True)
class TarMember:
    """One entry of a stream."""

    name: str
    """bytes that are no UTF-8 are surrogates"""
    size: int
    mode: int
    is_file: bool
    is_folder: bool
    """neither = a link, a device, a sparse file or something unknown"""
    is_sparse: bool = False
    """a file with holes, as GNU's tar writes it; `read` gives its parts, one after the other"""
    parts: tuple[tuple[int, int], ...] = ()
    """(begin, size) of what of a sparse file is there, in order; all else up to `size` is zeros"""
    is_symlink: bool = False
    is_hard_link: bool = False
    link: str = ""
    """where a link leads, as it is written; bytes that are no UTF-8 are surrogates"""
    user: int = 0
    group: int = 0
    modified: int = 0
    """in seconds since 1970"""


class TarReader:
    """The members of a stream in their order; `read` gives what is in the last one."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._left = self._padding = 0
        """bytes of the current member, and of its padding, that were not read yet"""
        self._extended_bytes = 0

    def __iter__(self) -> Iterator[TarMember]:
        """Raises TarStreamError, OSError."""
        block = self._block()
        if block is None:
            raise TarStreamError("it is empty")
        while block is not None and any(block):
            member, stored = self._member(block)
            self._left, self._padding = stored, -stored % BLOCK
            yield member
            self._skip()
            block = self._block()

    def read(self, most: int) -> bytes:
        """The next bytes of the last member; b"" at its end. Raises TarStreamError where the stream ends before,
        OSError."""
        if not self._left:
            return b""
        piece = self._stream.read(min(most, self._left))
        if not piece:
            raise TarStreamError("it is cut short")
        self._left -= len(piece)
        return piece

    def _skip(self) -> None:
        while self.read(_PIECE_BYTES):
            pass
        self._exactly(self._padding)

    def _exactly(self, size: int) -> bytes:
        self._left = size
        return b"".join(iter(lambda: self.read(size), b""))

    def _block(self) -> bytes | None:
        first = self._stream.read(BLOCK)
        return first + self._exactly(BLOCK - len(first)) if first else None

    def _member(self, block: bytes) -> tuple[TarMember, int]:
        """(the member, how many bytes of it follow)."""
        long_name: bytes | None = None
        long_link: bytes | None = None
        told = _PaxFields()
        headers = extended_bytes = 0
        while (kind := _check_header(block)[156:157]) in (_PAX, _PAX_FOR_ALL, _LONG_NAME, _LONG_LINK):
            size = _number(block[124:136])
            headers, extended_bytes = headers + 1, extended_bytes + size
            if headers > MOST_EXTENDED_HEADERS or extended_bytes > MOST_EXTENDED_BYTES_OF_A_MEMBER:
                raise TarStreamError(
                    f"a member has more than {MOST_EXTENDED_HEADERS} extended headers, or more than "
                    f"{MOST_EXTENDED_BYTES_OF_A_MEMBER} bytes of them"
                )
            content = self._extended(size)
            if kind == _LONG_NAME:
                long_name = content.partition(b"\0")[0]
            elif kind == _LONG_LINK:
                long_link = content.partition(b"\0")[0]
            elif kind == _PAX:
                told.add(content)
            elif kind == _PAX_FOR_ALL and any(key in (_PATH, _SIZE) for key, _ in _records(content)):
                raise TarStreamError("a header for all members gives a name or a size")
            following = self._block()
            if following is None:
                raise TarStreamError("it is cut short")
            block = following
        name = told.path if told.path is not None else long_name if long_name is not None else _ustar_name(block)
        size = _decimal(told.size) if told.size is not None else _number(block[124:136])
        is_folder = kind == _FOLDER or (kind == b"\0" and name.endswith(b"/"))
        is_file = kind in _FILES and not is_folder and not told.is_sparse
        link = told.link if told.link is not None else long_link
        if link is None:
            link = block[157:257].partition(b"\0")[0]
        parts: tuple[tuple[int, int], ...] | None = None
        stored = size if is_file else 0
        if kind == _SPARSE_FILE:
            parts, stored, size = self._parts_of_header(block), size, _number(block[483:495])
        elif kind in _FILES and told.sparse_major == b"1" and told.sparse_size is not None:
            parts, stored = self._parts_of_data(size)
            name, size = told.sparse_name or name, _decimal(told.sparse_size)
        if parts is not None:
            _check_parts(parts, stored, size)
        return TarMember(
            name=_text(name).rstrip("/") if is_folder else _text(name),
            size=size if is_file or parts is not None else 0,
            is_sparse=parts is not None,
            parts=parts or (),
            mode=_number(block[100:108]) & 0o7777,
            is_file=is_file,
            is_folder=is_folder,
            is_symlink=kind == _SYMLINK,
            is_hard_link=kind == _HARD_LINK,
            link=_text(link) if kind in (_SYMLINK, _HARD_LINK) else "",
            user=_owner(told.user, block[108:116]),
            group=_owner(told.group, block[116:124]),
            modified=_seconds(told.modified) if told.modified is not None else _number_or_0(block[136:148]),
        ), stored

    def _parts_of_header(self, block: bytes) -> tuple[tuple[int, int], ...]:
        """The parts of a sparse file, which a header of GNU's and the blocks behind it name."""
        (start, count), is_more = _PARTS_OF_HEADER, block[482]
        parts: list[tuple[int, int]] = []
        while True:
            for at in range(start, start + 24 * count, 24):
                if block[at : at + 12].strip(b"\0 "):
                    parts.append((_number(block[at : at + 12]), _number(block[at + 12 : at + 24])))
            if len(parts) > MOST_PARTS:
                raise TarStreamError(f"a sparse file has more than {MOST_PARTS} parts")
            if not is_more:
                return tuple(parts)
            following = self._block()
            if following is None:
                raise TarStreamError("it is cut short")
            block, (start, count) = following, _PARTS_OF_BLOCK
            is_more = block[504]

    def _parts_of_data(self, size: int) -> tuple[tuple[tuple[int, int], ...], int]:
        """(the parts of a sparse file, which its first lines name; how many bytes follow these)."""
        told = b""
        numbers: list[bytes] = []
        while not numbers or len(numbers) <= 2 * _decimal(numbers[0]):
            if len(told) >= min(size, _DIGITS_OF_PARTS):
                raise TarStreamError(f"a sparse file has more than {MOST_PARTS} parts, or does not name them all")
            told += self._exactly(BLOCK)
            numbers = told.split(b"\n")[:-1]
        found = [_decimal(number) for number in numbers[1 : 1 + 2 * _decimal(numbers[0])]]
        return tuple(zip(found[::2], found[1::2], strict=True)), size - len(told)

    def _extended(self, size: int) -> bytes:
        self._extended_bytes += size + BLOCK
        if size > MOST_EXTENDED_BYTES:
            raise TarStreamError(f"an extended header has more than {MOST_EXTENDED_BYTES} bytes")
        if self._extended_bytes > MOST_EXTENDED_BYTES_IN_ALL:
            raise TarStreamError(f"its extended headers have more than {MOST_EXTENDED_BYTES_IN_ALL} bytes")
        content = self._exactly(size)
        self._exactly(-size % BLOCK)
        return content


@dataclass(slots=True)
class _PaxFields:
    """What pax headers say of the next member, as far as it is used; of a key that comes twice, the last."""

    path: bytes | None = None
    size: bytes | None = None
    is_sparse: bool = False
    sparse_major: bytes | None = None
    sparse_name: bytes | None = None
    sparse_size: bytes | None = None
    link: bytes | None = None
    user: bytes | None = None
    group: bytes | None = None
    modified: bytes | None = None

    def add(self, content: bytes) -> None:
        for key, value in _records(content):
            if key == _PATH:
                self.path = value
            elif key == _SIZE:
                self.size = value
            elif key == _LINK:
                self.link = value
            elif key == _USER:
                self.user = value
            elif key == _GROUP:
                self.group = value
            elif key == _MODIFIED:
                self.modified = value
            elif key.startswith(_SPARSE):
                self.is_sparse = True
                if key == _SPARSE_MAJOR:
                    self.sparse_major = value
                elif key == _SPARSE_NAME:
                    self.sparse_name = value
                elif key == _SPARSE_SIZE:
                    self.sparse_size = value


def _check_parts(parts: tuple[tuple[int, int], ...], stored: int, size: int) -> None:
    """They lie one after the other within the file, and are what follows. Raises TarStreamError."""
    end = 0
    for begin, length in parts:
        if begin < end or length < 0:
            raise TarStreamError("the parts of a sparse file do not lie one after the other")
        end = begin + length
    if end > size or sum(length for _, length in parts) != stored:
        raise TarStreamError("the parts of a sparse file are not what follows")


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _check_header(block: bytes) -> bytes:
    """The header, whose sum is right. Raises TarStreamError."""
    unsigned = sum(block) - sum(block[148:156]) + 8 * ord(" ")
    signed = unsigned - 256 * sum(byte > 127 for byte in block[:148] + block[156:])
    if _number(block[148:156]) not in (unsigned, signed):
        raise TarStreamError("a header's checksum is wrong")
    return block


def _ustar_name(block: bytes) -> bytes:
    name, prefix = (field.partition(b"\0")[0] for field in (block[:100], block[345:500]))
    return prefix + b"/" + name if prefix and block[257:263] == b"ustar\0" else name


def _number(field: bytes) -> int:
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.partition(b"\0")[0].strip(b" ")
    if digits.strip(b"01234567"):
        raise TarStreamError("a header has no number where one belongs")
    return int(digits or b"0", 8)


def _decimal(digits: bytes) -> int:
    if not digits.isdigit() or len(digits) > _MOST_DIGITS:
        raise TarStreamError("an extended header gives a size that is no number")
    return int(digits)


def _owner(told: bytes | None, field: bytes) -> int:
    """A number of a user or a group; 0 where it is none that a file could have."""
    if told is not None:
        field = b"%o" % int(told) if told.isdigit() and len(told) <= _MOST_DIGITS else b""
    number = _number_or_0(field or b"0")
    return number if number <= _MOST_ID else 0


def _number_or_0(field: bytes) -> int:
    try:
        return _number(field)
    except TarStreamError:  # below 0, or nothing: no reason to refuse a file
        return 0


def _seconds(written: bytes) -> int:
    """Seconds since 1970, without their fraction; 0 for what is no time."""
    whole = written.partition(b".")[0]
    return int(whole) if whole.isdigit() and len(whole) <= _MOST_DIGITS else 0


def _records(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """`LENGTH KEY=VALUE\\n`, where the length counts the whole record."""
    start = 0
    while start < len(content) and content[start]:
        space = content.find(b" ", start, start + _MOST_DIGITS)
        length = _decimal(content[start:space]) if space > 0 else 0
        record = content[space + 1 : start + length]
        key, equals, value = record[:-1].partition(b"=")
        if not (equals and key and record.endswith(b"\n") and start + length <= len(content)):
            raise TarStreamError("an extended header has a record that is none")
        yield key, value
        start += length
