"""`Record`: the base of all typed records, and their one translation to JSON types and back.

A record is a frozen dataclass. Its fields are plain JSON values, bytes (base64), moments (ISO 8601), other records,
enumerations, or lists, tuples and mappings of these; what has a JSON form of its own says it (`Translation`). `to_dict`
gives JSON types. `from_dict` builds a record from them: it ignores fields that it does not know and keeps words that an
enumeration lacks as text, because another version may have stored or sent them. It raises ValueError, which names the
field, for what it cannot understand.
"""

from __future__ import annotations

import base64
import itertools
import operator
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

_Translate = Callable[[Any], Any]

_LONGEST_SHOWN, _MOST_SHOWN = 60, 100
"""characters of a field, and entries of a list that are looked at, to show it"""
_OCTETS = "application/octet-stream"
MOST_ENTRIES = 1_500_000
"""entries of one list of an answer: a job has a million runs at most"""


def text_of(content: bytes) -> str:
    """Bytes as base64."""
    return base64.b64encode(content).decode("ascii")


def bytes_of(text: str) -> bytes:
    """The bytes that base64 text stands for. Raises ValueError."""
    return base64.b64decode(text, validate=True)


@dataclass(frozen=True, slots=True)
class Translation:
    """The JSON form of a field, in whose annotation it stands: `Annotated[Policy, Translation(...)]`."""

    read: _Translate
    """makes a value of its JSON form"""
    write: _Translate
    """gives its JSON form"""
    described: Any
    """the type as which the OpenAPI document describes that form"""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return handler.generate_schema(self.described)


class Record:
    """One typed record. Every field is an attribute, and a key too: `job.state`, `job["state"]`, `{**job}`."""

    __slots__ = ()

    __pydantic_config__: ClassVar[dict[str, Any]] = {"use_attribute_docstrings": True, "extra": "forbid"}
    """how the OpenAPI document describes it: the docstring below a field is that field's description"""
    MOST_ITEMS: ClassVar[Mapping[str, int]] = {}
    """the most entries of a list, by its field; MOST_ENTRIES where nothing is said"""
    OMITTED_WHEN_NONE: ClassVar[frozenset[str]] = frozenset()
    """fields that `to_dict` leaves out while they are None: they belong to some answers only"""

    def __init_subclass__(cls) -> None:
        # a dataclass keeps those that its class has itself, and writes its own over what a base class has
        cls.__hash__ = Record.__hash__  # type: ignore[method-assign]
        cls.__repr__ = Record.__repr__  # type: ignore[method-assign]
        cls.__pydantic_config__ = {**Record.__pydantic_config__, "json_schema_extra": cls._describe}

    @classmethod
    def _describe(cls, schema: dict[str, Any]) -> None:
        """Say in the OpenAPI document how long lists can be, how bytes are written, and what a missing field stands for
        whose JSON form is its own."""
        hints = get_type_hints(cls, include_extras=True)
        defaults = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type] # a dataclass
        for name, described in schema.get("properties", {}).items():
            if "default" in described and (translation := _translation(hints[name])) is not None:
                described["default"] = translation.write(defaults[name])
            for part in _parts(described):
                if part.get("type") == "array":
                    part["maxItems"] = cls.MOST_ITEMS.get(name, MOST_ENTRIES)
                elif part.get("contentMediaType") == _OCTETS or part.get("format") == "binary":
                    part.pop("format", None)
                    part |= {"contentMediaType": _OCTETS, "contentEncoding": "base64"}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The record that `to_dict` gave. Raises ValueError, which names the field."""
        if not isinstance(given, Mapping):
            raise ValueError(f"{cls.__name__}: must be a mapping (got {type(given).__name__})")
        shape = _shape(cls)
        values = {name: given[name] for name in shape.names if name in given}
        for name, read in shape.readers:
            if name in values:
                try:
                    values[name] = read(values[name])
                except (TypeError, ValueError) as error:
                    raise ValueError(f"{cls.__name__}.{name}: {error}") from None
        try:
            return cls(**values)
        except TypeError:
            missing = ", ".join(name for name in shape.required if name not in values)
            raise ValueError(f"{cls.__name__}: {missing} missing") from None

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON types."""
        shape = _shape(type(self))
        told = dict(zip(shape.names, shape.values(self), strict=True))
        for name, write in shape.writers:
            if told[name] is not None:
                told[name] = write(told[name])
        for name in self.OMITTED_WHEN_NONE:
            if told[name] is None:
                del told[name]
        return told

    def keys(self) -> Iterator[str]:
        """The names of the fields that `to_dict` tells."""
        omitted = self.OMITTED_WHEN_NONE
        return (name for name in _shape(type(self)).names if name not in omitted or getattr(self, name) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return any(name == told for told in self.keys())

    def __getitem__(self, name: str) -> Any:
        if name not in _shape(type(self)).names:
            raise KeyError(name)
        return getattr(self, name)

    def __hash__(self) -> int:
        shape = _shape(type(self))
        if "id" in shape.names:
            return hash((type(self), getattr(self, "id")))  # noqa: B009 (not every record has one)
        # equal records have equal plain values; other fields may hold lists
        return hash((type(self), *(value for value in shape.values(self) if isinstance(value, _HASHED))))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_short(getattr(self, name))}" for name in self)
        return f"{type(self).__name__}({shown})"

    def _repr_html_(self) -> str:
        """What a notebook shows: a table of the fields."""
        from harena.core.html_views import fields_table

        values = {name: getattr(self, name) for name in self}
        return fields_table(
            type(self).__name__,
            {name: value if isinstance(value, _HASHED) else _short(value) for name, value in values.items() if value},
        )

    if not TYPE_CHECKING:  # a checker would take every name for a field

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            raise AttributeError(
                f"{type(self).__name__} has no {name!r}; it has {', '.join(sorted(_shape(type(self)).names))}"
            )


