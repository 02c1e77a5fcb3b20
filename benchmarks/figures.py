"""The few statistics that the reports need: pure functions of numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0 < share <= 1) of the values do not exceed. Raises ValueError."""
    if not values:
        raise ValueError("no values: a percentile needs at least one")
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share is {share}: it must be above 0 and at most 1 (0.99 = p99)")
    return sorted(values)[math.ceil(share * len(values)) - 1]


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two middle ones. Raises ValueError."""
    return statistics.median(values)


def neighbour_ratio(measured: float, before: float, after: float) -> float:
    """`measured` over the harmonic mean of its two neighbours: the mean of rates over equal amounts of work."""
    return measured / statistics.harmonic_mean([before, after])


def spread(values: Sequence[float]) -> dict[str, float]:
    """count, mean, p50, p90 and p99, for a table."""
    return {
        "n": len(values),
        "mean": statistics.fmean(values),
        "p50": percentile(values, 0.50),
        "p90": percentile(values, 0.90),
        "p99": percentile(values, 0.99),
    }


def slope(at: Sequence[float], values: Sequence[float]) -> float:
    """By how much `values` grow for each 1 of `at`: the least-squares line. Raises ValueError for fewer than two."""
    if len(at) != len(values) or len(at) < 2:
        raise ValueError(f"{len(at)} places and {len(values)} values: a slope needs two or more of each")
    return statistics.linear_regression(at, values).slope
