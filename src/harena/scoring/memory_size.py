"""What objects take of this process's memory, each counted once: texts, containers, records and models."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from pydantic import BaseModel


class HeldBytes:
    """Counts; what it was shown lives on, or an address could be another's."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def of(self, value: Any) -> int:
        """Memory of this, and of all that it holds that was not counted before."""
        total = 0
        seen, waiting = self._seen, [value]
        while waiting:
            one = waiting.pop()
            if one is None or (place := id(one)) in seen:
                continue
            seen.add(place)
            total += sys.getsizeof(one)
            if (parts := _parts_of(type(one))) is not None:  # type: ignore[arg-type]  # a class is hashable
                waiting += parts(one)
        return total


@cache
def _parts_of(kind: Any) -> Callable[[Any], Collection[Any]] | None:
    """What gives all that an object of this kind holds; None = it holds nothing that counts."""
    if issubclass(kind, BaseModel):
        return _of_model
    if issubclass(kind, Mapping):
        return _of_mapping
    if issubclass(kind, list | tuple | set | frozenset):
        return _itself
    if is_dataclass(kind) and (names := [field.name for field in fields(kind)]):
        get = attrgetter(*names)
        return get if len(names) > 1 else lambda one: (get(one),)
    return None


def _of_model(one: BaseModel) -> Collection[Any]:
    return (one.__dict__, one.__pydantic_private__)


def _of_mapping(one: Mapping[Any, Any]) -> Collection[Any]:
    return (*one, *one.values())


def _itself(one: Collection[Any]) -> Collection[Any]:
    return one
