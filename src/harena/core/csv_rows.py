"""Rows of a CSV file: the first line names the fields, and every value is text. An empty cell is a field that is not
there."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from itertools import chain

from harena.core.errors import ValidationError

MOST_CELL_CHARACTERS = 64 << 20
_OTHER_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars (|)"}


def csv_rows(path: str | os.PathLike[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """(the line that a row begins on, its fields) of each row of a UTF-8 file, separated by commas. Raises
    ValidationError that names the line."""
    csv.field_size_limit(MOST_CELL_CHARACTERS)  # of the process; the library's own would refuse long tests
    line = ended = 1
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            if (other := _other_delimiter(first := file.readline())) is not None:
                raise ValidationError(
                    f"{path}:1: the columns are separated by {other}: save the file with commas between them"
                )
            reader = csv.reader(chain((first,), file), strict=True)
            names = next(reader, []) if first else []
            ended = reader.line_num
            if not all(name.strip() for name in names) or len(set(names)) != len(names) or not names:
                raise ValidationError(f"{path}:1: the first line must name the columns, each with a name of its own")
            for cells in reader:
                line, ended = ended + 1, reader.line_num
                if len(cells) > len(names):
                    raise ValidationError(
                        f"{path}:{line}: the row has {len(cells)} cells and the file {len(names)} columns: put text "
                        "with commas or line breaks between quotation marks"
                    )
                if any(cells):
                    yield line, {name: cell for name, cell in zip(names, cells, strict=False) if cell}
    except OSError as error:
        raise ValidationError(f"{path}: cannot be read: {error.strerror}; check the path") from None
    except UnicodeDecodeError as error:
        raise ValidationError(f"{path} is not UTF-8 (byte {error.start} of a part of it): save it as UTF-8") from None
    except csv.Error as error:
        raise ValidationError(f"{path}: after line {ended}: not CSV: {error}") from None


def _other_delimiter(header: str) -> str | None:
    """What stands between the names of columns where no comma does, as spreadsheets of some languages write it."""
    if "," in header or header.count('"') % 2:
        return None
    return next((told for sign, told in _OTHER_DELIMITERS.items() if len(header.split(sign)) > 1), None)
