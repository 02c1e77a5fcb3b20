"""Rows of a data set whose problems are fit, byte for byte as they stand in its file."""

from __future__ import annotations

import gzip
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from harena.core.outside_json import lines_in, read_outside
from harena.core.row_endings import LINE_ENDINGS
from harena.scoring.formats.importing import SCENARIOS
from harena.scoring.formats.recognise import family_named, is_own, recognised
from harena.scoring.formats.rows import Row, refusal
from harena.scoring.formats.task import Family


def check_has_lines(path: Path) -> None:
    """Raises ScenarioFileError for a data set that has no rows to a line."""
    ending = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if path.is_dir() or ending.lower() not in LINE_ENDINGS:
        named = ", ".join(LINE_ENDINGS)
        raise refusal(
            str(path),
            None,
            f"rows are taken out of files with one to a line ({named}, also in .gz) only: convert it to JSONL",
        )


def fit_rows(path: Path, unfit: Collection[str], *, form: str | None = None) -> Iterator[bytes]:
    """The lines of a data set that was read before, without those of the problems that are `unfit`."""
    check_has_lines(path)
    family: Family | None = None
    first = True
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as opened:
        file: Any = opened
        number = 0
        for line_number, line in enumerate(lines_in(file), 1):
            text = line.decode("utf-8-sig")
            if not text.strip():
                continue
            row = Row(read_outside(text), number, str(path), line=line_number)
            number += 1
            if first and form != SCENARIOS and not (form is None and is_own(row.fields)):
                family = recognised(row) if form is None else family_named(form)
            first = False
            if _name_of(row, family) not in unfit:
                yield line if line.endswith(b"\n") else line + b"\n"


def _name_of(row: Row, family: Family | None) -> str:
    if family is None:
        return _own_problem(row)
    return family.read(row).id if family.name_of is None else family.name_of(row)


def _own_problem(row: Row) -> str:
    """Name of the problem of a row of harena's own format."""
    named = row.fields.get("problem")
    if isinstance(named, dict):
        named = named.get("id")
    for name in (named, row.fields.get("id"), row.fields.get("scenario_id")):
        if isinstance(name, str | int):
            return str(name)
    return ""
