"""Results as people and programs want them: a table of rewards, JSON, JSON lines or CSV, on stdout."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import Annotated, Any, TextIO

import typer

from harena.cli.plain_table import plain_table, takes_plain_text
from harena.cli.result_totals import ResultTotals
from harena.cli.table_fit import blocks, fitted, line_width, unlimited
from harena.core.printable import printable
from harena.core.records.evaluations import PassRate
from harena.sdk.job_reading import ScenarioOrder
from harena.sdk.result_files import TEXT_WRITERS, ResultFormat, no_formula

MAX_PROBLEM_ROWS = 200
_UNSEEN_WIDTH = 200
"""columns of what no terminal shows"""
RUN_COLUMNS = ("scenario_id", "attempt", "score", "reason", "validity", "trust", "duration_seconds", "detail")


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


class AnswerFormat(StrEnum):
    """How one answer is printed that is no list of things."""

    TABLE = "table"
    JSON = "json"


ListFormat = Annotated[
    Format, typer.Option("--format", help="table, json, or, an entry to a line, jsonl or csv (nested names by dots).")
]


def write_results(jobs: Any, job: str, form: Format, *, show_runs: int = 0, out: TextIO | None = None) -> JobReport:
    """Write the results that a job has now, a page at a time, in the order of the scenarios; what they add up to."""
    out = out or sys.stdout
    reading = ResultTotals(show_runs=show_runs if form is Format.TABLE else 0)
    in_order = ScenarioOrder()
    pages = iter(jobs.results_pages(job))
    first = list(islice(pages, 1))  # a job that is not there is an error before anything is written
    writer = None if form is Format.TABLE else TEXT_WRITERS[ResultFormat(form)](out)
    for page in chain(first, pages):
        job = page.job_id
        reading.add(page.runs)
        if writer is not None:
            writer.add(in_order.add(page.runs))
    if writer is not None:
        writer.add(in_order.rest())
    told = JobReport(jobs.summary(job).to_dict(), reading.wrong)
    if writer is None:
        _write_tables(told, reading, out)
    else:
        writer.end(told.results)
    return told


@dataclass(frozen=True, slots=True)
class JobReport:
    """What a job's results add up to."""

    results: Mapping[str, Any]
    """{job_id, name, state, error, summary}"""
    wrong: Sequence[str]
    """lines about verdicts that are not the known ones; the first of them"""


def write_json(value: Any, out: TextIO | None = None) -> None:
    """Write a value as indented JSON."""
    (out or sys.stdout).write(json.dumps(value, indent=2) + "\n")


def write_in(form: str, entries: Sequence[Mapping[str, Any]]) -> None:
    """Write a list in a form that is named by a word. Raises BadParameter for one that there is not."""
    if form not in tuple(Format):
        raise typer.BadParameter(f"{form!r} is none of {', '.join(Format)}", param_hint="--format")
    write_list(Format(form), entries, "", (), ())


def write_list(
    form: Format,
    entries: Sequence[Mapping[str, Any]],
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    none: str = "",
    least: Sequence[str] = (),
) -> None:
    """Write a list: the `rows` as a table, or the whole `entries` in one of the other formats. `none`: what to do where
    there are none, said beside an empty table. `least`: columns that narrow lines leave out first."""
    if form is Format.TABLE:
        write_table(title, header, rows, least=least)
        if none and not entries:
            sys.stderr.write(f"no {title}: {none}\n")
    elif form is Format.JSON:
        write_json(entries)
    elif form is Format.JSONL:
        sys.stdout.writelines(json.dumps(entry) + "\n" for entry in entries)
    else:
        flat = [dict(_flat(entry)) for entry in entries]
        columns = list(dict.fromkeys(name for entry in flat for name in entry))
        written = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
        if columns:
            written.writeheader()
        written.writerows(flat)


