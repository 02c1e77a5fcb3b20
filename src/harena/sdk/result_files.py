"""Writes results to JSON, JSON lines, CSV and Parquet files, a page of runs at a time, in bounded memory.

A file is replaced atomically: it is written to a temporary file in the same folder and renamed when it is complete.

CSV is for spreadsheets, which take a cell that begins with `=`, `+`, `-` or `@` for a formula, and candidates choose
some of the text: such text gets an apostrophe before it. JSON lines and Parquet hold every text as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Protocol, TextIO

from harena.core.errors import ValidationError
from harena.core.records.benchmark_jobs import BenchmarkRun
from harena.core.records.result_rows import COLUMNS, MORE, flat_row
from harena.core.whole_files import output_mistakes, replaced

Run = BenchmarkRun

FORMULA_BEGINS = tuple("=+-@\t\r\n＝＋－＠")  # noqa: RUF001 - the wide ones are formulas to some spreadsheets
"""what OWASP's page on CSV injection names"""


class ResultFormat(StrEnum):
    """How results are written to a file."""

    JSON = "json"
    """one object: {job_id, name, state, error, runs, summary}"""
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


class ResultWriter(Protocol):
    """Takes the runs of a job, in pages, and then what they add up to."""

    def add(self, runs: Sequence[Run]) -> None:
        """Some more runs."""

    def end(self, told: Mapping[str, Any]) -> None:
        """{job_id, name, state, error, summary}: there are no more."""


class JsonWriter:
    """One JSON object, with a run to a line."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._before = '{"runs": [\n'

    def add(self, runs: Sequence[Run]) -> None:
        """Write the runs as elements of the document's list."""
        for run in runs:
            self._out.write(self._before + json.dumps(run.to_dict()))
            self._before = ",\n"

    def end(self, told: Mapping[str, Any]) -> None:
        """Close the list, and write the members of `told` after it."""
        begin = "\n" if self._before == ",\n" else self._before
        rest = "".join(f",\n{json.dumps(name)}: {json.dumps(value)}" for name, value in told.items())
        self._out.write(f"{begin}]{rest}}}\n")


class JsonLinesWriter:
    """A run to a line."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def add(self, runs: Sequence[Run]) -> None:
        """Write one line for each run."""
        self._out.writelines(json.dumps(run.to_dict()) + "\n" for run in runs)

    def end(self, told: Mapping[str, Any]) -> None:
        """Write nothing: JSON lines hold runs only."""


class CsvWriter:
    """Flat rows under a header."""

    def __init__(self, out: TextIO) -> None:
        import csv  # only who writes such a file needs it

        self._rows = csv.writer(out, lineterminator="\n")
        self._rows.writerow((*COLUMNS, MORE))

    def add(self, runs: Sequence[Run]) -> None:
        """Write one row for each run; values that a spreadsheet would read as formulas are made harmless."""
        self._rows.writerows([no_formula(value) for value in flat_row(run.to_dict()).values()] for run in runs)

    def end(self, told: Mapping[str, Any]) -> None:
        """Write nothing: CSV holds runs only."""


def no_formula(value: Any) -> Any:
    """A cell's value, with an apostrophe before text that a spreadsheet would take for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_BEGINS) else value


TEXT_WRITERS: dict[ResultFormat, type[JsonWriter | JsonLinesWriter | CsvWriter]] = {
    ResultFormat.JSON: JsonWriter,
    ResultFormat.JSONL: JsonLinesWriter,
    ResultFormat.CSV: CsvWriter,
}


def format_of(path: Path, asked: str | None = None) -> ResultFormat:
    """The format that was asked for, else the one that the file's ending tells. Raises ValidationError."""
    word = asked if asked is not None else path.suffix.removeprefix(".").lower()
    try:
        return ResultFormat(word)
    except ValueError:
        given = f"format {asked!r}" if asked is not None else f"the ending of {path.name!r}"
        raise ValidationError(f"{given} is none of {', '.join(ResultFormat)}: give one of them as the format") from None


@contextmanager
def result_file(path: Path, form: ResultFormat) -> Iterator[ResultWriter]:
    """A writer whose file appears at `path` when the block has ended well; else there is what was there before.

    Raises ValidationError where the file cannot be made, or what its format needs is not installed; PlatformError for a
    disk that does not take it.
    """
    if mistakes := output_mistakes({"the results": path}, inputs=(), overwrite=True):
        raise ValidationError(mistakes[0])
    if form is ResultFormat.PARQUET:
        from harena.sdk.result_parquet import ParquetWriter, check_parquet

        check_parquet()
    with replaced([path]) as [file]:
        if form is ResultFormat.PARQUET:
            with ParquetWriter(file) as writer:
                yield writer
        else:
            text = TextIOWrapper(file, encoding="utf-8", newline="")
            yield TEXT_WRITERS[form](text)
            text.flush()
            text.detach()
