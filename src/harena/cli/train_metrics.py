"""The metrics of a training job, as a table to be read or as lines for programs."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from harena.cli.report import write_table
from harena.core.errors import ValidationError
from harena.core.training_jobs import EVAL_STEPS, STEPS, is_along

AXES = (STEPS, EVAL_STEPS)


def metrics_of(job: str, found: Mapping[str, Any], names: Sequence[str] | None) -> dict[str, Any]:
    """All of them, or those of these names with their axes. Raises ValidationError for a name that there is not."""
    if not found or not names:
        return dict(found)
    known = [name for name in found if name not in AXES]
    if wrong := [name for name in names if name not in known]:
        raise ValidationError("\n  ".join([f"job {job}:", *(_unknown(name, known) for name in wrong)]))
    axes = [axis for axis in AXES if any(is_along(axis, name, found[name]) for name in names)]
    return {name: found[name] for name in dict.fromkeys([*axes, *names])}


def write_overview(found: Mapping[str, Any], out: TextIO | None = None) -> None:
    """A line for each metric: its newest value, the least and the greatest."""
    for axis, names in _along(found):
        rows = [(name, *map(_number, _newest_least_greatest(found[name]))) for name in names]
        first, last = found[axis][0], found[axis][-1]
        write_table(f"{axis} {first} to {last}", ("metric", "newest", "least", "greatest"), rows, out)
    if single := [(name, _number(value)) for name, value in found.items() if not isinstance(value, list)]:
        write_table("in all", ("metric", "value"), single, out)


def write_steps(found: Mapping[str, Any], out: TextIO | None = None) -> None:
    """A line for each step, a column for each metric."""
    for axis, names in _along(found):
        rows = [[_number(value) for value in row] for row in _rows(found, axis, names)]
        write_table(axis, ("step", *names), rows, out)
    if single := [(name, _number(value)) for name, value in found.items() if not isinstance(value, list)]:
        write_table("in all", ("metric", "value"), single, out)


def write_csv(found: Mapping[str, Any], out: TextIO | None = None) -> None:
    """A header and a line for each step, first of training, then of evaluations."""
    for axis, names in _along(found):
        lines = [",".join("" if value is None else str(value) for value in row) for row in _rows(found, axis, names)]
        (out or sys.stdout).write("\n".join([",".join(["step", *names]), *lines, ""]))


def write_lines(found: Mapping[str, Any], out: TextIO | None = None) -> None:
    """An object for each step of training, then of evaluations: {"steps" or "eval/steps": the step, name: value}."""
    for axis, names in _along(found):
        for row in _rows(found, axis, names):
            (out or sys.stdout).write(json.dumps(dict(zip([axis, *names], row, strict=True))) + "\n")


def _unknown(name: str, known: Sequence[str]) -> str:
    same = [metric for metric in known if metric.partition("/")[2] == name]
    if close := same or difflib.get_close_matches(name, known, n=1, cutoff=0.6):
        return f"no metric is called {name!r}; did you mean {close[0]!r}?"
    return f"no metric is called {name!r}; there are {', '.join(known)}"


def _along(found: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """(axis, its metrics), where there are any."""
    for axis in AXES:
        if names := [name for name, values in found.items() if is_along(axis, name, values)]:
            yield axis, names


def _rows(found: Mapping[str, Any], axis: str, names: Sequence[str]) -> Iterator[list[Any]]:
    for place, step in enumerate(found[axis]):
        yield [step, *(found[name][place] for name in names)]


def _newest_least_greatest(values: Sequence[Any]) -> tuple[Any, Any, Any]:
    numbers = [value for value in values if value is not None]
    return (numbers[-1], min(numbers), max(numbers)) if numbers else (None, None, None)


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
