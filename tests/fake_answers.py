"""Answers for tests: with any fields, or of a kind of record, with fields that say nothing where none are given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from enum import Enum
from typing import Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

from harena.core.records.record import Record as TypedRecord


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


R = TypeVar("R", bound=TypedRecord)


def filled(record: type[R], given: Mapping[str, Any]) -> R:
    """A record with these fields, and with values that say nothing for those that are missing."""
    hints = get_type_hints(record)
    nothing = {
        field.name: _nothing(hints[field.name])
        for field in fields(record)
        if field.name not in given and field.default is MISSING and field.default_factory is MISSING
    }
    parts = {name: _filled_part(hints[name], value) for name, value in given.items() if name in hints}
    return record.from_dict({**given, **nothing, **parts})


def _filled_part(hint: Any, value: Any) -> Any:
    kinds = [kind for kind in (hint, *get_args(hint)) if isinstance(kind, type) and issubclass(kind, TypedRecord)]
    if not kinds or value is None:
        return value
    if get_origin(hint) is dict:
        return {name: filled(kinds[0], part).to_dict() for name, part in value.items()}
    if isinstance(value, list):
        return [filled(kinds[0], part).to_dict() for part in value]
    fitting = (kind for kind in kinds if value.keys() <= {field.name for field in fields(kind)})  # type: ignore[arg-type]
    return filled(next(fitting, kinds[0]), value).to_dict()


def _nothing(hint: Any) -> Any:
    if type(None) in get_args(hint):
        return None
    kind = get_origin(hint) or hint
    if isinstance(kind, type) and issubclass(kind, TypedRecord):
        return filled(kind, {}).to_dict()
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind)).value
    return {} if kind is Mapping else kind()
