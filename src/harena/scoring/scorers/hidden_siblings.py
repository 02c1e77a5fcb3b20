"""Values among which an expected value is hidden.

Each varied leaf of a value (a number, the last letters and digits of a text, a bool) lies on a ring of values of its
kind. All leaves move along their rings at once, by different steps: so no leaf that can be varied is the same in all
siblings, and each sibling has the same siblings in the same order.
"""

from __future__ import annotations

import math
import string
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any

from harena.scoring.guest import reported_comparisons

MOST_CHOICES = 256
"""number of values that an expected one is hidden among, where a text must have them"""
_MOST_WRITTEN = 400
_MOST_DIGITS = 15
"""digits of a decimal that a float keeps, whichever they are"""
_STEP = 7  # has no factor in common with the length of any ring
_LEADING, _EXPONENTS = 90, 4
_KINDS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Ring:
    """Number of values of a leaf's kind (0: as many as wanted), and this one's index among them."""

    size: int
    index: int

    def moved(self, steps: int, length: int) -> int:
        """The index after that many steps around the part of `length` values in which this one is."""
        part = length if not self.size else math.gcd(self.size, length)
        return self.index // part * part + (self.index + steps) % part


def siblings(value: Any) -> list[Any]:
    """Values that this one is hidden among, itself included: each of them has the same siblings in the same order, so
    that they do not tell which it is. [] where there are none."""
    try:
        if len(repr(value)) > _MOST_WRITTEN:
            return []
        found = list({reported_comparisons.digest(each): each for each in _siblings(value)}.values())
        is_among = reported_comparisons.digest(value) in {reported_comparisons.digest(each) for each in found}
    except (TypeError, ValueError, OverflowError, ArithmeticError, RecursionError):
        return []
    return found if len(found) > 1 and is_among else []


def _siblings(value: Any) -> list[Any]:
    leaves = {place: (leaf, _ring(leaf)) for place, leaf in _leaves(value, ())}
    varied = {place: (leaf, ring) for place, (leaf, ring) in leaves.items() if ring is not None}
    if all(isinstance(leaf, bool) for leaf, _ in varied.values()):
        flips = product((False, True), repeat=min(len(varied), 8))
        return [_with_leaves(value, (), dict(zip(varied, bools, strict=False))) for bools in flips]
    length = _length([ring for _, ring in varied.values()])
    orders = sorted({_order(value, place) for place in varied})
    steps = {place: pow(_STEP, orders.index(_order(value, place)), length) for place in varied}
    found = []
    for turn in range(length):
        at = {place: ring.moved(turn * steps[place], length) for place, (_, ring) in varied.items()}
        made = _with_leaves(value, (), {place: _on_ring(leaf, at[place]) for place, (leaf, _) in varied.items()})
        found.append((sorted((_order(value, place), index) for place, index in at.items()), made))
    return [made for _, made in sorted(found, key=lambda each: each[0])]


def _length(rings: list[_Ring]) -> int:
    """The length of the longest ring, at least `MOST_CHOICES` where a number can have as many values as wanted."""
    parts = [_part(ring.size) for ring in rings if ring.size]
    return max([*parts, *(MOST_CHOICES for ring in rings if not ring.size)])


def _part(size: int) -> int:
    """The smallest part of at least `MOST_CHOICES` values into which a ring of this size can be divided."""
    return next((part for part in range(MOST_CHOICES, 4 * MOST_CHOICES) if size % part == 0), size)


def _ring(leaf: Any) -> _Ring | None:
    kind = type(leaf)
    if kind is bool:
        return _Ring(2, int(leaf))
    if kind is int:
        return _Ring(0, leaf)
    if kind is float and math.isfinite(leaf) and leaf:
        digits, exponent = _decimal(leaf)
        if len(digits) > _MOST_DIGITS:
            return _Ring(256, _bits(leaf) >> 46 & 255)
        return _Ring(_LEADING * _EXPONENTS, exponent % _EXPONENTS * _LEADING + int(digits[:2]) - 10)
    if kind is str and (signs := _signs(leaf)):
        index = 0
        for at in signs:
            alphabet = _alphabet(leaf[at])
            index = index * len(alphabet) + alphabet.index(leaf[at])
        return _Ring(math.prod(len(_alphabet(leaf[at])) for at in signs), index)
    return None


def _on_ring(leaf: Any, index: int) -> Any:
    """The value of the leaf's kind with this index."""
    if isinstance(leaf, bool | int):
        return type(leaf)(index)
    if isinstance(leaf, float):
        digits, exponent = _decimal(leaf)
        if len(digits) > _MOST_DIGITS:
            return struct.unpack(">d", struct.pack(">Q", _bits(leaf) & ~(255 << 46) | index << 46))[0]
        power, leading = divmod(index, _LEADING)
        power += exponent // _EXPONENTS * _EXPONENTS + 1 - len(digits)
        return math.copysign(float(f"{leading + 10}{digits[2:]}e{power}"), leaf)
    text = list(leaf)
    for at in reversed(_signs(leaf)):
        alphabet = _alphabet(leaf[at])
        index, sign = divmod(index, len(alphabet))
        text[at] = alphabet[sign]
    return "".join(text)


def _decimal(number: float) -> tuple[str, int]:
    """The digits of a number, at least two, and the exponent of the first. Its siblings differ in the first two, so by
    a hundredth or so at least: a comparison with a tolerance tells them apart."""
    written = Decimal(repr(number)).normalize()
    return "".join(map(str, written.as_tuple().digits)).ljust(2, "0"), written.adjusted()


def _bits(number: float) -> int:
    return int(struct.unpack(">Q", struct.pack(">d", number))[0])


def _signs(text: str) -> list[int]:
    """Places of the last letters and digits, as few as have enough values together."""
    found: list[int] = []
    for at in range(len(text) - 1, -1, -1):
        if _alphabet(text[at]) and math.prod(len(_alphabet(text[each])) for each in found) < MOST_CHOICES:
            found.insert(0, at)
    return found


def _alphabet(sign: str) -> str:
    return next((kind for kind in _KINDS if sign in kind), "")


def _leaves(value: Any, place: _Place) -> Iterator[tuple[_Place, Any]]:
    parts = _parts(value)
    if parts is None:
        yield place, value
    else:
        for index, part in enumerate(parts):
            yield from _leaves(part, (*place, index))


def _order(value: Any, place: _Place) -> _Place:
    """A leaf's place without indices in sets, whose order says nothing."""
    found: list[int] = []
    for index in place:
        found.append(0 if isinstance(value, set) else index)
        value = (_parts(value) or [])[index]
    return tuple(found)


def _parts(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple | set) else None


def _with_leaves(value: Any, place: _Place, leaves: Mapping[_Place, Any]) -> Any:
    parts = _parts(value)
    if parts is None:
        return leaves.get(place, value)
    made = [_with_leaves(part, (*place, index), leaves) for index, part in enumerate(parts)]
    return dict(zip(value, made, strict=True)) if isinstance(value, dict) else type(value)(made)
