"""Rows out of files: JSONL (also gzipped), JSON, CSV, Parquet, scenario files (their problems), what `datasets` writes
with `save_to_disk`, and directories of such files.

Every row keeps where it comes from (file and line, or file and row number), and every mistake is told at once: a data
set with ten broken rows is one error with ten places. `pyarrow` (the extra `parquet`) reads Parquet and what
`datasets` writes.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harena.core.checked import quote
from harena.core.csv_rows import csv_rows
from harena.core.errors import ValidationError
from harena.core.outside_json import JsonSizeError, LineTooLongError, lines_in, read_outside
from harena.core.row_endings import CSV, LINE_ENDINGS, PARQUET
from harena.core.task_archives import task_folders
from harena.training.data.imported_rows import problems_in
from harena.training.data.names_inside import is_name_inside
from harena.training.data.stored_problems import is_reference
from harena.training.reading import apart

MOST_TOLD = 20
"""mistakes that one error spells out"""
DEFAULT_SPLIT = "train"
_SCENARIO_ENDINGS = (".yaml", ".yml")
"""name endings of scenario files; a directory of rows may hold such files for other purposes"""
_MOST_VALUES = 20_000_000
"""values of one file of JSON, which is read in a process of its own, whose memory is bounded"""
_ENDINGS = (*LINE_ENDINGS, ".json", PARQUET)
"""name endings of rows in a directory; it may hold CSV for other purposes"""
_ONE_DATASET, _MANY_DATASETS = "state.json", "dataset_dict.json"
"""what `save_to_disk` writes beside the rows of a data set, and of a dictionary of data sets"""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a data set, and where it stands."""

    values: Mapping[str, Any]
    origin: str
    """file and line, as `train.jsonl:17`, or file and row"""


@dataclass(slots=True)
class Mistakes:
    """What is wrong with a data set, to be told in one error."""

    name: str
    told: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, origin: str, text: str) -> None:
        """One more, and its place."""
        self.count += 1
        if len(self.told) < MOST_TOLD:
            self.told.append(f"{origin}: {text}")

    def check(self) -> None:
        """Raises ValidationError if there are any."""
        if self.count:
            number = "1 row" if self.count == 1 else f"{self.count} rows"
            raise ValidationError(f"{self.name}: {number} cannot be used:{self.listed()}")

    def listed(self) -> str:
        """A line for each, and how many more there are."""
        more = [f"and {self.count - len(self.told)} more"] if self.count > len(self.told) else []
        return "".join(f"\n  {line}" for line in [*self.told, *more])


def read_rows(path: Path, *, split: str | None = None, most: int | None = None) -> list[Row]:
    """All rows of a file or directory, or the first `most`. `split` chooses a part of it (see
    `docs/reference/training-data.md`); without it a directory's part "train", or its only one. Raises ValidationError:
    one, with every row that cannot be read."""
    mistakes = Mistakes(str(path))
    rows = rows_of(path, mistakes, split=split, most=most)
    mistakes.check()
    return rows


def rows_of(path: Path, mistakes: Mistakes, *, split: str | None = None, most: int | None = None) -> list[Row]:
    """Up to `most` rows that can be read; mistakes of the others are noted. Raises ValidationError where
    nothing can be."""
    told = _rows_told(path, split=split, most=most)
    mistakes.count += told["wrong"]
    mistakes.told += told["told"][: MOST_TOLD - len(mistakes.told)]
    return [Row(values, origin) for origin, values in told["rows"]]


def not_there(path: Path) -> ValidationError:
    """The error for a data set that is not where it is said to be, in the words of all commands."""
    return ValidationError(f"{path}: cannot be read: {os.strerror(errno.ENOENT)}; check the path")


@apart
def names_stored_contracts(path: Path, *, split: str | None) -> bool:
    """Whether a row's `scoring` is the name of a stored one. Raises ValidationError that lists rows that are none."""
    return any(is_reference(row.values.get("scoring")) for row in read_rows(path, split=split))


@apart
def _rows_told(path: Path, *, split: str | None, most: int | None) -> dict[str, Any]:
    """{rows: [[origin, values]], told: mistakes, wrong: how many there are}."""
    mistakes = Mistakes(str(path))
    rows = _all_rows(path, mistakes, split)
    return {"rows": [[row.origin, row.values] for row in rows[:most]], "told": mistakes.told, "wrong": mistakes.count}


def _all_rows(path: Path, mistakes: Mistakes, split: str | None) -> list[Row]:
    if not path.exists():
        raise not_there(path)
    if path.is_dir():
        files = _files_of(path, split)
        return [row for file, name in files for row in _rows_of_file(file, name, mistakes)]
    rows = list(_rows_of_file(path, path.name, mistakes))
    if split is None:
        return rows
    chosen = [row for row in rows if row.values.get("split") == split]
    if not chosen and not mistakes.count:
        raise ValidationError(f"{path}: no row says split: {split!r}; leave the split out to use all rows")
    return chosen


