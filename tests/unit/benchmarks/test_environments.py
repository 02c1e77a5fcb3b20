"""Each operation of environments stands beside its bar, and the table says whether it holds."""

from __future__ import annotations

from benchmarks.measures import environments


def test_a_row_for_each_kind_of_bar() -> None:
    """A ratio, a difference and a time."""
    rows = [
        environments._row("ratio", 0.003, 0.002, "x", 1.5),
        environments._row("difference", 0.9, 0.3, "more", 0.5),
        environments._row("time", 0.019, None, "is", 0.02),
        environments._row("time beside", 0.2, 0.1, "is", 0.15),
    ]
    shared = dict.fromkeys(("count", "first_count", "rounds", "depth"), 2)
    lines = environments.render({**shared, "megabytes": 3, "by_hand": "skopeo and umoci", "rows": rows})
    assert "a chain of 2; by hand is skopeo and umoci." in lines[0]
    assert lines[4:] == [
        "| ratio | 3.0 | 2.0 | 1.50 x | 1.50 x | yes |",
        "| difference | 900.0 | 300.0 | 600.0 ms more | 500.0 ms more | no |",
        "| time | 19.0 |  | 19.0 ms | 20.0 ms | yes |",
        "| time beside | 200.0 | 100.0 | 200.0 ms | 150.0 ms | no |",
    ]
