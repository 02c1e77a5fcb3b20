"""Results as flat rows: one table of columns for data frames, CSV and Parquet alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class ColumnKind(StrEnum):
    """What a column holds."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    NESTED = "nested"
    """a mapping or None; JSON text where a file's columns are flat"""


COLUMNS: dict[str, ColumnKind] = {
    "scenario_id": ColumnKind.TEXT,
    "attempt": ColumnKind.INTEGER,
    "problem": ColumnKind.TEXT,
    "score": ColumnKind.NUMBER,
    "passed": ColumnKind.BOOLEAN,
    "validity": ColumnKind.TEXT,
    "trust": ColumnKind.TEXT,
    "reason": ColumnKind.TEXT,
    "detail": ColumnKind.TEXT,
    "duration_seconds": ColumnKind.NUMBER,
    "cpu_seconds": ColumnKind.NUMBER,
    "peak_memory_bytes": ColumnKind.INTEGER,
    "checks_planned": ColumnKind.INTEGER,
    "checks_run": ColumnKind.INTEGER,
    "checks_passed": ColumnKind.INTEGER,
    "platform_retries": ColumnKind.INTEGER,
    "evidence": ColumnKind.TEXT,
    "run": ColumnKind.INTEGER,
    "scorer_version": ColumnKind.TEXT,
    "scenario_digest": ColumnKind.TEXT,
    "candidate_digest": ColumnKind.TEXT,
    "profile": ColumnKind.TEXT,
    "image_digest": ColumnKind.TEXT,
    "blueprint_digest": ColumnKind.TEXT,
    "scenario_version": ColumnKind.TEXT,
    "contract_version": ColumnKind.TEXT,
    "honeypot": ColumnKind.BOOLEAN,
    "verdict_right": ColumnKind.BOOLEAN,
    "expected": ColumnKind.NESTED,
    "rescore": ColumnKind.NESTED,
    "metadata": ColumnKind.NESTED,
}
"""name -> kind, in order; each may be None"""

MORE = "more"
"""the last column: what a run has beside these, as a mapping; None where that is nothing"""


def row_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run (a mapping, as results have it) as a flat dict of every column. Nothing of it is left out."""
    row = {name: run.get(name) for name in COLUMNS}
    row[MORE] = {name: value for name, value in run.items() if name not in COLUMNS} or None
    return row


def flat_row(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run as a flat row, with JSON text in place of mappings, and text that every file format can hold."""
    row = row_of(run)
    for name, value in row.items():
        if isinstance(value, str):
            row[name] = writable(value)
        elif name == MORE or COLUMNS[name] is ColumnKind.NESTED:
            row[name] = None if value is None else json.dumps(value, default=str)
    return row


def writable(text: str) -> str:
    """Text as UTF-8 can hold it: candidates may say halves of surrogate pairs."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
