"""Scenario files as plain objects, with the line of everything in them: YAML, JSON, JSONL, or made in Python."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from harena.core.errors import ValidationError
from harena.core.json_steps import dict_of
from harena.core.models import MIB
from harena.core.near_names import cut
from harena.core.outside_json import (
    MOST_BYTES,
    JsonSizeError,
    LineTooLongError,
    lines_in,
    read_outside,
)
from harena.core.row_endings import LINE_ENDINGS
from harena.core.rows import RowsFile

if TYPE_CHECKING:
    import yaml

Place = tuple[str | int, ...]
"""keys and indexes from the root of a document"""

_MOST_STEP = 2000
"""characters of one key of a place that are shown: more than the longest path of a file has"""
_TOO_DEEP = "nested too deeply to be read"
MOST_MISTAKES = 1000
"""then the reading of a document ends"""
_MOST_DUPLICATES = 100
"""names that are written twice in one text, each of which is looked for in it"""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong with a scenario file."""

    file: str
    line: int | None
    """counted from 1; None where the input has no lines"""
    field: str
    """path of the field, as `scenarios[3].scoring.checks[0].expected`; empty = the whole file"""
    message: str
    """what is wrong and what to write instead"""

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.field}: {self.message}" if self.field else f"{where}: {self.message}"


def too_many_mistakes(file: str) -> Mistake:
    """The mistake that says why there are no more."""
    return Mistake(file, None, "", f"has {MOST_MISTAKES} mistakes or more; what follows was not read")


