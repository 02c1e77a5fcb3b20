"""What an object of a candidate's is worth by itself: the plain value that it is made of, whatever its class overrides.

A class that derives from float and says that every difference is 0.0 is no number near any other: where test code
computes with plain values or compares them, its instance is the float that it was made with. That is also what it is
where the candidate lives in another process, so that a row is judged alike both ways.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
Everything that it uses is taken before the candidate runs.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions

from harena.scoring.guest.operator_effects import may_have_effects
from harena.scoring.guest.process_copies import COPIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ATOMS = frozenset({bool, int, float, complex, str, bytes, type(None)})
CONTAINERS = frozenset({list, tuple, dict, set, frozenset})
STANDARD = frozenset({
    decimal.Decimal, fractions.Fraction, datetime.date, datetime.datetime, datetime.time, datetime.timedelta,
    collections.Counter, collections.OrderedDict, collections.defaultdict, collections.deque, range, bytearray,
})  # fmt: skip
"""classes of the standard library whose values tests expect"""
PROTECTED = (fractions.Fraction, collections.Counter)
"""standard classes that are written in Python, so that a program could replace their methods"""
_WHOLE = slice(None)
_PARTS_OF_TIME = ("days", "seconds", "microseconds")


def _read(item: Any, cls: Any, names: tuple[str, ...]) -> list[Any]:
    """Attributes by a standard class's own descriptors, whatever a subclass of it overrides."""
    return [getattr(cls, name).__get__(item, type(item)) for name in names]


def _date_and_time(item: Any) -> tuple[Any, Any]:
    return datetime.datetime.date(item), datetime.datetime.timetz(item)


_MADE: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, int.__pos__),
    (float, float.__pos__),
    (complex, complex.__pos__),
    (str, str.__str__),
    (bytes, lambda item: bytes.__getitem__(item, _WHOLE)),
    (list, lambda item: list.__getitem__(item, _WHOLE)),
    (tuple, lambda item: tuple.__getitem__(item, _WHOLE)),
    (dict, lambda item: dict(dict.items(item))),
    (set, lambda item: set(set.__iter__(item))),
    (frozenset, lambda item: frozenset(frozenset.__iter__(item))),
    (decimal.Decimal, decimal.Decimal),
    (datetime.timedelta, lambda item: datetime.timedelta(*_read(item, datetime.timedelta, _PARTS_OF_TIME[:3]))),
    (datetime.datetime, lambda item: datetime.datetime.combine(*_date_and_time(item))),
    (datetime.date, lambda item: datetime.date(*_read(item, datetime.date, ("year", "month", "day")))),
)
"""base class -> what makes a value of exactly that class of an instance of a subclass, whatever that overrides"""
NUMBERS = (int, float, complex, decimal.Decimal, datetime.timedelta, datetime.datetime, datetime.date)
"""classes whose instances are computed with"""
_HEAP_TYPE, _IMMUTABLE = 1 << 9, 1 << 8
"""Py_TPFLAGS_HEAPTYPE and, since Python 3.10, Py_TPFLAGS_IMMUTABLETYPE: who can set attributes of a class"""
_flags_of = type.__dict__["__flags__"].__get__
line_of = type.__dict__["__mro__"].__get__
_members_of = type.__dict__["__dict__"].__get__
"""the descriptors of `type`, whatever a class of classes overrides"""
_MOST_REMEMBERED = 10_000


def is_known(value: Any) -> bool:
    """It is of a type that says the truth about itself: plain, or of the standard library, and no class derived."""
    kind = type(value)
    return kind in ATOMS or kind in CONTAINERS or kind in STANDARD


def holds_atoms(items: Any) -> bool:
    """A container has nothing in it that has parts or a class of its own."""
    return {*map(type, items)} <= ATOMS


def is_atomic(value: Any) -> bool:
    """It is plain, and has no parts that have parts."""
    kind = type(value)
    if kind is dict:
        return holds_atoms(value) and holds_atoms(value.values())
    return kind in ATOMS or (kind in CONTAINERS and holds_atoms(value))


def is_static(value: Any) -> bool:
    """Its class is written in C, as arrays and numbers of numpy: no program has made it."""
    kind = type(value)
    return kind not in ATOMS and kind not in CONTAINERS and not _flags_of(kind, type) & _HEAP_TYPE


