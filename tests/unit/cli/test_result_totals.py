"""What a job's runs add up to, problem by problem."""

from __future__ import annotations

from typing import Any

import pytest

from harena.cli.result_totals import ResultTotals


def run_of(problem: str, score: float | None, reason: str = "passed") -> dict[str, Any]:
    """A run of one candidate of a problem."""
    return {
        "run": 0, "scenario_id": f"{problem}/1", "problem": problem, "passed": score == 1.0, "score": score,
        "duration_seconds": 0.1, "verdict_right": None, "reason": reason,
    }  # fmt: skip


def totals(**problems: list[float | None]) -> ResultTotals:
    made = ResultTotals()
    made.add(run_of(name, score) for name, scores in problems.items() for score in scores)
    return made


def rates_of(**problems: list[float | None]) -> dict[int, float]:
    return {each.k: each.rate for each in totals(**problems).pass_at()}


def test_pass_at_k_is_the_unbiased_estimate() -> None:
    """1 of 4 and 4 of 4: one drawn at random passes in 1/4 and in all cases, of two drawn one in 1/2 and in all."""
    rates = rates_of(a=[1.0, 0.0, 0.0, 0.5], b=[1.0] * 4)
    assert rates == {1: pytest.approx(0.625), 2: pytest.approx(0.75), 4: 1.0}
    assert rates_of(a=[0.0] * 3) == {1: 0.0, 2: 0.0}


def test_pass_at_k_goes_as_far_as_every_problem() -> None:
    """What the platform lost is no candidate, and a problem of which all is lost does not count."""
    assert rates_of(a=[1.0, 0.0, None, None], b=[0.0] * 8, c=[None]) == {1: 0.25, 2: 0.5}


def test_one_candidate_each_has_no_pass_at_k() -> None:
    """The pass rate says the same."""
    assert rates_of(a=[1.0], b=[0.0]) == {}
    assert rates_of() == {}


def test_a_job_that_was_cancelled_tells_how_far_it_came() -> None:
    """All of what was scored passed, and three of five problems were never asked."""
    made = totals(a=[1.0] * 4, b=[1.0, None])
    made.add([run_of("b", None, "cancelled")] * 2)
    made.add(run_of(name, None, "cancelled") for name in "cde" for _ in range(4))
    assert (made.reached_line(20) or "").startswith("reached 2 of 5 problems: ")
    assert (made.reached_line(9_999) or "").startswith("reached 2 problems: ")  # as of a job that still runs
    assert totals(a=[1.0], b=[None]).reached_line(2) is None
