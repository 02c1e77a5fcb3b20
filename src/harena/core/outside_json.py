"""JSON texts that came from outside: in bodies, in lines, in files and in the fields of rows.

Values are counted before any object is made, because parsing can take thirty times the memory of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

from harena.core.json_steps import parse
from harena.core.models import MIB

MOST_VALUES = 1_000_000
"""most values of one text: numbers, texts, lists, objects and so on"""
MOST_BYTES = 256 * MIB
"""size limit of one text, and of one line of a file; of what is not bytes, its characters"""


class JsonSizeError(ValueError):
    """A text that is too large to be read at once."""

    def __init__(self, what: str, advice: str = "write many rows as JSONL, one to a line") -> None:
        super().__init__(f"{what}: {advice}")
        self.what = what


class JsonDepthError(JsonSizeError):
    """There are more lists and objects inside each other than were allowed."""


def read_outside(
    text: str | bytes,
    *,
    most_values: int | None = None,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
    parse_constant: Callable[[str], Any] | None = None,
) -> Any:
    """The value, as `json.loads` reads it; `most_values`: None = MOST_VALUES. Raises JsonSizeError, RecursionError, and
    ValueError (UnicodeDecodeError and json.JSONDecodeError among them)."""
    check_size(text, most_values=most_values)
    return parse(text, object_pairs_hook=object_pairs_hook, parse_constant=parse_constant)


def check_size(text: str | bytes, *, most_values: int | None = None, most_depth: int | None = None) -> None:
    """Raises JsonSizeError for more bytes than MOST_BYTES or more values than `most_values` (None = MOST_VALUES), and
    JsonDepthError."""
    most_values = MOST_VALUES if most_values is None else most_values
    if len(text) > MOST_BYTES:
        raise JsonSizeError(f"is longer than the {MOST_BYTES // MIB} MiB that one JSON text may have")
    if most_depth is None and len(text) <= most_values:
        return  # a value takes at least one of them
    body = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    opened = body.count(b"[") + body.count(b"{")
    if (most_depth is None or opened <= most_depth) and opened + body.count(b",") <= most_values:
        return  # also where all of these stand in texts, as in programs
    depth = values = texts = 0
    for part in _PARTS.finditer(body):
        sign = body[part.start()]
        if sign == _QUOTE:
            texts += 1
            if texts > 2 * most_values:  # a name and a value for each comma and bracket: there is another mistake
                break
            continue
        if sign in _CLOSING:
            depth -= 1
            continue
        values += 1
        if sign != _COMMA:
            depth += 1
            if most_depth is not None and depth > most_depth:
                raise JsonDepthError("is nested too deeply to be read", f"lists and objects may be {most_depth} deep")
        if values > most_values:
            raise JsonSizeError(f"holds more than {most_values} values")


_PARTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+|[][{},]', re.DOTALL)
"""a text, which may lack its end, or what stands between values; every byte is looked at once, and no place is kept to
go back to: 117 bytes for each escape otherwise"""
_QUOTE, _COMMA = ord('"'), ord(",")
_CLOSING = frozenset(b"]}")


class LineTooLongError(ValueError):
    """A line has more than MOST_BYTES; `number` counts from 1."""

    def __init__(self, number: int) -> None:
        super().__init__(f"is longer than the {MOST_BYTES // MIB} MiB that one line may have; write one row to a line")
        self.number = number


class _Readable(Protocol):
    def readline(self, size: int, /) -> bytes: ...


def lines_in(file: _Readable) -> Iterator[bytes]:
    """The lines of an open file, each with its end. Raises LineTooLongError before more than one of them is in the
    memory."""
    for number, line in enumerate(iter(partial(file.readline, MOST_BYTES + 1), b""), 1):
        if len(line) > MOST_BYTES:
            raise LineTooLongError(number)
        yield line
