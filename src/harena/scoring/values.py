"""Values as the host holds them, and the tagged notation in which people write them.

What a candidate returned is hostile: a set of integers that were chosen to collide takes quadratic time to build, and
`{1, True}` is one element to Python and two to a type-strict comparison. So sets and dicts stay what they were on the
wire, sequences of parts (`Bag`), and are compared by their parts' encodings.

The notation, for what YAML and JSON cannot write (each tag stands alone in its mapping):

    {"$tuple": [1, 2]}          {"$set": [1, 2]}             {"$frozenset": [1, 2]}      {"$bytes": "aGk="} (base64)
    {"$float": "nan"}           {"$complex": [1.0, -2.0]}    {"$int": "0xff"}            {"$dict": [[key, value], ...]}
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

MAX_DEPTH = 100
"""deepest nesting of containers; the guest refuses to send deeper ones (the two numbers are compared by a test)"""

type_names = "None, bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset"


@dataclass(frozen=True, slots=True)
class Bag:
    """A set, a frozenset or a dict. A dict's items are (key, value) pairs."""

    kind: Literal["set", "frozenset", "dict"]
    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class StandardInstance:
    """An instance of a class of the standard library, that has crossed the border (see `standard`)."""

    name: str
    """full name of the class, as `fractions.Fraction`"""
    parts: tuple[Any, ...]


