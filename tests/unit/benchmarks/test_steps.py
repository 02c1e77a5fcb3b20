"""Steps inside a life, from the log that a runtime writes."""

from __future__ import annotations

import json

import pytest
from benchmarks.steps import durations


def line(life: str, step: str, at_ms: float) -> str:
    """One line of the log."""
    return json.dumps({"life": life, "step": step, "at_ns": int(at_ms * 1e6)}) + "\n"


def test_a_step_lasts_from_the_one_before_it() -> None:
    """The first line of a life only starts its clock."""
    taken = durations([line("a", "asked", 10), line("a", "forked", 12), line("a", "ready", 12.5)])
    assert taken == {"forked": [pytest.approx(0.002)], "ready": [pytest.approx(0.0005)]}


def test_lives_are_kept_apart_and_ordered_by_time() -> None:
    """Lines of several processes come in any order."""
    taken = durations([line("b", "ready", 9), line("a", "asked", 1), line("b", "asked", 5), line("a", "ready", 2)])
    assert sorted(taken["ready"]) == [pytest.approx(0.001), pytest.approx(0.004)]


@pytest.mark.parametrize("bad", ["nonsense\n", '{"life": "a", "step": "x"}\n', '["a"]\n'])
def test_a_bad_line_is_named(bad: str) -> None:
    """A log that is not one stops the report, with the line's number."""
    with pytest.raises(ValueError, match="line 2 of the life log"):
        durations([line("a", "asked", 1), bad])


def test_nothing_reported_gives_nothing() -> None:
    """A runtime that reports no steps is no error."""
    assert durations([]) == {}