class ScenarioFileError(ValidationError):
    """Every mistake of a scenario file, in `mistakes`; the message shows the first fifty."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = list(mistakes)
        shown = "\n".join(f"  {mistake}" for mistake in self.mistakes[:50])
        more = f"\n  ... and {len(self.mistakes) - 50} more" if len(self.mistakes) > 50 else ""
        count = "1 mistake" if len(self.mistakes) == 1 else f"{len(self.mistakes)} mistakes"
        super().__init__(f"{count} in the scenarios; nothing was run:\n{shown}{more}", reason="SCENARIO_FILE")


_PLAIN_STEP = re.compile(r"[^\W\d][\w-]*")


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    step = cut(step, _MOST_STEP)
    return f".{step}" if _PLAIN_STEP.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"


class Document:
    """What a source says, and where it says it."""

    def __init__(self, file: str, content: Any, *, node: yaml.Node | None = None, text: str | None = None) -> None:
        self.file = file
        self.content = content
        self.early_mistakes: list[Mistake] = []
        """found while reading: duplicate keys, lines that are not JSON"""
        self._node = node
        self._json_text = text

    def field_of(self, place: Place) -> str:
        """How a person finds `place`: `scenarios[3].candidate.files["../x.py"]`."""
        field = "".join(map(_step_text, place)).removeprefix(".")
        return field.encode("utf-8", "backslashreplace").decode()

    def line_of(self, place: Place) -> int | None:
        """The line on which the deepest part of `place` that exists begins."""
        if self._node is None and self._json_text is not None:
            from harena.scoring.yaml_nodes import compose_json

            self._node = compose_json(self._json_text)
        node = self._node
        if node is None:
            return None
        from harena.scoring.yaml_nodes import step_into

        for step in place:
            below = step_into(node, step)
            if below is None:
                break
            node = below
        return cast("int", node.start_mark.line) + 1


class LinesDocument(Document):
    """JSONL: each row is one line. Read while the rows are taken, once: a file may be larger than the memory.

    The first line may be `{"version": 1, "problems": [...]}`. `early_mistakes` grows with the reading.
    """

    def __init__(self, file: str, lines: Iterator[tuple[int, str]]) -> None:
        super().__init__(file, None)
        self._lines: list[int] = []
        """line number of each row"""
        self._header_line: int | None = None
        rows = self._read(lines)
        first = next(rows, None)
        header: dict[str, Any] = {}
        if isinstance(first, dict) and "problems" in first:
            header, self._header_line = first, self._lines.pop()
        elif self._lines:
            rows = chain([first], rows)
        self.content = {**header, "scenarios": rows}

    def _read(self, lines: Iterator[tuple[int, str]]) -> Iterator[Any]:
        for number, line in lines:
            if len(self.early_mistakes) >= MOST_MISTAKES:
                self.early_mistakes.append(too_many_mistakes(self.file))
                return
            duplicates: list[str] = []
            try:
                row = _parsed(line, duplicates)
            except JsonSizeError as error:
                self._note(number, str(error))
                continue
            except json.JSONDecodeError as error:
                self._note(number, f"not JSON: {error.msg} (column {error.colno})")
                continue
            except _NoJsonNumberError:
                self.early_mistakes += _constants(line, self.file, number)
                continue
            except RecursionError:
                self._note(number, "nested too deeply to be read")
                continue
            except ValueError as error:  # an integer of more digits than Python reads
                self._note(number, f"cannot be read: {error}; write such a value as {_BIG_INT}")
                continue
            self.early_mistakes += (
                _duplicate(self.file, number, key) for key in islice(dict.fromkeys(duplicates), _MOST_DUPLICATES)
            )
            self._lines.append(number)
            yield row

    def _note(self, line: int, message: str) -> None:
        self.early_mistakes.append(Mistake(self.file, line, "", message))

    def field_of(self, place: Place) -> str:
        """Below the row, which its line names: rows are not counted as lines are."""
        is_row = len(place) > 1 and place[0] == "scenarios"
        return super().field_of(place[2:] if is_row else place)

    def line_of(self, place: Place) -> int | None:
        """The line of the row."""
        if len(place) > 1 and place[0] == "scenarios" and isinstance(place[1], int):
            return self._lines[place[1]]
        return self._header_line


def read_document(source: str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]] | RowsFile) -> Document:
    """A file by its name's ending, or objects made in Python. Raises ScenarioFileError."""
    if not isinstance(source, str | Path):
        return Document("scenarios", source if isinstance(source, Mapping | RowsFile) else list(source))
    path = Path(source)
    ending = unpacked_ending(path)
    if ending in LINE_ENDINGS:
        return LinesDocument(str(path), _lines_of(path))
    reader = {".yaml": read_yaml, ".yml": read_yaml, ".json": read_json}
    if ending not in reader:
        _refuse(str(source), None, "the name of a scenario file ends in .yaml, .yml, .json or .jsonl (also in .gz)")
    try:
        with opened_unpacked(path) as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            _refuse(str(path), None, f"is longer than {MOST_BYTES // MIB} MiB; write one row to a line, as JSONL")
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse_encoding(path, error.start)
    except (OSError, EOFError, zlib.error) as error:
        _refuse_unread(path, error)
    try:
        return reader[ending](text, str(path))
    except RecursionError:
        _refuse(str(path), None, _TOO_DEEP)


