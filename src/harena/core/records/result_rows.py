"""Results as flat rows: one table of columns for data frames, CSV and Parquet alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What a column holds."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    NESTED = "nested"
    """a mapping or None; JSON text where a file's columns are flat"""


COLUMNS: dict[str, Kind] = {
    "scenario_id": Kind.TEXT,
    "attempt": Kind.INTEGER,
    "problem": Kind.TEXT,
    "score": Kind.NUMBER,
    "passed": Kind.BOOLEAN,
    "validity": Kind.TEXT,
    "trust": Kind.TEXT,
    "reason": Kind.TEXT,
    "detail": Kind.TEXT,
    "duration_seconds": Kind.NUMBER,
    "cpu_seconds": Kind.NUMBER,
    "peak_memory_bytes": Kind.INTEGER,
    "checks_planned": Kind.INTEGER,
    "checks_run": Kind.INTEGER,
    "checks_passed": Kind.INTEGER,
    "platform_retries": Kind.INTEGER,
    "evidence": Kind.TEXT,
    "run": Kind.INTEGER,
    "scorer_version": Kind.TEXT,
    "scenario_digest": Kind.TEXT,
    "candidate_digest": Kind.TEXT,
    "scenario_version": Kind.TEXT,
    "contract_version": Kind.TEXT,
    "honeypot": Kind.BOOLEAN,
    "verdict_right": Kind.BOOLEAN,
    "expected": Kind.NESTED,
    "rescore": Kind.NESTED,
    "metadata": Kind.NESTED,
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
        elif name == MORE or COLUMNS[name] is Kind.NESTED:
            row[name] = None if value is None else json.dumps(value, default=str)
    return row


def writable(text: str) -> str:
    """Text as UTF-8 can hold it: candidates may say halves of surrogate pairs."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
