"""Results as people and programs want them: a table of rewards, JSON, JSON lines or CSV, on stdout."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TextIO

Run = Mapping[str, Any]

MAX_PROBLEM_ROWS = 200
RUN_COLUMNS = ("scenario_id", "attempt", "score", "reason", "validity", "trust", "duration_seconds", "detail")
CSV_COLUMNS = (
    "scenario_id", "attempt", "problem", "score", "passed", "validity", "trust", "reason", "detail", "duration_seconds",
    "cpu_seconds", "peak_memory_bytes", "checks_planned", "checks_run", "checks_passed", "platform_retries", "evidence",
)  # fmt: skip


class Format(StrEnum):
    """How results are written."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


def write_results(results: Mapping[str, Any], form: Format, *, show_runs: int = 0, out: TextIO | None = None) -> None:
    """Write the results of a job."""
    out = out or sys.stdout
    if form is Format.JSON:
        write_json(results, out)
    elif form is Format.JSONL:
        for run in results["runs"]:
            out.write(json.dumps(run) + "\n")
    elif form is Format.CSV:
        rows = csv.DictWriter(out, CSV_COLUMNS, extrasaction="ignore", lineterminator="\n")
        rows.writeheader()
        rows.writerows(results["runs"])
    else:
        _write_tables(results, show_runs, out)


def write_json(value: Any, out: TextIO | None = None) -> None:
    """Write a value as indented JSON."""
    (out or sys.stdout).write(json.dumps(value, indent=2) + "\n")


def write_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]], out: TextIO | None = None) -> None:
    """Write a table; columns after the first are to the right where they hold numbers."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    cells = [[escape(_cell(value)) for value in row] for row in rows]
    # a table that goes to a file or a pipe is as wide as it needs to be
    out = out or sys.stdout
    console = Console(file=out, width=None if out.isatty() else 200, highlight=False, soft_wrap=not out.isatty())
    table = Table(title=escape(title) or None, title_justify="left", title_style="bold")
    for index, name in enumerate(header):
        numeric = index > 0 and all(
            row[index].rstrip("%").replace(".", "").isdigit() or row[index] == "-" for row in cells
        )
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*row)
    console.print(table)


def summary_lines(results: Mapping[str, Any]) -> list[str]:
    """The job in a few sentences."""
    summary = results["summary"]
    rate, mean = summary["pass_rate"], summary["mean_score"]
    ran = len(results["runs"]) - summary["cancelled"]
    lines = [
        f"{results['name']} ({results['job_id']}): {results['state']}; {ran} of {summary['total']} "
        f"runs in {summary['duration_seconds']:.1f} s, {summary['runs_per_second']:.1f}/s",
        f"passed {summary['passed']} of {summary['scored']} scored"
        + (f" ({rate:.1%}), mean score {mean:.3f}" if rate is not None else "")
        + "".join(
            f", {summary[kind]} {kind}" for kind in ("infra", "invalid", "suspect", "cancelled") if summary[kind]
        ),
        "reasons: " + ", ".join(f"{reason} {count}" for reason, count in summary["by_reason"].items()),
    ]
    lines += _integrity_lines(summary)
    if results.get("error"):
        lines.append(f"error: {results['error']}")
    if (verdicts := summary["verdicts"]) is not None:
        lines.append(f"verdicts right: {verdicts['right']}/{verdicts['expected']}")
    return lines


def _integrity_lines(summary: Mapping[str, Any]) -> list[str]:
    """Only what there is to say: cheats that were seen, honeypots, and scores that were taken twice."""
    lines = []
    honeypots, rescored = summary.get("honeypots"), summary.get("rescored")
    if summary["suspect"] or honeypots:
        rate, of_all = summary.get("hack_rate"), summary.get("hack_rate_of_all")
        caught = f", {honeypots['passed']} of {honeypots['scored']} scored honeypots passed" if honeypots else ""
        lines.append(f"hack rate {_percent(rate)} of scored, {_percent(of_all)} of all{caught}")
    if rescored:
        lines.append(
            f"scored again: {rescored['scored']} of {rescored['runs']}; {rescored['disagreed']} disagree ("
            f"{_percent(rescored['disagreement_rate'])} of scored, "
            f"{_percent(rescored['disagreement_rate_of_all'])} of all)"
        )
    return lines


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1%}"


def wrong_verdict_lines(results: Mapping[str, Any]) -> list[str]:
    """One line for each run whose verdict is not the known one."""
    return [
        f"  {run['scenario_id']} (attempt {run['attempt']}): {_verdict(run)}, expected {_expected(run['expected'])}"
        for run in results["runs"]
        if run["verdict_right"] is False
    ]


def reward_rows(runs: Sequence[Run]) -> list[tuple[str, int, int, float | None, int, float]]:
    """Per problem, in order of appearance: (problem, runs, passed, mean score or None, unscored, slowest seconds)."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run["problem"] or run["scenario_id"], []).append(run)
    rows = []
    for problem, of_problem in groups.items():
        scores = [run["score"] for run in of_problem if run["score"] is not None]
        rows.append(
            (
                problem,
                len(of_problem),
                sum(1 for run in of_problem if run["passed"]),
                sum(scores) / len(scores) if scores else None,
                len(of_problem) - len(scores),
                max(run["duration_seconds"] for run in of_problem),
            )
        )
    return rows


def _write_tables(results: Mapping[str, Any], show_runs: int, out: TextIO) -> None:
    rows = reward_rows(results["runs"])
    if rows:
        left_out = len(rows) - MAX_PROBLEM_ROWS
        header = ("problem", "candidates", "passed", "mean score", "unscored", "slowest s")
        write_table("rewards", header, rows[:MAX_PROBLEM_ROWS], out)
        if left_out > 0:
            out.write(f"... and {left_out} more problems (--format json shows all)\n")
    if show_runs:
        shown = sorted(results["runs"], key=_interest)[:show_runs]
        write_table("runs", RUN_COLUMNS, [[run[column] for column in RUN_COLUMNS] for run in shown], out)
    out.write("".join(f"{line}\n" for line in summary_lines(results)))


def _interest(run: Run) -> tuple[bool, bool, float]:
    """Wrong verdicts first, then runs without a score, then the slowest."""
    return run["verdict_right"] is not False, run["score"] is not None, -run["duration_seconds"]


def _verdict(run: Run) -> str:
    return f"{'passed' if run['passed'] else 'failed'} ({run['reason']})"


def _expected(expected: Mapping[str, Any]) -> str:
    reasons = " or ".join(expected["reason"])
    return ("passed" if expected["passed"] else "failed") + (f" ({reasons})" if reasons else "")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
