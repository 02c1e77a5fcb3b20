"""The statistics of the reports."""

from __future__ import annotations

import pytest
from benchmarks.figures import median, neighbour_ratio, percentile, spread


@pytest.mark.parametrize(("share", "expected"), [(0.01, 1.0), (0.5, 50.0), (0.99, 99.0), (1.0, 100.0)])
def test_percentile_of_one_to_a_hundred(share: float, expected: float) -> None:
    """The smallest value that this share of the values do not exceed, in whatever order they come."""
    assert percentile([float(value) for value in range(100, 0, -1)], share) == expected


def test_percentile_of_one_value_is_that_value() -> None:
    """A single measurement is its own p50 and p99."""
    assert percentile([7.0], 0.5) == percentile([7.0], 0.99) == 7.0


def test_percentile_refuses_what_has_no_answer() -> None:
    """No values, or a share that was meant as a percentage, is an error and not a number."""
    with pytest.raises(ValueError, match="at least one"):
        percentile([], 0.5)
    with pytest.raises(ValueError, match=r"0\.99 = p99"):
        percentile([1.0], 99)
    with pytest.raises(ValueError, match="above 0"):
        percentile([1.0], 0.0)


def test_ratio_uses_the_harmonic_mean_of_the_neighbours() -> None:
    """100/s and 300/s over the same programs are 150/s together, not 200/s."""
    assert neighbour_ratio(300.0, 100.0, 300.0) == pytest.approx(2.0)
    assert neighbour_ratio(80.0, 100.0, 100.0) == pytest.approx(0.8)


def test_median_of_an_even_number_is_between_the_middle_two() -> None:
    """One slow round does not move it."""
    assert median([1.0, 2.0, 4.0, 900.0]) == 3.0


def test_spread_has_what_a_table_row_needs() -> None:
    """Count, mean, middle and tail."""
    assert spread([1.0] * 98 + [5.0, 9.0]) == {"n": 100, "mean": 1.12, "p50": 1.0, "p90": 1.0, "p99": 5.0}
