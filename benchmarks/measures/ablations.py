"""What each mechanism of a fast start earns: a row with it, and the same row without it, in turn, round after round.

A mechanism is switched off by its setting (`harena.runtime.host.mechanisms`), beside the same row with it in the same
process (see `benchmarks.drive_ablation`). It earns the share of a row that it saves: 1 - (with it / without it). The
main figure is processor time, which a machine that others use as well changes less than time by the clock; for
sandboxes that are made ahead it is the clock, because they save no work and only do it earlier.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from benchmarks.drive_ablation import Order
from benchmarks.driving import driven
from benchmarks.figures import median
from harena.runtime.host.mechanisms import MECHANISMS

SERVED: dict[str, tuple[str, ...]] = {
    "machine_code": ("fresh", "warm", "kept", "first"),
    "warm_programs": ("warm", "kept", "first"),
    "hidden_frames": ("warm",),
    "warm_imports": ("modules",),
    "known_programs": ("verdict",),
    "rehearsals": ("warm", "kept", "first"),
    "made_ahead": ("claim",),
}
"""mechanism -> the rows that it serves, or that it may make dearer"""
MEANING = {
    "fresh": "a sandbox made, `python -c pass` really started in it, and the sandbox ended",
    "warm": "the same with a bare warm list",
    "kept": "one more `python -c pass` in a sandbox with a bare warm list",
    "first": "a fresh Python process with one warm sandbox and one program, from its start to its end",
    "modules": "a sandbox whose blueprint imports json and decimal, and a program that uses both",
    "verdict": "a small function scored by asserts, in a sandbox of its own with a bare warm list",
    "claim": "a sandbox asked for and `echo` run in it, 30 ms after the one before",
}
BY_THE_CLOCK = frozenset({"claim"})
LEAST_EARNED = 0.1
"""share of a row; what earns less in every row is not worth its reading, unless it is needed for another reason"""
FIRST_COUNT = 1
"""operations of the row `first` in one run: each is a process of its own"""

Figures = dict[str, Any]


def measure(*, rounds: int, count: int, names: tuple[str, ...] = tuple(SERVED)) -> dict[str, Any]:
    """For each mechanism and row: `rounds` times a run of `count` operations with it and one without it, in turn."""
    variables = {each.name: each.variable for each in MECHANISMS}
    rows: list[Figures] = []
    for name in names:
        for row in SERVED[name]:
            sides = _drive(row, variables[name], rounds, FIRST_COUNT if row == "first" else count)
            rows.append({"mechanism": name, "row": row, **beside(row, sides["with"], sides["without"]), "runs": sides})
            print(f"{name}, {row}: {rows[-1]['earned']:.0%} ({rows[-1]['earned_by_least']:.0%})", file=sys.stderr)
    return {"rounds": rounds, "count": count, "rows": rows}


def _drive(row: str, variable: str, rounds: int, count: int) -> dict[str, list[Figures]]:
    order = Order(row=row, variable=variable, rounds=rounds, count=count)
    variables = {each.variable for each in MECHANISMS}
    environment = {name: value for name, value in os.environ.items() if name not in variables}
    what = f"the runs of {row} with {variable}=off"
    sides: dict[str, list[Figures]] = driven("drive_ablation", order, what, environment=environment)
    return sides


def beside(row: str, with_it: list[Figures], without_it: list[Figures]) -> Figures:
    """Medians and minima of both sides, and the share of the row that is saved. A pure function."""
    found: Figures = {}
    for key in ("cpu_ms", "wall_ms"):
        sides = [[figures[key] for figures in side if figures[key] is not None] for side in (with_it, without_it)]
        if all(sides):
            found[key] = [median(side) for side in sides]
            found[f"least_{key}"] = [min(side) for side in sides]
    main = "wall_ms" if row in BY_THE_CLOCK or "cpu_ms" not in found else "cpu_ms"
    found["by"] = main
    found["earned"] = saved(*found[main])
    found["earned_by_least"] = saved(*found[f"least_{main}"])
    return found


def saved(with_it: float, without_it: float) -> float:
    """The share of a row that is not spent; below 0 where the row is dearer with it."""
    return 1.0 - with_it / without_it


def render(results: dict[str, Any]) -> list[str]:
    """A markdown table, milliseconds, and what the rows are."""
    lines = [
        f"{results['rounds']} rounds, in each a run of {results['count']} operations (first: {FIRST_COUNT}) with the "
        "mechanism and one with it switched off by its setting, in turn, side by side. With and without: medians over "
        "the runs, the least in brackets. Earned: the share of the row's processor time that is saved (claim: of the "
        "time by the clock), by medians and by the least.",
        "",
        "| mechanism | row | CPU ms with | without | ms by the clock, with | without | earned | by the least |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in results["rows"]:
        cells = [cell for key in ("cpu_ms", "wall_ms") for cell in _cells(row, key)]
        lines.append(
            f"| {row['mechanism']} | {row['row']} | {' | '.join(cells)} "
            f"| {row['earned']:.0%} | {row['earned_by_least']:.0%} |"
        )
    named = dict.fromkeys(row["row"] for row in results["rows"])
    return [*lines, "", *(f"* *{name}*: {MEANING[name]}" for name in named)]


def _cells(row: Figures, key: str) -> list[str]:
    if key not in row:
        return ["-", "-"]
    return [f"{middle:.2f} ({least:.2f})" for middle, least in zip(row[key], row[f"least_{key}"], strict=True)]
