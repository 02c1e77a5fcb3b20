"""Rows of a data set, one after the other, each with its place: JSONL (also gzipped), JSON, YAML, or Python objects.

JSONL is read line by line, so that a file may be larger than the memory. `NaN` and `Infinity`, which Python writes into
JSON, are read: data sets hold them.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

from harena.core.models import MIB
from harena.core.outside_json import MOST_BYTES, JsonSizeError, LineTooLongError, lines_in, read_outside
from harena.core.row_endings import LINE_ENDINGS
from harena.core.rows import RowsFile
from harena.scoring.contracts.stored import ContractLookup
from harena.scoring.formats.pickled_text import Unpacking
from harena.scoring.reading import (
    MOST_MISTAKES,
    Document,
    Mistake,
    ScenarioFileError,
    read_yaml,
    too_many_mistakes,
)

ENDINGS = (*LINE_ENDINGS, ".json", ".yaml", ".yml")

ID_FIELDS = ("task_id", "question_id", "problem_id", "instance_id", "id", "index")
"""where data sets write what names a row, first come first served"""


class FieldError(Exception):
    """One field of a row is wrong; the importer adds file and line."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


def row_name(fields: Mapping[str, Any], otherwise: str, *more: str) -> str:
    """What names a row, in one of `ID_FIELDS` or of these fields; `otherwise` where it has no name. Audits, benchmark
    jobs, evaluations and training all name rows by this function, so that a row is found in each. Raises FieldError."""
    for name in (*ID_FIELDS, *more):
        value = fields.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            text = str(value)
            if len(text) > 200:
                raise FieldError(name, "is longer than the 200 characters allowed")
            if not text.isprintable():
                raise FieldError(name, f"must be printable, without control characters, not {text!a}")
            return text
    return otherwise


def numbered(number: int) -> str:
    """The name of a row that has none: its number, counted from 0."""
    return str(number)