def read_yaml(text: str, file: str) -> Document:
    """One YAML document."""
    import yaml

    from harena.scoring.yaml_nodes import Loader, TooDeepError, TooManyError, duplicate_keys, why_too_large

    try:
        loader = Loader(text)
    except yaml.YAMLError as error:  # a character that YAML does not have, by the reader in Python
        _refuse(file, None, f"not YAML: {error}")
    try:
        node = loader.get_single_node()
        if node is None:
            return Document(file, None)
        if (why := why_too_large(node, len(text))) is not None:
            _refuse(file, None, why)
        document = Document(file, loader.construct_document(node), node=node)
        twice = duplicate_keys(node, MOST_MISTAKES)
        document.early_mistakes += [_duplicate(file, line, key) for line, key in twice]
        if len(twice) == MOST_MISTAKES:
            document.early_mistakes.append(too_many_mistakes(file))
    except (TooDeepError, TooManyError) as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        _refuse(file, line, str(error.problem))
    except (yaml.YAMLError, ValueError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        what = " ".join(part for part in (getattr(error, "problem", None), getattr(error, "context", None)) if part)
        _refuse(file, line, f"not YAML: {what or error}")
    except RecursionError:
        _refuse(file, None, _TOO_DEEP)
    finally:
        loader.dispose()
    return document


def unpacked_ending(path: Path) -> str:
    """The ending of a file's name that says what is in it: of a packed one (.gz), the one before."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def opened_unpacked(path: Path) -> Any:
    """A file of bytes, unpacked as it is read. Raises OSError; reading raises EOFError and zlib.error, too."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def _refuse(file: str, line: int | None, message: str) -> NoReturn:
    raise ScenarioFileError([Mistake(file, line, "", message)])


def _refuse_encoding(path: Path, byte: int) -> NoReturn:
    _refuse(str(path), None, f"not UTF-8 text (byte {byte}); save the file as UTF-8")


def _refuse_unread(path: Path, error: Exception) -> NoReturn:
    _refuse(str(path), None, f"cannot be read: {getattr(error, 'strerror', None) or error}; check the path")


def read_json(text: str, file: str) -> Document:
    """One JSON value."""
    duplicates: list[str] = []
    try:
        content = _parsed(text, duplicates)
    except JsonSizeError as error:
        _refuse(file, None, str(error))
    except json.JSONDecodeError as error:
        _refuse(file, error.lineno, f"not JSON: {error.msg} (column {error.colno})")
    except _NoJsonNumberError:
        raise ScenarioFileError(_constants(text, file, 1)) from None
    except ValueError as error:  # an integer of more digits than Python reads
        _refuse(file, None, f"cannot be read: {error}; write such a value as {_BIG_INT}")
    document = Document(file, content, text=text)
    for key in islice(dict.fromkeys(duplicates), _MOST_DUPLICATES):
        line = text[: _second_index(text, json.dumps(key))].count("\n") + 1
        document.early_mistakes.append(_duplicate(file, line, key))
    return document


def _parsed(text: str, duplicates: list[str]) -> Any:
    return read_outside(text, object_pairs_hook=partial(_object, duplicates), parse_constant=_refuse_constant)


def _lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not empty, each with its number."""
    start = 0
    try:
        with opened_unpacked(path) as file:
            for number, line in enumerate(lines_in(file), 1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if text and not text.isspace():
                    yield number, text
                start += len(line)
    except LineTooLongError as error:
        _refuse(str(path), error.number, str(error))
    except UnicodeDecodeError as error:
        _refuse_encoding(path, start + error.start)
    except (OSError, EOFError, zlib.error) as error:
        _refuse_unread(path, error)


_BIG_INT = '{"$int": "0x..."}'
_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|(NaN|-?Infinity)', re.DOTALL)
_MOST_CONSTANTS = 100
_FLOAT_TEXT = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}


class _NoJsonNumberError(Exception):
    """There is NaN or Infinity, which Python reads, but JSON does not have."""


def _refuse_constant(name: str) -> NoReturn:
    raise _NoJsonNumberError(name)


def _constants(text: str, file: str, first_line: int) -> list[Mistake]:
    """One mistake for each of the first hundred NaN and Infinity outside of quotes."""
    mistakes: list[Mistake] = []
    line, counted = first_line, 0
    for found in _CONSTANT.finditer(text):
        if len(mistakes) == _MOST_CONSTANTS:
            break
        if name := found[1]:
            line, counted = line + text.count("\n", counted, found.start()), found.start()
            column = found.start() - text.rfind("\n", 0, found.start())
            advice = f'a value of a check is written {{"$float": "{_FLOAT_TEXT[name]}"}}'
            mistakes.append(Mistake(file, line, "", f"{name} (column {column}) is no number of JSON; {advice}"))
    return mistakes


def _object(duplicates: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict_of(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        duplicates.extend(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return made


def _second_index(text: str, part: str) -> int:
    first = text.find(part)
    return max(text.find(part, first + 1), first, 0)


def _duplicate(file: str, line: int | None, key: str) -> Mistake:
    return Mistake(file, line, key, "written twice in one mapping; keep one of them")
