"""What a mechanism earns: the arithmetic, the table, and that none is left out."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.drive_ablation import ROWS
from benchmarks.machine import headline
from benchmarks.measures.ablations import MEANING, SERVED, beside, render
from benchmarks.report import RESULTS

from harena.runtime.host.mechanisms import MECHANISMS

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "mechanisms.md"
ON = [{"cpu_ms": cpu, "wall_ms": wall} for cpu, wall in ((2.0, 5.0), (3.0, 9.0), (10.0, 6.0))]
OFF = [{"cpu_ms": cpu, "wall_ms": wall} for cpu, wall in ((4.0, 8.0), (4.0, 7.0), (5.0, 30.0))]


def test_every_mechanism_is_measured_in_rows_that_there_are() -> None:
    """And every row is driven, and said what it is."""
    assert list(SERVED) == [each.name for each in MECHANISMS]
    assert {row for rows in SERVED.values() for row in rows} == set(MEANING) == {*ROWS, "first"}


def test_what_is_earned_is_the_share_of_the_row_that_is_saved() -> None:
    """Of medians, and of minima; processor time, but for what only does the work earlier."""
    found = beside("warm", ON, OFF)
    assert (found["cpu_ms"], found["least_cpu_ms"], found["by"]) == ([3.0, 4.0], [2.0, 4.0], "cpu_ms")
    assert (found["earned"], found["earned_by_least"]) == (0.25, 0.5)
    found = beside("claim", ON, OFF)
    assert (found["wall_ms"], found["earned"], found["by"]) == ([6.0, 8.0], 0.25, "wall_ms")
    assert beside("warm", OFF, ON)["earned"] < 0


def test_without_a_count_of_processor_time_the_clock_decides() -> None:
    """A machine without such a cgroup."""
    on, off = [[{**figures, "cpu_ms": None} for figures in side] for side in (ON, OFF)]
    found = beside("warm", on, off)
    assert (found["by"], found["earned"]) == ("wall_ms", 0.25)
    row = {"mechanism": "rehearsals", "row": "warm", **found}
    assert "| rehearsals | warm | - | - | 6.00 (5.00) | 8.00 (7.00) | 25% | 29% |" in render(
        {"rounds": 3, "count": 5, "rows": [row]}
    )


def test_the_page_has_the_stored_figures_and_no_others() -> None:
    """Each row of the stored measurement, its machine and its date."""
    stored = json.loads((RESULTS / "ablations.json").read_text())
    page = PAGE.read_text(encoding="utf-8")
    rows = [line for line in render(stored["results"]) if line.startswith("|")]
    assert "\n".join(rows) in page
    assert headline(stored["machine"]) in page.replace("\n", " ")
    assert {row["mechanism"] for row in stored["results"]["rows"]} == set(SERVED)
