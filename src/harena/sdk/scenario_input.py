"""Scenarios as users give them: a file's path, its content, a list, or what was stored by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harena.core.checked import checked_text
from harena.core.errors import ValidationError
from harena.core.records.record import Record

ScenarioInput = str | os.PathLike[str] | Mapping[str, Any] | Iterable[Any]


def plain_input(
    given: object, field: str, wanted: str, *, one_by_one: bool = False
) -> str | dict[str, Any] | list[Any] | Iterator[Any]:
    """Convert a given value to what a request holds; with `one_by_one` an iterator remains one. Raises ValidationError,
    which says what is `wanted`."""
    if isinstance(given, str | os.PathLike):
        return os.fspath(given)
    if isinstance(given, Record) and "ref" in given:
        return {"ref": given["ref"]}
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, Iterable):
        raise ValidationError(f"{field} must be {wanted} (got {type(given).__name__})")
    entries = (dict(entry) if isinstance(entry, Mapping) else entry for entry in given)
    return entries if one_by_one and isinstance(given, Iterator) else [*entries]


def _opened(source: object) -> object:
    """The rows of a Parquet or CSV file; every other source as it is."""
    if not isinstance(source, str | os.PathLike):
        return source
    from harena.core.row_endings import TABLE_ENDINGS  # what `import harena` loads is counted

    if not os.fspath(source).endswith(TABLE_ENDINGS):
        return source
    from harena.sdk.table_rows import table_rows  # few data sets are

    return table_rows(os.fspath(source))


def plain_sources(
    scenarios: object,
    *,
    candidates: object = None,
    form: object = None,
    grader: object = None,
    one_by_one: bool = False,
) -> dict[str, Any]:
    """{scenarios, candidates, format, grader}, without those that were not given. Raises ValidationError."""
    wanted = {
        "scenarios": "the path of a scenario file, its content, a list of scenarios or {'ref': 'NAME@2'}",
        "candidates": "the path of a file of answers or a list of answers",
        "grader": "the path of a grader's JSON file, or the grader as a mapping",
    }
    given = {"scenarios": _opened(scenarios), "candidates": _opened(candidates), "grader": grader}
    sources: dict[str, Any] = {
        field: plain_input(source, field, wanted[field], one_by_one=one_by_one)
        for field, source in given.items()
        if source is not None or field == "scenarios"
    }
    return sources if form is None else {**sources, "format": checked_text(form, "format")}
