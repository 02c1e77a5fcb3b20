"""Ways of scoring side by side: a baseline between every two subjects, over several rounds, and what the rounds say."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.drive_jobs import JobOrder
from benchmarks.driving import driven
from benchmarks.figures import median, neighbour_ratio

SETTLE_SECONDS = 0.5
"""between two runs: the kernel dismantles network namespaces after their owners have ended"""

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One way at one concurrency, as a row of a table."""

    label: str
    way: str
    concurrency: int


def measure_sides(baseline: Side, subjects: Sequence[Side], *, programs: int, rounds: int) -> dict[str, Any]:
    """{rows: label -> medians over the rounds, runs: label -> figures of each round}. In each round the baseline runs
    first, last and between every two subjects, and a subject is compared with its two neighbours:

    `ratio` = its programs per second over theirs; `cpu_ratio` = its processor time per program over theirs (of its own
    process tree, or of the whole machine where that cannot be told). Raises RuntimeError if a run fails.
    """
    runs: dict[str, list[Figures]] = {side.label: [] for side in (baseline, *subjects)}
    for number in range(1, rounds + 1):
        before = _drive(baseline, programs)
        runs[baseline.label].append(before)
        for subject in subjects:
            figures = _drive(subject, programs)
            after = _drive(baseline, programs)
            runs[baseline.label].append(after)
            figures["ratio"] = neighbour_ratio(figures["per_second"], before["per_second"], after["per_second"])
            figures["cpu_ratio"] = 2 * _cpu_ms(figures) / (_cpu_ms(before) + _cpu_ms(after))
            runs[subject.label].append(figures)
            before = after
            print(
                f"round {number}/{rounds} {subject.label}: {figures['per_second']:.0f}/s, {figures['ratio']:.2f} x, "
                f"processor time {figures['cpu_ratio']:.2f} x",
                file=sys.stderr,
            )
    return {"rows": {label: summary(figures) for label, figures in runs.items()}, "runs": runs}


def summary(taken: Sequence[Figures]) -> Figures:
    """Medians over the rounds; of the wrong verdicts the sum."""
    row: Figures = {
        "per_second": median([figures["per_second"] for figures in taken]),
        "cpu_ms": median([_cpu_ms(figures) for figures in taken]),
        "own_cpu_ms": median([figures["own_cpu_ms"] for figures in taken]),
        "wrong": sum(figures["wrong"] for figures in taken),
    }
    for name in ("ratio", "cpu_ratio"):
        values = [figures[name] for figures in taken if name in figures]
        if values:
            row[name], row[f"{name}_range"] = median(values), [min(values), max(values)]
    return row


def table(rows: dict[str, Figures]) -> list[str]:
    """A markdown table."""
    lines = [
        "| | x speed (range) | x processor time (range) | /s | CPU ms each | of them this process | wrong verdicts |",
        "|---|---|---|---|---|---|---|",
    ]
    for label, row in rows.items():
        compared = [
            f"{row[name]:.2f} ({row[f'{name}_range'][0]:.2f}-{row[f'{name}_range'][1]:.2f})" if name in row else "1"
            for name in ("ratio", "cpu_ratio")
        ]
        lines.append(
            f"| {label} | {' | '.join(compared)} | {row['per_second']:.0f} | {row['cpu_ms']:.2f} "
            f"| {row['own_cpu_ms']:.2f} | {row['wrong']} |"
        )
    return lines


def _cpu_ms(figures: Figures) -> float:
    known = figures["tree_cpu_ms"]
    return float(figures["machine_cpu_ms"] if known is None else known)


def _drive(side: Side, programs: int) -> Figures:
    order = JobOrder(way=side.way, programs=programs, concurrency=side.concurrency, warm_up=min(200, programs))
    time.sleep(SETTLE_SECONDS)
    figures: Figures = driven("drive_jobs", order, f"the run of {side.label}")
    return figures