def _parts(described: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the OpenAPI document says of a field, of each of its alternatives, and of the values of a mapping."""
    yield described
    values = described.get("additionalProperties")
    for part in (*described.get("anyOf", ()), *((values,) if isinstance(values, dict) else ())):
        yield from _parts(part)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What translating one kind of record needs, found once."""

    names: tuple[str, ...]
    required: tuple[str, ...]
    readers: tuple[tuple[str, _Translate], ...]
    """how the value of each field is made from JSON types, and refused where it is of another type"""
    writers: tuple[tuple[str, _Translate], ...]
    values: Callable[[Record], tuple[Any, ...]]
    """the values of all fields, in their order"""


_shapes: dict[type[Record], _Shape] = {}


def _shape(record: type[Record]) -> _Shape:
    if (known := _shapes.get(record)) is None:
        known = _shapes[record] = _read_shape(record)
    return known


def _read_shape(record: type[Record]) -> _Shape:
    hints = get_type_hints(record, include_extras=True)
    known = fields(record)  # type: ignore[arg-type] # every subclass is a dataclass
    names = tuple(field.name for field in known)
    getter = operator.attrgetter(*names)
    return _Shape(
        names=names,
        required=tuple(f.name for f in known if f.default is MISSING and f.default_factory is MISSING),
        readers=tuple((name, reader) for name in names if (reader := _reader(hints[name])) is not None),
        writers=tuple((name, writer) for name in names if (writer := _writer(hints[name])) is not None),
        values=getter if len(names) > 1 else lambda one: (getter(one),),
    )


def _reader(hint: Any) -> _Translate | None:
    """How a value of this type is made from JSON types; None = any value is one."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        translation = _translation(hint)
        return _reader(arguments[0]) if translation is None else translation.read
    if origin in (Union, types.UnionType):
        plain = tuple(argument for argument in arguments if argument in _PLAIN)
        others = [argument for argument in arguments if argument not in _PLAIN and argument is not type(None)]
        if len(others) > 1 and all(_is_record(argument) for argument in others):
            return _record_of(others)
        readers = [reader for argument in others if (reader := _reader(argument))]
        if len(readers) < len(others):
            return None
        if plain:
            readers.append(_plain(*plain))
        return _one_of(readers, plain)
    if hint in _PLAIN:
        return _plain(hint)
    if origin in (list, Sequence):
        return _list_of(_reader(arguments[0]))
    if origin is tuple:
        return _tuple_of(_list_of(_reader(_only_kind(hint))))
    if origin in (dict, Mapping):
        return _mapping_of(_reader(arguments[1]))
    if hint is datetime:
        return _moment
    if hint is bytes:
        return _bytes
    if _is_record(hint):
        read: _Translate = hint.from_dict
        return read
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _member_of(hint)
    if origin is Literal or hint is Any or isinstance(hint, type):
        return None
    raise TypeError(f"no field of a record can be of the type {hint}")


def _writer(hint: Any) -> _Translate | None:
    """How a value of this type becomes JSON types; None = it is one."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        translation = _translation(hint)
        return _writer(arguments[0]) if translation is None else translation.write
    if origin in (Union, types.UnionType):
        if all(_is_record(argument) for argument in arguments if argument is not type(None)):
            return lambda value: None if value is None else _record_to_dict(value)
        writers = [writer for argument in arguments if argument is not type(None) and (writer := _writer(argument))]
        if not writers:
            return None
        (write,) = writers
        plain = tuple(kind for argument in arguments if argument in _PLAIN for kind in _ACCEPTED[argument])
        return lambda value: value if value is None or isinstance(value, plain) else write(value)
    if origin in (list, Sequence):
        return _list_of(_writer(arguments[0]))
    if origin is tuple:
        return _list_of(_writer(_only_kind(hint)))
    if origin in (dict, Mapping):
        return _mapping_of(_writer(arguments[1]))
    if hint is datetime:
        return datetime.isoformat
    if hint is bytes:
        return text_of
    if _is_record(hint):
        return _record_to_dict
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _value_of
    return None


def _translation(hint: Any) -> Translation | None:
    return next((entry for entry in get_args(hint)[1:] if isinstance(entry, Translation)), None)


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Record)


