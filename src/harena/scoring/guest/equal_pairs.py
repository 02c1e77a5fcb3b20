"""Objects that are one another's by being equal, where tests compare what holds them or look one up in it.

`x in items`, `{a, b} == {c}`, `table[key]` and `items.index(x)` say of two objects that they are equal, without naming
the second. It is found by asking, where that leaves no trace; elsewhere some of those that it may be stand for it.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import collections

from harena.scoring.guest.operator_effects import may_have_effects
from harena.scoring.guest.plain_values import is_known, is_static
from harena.scoring.guest.secure_random import some_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_DEEPEST = 4
_MOST_ITEMS, _MOST_PARTNERS, _MOST_UNKNOWN = 1000, 4, 2
"""items of one container that are looked at, pairs of two containers, and items that may be the one that is sought,
where nobody asks which it is"""
_LISTS, _SETS = (list, tuple, collections.deque), (set, frozenset)
_TABLES = (dict, collections.Counter, collections.OrderedDict, collections.defaultdict)
_NOTHING: dict[str, str] = {}
_VIEWS = (type(_NOTHING.keys()), type(_NOTHING.values()))
HOLDING = frozenset({*_LISTS, *_SETS, *_TABLES, *_VIEWS})
"""classes that hold others, and look for one by its equality"""
_EQUALITY = ("__eq__", "__hash__")


def pairs(left: Any, right: Any, depth: int = 0, *, finds: bool = True) -> Iterator[tuple[Any, Any]]:
    """Two objects of one class each that are compared with each other where these two are. `finds`: items of sets and
    keys, too."""
    kind, other = type(left), type(right)
    if depth > _DEEPEST:
        return
    if kind in _SETS and other in _SETS:
        for each in _objects(left) if finds else ():
            yield from sought(each, right, depth + 1)
    elif kind is not other:
        return
    elif kind in _LISTS:
        for pair in zip(left, right):  # noqa: B905 (Python 3.8)
            yield from pairs(*pair, depth + 1, finds=finds)
    elif kind in _TABLES:
        for key in [each for each in left if not holds_objects(each)]:
            if key in right:
                yield from pairs(left[key], right[key], depth + 1, finds=finds)
        for key in _objects(left) if finds else ():
            yield from sought(key, right, depth + 1)
    elif not is_known(left) and not is_static(left):
        yield left, right


def sought(item: Any, container: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """The item, or objects in it, and what it is equal to in a container that says to hold it. What is there itself
    needs no equality."""
    kind = type(item)
    if type(container) not in HOLDING or depth > _DEEPEST or not holds_objects(item):
        return
    try:
        alike = [each for _, each in zip(range(_MOST_ITEMS), container) if type(each) is kind]  # noqa: B905
    except RuntimeError:  # it is changed by another thread
        return
    if any(each is item for each in alike):
        yield from ((item, item) for _ in range(kind not in HOLDING))
        return
    if any(leaves_traces(each) for each in (item, *alike[:1])):
        found = some_of(alike, _MOST_UNKNOWN)
    else:
        found = [each for _, each in zip(range(1), (each for each in alike if _is_equal(each, item)))]  # noqa: B905
    for each in found:
        yield from pairs(item, each, depth + 1)


def _objects(container: Any) -> list[Any]:
    """Some of the items that are no plain values."""
    found = [each for _, each in zip(range(_MOST_ITEMS), container) if holds_objects(each)]  # noqa: B905
    return some_of(found, _MOST_PARTNERS)


def holds_objects(value: Any, depth: int = 0) -> bool:
    """It is an object that may have an equality of its own, or has one in it."""
    kind = type(value)
    if kind in (list, tuple, frozenset):
        return depth < _DEEPEST and any(holds_objects(each, depth + 1) for each in value)
    return not is_known(value) and not is_static(value)


def has_objects(container: Any) -> bool:
    """One of its first items is such an object."""
    return any(holds_objects(each) for _, each in zip(range(_MOST_PARTNERS), container))  # noqa: B905 (Python 3.8)


def leaves_traces(value: Any) -> bool:
    """To compare it may be seen afterwards."""
    if type(value) in HOLDING:
        return any(map(leaves_traces, value))
    return not is_known(value) and may_have_effects(value, _EQUALITY)


def _is_equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001 (of the candidate's own methods)
        return False