class NotationError(ValueError):
    """A value cannot be written like this; `where` is the path from the value's root, as `[0].$tuple[1]`."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(f"at {where}: {message}" if where else message)


def from_tagged(written: Any, where: str = "", depth: int = MAX_DEPTH) -> Any:
    """The value that the notation writes. Real tuples, sets and bytes (scenarios made in Python) are taken as they are.

    Raises NotationError."""
    if written is None or type(written) in _PLAIN:
        return written
    if depth == 0:
        raise NotationError(f"nested deeper than {MAX_DEPTH}", where)
    if type(written) is list or type(written) is tuple:
        if not any(type(item) not in _PLAIN for item in written):
            return type(written)(written)
        return type(written)(from_tagged(item, f"{where}[{i}]", depth - 1) for i, item in enumerate(written))
    if isinstance(written, Bag):
        return written
    if type(written) is set or type(written) is frozenset:
        kind: Literal["set", "frozenset"] = "set" if type(written) is set else "frozenset"
        return Bag(kind, tuple(from_tagged(item, where, depth - 1) for item in written))
    if isinstance(written, Mapping):
        return _from_mapping(written, where, depth)
    raise NotationError(
        f"a value of the type {type(written).__name__} cannot be sent to a program; these can: {type_names} "
        "(put quotes around it if it should be text)",
        where,
    )


def from_python(made: Any) -> Any:
    """A host value of plain Python ones, with no notation in it: a dict is a dict, whatever its keys are."""
    kind = type(made)
    if kind in _PLAIN:
        return made
    if kind is list or kind is tuple:
        return kind([from_python(item) for item in made])
    if kind is dict or isinstance(made, Mapping):
        return Bag("dict", tuple([(from_python(key), from_python(item)) for key, item in made.items()]))
    return from_tagged(made)


_PLAIN = frozenset({bool, int, float, str, bytes, complex, type(None)})


def _from_mapping(written: Mapping[Any, Any], where: str, depth: int) -> Any:
    tags = [key for key in written if isinstance(key, str) and key.startswith("$")]
    if not tags:
        pairs = (
            (from_tagged(key, where, depth - 1), from_tagged(item, f"{where}.{key}", depth - 1))
            for key, item in written.items()
        )
        return Bag("dict", tuple(pairs))
    if len(written) != 1 or tags[0] not in _TAGS:
        raise NotationError(
            f"{tags[0]!r} is not one of {', '.join(_TAGS)}, alone in its mapping; a dict with such a key is written "
            '{"$dict": [["$key", value]]}',
            where,
        )
    return _TAGS[tags[0]](written[tags[0]], f"{where}.{tags[0]}", depth - 1)


def _items(written: Any, where: str, depth: int) -> tuple[Any, ...]:
    if type(written) not in (list, tuple):
        raise NotationError("a list of parts is needed", where)
    return tuple(from_tagged(item, f"{where}[{i}]", depth) for i, item in enumerate(written))


def _pairs(written: Any, where: str, depth: int) -> Bag:
    parts = _items(written, where, depth)
    if any(type(part) not in (list, tuple) or len(part) != 2 for part in parts):
        raise NotationError("a list of [key, value] pairs is needed", where)
    return Bag("dict", tuple((part[0], part[1]) for part in parts))


def _bytes(written: Any, where: str, depth: int) -> bytes:
    try:
        return base64.b64decode(written, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise NotationError("text in base64 is needed", where) from None


def _float(written: Any, where: str, depth: int) -> float:
    try:
        return float(written)
    except (TypeError, ValueError, OverflowError):
        raise NotationError('a number as text is needed, as "nan", "inf", "-inf" or "1e400"', where) from None


def _int(written: Any, where: str, depth: int) -> int:
    try:
        return int(written, 0) if isinstance(written, str) else int(written)
    except (TypeError, ValueError, OverflowError):
        raise NotationError('an integer as text is needed, as "12" or "0xff"', where) from None


def _complex(written: Any, where: str, depth: int) -> complex:
    parts = _items(written, where, depth)
    if len(parts) != 2 or any(type(part) not in (int, float) for part in parts):
        raise NotationError("[real, imaginary] is needed", where)
    return complex(parts[0], parts[1])


_TAGS: dict[str, Callable[[Any, str, int], Any]] = {
    "$tuple": _items,
    "$set": lambda written, where, depth: Bag("set", _items(written, where, depth)),
    "$frozenset": lambda written, where, depth: Bag("frozenset", _items(written, where, depth)),
    "$bytes": _bytes,
    "$float": _float,
    "$int": _int,
    "$complex": _complex,
    "$dict": _pairs,
}


def show(value: Any, room: int = 120) -> str:
    """A value as Python would write it, cut to about `room` characters; takes time in proportion to `room` only."""
    parts: list[str] = []
    left = room

    def put(text: str) -> None:
        nonlocal left
        parts.append(text)
        left -= len(text)

    def put_items(opening: str, items: tuple[Any, ...], closing: str, depth: int) -> None:
        put(opening)
        for index, item in enumerate(items):
            if index:
                put(", ")
            if left <= 0:
                break
            write(item, depth - 1)
        put(closing)

    def write(item: Any, depth: int) -> None:
        if left <= 0 or depth == 0:
            put("...")
        elif isinstance(item, Bag):
            if item.kind == "dict":
                put_items("{", tuple(_Pair(*pair) for pair in item.items), "}", depth)
            elif item.kind == "set" and item.items:
                put_items("{", item.items, "}", depth)
            else:
                put_items(f"{item.kind}(", item.items, ")", depth)
        elif isinstance(item, StandardInstance):
            put_items(f"{item.name.removeprefix('builtins.')}(", item.parts, ")", depth)
        elif isinstance(item, _Pair):
            write(item.key, depth)
            put(": ")
            write(item.value, depth)
        elif type(item) is list:
            put_items("[", tuple(item[: left + 1]), "]", depth)
        elif type(item) is tuple:
            put_items("(", item[: left + 1], ",)" if len(item) == 1 else ")", depth)
        elif type(item) is int and item.bit_length() > 512:
            put(f"<int of {item.bit_length()} bits>")
        elif type(item) in (str, bytes):
            put(repr(item[: left + 1]) + ("..." if len(item) > left + 1 else ""))
        else:
            put(repr(item))

    write(value, 20)
    text = "".join(parts)
    return text if len(text) <= room else text[:room] + "..."


@dataclass(frozen=True, slots=True)
class _Pair:
    key: Any
    value: Any
