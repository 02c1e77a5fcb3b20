"""A value of JSON in pieces, none of which takes the interpreter for more than about a millisecond to be read.

The process that has parsed a large body sends them, and the server puts the value together again, in a thread: between
two pieces its event loop has its turn. Pieces are in the format of `marshal`, which is the interpreter's own and the
fastest one; both ends are harena's, and run the same interpreter.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any

WEIGHT = 1 << 16
"""most weight of a piece: characters, and OF_EACH for each value"""
OF_EACH = 8
TEXT = 1 << 20
"""characters of a long text that go together"""
_TOGETHER = 1024
"""entries of a list or an object that are weighed at a time"""


class Step(IntEnum):
    """What a piece is for."""

    VALUE = 1
    """a whole value"""
    LIST = 2
    """a list begins"""
    ITEMS = 3
    """more items of the list that has begun"""
    OBJECT = 4
    """an object begins"""
    ENTRIES = 5
    """more entries of the object that has begun"""
    NAME = 6
    """the name of the entry whose value comes next"""
    TEXT = 7
    """a long text begins, whose parts come as items"""
    CLOSE = 8
    """what was begun last ends"""


Piece = tuple[Step, bytes]


def pieces(value: Any) -> Iterator[Piece]:
    """The value, which has JSON's types."""
    if not isinstance(value, str | list | dict) or not value or _weight(value) <= WEIGHT:
        yield Step.VALUE, marshal.dumps(value)
    elif isinstance(value, str):
        yield Step.TEXT, b""
        for start in range(0, len(value), TEXT):
            yield Step.ITEMS, marshal.dumps([value[start : start + TEXT]])
        yield Step.CLOSE, b""
    elif isinstance(value, list):
        yield Step.LIST, b""
        for start in range(0, len(value), _TOGETHER):
            yield from _items(value[start : start + _TOGETHER])
        yield Step.CLOSE, b""
    else:
        yield Step.OBJECT, b""
        entries = list(value.items())
        for start in range(0, len(entries), _TOGETHER):
            yield from _entries(entries[start : start + _TOGETHER])
        yield Step.CLOSE, b""


def _items(items: list[Any]) -> Iterator[Piece]:
    if _weight(items) <= WEIGHT:
        yield Step.ITEMS, marshal.dumps(items)
    elif len(items) == 1:
        yield from pieces(items[0])
    else:
        yield from _items(items[: len(items) // 2])
        yield from _items(items[len(items) // 2 :])


def _entries(entries: list[tuple[str, Any]]) -> Iterator[Piece]:
    if _weight(dict(entries)) <= WEIGHT:
        yield Step.ENTRIES, marshal.dumps(dict(entries))
    elif len(entries) == 1:
        yield Step.NAME, marshal.dumps(entries[0][0])
        yield from pieces(entries[0][1])
    else:
        yield from _entries(entries[: len(entries) // 2])
        yield from _entries(entries[len(entries) // 2 :])


def _weight(value: Any) -> int:
    """Counted no further than until it is more than WEIGHT."""
    weight, waiting = 0, [[value]]
    while waiting and weight <= WEIGHT:
        for one in waiting.pop():
            weight += OF_EACH
            if isinstance(one, str):
                weight += len(one)
            elif isinstance(one, list | dict):
                weight += OF_EACH * len(one)
                if weight > WEIGHT:
                    break
                waiting.append(one if isinstance(one, list) else [*one, *one.values()])
    return weight


def put_together(given: Iterator[Piece], read: Callable[[bytes], Any] = marshal.loads) -> Any:
    """The value of the pieces; `read` reads one. Takes no more of them than the value has."""
    open_ones: list[tuple[Step, Any]] = []
    names: list[Any] = []
    for step, content in given:
        if step is Step.LIST or step is Step.OBJECT or step is Step.TEXT:
            open_ones.append((step, {} if step is Step.OBJECT else []))
            continue
        if step is Step.ITEMS:
            open_ones[-1][1].extend(read(content))
            continue
        if step is Step.ENTRIES:
            open_ones[-1][1].update(read(content))
            continue
        if step is Step.NAME:
            names.append(read(content))
            continue
        if step is Step.VALUE:
            value = read(content)
        else:
            began, value = open_ones.pop()
            if began is Step.TEXT:
                value = "".join(value)
        if not open_ones:
            return value
        kind, around = open_ones[-1]
        if kind is Step.OBJECT:
            around[names.pop()] = value
        else:
            around.append(value)
    raise EOFError("the pieces ended before the value did")
