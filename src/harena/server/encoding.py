"""JSON of answers. Large values are encoded in a thread of the workspace, piece by piece: one call of the encoder holds
the interpreter until it returns, and no other thread runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harena.core.records.record import Record
from harena.core.threads import BODIES

PIECE = 64 * 1024
"""about the most that is encoded in one call, in characters"""
_OF_EACH = 8
"""what a value counts for beside its characters"""
_PLAIN = frozenset((int, float, bool, type(None)))
_MANY = (dict, list, tuple, Mapping)


async def encoded(content: Any) -> bytes:
    """ASCII JSON of a record, or of JSON types. Raises ValueError (a number that is not finite), LimitExceededError."""
    if is_large(content):
        return await BODIES.run(lambda: b"".join(pieces(content)))
    return encoded_at_once(content)


def encoded_at_once(content: Any) -> bytes:
    """JSON of what is known to be small, see `encoded`. Raises ValueError."""
    return _ENCODER.encode(content).encode()


def _record_to_json(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    raise TypeError(f"{type(value).__name__} has no JSON")


_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_record_to_json)


def is_large(content: Any) -> bool:
    """Its JSON has more than about PIECE characters. Looks at no more of it than that takes."""
    return _weight(content) > PIECE


def _weight(content: Any) -> int:
    """About how many characters its JSON has; counts no further where these are more than PIECE."""
    size, waiting = 0, list[Iterable[Any]]([(content,)])
    while waiting and size <= PIECE:
        for value in waiting.pop():
            size += _OF_EACH
            if isinstance(value, str):
                size += len(value)
            elif type(value) in _PLAIN:  # found out before what takes longer
                continue
            elif isinstance(value, Record):
                waiting.append([value[name] for name in value])
            elif isinstance(value, _MANY):
                size += _OF_EACH * len(value)
                if size <= PIECE:
                    waiting.append(value)
                    waiting.extend([value.values()] if isinstance(value, Mapping) else ())
    return size


def pieces(content: Any) -> Iterator[bytes]:
    """Its JSON, each piece made by a call of its own. Raises ValueError."""
    value = content.to_dict() if isinstance(content, Record) else content
    if not is_large(value):
        yield encoded_at_once(value)
    elif isinstance(value, str):
        yield b'"'
        for start in range(0, len(value), PIECE):
            yield encoded_at_once(value[start : start + PIECE])[1:-1]
        yield b'"'
    elif isinstance(value, Mapping):
        yield from _join_entries(b"{", ((name, one) for name, one in value.items()), b"}")
    else:
        yield from _join_entries(b"[", ((None, one) for one in value), b"]")


def _join_entries(opening: bytes, entries: Iterator[tuple[Any, Any]], closing: bytes) -> Iterator[bytes]:
    """Small entries that follow each other are encoded together."""
    separator, size, together = opening, 0, list[tuple[Any, Any]]()
    for name, value in entries:
        weight = _weight(value) + len(str(name))
        if together and size + weight > PIECE:
            yield separator + _small(together)
            separator, size, together = b",", 0, []
        if weight > PIECE:
            yield separator + (b"" if name is None else encoded_at_once({name: 0})[1:-2])
            yield from pieces(value)
            separator = b","
        else:
            together.append((name, value))
            size += weight
    if together:
        yield separator + _small(together)
    yield closing


def _small(entries: Sequence[tuple[Any, Any]]) -> bytes:
    is_list = entries[0][0] is None
    return encoded_at_once([value for _, value in entries] if is_list else dict(entries))[1:-1]
