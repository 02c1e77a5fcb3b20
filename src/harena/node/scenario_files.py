"""Scenario files, for the package's face: checked without opening a node."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harena.core.row_endings import TABLE_ENDINGS
from harena.sdk.table_rows import table_rows

if TYPE_CHECKING:
    from harena.scoring.scenario import ScenarioBatch


def load_scenarios(
    source: str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    candidates: str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
    grader: str | Path | Mapping[str, Any] | None = None,
    skip_bad_rows: bool = False,
) -> ScenarioBatch:
    """The scenarios of a file, or of objects made in Python; `.scenarios` of the answer holds them, `.form` names the
    format that they were written in: harena's own, or another that is told by its shape or given as `format`, with
    `candidates` as the answers to it ("oracle": its own solutions; "nop": answers that do nothing) and `grader` as that
    of rows that hold none of their own. With `skip_bad_rows`, rows of such a format that have a mistake are left out
    and named in `.left_out`.

    Raises ScenarioFileError, a ValidationError whose `mistakes` name file, line and field. Nothing is run.
    """
    from harena.scoring.formats import import_scenarios
    from harena.scoring.reading import ScenarioFileError

    named = None
    if isinstance(source, str | Path) and str(source).endswith(TABLE_ENDINGS):
        named, source = f"{source}", list(table_rows(source))
    if isinstance(candidates, str | Path) and str(candidates).endswith(TABLE_ENDINGS):
        candidates = list(table_rows(candidates))
    try:
        return import_scenarios(source, candidates=candidates, form=format, grader=grader, skip_bad_rows=skip_bad_rows)
    except ScenarioFileError as error:
        if named is None:
            raise
        # the rows of a table are given as objects, which have no file
        told = [replace(one, file=named) if one.file == "rows" else one for one in error.mistakes]
        raise ScenarioFileError(told) from None


def scenario_schema() -> dict[str, Any]:
    """The JSON Schema of scenario files."""
    from harena.scoring.schema import json_schema

    return json_schema()


def fit_rows(
    data_set: str | os.PathLike[str],
    unfit: Collection[str],
    *,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
) -> Iterator[bytes]:
    """Lines of a data set's file without the rows of problems that are `unfit`, of which "NAME#2" is another contract.
    Raises ScenarioFileError for a file without a row to each line."""
    from harena.scoring.audit.fit_rows import fit_rows as lines

    parts = (name.rpartition("#") for name in unfit)
    others = {before for before, _, number in parts if number.isdecimal() and int(number) > 1}
    return lines(Path(data_set), {*unfit, *others}, form=format)


def check_has_lines(data_set: str | os.PathLike[str]) -> None:
    """Raises ScenarioFileError for a data set without a row to each line."""
    from harena.scoring.audit.fit_rows import check_has_lines as check

    check(Path(data_set))
