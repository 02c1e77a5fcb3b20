"""`harena scenario`: check scenario files before anything runs."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from harena.cli import face
from harena.cli.report import write_json
from harena.core.errors import ValidationError

MISTAKES_EXIT = 1

app = typer.Typer(no_args_is_help=True, help="Scenario files: what they may hold, and whether yours is right.")


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
) -> None:
    """Name file, line and field of every mistake; exit code 1 if there is one."""
    given = {"candidates": candidates, "format": data_format, "grader": grader and str(grader)}
    try:
        batch = face.load().load_scenarios(str(file), **{name: value for name, value in given.items() if value})
    except ValidationError as error:
        for mistake in getattr(error, "mistakes", None) or [error]:
            sys.stdout.write(f"{mistake}\n")
        raise typer.Exit(MISTAKES_EXIT) from None
    scenarios = batch.scenarios
    problems = {scenario.problem_id or scenario.id for scenario in scenarios}
    form = getattr(batch, "form", OWN_FORMAT)
    named = "" if form == OWN_FORMAT else f" ({form})"
    sys.stdout.write(f"{_count(scenarios, 'scenario')}, {_count(problems, 'problem')}: ok{named}\n")
    if form != OWN_FORMAT:
        _explain_trust(scenarios)


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    write_json(face.load().scenario_schema())


def _explain_trust(scenarios: Sequence[Any]) -> None:
    """Which problems of a data set are judged beside the candidate, and why."""
    reasons = {
        scenario.problem_id: scenario.metadata["shared_because"]
        for scenario in scenarios
        if "shared_because" in scenario.metadata
    }
    for problem, reason in list(reasons.items())[:MOST_SHARED_LINES]:
        sys.stdout.write(f"{problem}: trust `shared`: {reason}\n")
    if len(reasons) > MOST_SHARED_LINES:
        sys.stdout.write(f"... and {len(reasons) - MOST_SHARED_LINES} more problems with trust `shared`\n")


def _count(things: Collection[object], noun: str) -> str:
    return f"{len(things)} {noun}" + ("" if len(things) == 1 else "s")
