"""Pairs the members of two sets, or the keys of two dicts, that are to be compared with each other. Where numbers need
only be close, what was answered cannot be looked up by what is expected.

Members that are equal (1 is 1.0, NaN is NaN) are pairs. The others are put in the order of their shape and then of
their numbers, rounded first, so that what rounding makes of a number keeps its place. That takes time in proportion to
what is compared, as no search among all pairs would.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from harena.scoring.codec import canonical, in_order
from harena.scoring.values import Bag

_DIGITS = 6
"""significant digits by which numbers are put in order first"""
Item = tuple[Any, Any]
"""key and value; of a member of a set, the member and None"""


def pairs_of(answer: Bag, expected: Bag) -> Iterator[tuple[Item, Item]]:
    """The pairs of two sets, or two dicts, of one size; whether each is close is for the caller to say."""
    unequal: dict[bytes, list[Item]] = {}
    for item in _items(answer):
        unequal.setdefault(_name(item[0]), []).append(item)
    rest: list[Item] = []
    for item in _items(expected):
        equal = unequal.get(_name(item[0]))
        if equal:
            yield equal.pop(), item
        else:
            rest.append(item)
    if rest:
        left = [item for items in unequal.values() for item in items]
        yield from zip(_sorted(left), _sorted(rest), strict=True)


def _items(bag: Bag) -> Iterable[Item]:
    return bag.items if bag.kind == "dict" else ((member, None) for member in bag.items)


def _name(value: Any) -> bytes:
    return canonical(_with_integers(value))


def _with_integers(value: Any) -> Any:
    """The value with an int for each float that is a whole number, at any depth."""
    kind = type(value)
    if kind is float and value.is_integer():
        return int(value)
    if kind is tuple:
        return tuple(map(_with_integers, value))
    if kind is Bag:
        return Bag(value.kind, tuple(map(_with_integers, value.items)))
    return value


def _sorted(items: list[Item]) -> Iterator[Item]:
    return (items[place[-1]] for place in in_order((*_place(key), index) for index, (key, _) in enumerate(items)))


def _place(value: Any) -> tuple[bytes, tuple[float, ...], tuple[float, ...]]:
    """(all that is no number, the numbers rounded, the numbers), each in the order in which they stand."""
    kind = type(value)
    if kind in (int, float) and value == value:
        return b"#", (_rounded(value),), (value,)
    if kind is complex:
        value = (value.real, value.imag)
    elif kind not in (tuple, Bag):
        return canonical(value), (), ()
    parts = [_place(item) for item, _ in _items(value)] if kind is Bag else list(map(_place, value))
    inside = list(in_order(parts)) if kind is Bag else parts
    shape = b"%b(%b)" % (kind.__name__.encode(), b"".join([part[0] for part in inside]))
    return shape, tuple(chain(*(part[1] for part in inside))), tuple(chain(*(part[2] for part in inside)))


def _rounded(number: float) -> float:
    try:
        return float(f"{float(number):.{_DIGITS}g}")
    except OverflowError:  # an int that no float holds
        return math.inf if number > 0 else -math.inf