class Row:
    """One row: its fields, and readers that check what they read. All of them raise FieldError."""

    def __init__(self, fields: Mapping[str, Any], number: int, file: str, *, line: int | None = None) -> None:
        self.fields = fields
        self.number = number
        """counted from 0"""
        self.file = file
        self.line = line
        """counted from 1; None where the input has no lines"""
        self.document: Document | None = None
        self.unpacking = Unpacking()
        """what the packed texts of this row, and of those that were read with it, may become"""
        self.contracts: ContractLookup | None = None
        """where the stored contracts are that it may name"""
        self.folder: Path | None = None
        """the row is this folder, which the user of this process has named. No field of a row ever names one: rows may
        come from anybody, and this process may read what they may not."""

    def mistake(self, error: FieldError) -> Mistake:
        """The error with its place."""
        if self.line is not None or self.folder is not None:
            return Mistake(self.file, self.line, error.field, error.message)
        line = self.document.line_of((self.number, error.field)) if self.document is not None else None
        return Mistake(self.file, line, f"[{self.number}].{error.field}" if error.field else "", error.message)

    def id(self, *more: str) -> str:
        """What names the row, in one of `ID_FIELDS` or of these fields; its number where it has no name."""
        return row_name(self.fields, numbered(self.number), *more)

    def has(self, name: str) -> bool:
        """The field is there, and neither null nor empty."""
        return self.fields.get(name) not in (None, "", [], {})

    def text(self, *names: str) -> str:
        """The first of these fields that is there; there must be one, and it must not be empty."""
        for name in names:
            if name in self.fields and self.fields[name] is not None:
                value = self.fields[name]
                if not isinstance(value, str):
                    raise FieldError(name, f"must be text, not {shown(value)}")
                if not value.strip():
                    raise FieldError(name, "must not be empty")
                return value
        raise FieldError(names[0], "is required" + (f" (or {', '.join(names[1:])})" if names[1:] else ""))

    def optional_text(self, *names: str) -> str:
        """The first of these fields that holds text; empty where none does."""
        for name in names:
            value = self.fields.get(name)
            if value is not None and not isinstance(value, str):
                raise FieldError(name, f"must be text, not {shown(value)}")
            if value:
                return value
        return ""

    def texts(self, name: str) -> list[str]:
        """A list of texts; empty where the field is not there."""
        value = self.decoded(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise FieldError(name, f"must be a list of texts, not {shown(value)}")
        return value

    def mapping(self, name: str) -> Mapping[str, Any]:
        """A mapping, or JSON text of one."""
        value = self.decoded(name)
        if not isinstance(value, Mapping):
            raise FieldError(name, f"must be a mapping (or JSON text of one), not {shown(value)}")
        return value

    def decoded(self, name: str) -> Any:
        """The field, read as JSON where it is text; None where it is not there, or empty."""
        value = self.fields.get(name)
        if not isinstance(value, str):
            return value
        return json_of(value, name) if value.strip() else None

    def seconds(self, name: str) -> float | None:
        """A number of seconds, more than 0; None where it is not there."""
        value = self.fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 86_400:
            raise FieldError(name, f"must be a number of seconds, more than 0 and at most a day, not {shown(value)}")
        return float(value)


def json_of(text: str, field: str) -> Any:
    """The JSON value that `text` is. Raises FieldError."""
    try:
        return read_outside(text)
    except RecursionError:
        raise FieldError(field, "is nested too deeply to be read") from None
    except JsonSizeError as error:
        raise FieldError(field, str(error)) from None
    except ValueError as error:
        raise FieldError(field, f"is not JSON: {error}; {shown(text)}") from None


def shown(value: Any) -> str:
    """A value as an error may show it: short, and of what kind it is."""
    if value is None:
        return "null"
    if isinstance(value, bool | int | float | str):
        text = repr(value)
        return text if len(text) <= 60 else text[:57] + "..."
    return {"dict": "a mapping", "list": "a list"}.get(type(value).__name__, f"a {type(value).__name__}")


class Rows:
    """The rows of one source. `mistakes` grows while they are read: lines that are no rows are left out."""

    def __init__(self, source: str | Path | Sequence[Any] | RowsFile) -> None:
        self.name = str(source) if isinstance(source, str | Path) else "rows"
        self.mistakes: list[Mistake] = []
        self._unpacking = Unpacking()
        self._rows = self._read(source)

    @classmethod
    def of_folders(cls, folders: Sequence[tuple[Path, str]], name: str) -> Rows:
        """One row for each (folder, the file in it that mistakes are told of)."""
        rows = cls(())
        rows.name = name
        made = [Row({}, number, str(folder / file)) for number, (folder, file) in enumerate(folders)]
        for row, (folder, _) in zip(made, folders, strict=True):
            row.folder = folder
        rows._rows = iter(made)
        return rows

    def add(self, name: str, value: Any) -> None:
        """Give every row a field."""
        rows = self._rows

        def with_field() -> Iterator[Row]:
            for row in rows:
                row.fields = {**row.fields, name: value}
                yield row

        self._rows = with_field()

    def look_up(self, contracts: ContractLookup | None) -> None:
        """Let every row know where stored contracts are."""
        rows = self._rows

        def knowing() -> Iterator[Row]:
            for row in rows:
                row.contracts = contracts
                yield row

        self._rows = knowing()

    def first(self) -> Row | None:
        """The first row, which is not taken away."""
        row = next(self._rows, None)
        if row is not None:
            self._rows = chain((row,), self._rows)
        return row

    def __iter__(self) -> Iterator[Row]:
        return self._rows

    def _read(self, source: str | Path | Sequence[Any] | RowsFile) -> Iterator[Row]:
        if not isinstance(source, str | Path):
            return self._of_items(source, None)
        path = Path(source)
        ending = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
        if ending.lower() in LINE_ENDINGS:
            return self._of_lines(path)
        if ending.lower() not in ENDINGS:
            advice = "; rows of CSV and Parquet are read by the client" if ending in (".csv", ".parquet") else ""
            raise refusal(self.name, None, f"a data set's name ends in {', '.join(ENDINGS)} (JSON also in .gz){advice}")
        return self._of_document(path, ending.lower())

    def _of_lines(self, path: Path) -> Iterator[Row]:
        number = 0
        with _opened(path) as file:
            for line_number, line in enumerate(_decoded(file, self.name), 1):
                if not line or line.isspace():
                    continue
                fields, why = _line(line)
                if why is not None:
                    if self._note(line_number, "", why):
                        return
                    continue
                row = Row(fields, number, self.name, line=line_number)
                row.unpacking = self._unpacking
                yield row
                number += 1

    def _note(self, line: int | None, field: str, message: str) -> bool:
        """One more mistake. Returns True where there are so many that the reading ends."""
        self.mistakes.append(Mistake(self.name, line, field, message))
        if len(self.mistakes) < MOST_MISTAKES:
            return False
        self.mistakes.append(too_many_mistakes(self.name))
        return True

    def _of_document(self, path: Path, ending: str) -> Iterator[Row]:
        with _opened(path) as file:
            text = _whole(file, self.name)
        if ending == ".json":
            try:
                document = Document(self.name, read_outside(text), text=text)
            except RecursionError:
                raise refusal(self.name, None, "nested too deeply to be read") from None
            except JsonSizeError as error:
                raise refusal(self.name, None, str(error)) from None
            except ValueError as error:
                raise refusal(self.name, getattr(error, "lineno", None), f"not JSON: {error}") from None
        else:
            document = read_yaml(text, self.name)
        return self._of_items(document.content, document)

    def _of_items(self, content: Any, document: Document | None) -> Iterator[Row]:
        if isinstance(content, Mapping):
            content = [content]
        if not isinstance(content, list | tuple | RowsFile):
            raise refusal(self.name, None, f"a data set is a list of rows, not {shown(content)}")
        for number, fields in enumerate(content):
            if not isinstance(fields, Mapping):
                line = document.line_of((number,)) if document is not None else None
                message = f"a row is a mapping of fields, not {shown(fields)}"
                if self._note(line, f"[{number}]", message):
                    return
                continue
            row = Row(fields, number, self.name)
            row.document = document
            row.unpacking = self._unpacking
            yield row


def refusal(file: str, line: int | None, message: str, field: str = "") -> ScenarioFileError:
    """The error that has one mistake."""
    return ScenarioFileError([Mistake(file, line, field, message)])


def _opened(path: Path) -> Any:
    try:
        return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")
    except OSError as error:
        raise refusal(str(path), None, f"cannot be read: {error.strerror}; check the path") from None


def _line(line: str) -> tuple[dict[str, Any], str | None]:
    """(the fields of the row that this line is, why it is none)"""
    try:
        fields = read_outside(line)
    except RecursionError:
        return {}, "nested too deeply to be read"
    except JsonSizeError as error:
        return {}, str(error)
    except ValueError as error:
        return {}, f"not JSON: {error}"
    return (fields, None) if isinstance(fields, dict) else ({}, f"a row is a mapping of fields, not {shown(fields)}")


def _whole(file: IO[bytes], name: str) -> str:
    """A document's text; no more of it is unpacked than it may have. Raises ScenarioFileError."""
    try:
        content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise refusal(name, None, f"is longer than {MOST_BYTES // MIB} MiB; write one row to a line, as JSONL")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        start = content.rfind(b"\n", 0, error.start) + 1
        message = f"not UTF-8 text (byte {error.start - start} of the line); save it as UTF-8"
        raise refusal(name, content.count(b"\n", 0, start) + 1, message) from None
    except (OSError, EOFError, zlib.error) as error:
        raise refusal(name, None, f"cannot be read: {error}; check the file") from None


def _decoded(file: IO[bytes], name: str) -> Iterator[str]:
    """Lines of text. Raises ScenarioFileError for what is no UTF-8, no gzip, too long, or cannot be read."""
    number = 0
    try:
        for number, line in enumerate(lines_in(file), 1):
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            yield text
    except LineTooLongError as error:
        raise refusal(name, error.number, str(error)) from None
    except UnicodeDecodeError as error:
        raise refusal(name, number, f"not UTF-8 text (byte {error.start} of the line); save it as UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        raise refusal(name, number + 1, f"cannot be read: {error}; check the file") from None
