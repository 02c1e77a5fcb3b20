"""Answers of a node as objects with attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar


class Record:
    """One answer. Every field is an attribute, and a key too; `to_dict()` gives it as it came."""

    __slots__ = ("_fields", "_parts")

    _PARTS: ClassVar[Mapping[str, type[Record]]] = {}
    """fields that hold a record, or a list of records, and not a plain value"""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)
        self._parts = {name: _part(kind, self._fields[name]) for name, kind in self._PARTS.items() if name in fields}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._parts:
            return self._parts[name]
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(
                f"{type(self).__name__} has no {name!r}; it has {', '.join(sorted(self._fields))}"
            ) from None

    def __getitem__(self, name: str) -> Any:
        return self._parts[name] if name in self._parts else self._fields[name]

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._fields})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._fields == other._fields

    def __hash__(self) -> int:
        return hash((type(self), self._fields.get("id")))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_short(value)}" for name, value in self._fields.items())
        return f"{type(self).__name__}({shown})"

    def __reduce__(self) -> tuple[type[Record], tuple[dict[str, Any]]]:
        return type(self), (self._fields,)

    def to_dict(self) -> dict[str, Any]:
        """The fields as they came: JSON types only."""
        return dict(self._fields)


def _part(kind: type[Record], value: Any) -> Any:
    if isinstance(value, Mapping):
        return kind(value)
    if isinstance(value, list | tuple):
        return [kind(entry) for entry in value]
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
