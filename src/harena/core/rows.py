"""Rows that were given as objects, in a file: so that a hundred thousand of them are never all in memory."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.core.outside_json import JsonSizeError, LineTooLongError, lines_in, read_outside

MOST_LEVELS = 200
"""deepest nesting of lists and mappings; JSON readers give up at some depth"""
MOST_BITS = 14_000
"""largest size of an integer; JSON readers refuse more than 4,300 digits"""


class RowsFile:
    """One JSON value to a line; read anew by each who iterates. Whoever made the file removes it."""

    def __init__(self, path: Path, name: str = "scenarios") -> None:
        """`name` is what errors call the rows."""
        self.path = path
        self.name = name

    def __iter__(self) -> Iterator[Any]:
        """Raises ValidationError at a line that is no JSON, or too large."""
        number = 0
        with self.path.open("rb") as file:
            try:
                for line in lines_in(file):
                    if not line.isspace():
                        yield self._read(line, number)
                        number += 1
            except LineTooLongError as error:
                raise ValidationError(f"{self.name}: [{number}]: {error}") from None

    def _read(self, line: bytes, number: int) -> Any:
        try:
            return read_outside(line.decode())
        except UnicodeDecodeError as error:
            why = f"not UTF-8 (byte {error.start} of its line)"
        except JsonSizeError as error:
            why = str(error)
        except RecursionError:
            why = "nested too deeply to be read"
        except ValueError as error:
            why = f"not JSON: {error}"
        raise ValidationError(f"{self.name}: [{number}]: {why}")


def written_rows(rows: Iterable[Any], name: str = "scenarios") -> Iterator[bytes]:
    """Lines as `RowsFile` reads them. Raises ValidationError for a row that JSON would change (see `check_json`)."""
    for number, row in enumerate(rows):
        check_json(row, f"{name}: [{number}]")
        yield json.dumps(row, separators=(",", ":")).encode() + b"\n"


def check_json(value: Any, name: str, *, finite: bool = False) -> None:
    """`json.dumps` alone would turn tuples into lists and numbers that are keys into text, and so change verdicts.

    Raises ValidationError, which names the place; also for what no reader of JSON takes: very deep nesting, very long
    numbers, and, with `finite`, NaN and infinity, which JSON does not have.
    """
    waiting = [(name, value, 0)]
    while waiting:
        place, value, depth = waiting.pop()
        kind = type(value)
        if kind is dict and all(type(key) is str for key in value):
            waiting += ((f"{place}.{key}", below, depth + 1) for key, below in value.items())
        elif kind is list:
            waiting += ((place, below, depth + 1) for below in value)
        elif kind is float:
            if finite and not math.isfinite(value):
                raise ValidationError(f"{place}: must be a finite number (got {value})")
        elif kind is int:
            if value.bit_length() > MOST_BITS:
                raise ValidationError(f"{place}: a whole number of more than {MOST_BITS} bits is too long")
        elif value is not None and kind is not str and kind is not bool:
            what = "a mapping with keys that are not text" if kind is dict else f"a {kind.__name__}"
            raise ValidationError(f"{place}: this is kept and sent as JSON, and holds {what}, which JSON would change")
        if depth > MOST_LEVELS:
            raise ValidationError(f"{name}: is nested more than {MOST_LEVELS} levels deep")
