"""Chance that no candidate foresees or steers: bytes of the kernel's, and no class that a program could change.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_bytes_of, _number_of, _unpack = os.urandom, int.from_bytes, struct.unpack
_AT_ONCE = 1024
_SMALL = 1 << 16
"""up to here, the remainder of 32 bits favours no number so much that anybody could tell"""
_drawn: list[int] = []


def below(end: int) -> int:
    """A number from 0 up to this one, which is not among them."""
    if end > _SMALL:
        return _number_of(_bytes_of(end.bit_length() // 8 + 5), "big") % end
    try:
        return _drawn.pop() % end
    except IndexError:
        _drawn.extend(_unpack(f"{_AT_ONCE}I", _bytes_of(4 * _AT_ONCE)))
        return _drawn.pop() % end


def between(low: float, high: float) -> float:
    """A number from a range."""
    return low + (high - low) * below(1 << 53) / (1 << 53)


def one_of(items: Sequence[Any]) -> Any:
    """One of the items."""
    return items[below(len(items))]


def some_of(items: Sequence[Any], count: int) -> list[Any]:
    """A number of the items, or all where there are no more, in any order."""
    if count * 4 < len(items):
        places: set[int] = set()
        while len(places) < count:
            places.add(below(len(items)))
        return shuffled([items[place] for place in places])
    return shuffled(items)[:count]


def shuffled(items: Sequence[Any]) -> list[Any]:
    """The items in any order."""
    made = list(items)
    for last in range(len(made) - 1, 0, -1):
        other = below(last + 1)
        made[last], made[other] = made[other], made[last]
    return made
