"""A step in parts: how rows are divided, and how what the parts report becomes one report."""

from __future__ import annotations

import pytest

from harena.cluster.workers import split_evenly
from harena.training.engines.shared_gradients import together
from harena.training.ports import LossReport


@pytest.mark.parametrize(
    ("count", "parts", "sizes"), [(7, 3, [3, 2, 2]), (6, 3, [2, 2, 2]), (2, 4, [1, 1]), (0, 2, []), (5, 1, [5])]
)
def test_pieces_follow_each_other_and_none_is_empty(count: int, parts: int, sizes: list[int]) -> None:
    pieces = split_evenly(range(count), parts)
    assert [len(piece) for piece in pieces] == sizes
    assert [entry for piece in pieces for entry in piece] == [*range(count)]


def test_reports_are_joined_as_their_metrics_are_meant() -> None:
    """Losses and tokens are sums, the largest ratio is the largest, and the rest are means over tokens."""
    one = LossReport(loss=0.5, metrics={"entropy": 1.0, "ratio_max": 3.0, "tokens": 10.0})
    other = LossReport(loss=-0.25, metrics={"entropy": 4.0, "ratio_max": 2.0, "tokens": 20.0})
    nothing = LossReport(loss=0.0)
    told = together([one, nothing, other])
    assert told == LossReport(loss=0.25, metrics={"entropy": 3.0, "ratio_max": 3.0, "tokens": 30.0})
    assert together([one]) == one
