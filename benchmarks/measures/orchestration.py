"""What a benchmark job adds to its runs: the same scenarios by the runtime alone, and as a job with stored results.

The baseline is whoever drives the runtime directly with the same workload: it reads the same rows with the same loader,
scores them with the same function at the same concurrency, and keeps results in a list (`benchmarks.ways`, `direct`).
A job beside it is a server's: its scenarios are kept too, so that another process could go on with it.
"""

from __future__ import annotations

from typing import Any

from benchmarks import postgres
from benchmarks.sides import Side, measure_sides, table

CONCURRENCY = 200


def measure(*, programs: int, rounds: int) -> dict[str, Any]:
    """Rows of `measure_sides`; PostgreSQL is left out, with the reason, where none is installed."""
    subjects = [Side(label="job, SQLite", way="sqlite", concurrency=CONCURRENCY)]
    absent = postgres.unavailable()
    if absent is None:
        subjects.append(Side(label="job, PostgreSQL", way="postgres", concurrency=CONCURRENCY))
    baseline = Side(label="runtime alone", way="direct", concurrency=CONCURRENCY)
    found = measure_sides(baseline, subjects, programs=programs, rounds=rounds)
    return {"programs": programs, "rounds": rounds, "absent": absent, **found}


def render(results: dict[str, Any]) -> list[str]:
    """A sentence with the overheads, and the table."""
    rows = results["rows"]
    told = [
        f"{label} adds {row['cpu_ratio'] - 1:.1%} processor time and {1 / row['ratio'] - 1:.1%} wall time"
        for label, row in rows.items()
        if "ratio" in row
    ]
    lines = [
        f"{results['programs']} warm scenarios of the `tests` contract, {results['rounds']} rounds, each run between "
        "two runs of the runtime alone: the same rows, loader, scoring function and concurrency, results in a list. A "
        "job begins with the rows and ends with all results read back from the store; PostgreSQL's processes count.",
        "",
        f"**{'; '.join(told)}.**",
        "",
        *table(rows),
    ]
    if results["absent"]:
        lines.append(f"\nPostgreSQL did not run: {results['absent']}.")
    return lines
