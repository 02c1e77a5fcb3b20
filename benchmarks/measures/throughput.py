"""How many verdicts a second a benchmark job gives at a concurrency of 200, beside a pool of plain subprocesses.

The plain side is the leanest that can be glued together: `python -c PROGRAM` by vfork from one event loop, in a bare
environment, without isolation, limits, files or a store; the program's own asserts and its exit code are the verdict.
"""

from __future__ import annotations

import os
from typing import Any

from benchmarks.plain_python import DESCRIPTION
from benchmarks.sides import Side, measure_sides, table

CONCURRENCY = 200


def measure(*, programs: int, rounds: int) -> dict[str, Any]:
    """Rows of `measure_sides`."""
    from harena.jobs.schedule import effective_concurrency

    few = effective_concurrency(CONCURRENCY, cores=len(os.sched_getaffinity(0)))
    baseline = Side(label=f"plain subprocesses, {CONCURRENCY} at a time", way="plain", concurrency=CONCURRENCY)
    subjects = [
        Side(label="benchmark job, SQLite", way="sqlite", concurrency=CONCURRENCY),
        Side(label=f"plain subprocesses, {few} at a time", way="plain", concurrency=few),
    ]
    found = measure_sides(baseline, subjects, programs=programs, rounds=rounds)
    return {"programs": programs, "rounds": rounds, "plain": DESCRIPTION, "concurrency": CONCURRENCY, **found}


def render(results: dict[str, Any]) -> list[str]:
    """What was compared, and the table."""
    return [
        f"{results['programs']} programs, {results['rounds']} rounds, each run between two plain ones. Plain: a pool "
        f"of workers, one `python -c PROGRAM` each ({results['plain'].removeprefix('plain = ')}); its asserts and exit "
        f"code are the verdict. Job: config.concurrency {results['concurrency']}, each program in a warm sandbox of "
        "its own, asked call by call and judged outside, from the rows to all results read back from the store.",
        "",
        *table(results["rows"]),
    ]
