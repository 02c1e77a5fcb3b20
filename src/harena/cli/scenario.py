"""`harena scenario`: check scenario files before anything runs, and calibrate them before anything is trained."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from harena.cli import catalog, face
from harena.cli.arguments import stored_or_file
from harena.cli.calibration_options import (
    Blueprint,
    Candidates,
    Concurrency,
    DataFormat,
    GoldRuns,
    Grader,
    RunTimeout,
)
from harena.cli.progress import follow
from harena.cli.report import AnswerFormat, write_json, write_table
from harena.cli.tally import Tally
from harena.core.errors import ValidationError
from harena.core.printable import printable_lines
from harena.core.records.calibrations import CalibratedScenario, CalibrationReport

MISTAKES_EXIT = 1
UNFIT_EXIT = 3
NO_VERDICT_EXIT = 2
INTERRUPTED_EXIT = 130

app = typer.Typer(no_args_is_help=True, help="Scenarios: whether a file is right, fit for training, and kept by name.")
catalog.add_scenario_verbs(app)

OWN_FORMAT = "scenarios"
MOST_SHARED_LINES = 20


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="Scenario file, data set (.yaml, .json, .jsonl), or task directory.")],
    candidates: Annotated[
        str | None, typer.Option(help="File of answers to a data set; 'oracle': its own solutions; 'nop': none.")
    ] = None,
    data_format: Annotated[
        str | None, typer.Option("--format", help="The data format, where its shape does not tell.")
    ] = None,
    grader: Annotated[Path | None, typer.Option(help="JSON file of the grader of rows that hold none.")] = None,
    skip_bad_rows: Annotated[
        bool, typer.Option("--skip-bad-rows", help="Of a data set: name the rows with a mistake, and check the others.")
    ] = False,
) -> None:
    """Name file, line and field of every mistake.

    Exit code 0: there is none. 1: there are mistakes.
    """
    given = {
        "candidates": candidates,
        "format": data_format,
        "grader": grader and str(grader),
        "skip_bad_rows": skip_bad_rows or None,
    }
    try:
        batch = face.load().load_scenarios(
            str(file), **{name: value for name, value in given.items() if value is not None}
        )
    except ValidationError as error:
        for mistake in getattr(error, "mistakes", None) or [error]:
            sys.stdout.write(f"{printable_lines(str(mistake))}\n")
        raise typer.Exit(MISTAKES_EXIT) from None
    scenarios = batch.scenarios
    problems = {scenario.problem_id or scenario.id for scenario in scenarios}
    form = getattr(batch, "form", OWN_FORMAT)
    named = "" if form == OWN_FORMAT else f" ({form})"
    sys.stdout.write(f"{_count(scenarios, 'scenario')}, {_count(problems, 'problem')}: ok{named}\n")
    _explain_trust(scenarios)
    left_out = getattr(batch, "left_out", ())
    for mistake in left_out:
        sys.stdout.write(f"left out: {mistake}\n")
    if left_out:
        sys.stdout.write(f"{_count(left_out, 'mistake')}: their rows are left out\n")


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    write_json(face.load().scenario_schema())


def _explain_trust(scenarios: Sequence[Any]) -> None:
    """Print which problems are judged beside the candidate though others of their kind are not, and why."""
    reasons = {}
    for scenario in scenarios:
        why = scenario.metadata.get("shared_because") or scenario.scoring.shared_because
        if why is not None:
            reasons[scenario.problem_id or scenario.id] = why
    for problem, reason in list(reasons.items())[:MOST_SHARED_LINES]:
        sys.stdout.write(f"{problem}: trust `shared`: {reason}\n")
    if len(reasons) > MOST_SHARED_LINES:
        sys.stdout.write(f"... and {len(reasons) - MOST_SHARED_LINES} more problems with trust `shared`\n")


@app.command()
def calibrate(
    file: Annotated[Path, typer.Argument(help="Scenario file, data set, or ref:NAME@2: stored scenarios.")],
    candidates: Candidates = None,
    data_format: DataFormat = None,
    grader: Grader = None,
    gold_runs: GoldRuns = 5,
    blueprint: Blueprint = "default",
    concurrency: Concurrency = 8,
    timeout: RunTimeout = 10.0,
    form: Annotated[AnswerFormat, typer.Option("--format", help="table or json.")] = AnswerFormat.TABLE,
    store: Annotated[
        bool, typer.Option(help="Write FILE.calibration.json, which names the scenarios' digests.")
    ] = True,
) -> None:
    """Run right answers several times, empty answers and every known forgery; say whether the scenarios are fit.

    Exit code 0: fit for training. 1: mistakes in the file. 2: it could not run, or some runs got no score from a busy
    host. 3: not fit or not judged, and why. 130: interrupted.
    """
    harena = face.load()
    try:
        report = harena.calibrate(
            stored_or_file(file),
            candidates=candidates,
            format=data_format,
            grader=None if grader is None else str(grader),
            gold_runs=gold_runs,
            blueprint_id=blueprint,
            concurrency=concurrency,
            timeout_seconds=timeout,
            store=store,
            follow=lambda events: follow(lambda _: events, Tally(mixes=True), name=f"calibration of {file.name}"),
        )
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED_EXIT) from None
    except ValidationError as error:
        if not hasattr(error, "mistakes"):
            raise
        sys.stdout.writelines(f"{printable_lines(str(mistake))}\n" for mistake in error.mistakes)
        raise typer.Exit(MISTAKES_EXIT) from None
    if form is AnswerFormat.TABLE:
        _write_calibration(report, file)
    else:
        write_json(report.to_dict())
    unfit = any(row.verdict in ("not_fit", "not_judged") for row in report.scenarios)
    raise typer.Exit(0 if report.fit else UNFIT_EXIT if unfit else NO_VERDICT_EXIT)


def _write_calibration(report: CalibrationReport, file: Path) -> None:
    header = ("scenario", "contract", "trust", "right answer", "flakes", "empty", "stub", "best constant",
              "mutants killed", "forgeries paid", "fit")  # fmt: skip
    rows = [
        (row.scenario, row.contract, row.trust, f"{row.gold.passed}/{row.gold.runs}", row.gold.flakes,
         row.empty_score, row.stub_score, row.constants.best_score,
         _killed(row), f"{len(row.battery.paid)}/{row.battery.tried}",
         _FITNESS[row.verdict])
        for row in report.scenarios
    ]  # fmt: skip
    least = ("trust", "contract", "flakes", "empty", "stub", "best constant")
    write_table(f"calibration of {file.name}, battery {report.battery_version}", header, rows, least=least)
    for row in report.scenarios:
        sys.stdout.writelines(f"{row.scenario}: {line}\n" for line in [*row.faults, *_notes(row)])
    fit = sum(row.fit for row in report.scenarios)
    sys.stdout.write(f"fit for training: {fit} of {_count(report.scenarios, 'scenario')}; ")
    rate = report.flake_rate
    sys.stdout.write("no right answer was scored\n" if rate is None else f"flake rate {rate:.2%}\n")


def _killed(row: CalibratedScenario) -> str:
    """Mutants that are noticed; what fails without a mistake says nothing about them."""
    steady = row.gold.passed == row.gold.scored > 0
    return f"{row.mutants.killed}/{row.mutants.scored}" if steady and row.mutants.scored else "-"


_FITNESS = {"fit": "yes", "not_fit": "NO", "not_judged": "not judged", "no_verdict": "no verdict"}
MOST_SURVIVORS = 5


def _notes(row: CalibratedScenario) -> Iterator[str]:
    """What is no fault and should be known."""
    constants, survived = row.constants, row.mutants.survived
    if constants.best is not None and not constants.passed:
        yield f"note: an answer that {constants.best} earns {constants.best_score:.6g} of partial credit"
    if survived:
        told = "; ".join(survived[:MOST_SURVIVORS]) + ("; ..." if len(survived) > MOST_SURVIVORS else "")
        yield f"note: {len(survived)} of {row.mutants.scored} mutants of the right answer pass ({told})"
    if row.gold.runs and not row.mutants.scored:
        yield "note: no mutant of the right answer was scored: nothing says that a small mistake is noticed"
    yield from (f"note: {note}" for note in row.notes)
    if row.verdict not in ("fit", "not_fit") and row.why not in row.faults:
        yield f"{_FITNESS[row.verdict]}: {row.why}"


def _count(things: Collection[object], noun: str) -> str:
    return f"{len(things)} {noun}" + ("" if len(things) == 1 else "s")