def base_of(kind: type) -> type | None:
    """The plain type that a class made by a program derives from."""
    flags = _flags_of(kind, type)
    if not flags & _HEAP_TYPE or flags & _IMMUTABLE or kind in STANDARD:
        return None
    line = line_of(kind, type)
    if any(each in STANDARD and each not in NUMBERS for each in line):
        return None
    return next((base for base, _ in _MADE if base in line), None)


def overrides(kind: type, base: type, name: str) -> bool:
    """A class that derives from a plain type has this method from somewhere else."""
    for each in line_of(kind, type):
        if each is base:
            return False
        if name in _members_of(each, type):
            return True
    return False


def calls_anything_equal(value: Any) -> bool:
    """It says to equal an object that is made just now. What is of a plain or a standard type does not."""
    kind = type(value)
    if not _flags_of(kind, type) & _HEAP_TYPE or kind in STANDARD:
        return False
    fresh = object()

    def is_equal() -> bool:
        return bool(value == fresh) or not bool(value != fresh)

    return _says_yes(value, is_equal, fresh)


def gives_all_for_anything(value: Any) -> bool:
    """What it gives, item by item, for an object that is made just now says that all of them are equal to it."""
    fresh = object()

    def is_equal() -> bool:
        found: Any = value == fresh
        return bool(found.all() if hasattr(found, "all") else all(found))

    return _says_yes(value, is_equal, fresh)


def _says_yes(value: Any, is_equal: Callable[[], bool], fresh: object) -> bool:
    """A comparison of the value with the fresh object says yes: in a copy, where asking may have effects."""
    if may_have_effects(value, ("__eq__", "__ne__")):
        said = COPIES.says_yes(value, is_equal, fresh)
        if said is not None:
            return said
    try:
        return is_equal()
    except Exception:  # noqa: BLE001 (an honest comparison needs its own attributes)
        return False


class Plain:
    """The plain forms of values."""

    def __init__(self, is_named: Callable[[type], bool]) -> None:
        """`is_named`: whether tests name a class, so that its instances are no values but objects of that class."""
        self.is_named = is_named
        self._bases: dict[type, type | None] = {}

    def base(self, value: Any) -> type | None:
        """The plain type that is behind an instance of a class which the tests do not name."""
        kind = type(value)
        if kind in ATOMS or kind in CONTAINERS:
            return None
        try:
            found = self._bases[kind]
        except KeyError:
            if len(self._bases) >= _MOST_REMEMBERED:
                self._bases.clear()
            found = self._bases[kind] = base_of(kind)
        return None if found is None or self.is_named(kind) else found

    def shallow(self, value: Any) -> Any:
        """The value without its class, if that derives from a plain type."""
        base = self.base(value)
        return value if base is None else next(made for kind, made in _MADE if kind is base)(value)

    def whole(self, value: Any, *, is_own: bool = False) -> Any:
        """The value and all that is in it; itself where nothing else comes of it. An object that equals everything
        becomes one that equals nothing else, but for the tests' own (`is_own`)."""
        if type(value) in ATOMS:
            return value
        try:
            return self._whole(value, {}, is_own)
        except RecursionError:
            return value

    def both(self, left: Any, right: Any, own: int) -> tuple[Any, Any]:
        """Two values that are compared: one object is one object on both sides."""
        try:
            if own:
                return self._whole(left, {}, bool(own & 1)), self._whole(right, {}, bool(own & 2))
            seen: dict[int, Any] = {}
            return self._whole(left, seen, False), self._whole(right, seen, False)
        except RecursionError:
            return left, right

    def _whole(self, value: Any, seen: dict[int, Any], is_own: bool) -> Any:
        if type(value) in ATOMS:
            return value
        if id(value) in seen:
            return seen[id(value)]
        seen[id(value)] = value
        made = self.shallow(value)
        kind = type(made)
        if kind in CONTAINERS and is_atomic(made):
            pass
        elif kind is dict:
            pairs = [(self._whole(key, seen, is_own), self._whole(each, seen, is_own)) for key, each in made.items()]
            if any(key is not old or each is not before for (key, each), (old, before) in zip(pairs, made.items())):  # noqa: B905 (Python 3.8)
                made = dict(pairs)
        elif kind in CONTAINERS:
            parts = [self._whole(part, seen, is_own) for part in made]
            if any(part is not before for part, before in zip(parts, made)):  # noqa: B905
                made = kind(parts)
        elif made is value and not is_own and not self.is_named(kind) and calls_anything_equal(value):
            made = object()
        seen[id(value)] = made
        return made
