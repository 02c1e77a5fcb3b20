"""What the rounds of a side-by-side measurement say."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.figures import slope
from benchmarks.sides import summary, table


def figures(per_second: float, cpu_ms: float | None, **more: Any) -> dict[str, Any]:
    """Of one run."""
    measured = {"tree_cpu_ms": cpu_ms, "machine_cpu_ms": 9.0, "own_cpu_ms": 1.0, "wrong": 1}
    return {"per_second": per_second, **measured, **more}


def test_a_row_holds_medians_and_every_wrong_verdict() -> None:
    """One odd round does not move it; one wrong verdict does."""
    row = summary([figures(100, 4.0, ratio=2.0), figures(300, 9.0, ratio=1.0), figures(110, 5.0, ratio=2.2)])
    assert (row["per_second"], row["cpu_ms"], row["wrong"]) == (110, 5.0, 3)
    assert (row["ratio"], row["ratio_range"]) == (2.0, [1.0, 2.2])
    assert "cpu_ratio" not in row


def test_where_a_tree_cannot_be_counted_the_machine_is() -> None:
    """All that was busy, then."""
    assert summary([figures(100, None)])["cpu_ms"] == 9.0


def test_the_table_compares_all_but_the_baseline() -> None:
    """Which is 1 by definition."""
    rows = {"base": summary([figures(100, 4.0)]), "job": summary([figures(90, 5.0, ratio=0.9, cpu_ratio=1.25)])}
    lines = table(rows)
    assert lines[2].startswith("| base | 1 | 1 | 100 |")
    assert lines[3].startswith("| job | 0.90 (0.90-0.90) | 1.25 (1.25-1.25) | 90 | 5.00 |")


def test_a_slope_is_that_of_the_line() -> None:
    """Per 1 of the places; two points at least."""
    assert slope([0, 1, 2], [5.0, 7.0, 9.0]) == pytest.approx(2.0)
    assert slope([0, 5], [3.0, 3.0]) == 0
    with pytest.raises(ValueError, match="two or more"):
        slope([1], [1.0])
