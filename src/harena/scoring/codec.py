"""Values on the wire, the host's half. `guest_driver` documents the format and holds the guest's half.

The decoder treats every byte as hostile: it reads forward only, believes no count before the bytes are there, bounds
depth and number of parts, refuses any spelling that the encoder would not have chosen, and hashes nothing.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar

from harena.core.errors import HarenaError
from harena.scoring.slices import SLICE
from harena.scoring.standard import Form, checked, python_form
from harena.scoring.values import MAX_DEPTH, Bag, StandardInstance

MAX_PARTS = 250_000
MAX_BYTES = 8 * 1024 * 1024
_SORTED_AT_A_TIME = 10_000

_CONTAINER_TAGS = {"list": b"l", "tuple": b"t", "set": b"e", "frozenset": b"z", "dict": b"d"}
_BAG_KINDS: dict[bytes, Literal["set", "frozenset", "dict"]] = {b"e": "set", b"z": "frozenset", b"d": "dict"}
_LENGTH = re.compile(rb"(0|[1-9][0-9]{0,8}):")
_INT = re.compile(rb"(-?[1-9a-f][0-9a-f]*|0);")
_FLOAT = r"(?:-?(?:0x[01]\.[0-9a-f]{13}p[+-][0-9]{1,4}|0x0\.0p\+0|inf)|nan)"
_FLOAT_END = re.compile(f"({_FLOAT});".encode())
Ordered = TypeVar("Ordered", bytes, tuple[Any, ...])
_COMPLEX_END = re.compile(f"({_FLOAT}),({_FLOAT});".encode())


class MalformedError(HarenaError):
    """What came over the wire is not what the guest driver sends. Never raised for anything that the host made."""


def encode(value: Any) -> bytes:
    """A host value (`values.from_tagged` made it) as bytes."""
    parts: list[bytes] = []
    _put(value, parts.append, False, False)
    return b"".join(parts)


def canonical(value: Any, *, lists_alike: bool = False) -> bytes:
    """Equal bytes exactly when two values are equal, type by type.

    The order of sets and dicts does not count, NaN equals NaN, and -0.0 equals 0.0; 1, 1.0 and True are three values.
    With `lists_alike` a tuple equals the list of the same items, as in JSON.
    """
    parts: list[bytes] = []
    _put(value, parts.append, True, lists_alike)
    return b"".join(parts)


def _put(value: Any, put: Callable[[bytes], None], canonical: bool, lists_alike: bool) -> None:
    kind = type(value)
    if kind is int:
        put(b"i%x;" % value)
    elif kind is str:
        text = value.encode("utf-8", "surrogatepass")
        put(b"s%d:%b" % (len(text), text))
    elif value is None:
        put(b"N")
    elif kind is bool:
        put(b"T" if value else b"F")
    elif kind is float:
        put(b"f%b;" % _float_text(value, canonical))
    elif kind is list or kind is tuple:
        put(b"%b%d:" % (b"l" if kind is list or lists_alike else b"t", len(value)))
        for item in value:
            if type(item) is int:  # as most are
                put(b"i%x;" % item)
            else:
                _put(item, put, canonical, lists_alike)
    elif kind is Bag:
        put(b"%b%d:" % (_CONTAINER_TAGS[value.kind], len(value.items)))
        encoded = [_joined(item, value.kind, canonical, lists_alike) for item in value.items]
        for part in in_order(encoded) if canonical else encoded:
            put(part)
    elif kind is bytes:
        put(b"b%d:%b" % (len(value), value))
    elif kind is complex:
        real, imaginary = _float_text(value.real, canonical), _float_text(value.imag, canonical)
        put(b"c%b,%b;" % (real, imaginary))
    elif kind is StandardInstance or kind is Form:
        form = python_form(value, lambda item: item) if canonical and kind is StandardInstance else value
        put(b"o%d:%b" % (len(value.name), value.name.encode()))
        _put(form.parts if isinstance(form, StandardInstance | Form) else form, put, canonical, lists_alike)
    else:
        raise TypeError(f"not a host value: {kind.__name__}")


def in_order(encoded: Iterable[Ordered]) -> Iterable[Ordered]:
    """Sorted. Of many parts no more than some at one time: to sort them all is one step, in which nothing else runs."""
    parts = list(encoded)
    if len(parts) <= _SORTED_AT_A_TIME:
        parts.sort()
        return parts
    step = _SORTED_AT_A_TIME
    return heapq.merge(*(sorted(parts[start : start + step]) for start in range(0, len(parts), step)))


def _joined(item: Any, kind: str, canonical: bool, lists_alike: bool) -> bytes:
    """One part of a set, or one key and value of a dict."""
    parts: list[bytes] = []
    if kind == "dict":
        _put(item[0], parts.append, canonical, lists_alike)
        _put(item[1], parts.append, canonical, lists_alike)
    else:
        _put(item, parts.append, canonical, lists_alike)
    return b"".join(parts)


def _float_text(value: float, canonical: bool) -> bytes:
    return (abs(value) if canonical and value == 0 else value).hex().encode()


def decode(body: bytes) -> Any:
    """The host value that `body` holds, and nothing after it. Raises MalformedError."""
    if len(body) > MAX_BYTES:
        raise MalformedError(f"a value of {len(body)} bytes, more than the {MAX_BYTES} allowed")
    reader = _Reader(body)
    value = reader.read(MAX_DEPTH)
    if reader.at != len(body):
        raise MalformedError(f"{len(body) - reader.at} bytes after the value's end")
    return value


class _Reader:
    __slots__ = ("at", "body", "parts_left")

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.at = 0
        self.parts_left = MAX_PARTS

    def read(self, depth: int) -> Any:
        self.parts_left -= 1
        if self.parts_left < 0:
            raise MalformedError(f"more than {MAX_PARTS} parts")
        tag = self.body[self.at : self.at + 1]
        self.at += 1
        if tag == b"i":
            return int(self._match(_INT)[1], 16)
        if tag == b"s":
            try:
                return _to_text(self._take())
            except UnicodeDecodeError:
                raise MalformedError("text that is not UTF-8") from None
        if tag in (b"N", b"T", b"F"):
            return None if tag == b"N" else tag == b"T"
        if tag == b"f":
            return _to_float(self._match(_FLOAT_END)[1])
        if tag == b"b":
            return self._take()
        if tag == b"c":
            found = self._match(_COMPLEX_END)
            return complex(_to_float(found[1]), _to_float(found[2]))
        if tag == b"o":
            return self._read_made(depth)
        return self._read_container(tag, depth)

    def _read_made(self, depth: int) -> StandardInstance:
        if depth == 0:
            raise MalformedError(f"nested deeper than {MAX_DEPTH}")
        try:
            return checked(self._take().decode("ascii", "replace"), self.read(depth - 1))
        except ValueError as error:
            raise MalformedError(str(error)) from None

    def _read_container(self, tag: bytes, depth: int) -> Any:
        if tag not in (b"l", b"t", b"e", b"z", b"d"):
            raise MalformedError(f"unknown tag {tag!r}")
        if depth == 0:
            raise MalformedError(f"nested deeper than {MAX_DEPTH}")
        count = int(self._match(_LENGTH)[1])
        if count > self.parts_left:
            raise MalformedError(f"more than {MAX_PARTS} parts")
        if tag == b"d":
            return Bag("dict", tuple((self.read(depth - 1), self.read(depth - 1)) for _ in range(count)))
        items = [self.read(depth - 1) for _ in range(count)]
        if tag == b"l":
            return items
        return tuple(items) if tag == b"t" else Bag(_BAG_KINDS[tag], tuple(items))

    def _take(self) -> bytes:
        size = int(self._match(_LENGTH)[1])
        taken = self.body[self.at : self.at + size]
        if len(taken) != size:
            raise MalformedError("cut short")
        self.at += size
        return taken

    def _match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes]:
        found = pattern.match(self.body, self.at)
        if found is None:
            raise MalformedError(f"not a value at byte {self.at}")
        self.at = found.end()
        return found


def _to_text(taken: bytes) -> str:
    """Text with lone surrogates. They are decoded by an error handler, each by a call, and so in slices: no other
    thread has a turn within one step."""
    try:
        return taken.decode()
    except UnicodeDecodeError:
        pass
    parts, at = [], 0
    while at < len(taken):
        end = at + SLICE
        while end < len(taken) and taken[end] & 0xC0 == 0x80 and end > at + SLICE - 3:
            end -= 1  # within a character
        parts.append(taken[at:end].decode("utf-8", "surrogatepass"))
        at = end
    return "".join(parts)


def _to_float(text: bytes) -> float:
    try:
        return float.fromhex(text.decode())
    except (ValueError, OverflowError):
        raise MalformedError("not a float") from None