@apart
def splits_of(path: Path) -> list[str | None]:
    """The splits of a data set, sorted; [None] where there are none: of a file, or of one saved data set. Raises
    ValidationError where there is no data set."""
    if not path.exists():
        raise not_there(path)
    if not path.is_dir() or ((path / _ONE_DATASET).is_file() and not (path / _MANY_DATASETS).is_file()):
        return [None]
    return [*sorted(_saved_splits(path) if (path / _MANY_DATASETS).is_file() else _split_files(path))]


def content_digest(path: Path) -> str:
    """sha256 of a file's bytes, or of the names and bytes of all files below a directory; `sha256:` and 64 hexadecimal
    digits. Raises ValidationError, OSError."""
    if not path.exists():
        raise not_there(path)
    if not path.is_dir():
        return "sha256:" + _file_digest(path)
    whole = hashlib.sha256()
    for file in sorted(entry for entry in path.rglob("*") if entry.is_file()):
        name = file.relative_to(path).as_posix().encode("utf-8", "surrogateescape")
        whole.update(len(name).to_bytes(4, "big") + name + bytes.fromhex(_file_digest(file)))
    return "sha256:" + whole.hexdigest()


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files_of(folder: Path, split: str | None) -> list[tuple[Path, str]]:
    """(file, its name in errors), in order."""
    if (folder / _MANY_DATASETS).is_file():
        chosen = _chosen(_saved_splits(folder), split, folder)
        return _files_of_saved(folder / chosen, chosen)
    if (folder / _ONE_DATASET).is_file():
        if split is not None:
            raise ValidationError(f"{folder} holds one data set and no splits: leave the split {split!r} out")
        return _files_of_saved(folder, "")
    by_split = _split_files(folder)
    chosen = _chosen(list(by_split), split, folder)
    return [(file, file.relative_to(folder).as_posix()) for file in by_split[chosen]]


def _saved_splits(folder: Path) -> list[str]:
    splits = _json_file(folder / _MANY_DATASETS).get("splits")
    names = [str(name) for name in splits] if isinstance(splits, list) else []
    if wrong := [name for name in names if "/" in name or not is_name_inside(name)]:
        raise ValidationError(f"{_MANY_DATASETS} names {quote(wrong[0])}, which is no directory of the data set")
    return names


def _split_files(folder: Path) -> dict[str, list[Path]]:
    files = sorted(entry for entry in folder.rglob("*") if entry.suffix in _ENDINGS and entry.is_file())
    if not files and task_folders(folder):
        raise ValidationError(
            f"{folder} holds task directories, which an agent works in over many turns, and no prompts that one answer "
            "is given to: run agents' answers with `harena benchmark run`, or train in an environment "
            "(docs/how-to/environments.md)"
        )
    if not files:
        raise ValidationError(f"{folder} holds no data set: give a file ({', '.join(_ENDINGS)}) or a directory of them")
    by_split: dict[str, list[Path]] = {}
    for file in files:
        by_split.setdefault(_split_of(file, folder), []).append(file)
    return by_split


def _split_of(file: Path, folder: Path) -> str:
    """Tell the split by the first folder, else by the name: train-00000-of-00002.parquet and train.jsonl are of
    `train`."""
    parts = file.relative_to(folder).parts
    return parts[0] if len(parts) > 1 else file.stem.partition("-")[0]


def _chosen(splits: Sequence[str], split: str | None, folder: Path) -> str:
    wanted = split or (splits[0] if len(splits) == 1 else DEFAULT_SPLIT)
    if wanted not in splits:
        raise ValidationError(f"{folder} has no split {wanted!r}; it has {', '.join(sorted(splits)) or 'none'}")
    return wanted


def _files_of_saved(folder: Path, name: str) -> list[tuple[Path, str]]:
    state = _json_file(folder / _ONE_DATASET)
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise ValidationError(f"{folder} is a selection of another data set: save it after `flatten_indices()`")
    entries = state.get("_data_files")
    files = [str(entry.get("filename")) for entry in entries or [] if isinstance(entry, Mapping)]
    for file in files:
        if "/" in file or not is_name_inside(file) or not (folder / file).is_file():
            raise ValidationError(
                f"{folder / _ONE_DATASET} names {file!r}, which is not there: copy the whole directory"
            )
    return [(folder / file, f"{name}/{file}".lstrip("/")) for file in files]