def _flat(entry: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Cells by name: what is below a mapping has its name and a dot before its own, a list is JSON."""
    for name, value in entry.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{before}{name}.")
        else:
            is_part = isinstance(value, Mapping | list | tuple)
            yield before + name, json.dumps(value) if is_part else no_formula(value)


def write_table(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    out: TextIO | None = None,
    *,
    least: Sequence[str] = (),
) -> None:
    """Write a table; columns after the first are to the right where they hold numbers. In lines that are too narrow,
    columns are left out, those of `least` first, or each row is a block of lines; ids and other words are never folded.
    """
    out, all_columns = out or sys.stdout, header
    cells = [[_cell(value) for value in row] for row in rows]
    to_right = [
        index > 0 and all(row[index].rstrip("%").replace(".", "").isdigit() or row[index] == "-" for row in cells)
        for index in range(len(header))
    ]
    width = line_width(out)
    fit = unlimited(header, cells, _UNSEEN_WIDTH) if width is None else fitted(header, cells, width, least)
    if fit is None:
        out.write(blocks(title, header, cells))
        return
    header, to_right = [header[place] for place in fit.shown], [to_right[place] for place in fit.shown]
    cells = [[row[place] for place in fit.shown] for row in cells]
    most = width or _UNSEEN_WIDTH
    if takes_plain_text(out) and (drawn := plain_table(title, header, cells, to_right, most_width=most)):
        out.write(drawn)
    else:
        _write_drawn_by_rich(title, header, cells, to_right, out, fit.widths)
    if left_out := [name for place, name in enumerate(all_columns) if place not in fit.shown]:
        out.write(f"not shown in lines of {width} columns: {', '.join(left_out)}\n")


def _write_drawn_by_rich(
    title: str,
    header: Sequence[str],
    cells: Sequence[Sequence[str]],
    to_right: Sequence[bool],
    out: TextIO,
    widths: Sequence[int],
) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    whole = sum(widths) + 3 * len(widths) + 1
    console = Console(file=out, width=max(whole, len(title)), highlight=False, soft_wrap=not out.isatty())
    table = Table(title=escape(title) or None, title_justify="left", title_style="bold")
    for name, right, width in zip(header, to_right, widths, strict=True):
        table.add_column(name, justify="right" if right else "left", overflow="fold", width=width)
    for row in cells:
        table.add_row(*map(escape, row))
    console.print(table)


def summary_lines(results: Mapping[str, Any]) -> list[str]:
    """The job in a few sentences."""
    summary = results["summary"]
    rate, mean = summary["pass_rate"], summary["mean_score"]
    ran = sum(summary["by_reason"].values()) - summary["cancelled"]
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
        no_score = f"; no score: {verdicts['no_score']}" if verdicts.get("no_score") else ""
        lines.append(f"verdicts right: {verdicts['right']}/{verdicts['expected']}{no_score}")
    return [printable(line) for line in lines]


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


def pass_words(rates: Iterable[PassRate]) -> str:
    """pass@k in words, with intervals."""
    return ", ".join(f"pass@{each.k} {each.rate:.1%} ({each.low:.1%} to {each.high:.1%})" for each in rates)


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1%}"


def _write_tables(told: JobReport, reading: ResultTotals, out: TextIO) -> None:
    rows = reading.problem_rows()
    if rows:
        left_out = len(rows) - MAX_PROBLEM_ROWS
        header = ("problem", "candidates", "passed", "mean score", "unscored", "slowest s")
        write_table("rewards", header, rows[:MAX_PROBLEM_ROWS], out)
        if left_out > 0:
            out.write(f"... and {left_out} more problems (--format jsonl shows every run)\n")
    if runs := reading.interesting_runs():
        told_of = [[run[column] for column in RUN_COLUMNS] for run in runs]
        write_table("runs", RUN_COLUMNS, told_of, out, least=("trust", "validity", "duration_seconds", "attempt"))
    out.write("".join(f"{line}\n" for line in summary_lines(told.results)))
    if line := reading.reached_line(told.results["summary"]["total"]):
        out.write(f"{line}\n")
    # candidates whose verdict is known are no samples of a model
    if told.results["summary"]["verdicts"] is None and (rates := reading.pass_at()):
        out.write(f"{pass_words(rates)}: means over problems, with their 95% intervals\n")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else printable(str(value))
