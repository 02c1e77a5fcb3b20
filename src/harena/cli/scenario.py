"""`harena scenario`: check scenario files before anything runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harena.cli import face
from harena.cli.report import write_json
from harena.core.errors import ValidationError

MISTAKES_EXIT = 1

app = typer.Typer(no_args_is_help=True, help="Scenario files: what they may hold, and whether yours is right.")


@app.command()
def check(file: Annotated[Path, typer.Argument(help="Scenario file: .yaml, .json or .jsonl.")]) -> None:
    """Name file, line and field of every mistake; exit code 1 if there is one."""
    try:
        scenarios = face.load().load_scenarios(str(file)).scenarios
    except ValidationError as error:
        for mistake in getattr(error, "mistakes", None) or [error]:
            sys.stdout.write(f"{mistake}\n")
        raise typer.Exit(MISTAKES_EXIT) from None
    problems = {scenario.problem_id or scenario.id for scenario in scenarios}
    sys.stdout.write(f"{_count(scenarios, 'scenario')}, {_count(problems, 'problem')}: ok\n")


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    write_json(face.load().scenario_schema())


def _count(things: set[str] | list[object], noun: str) -> str:
    return f"{len(things)} {noun}" + ("" if len(things) == 1 else "s")