def _json_file(path: Path) -> Mapping[str, Any]:
    try:
        content = read_outside(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ValidationError(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise ValidationError(f"{path} holds no JSON object")
    return content


def _rows_of_file(path: Path, name: str, mistakes: Mistakes) -> Iterator[Row]:
    readers = {**dict.fromkeys(LINE_ENDINGS, _jsonl), ".json": _json, PARQUET: _parquet, ".arrow": _arrow}
    readers |= {**dict.fromkeys(_SCENARIO_ENDINGS, _yaml), CSV: _table}
    ending = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if (reader := readers.get(ending)) is None or (path.suffix == ".gz" and ending not in LINE_ENDINGS):
        endings = ", ".join((*_ENDINGS, CSV, *_SCENARIO_ENDINGS, ".jsonl.gz"))
        raise ValidationError(f"{path}: rows are read from files that end in {endings}")
    for origin, value in reader(path, name, mistakes):
        if isinstance(value, Mapping):
            yield Row(value, origin)
        else:
            mistakes.add(origin, f"a row is an object with fields, not {type(value).__name__}")


def _jsonl(path: Path, name: str, mistakes: Mistakes) -> Iterator[tuple[str, Any]]:
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(lines_in(file), 1):
                if not line.isspace():
                    try:
                        yield f"{name}:{number}", _parsed(line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n"))
                    except ValueError as error:
                        mistakes.add(f"{name}:{number}", str(error))
    except LineTooLongError as error:
        mistakes.add(f"{name}:{error.number}", str(error))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        mistakes.add(f"{name}:{number + 1}", f"not gzip, or cut short: {error}")


def _json(path: Path, name: str, mistakes: Mistakes) -> Iterator[tuple[str, Any]]:
    try:
        content = _parsed(path.read_bytes(), most_values=_MOST_VALUES)
    except ValueError as error:
        mistakes.add(name, str(error))
        return
    yield from _rows_in(content, name)


def _yaml(path: Path, name: str, mistakes: Mistakes) -> Iterator[tuple[str, Any]]:
    from harena.scoring.reading import ScenarioFileError, read_document

    try:
        yield from _rows_in(read_document(path).content, name)
    except ScenarioFileError as error:
        mistakes.add(name, "; ".join(mistake.message for mistake in error.mistakes))


def _table(path: Path, name: str, mistakes: Mistakes) -> Iterator[tuple[str, Any]]:
    try:
        for line, values in csv_rows(path):
            yield f"{name}:{line}", values
    except ValidationError as error:
        mistakes.add(name, str(error).removeprefix(f"{path}").lstrip(": "))


def _rows_in(content: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The rows of a list, the problems of a scenario file, or one row."""
    problems = problems_in(content)
    if isinstance(content, list) or problems is not None:
        rows = content if problems is None else problems
        yield from ((f"{name}: row {number}", value) for number, value in enumerate(rows, 1))
    else:
        yield name, content


def _parsed(text: bytes, most_values: int | None = None) -> Any:
    """Raises ValueError, which says what is wrong."""
    try:
        value = read_outside(text.decode(), most_values=most_values, parse_constant=_no_constant)
    except JsonSizeError:
        raise
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 (byte {error.start} of it)") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} of it, " if error.lineno > 1 else ""
        raise ValueError(f"not JSON: {error.msg} ({where}character {error.colno})") from None
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None
    if b"\\ud" in text.lower():
        _check_text(value)
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _check_text(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("has half of a surrogate pair in it, which no tokenizer reads") from None


def _parquet(path: Path, name: str, mistakes: Mistakes) -> Iterator[tuple[str, Any]]:
    arrow = _pyarrow(path)
    try:
        with arrow.parquet.ParquetFile(path) as file:
            yield from _numbered(name, (batch.to_pylist() for batch in file.iter_batches()))
    except arrow.lib.ArrowException as error:
        mistakes.add(name, f"not Parquet: {error}")


def _arrow(path: Path, name: str, mistakes: Mistakes) -> Iterator[tuple[str, Any]]:
    arrow = _pyarrow(path)
    try:
        with arrow.memory_map(str(path)) as source, arrow.ipc.open_stream(source) as batches:
            yield from _numbered(name, (batch.to_pylist() for batch in batches))
    except arrow.lib.ArrowException as error:
        mistakes.add(name, f"not an Arrow stream: {error}")


def _numbered(name: str, batches: Iterator[list[Any]]) -> Iterator[tuple[str, Any]]:
    number = 0
    for batch in batches:
        for value in batch:
            number += 1
            yield f"{name}: row {number}", value


def _pyarrow(path: Path) -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise ValidationError(f"{path} is read with pyarrow: pip install 'harena[parquet]'") from None
    return pyarrow