def _single_words(kind: type[Record]) -> dict[str, Any]:
    """The fields that have one word only."""
    hints = get_type_hints(kind)
    return {
        name: get_args(hint)[0]
        for name, hint in hints.items()
        if get_origin(hint) is Literal and len(get_args(hint)) == 1
    }


def _record_to_dict(record: Record) -> dict[str, Any]:
    return record.to_dict()


def _record_of(kinds: Sequence[type[Record]]) -> _Translate:
    """Tells records apart by the field for which each has one word of its own (`Literal["sft"]`); without such a field,
    by the fields that they cannot be made without."""
    words = [_single_words(kind) for kind in kinds]
    telling = next((name for name in words[0] if all(name in told for told in words)), None)
    if telling is None:
        return _record_with_fields(kinds)
    known = {told[telling]: kind for told, kind in zip(words, kinds, strict=True)}

    def translate(given: Any) -> Any:
        if given is None:
            return None
        word = given.get(telling) if isinstance(given, Mapping) else None
        if word not in known:
            raise TypeError(f"its {telling} must be {' or '.join(known)}")
        return known[word].from_dict(given)

    return translate


def _record_with_fields(kinds: Sequence[type[Record]]) -> _Translate:
    required = [frozenset(_shape(kind).required) for kind in kinds]
    assert not any(one <= other for one, other in itertools.permutations(required, 2)), "they cannot be told apart"

    def translate(given: Any) -> Any:
        if given is None:
            return None
        for kind, names in zip(kinds, required, strict=True):
            if isinstance(given, Mapping) and names <= given.keys():
                return kind.from_dict(given)
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"must have the fields of {wanted} (got {_short(given)})")

    return translate


_PLAIN: Mapping[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
_HASHED = (str, int, float, bool)
_ACCEPTED: Mapping[type, tuple[type, ...]] = {str: (str,), int: (int,), float: (float, int), bool: (bool,)}


def _plain(*kinds: type) -> _Translate:
    """Passes values of these plain types on. A whole number is a number; true and false are none."""
    accepted = frozenset(kind for each in kinds for kind in _ACCEPTED[each])
    wanted = " or ".join(_PLAIN[kind] for kind in kinds)

    def translate(given: Any) -> Any:
        if type(given) in accepted or (type(given) is not bool and isinstance(given, tuple(accepted))):
            return given
        raise TypeError(f"must be {wanted} (got {type(given).__name__})")

    return translate


def _one_of(readers: Sequence[_Translate], plain: tuple[type, ...]) -> _Translate:
    """None stays None; what is of no plain type is read by the first, which is the only reader of other types."""
    first, last = readers[0], readers[-1]
    accepted = frozenset(kind for each in plain for kind in _ACCEPTED[each])
    return lambda value: None if value is None else (last if type(value) in accepted else first)(value)


def _list_of(one: _Translate | None) -> _Translate:
    def translate(given: Any) -> list[Any]:
        if not isinstance(given, list | tuple):
            raise TypeError(f"must be a list (got {type(given).__name__})")
        return list(given) if one is None else [one(entry) for entry in given]

    return translate


def _only_kind(hint: Any) -> Any:
    """The type of all entries of a tuple."""
    kind, *more = get_args(hint)
    if more != [...]:
        raise TypeError(f"no field of a record can be of the type {hint}: its entries must be of one type")
    return kind


def _tuple_of(read: _Translate) -> _Translate:
    return lambda given: tuple(read(given))


def _moment(given: Any) -> datetime:
    if not isinstance(given, str):
        raise TypeError(f"must be a moment as ISO 8601 (got {type(given).__name__})")
    return datetime.fromisoformat(given)


def _bytes(given: Any) -> bytes:
    if not isinstance(given, str):
        raise TypeError(f"must be bytes as base64 (got {type(given).__name__})")
    return bytes_of(given)


def _mapping_of(one: _Translate | None) -> _Translate:
    def translate(given: Any) -> dict[str, Any]:
        if not isinstance(given, Mapping):
            raise TypeError(f"must be a mapping (got {type(given).__name__})")
        return dict(given) if one is None else {name: one(entry) for name, entry in given.items()}

    return translate


def _short(value: Any) -> str:
    """How a field is shown in a line. What is long is told by what it is and how much of it there is."""
    if isinstance(value, list | tuple | Mapping) and len(value) > _MOST_SHOWN:
        return _told_long(value)
    text = repr(value)
    if len(text) <= _LONGEST_SHOWN:
        return text
    if isinstance(value, Record):
        return f"{type(value).__name__}(...)"
    return _told_long(value) if isinstance(value, list | tuple | Mapping) else f"{text[: _LONGEST_SHOWN - 3]}..."


def _told_long(value: Sequence[Any] | Mapping[Any, Any]) -> str:
    return f"<{type(value).__name__} of {len(value)}>"


def _member_of(kind: type[Enum]) -> _Translate:
    """A word that this version does not know stays text: another version has stored or sent it."""

    def translate(given: Any) -> Any:
        try:
            return kind(given)
        except ValueError:
            if not isinstance(given, str):
                raise
            return given

    return translate


def _value_of(member: Any) -> Any:
    return member.value if isinstance(member, Enum) else member
