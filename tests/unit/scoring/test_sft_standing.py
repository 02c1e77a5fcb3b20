"""What runs say about a candidate."""

from __future__ import annotations

from typing import Any

import pytest
from sft_candidates import a_rule, run, scenario

from harena.scoring.verified_data.rule import Rule
from harena.scoring.verified_data.standing import Standing, judged, without_cheats, without_contradictions

A = scenario("a")
INVALID = {"validity": "invalid", "reason": "scorer_error"}
SUSPECT = {"validity": "suspect", "reason": "protocol"}


def standing(*runs: dict[str, Any], attempts: int = 1, rule: Rule | None = None, of: Any = A) -> Standing:
    return judged(of, 0, runs, rule or Rule(), attempts=attempts).standing


@pytest.mark.parametrize(
    ("runs", "stands"),
    [
        ([run(A)], "passed"),
        ([run(A, 0.0)], "failed"),
        ([run(A, 0.9)], "failed"),
        ([run(A, None)], "infra"),
        ([run(A, None, **INVALID)], "invalid"),
        ([run(A, 0.0, **SUSPECT)], "suspect"),
        ([run(A, None, reason="cancelled")], "not_run"),
        ([], "not_run"),
        ([run(A, verdict_right=True)], "passed"),
        ([run(A, verdict_right=False)], "invalid"),
        ([run(A, None, verdict_right=False)], "infra"),
        ([run(A, rescore={"agrees": True})], "passed"),
        ([run(A, rescore={"agrees": None})], "passed"),
        ([run(A, rescore={"agrees": False})], "flaky"),
    ],
)
def test_one_attempt(runs: list[dict[str, Any]], stands: str) -> None:
    """Only what is valid passes or fails."""
    assert standing(*runs) == stands


@pytest.mark.parametrize(
    ("scores", "stands"),
    [
        ((1.0, 1.0), "passed"),
        ((0.0, 0.5), "failed"),
        ((1.0, 0.0), "flaky"),
        ((1.0, None), "infra"),
        ((1.0,), "not_run"),
    ],
)
def test_several_attempts(scores: tuple[float | None, ...], stands: str) -> None:
    """Each time, or not for certain."""
    runs = [run(A, score, attempt=number) for number, score in enumerate(scores, 1)]
    assert standing(*runs, attempts=2) == stands


def test_one_attempt_that_cheats_is_enough() -> None:
    """Whatever the others did, also where not all have run."""
    assert standing(run(A), run(A, 0.0, attempt=2, **SUSPECT), attempts=3) == "suspect"


def test_attempts_are_in_order_and_the_lowest_score_counts() -> None:
    """Results come in the order in which runs ended."""
    made = judged(A, 3, [run(A, 0.5, attempt=2), run(A, 0.7, attempt=1)], a_rule(min_score=0.1), attempts=2)
    assert (made.score, made.place, [each["attempt"] for each in made.runs]) == (0.5, 3, [1, 2])
    assert judged(A, 0, [run(A), run(A, None, attempt=2)], Rule(), attempts=2).score is None


def test_a_least_score_is_in_the_place_of_the_contracts_pass() -> None:
    """Both ways."""
    assert standing(run(A, 0.6), rule=a_rule(min_score=0.5)) == "passed"
    assert standing(run(A, 0.6, passed=True), rule=a_rule(min_score=0.7)) == "failed"


def test_a_honeypot_says_nothing_about_honest_answers() -> None:
    """To fail it is right, and no example of a wrong answer."""
    pot = scenario("pot", honeypot=True)
    assert standing(run(pot, 0.0), of=pot) == "honeypot"
    assert standing(run(pot, 0.0, validity="suspect", reason="honeypot"), of=pot) == "suspect"


def test_a_cheat_is_one_wherever_it_stands() -> None:
    """The same program in another problem, where it was not caught; comments and layout do not save it."""
    cheat = scenario("cheat", "def f(x):\n    return x\n")
    again = scenario("again", "# new\ndef f(x):\n  return x\n", problem="q")
    honest, lost = scenario("honest", "def f(y): return y\n"), scenario("lost", cheat.candidate.source)
    ones = [
        judged(cheat, 0, [run(cheat, 0.0, **SUSPECT)], Rule(), attempts=1),
        judged(again, 1, [run(again)], Rule(), attempts=1),
        judged(honest, 2, [run(honest)], Rule(), attempts=1),
        judged(lost, 3, [run(lost, None)], Rule(), attempts=1),
    ]
    assert [str(one.standing) for one in without_cheats(ones)] == ["suspect", "suspect", "passed", "infra"]
    assert without_cheats(ones[1:]) == ones[1:]


def test_equal_answers_with_other_verdicts_are_flaky() -> None:
    """Neither of them is for certain; the platform's failure contradicts nobody."""
    named = [scenario(name) for name in ("a", "b", "c")]
    other = scenario("d", "f = abs\n")
    ones = [
        judged(of, place, [run(of, score)], Rule(), attempts=1)
        for place, (of, score) in enumerate(zip([*named, other], [1.0, 0.0, None, 1.0], strict=True))
    ]
    assert [str(one.standing) for one in without_contradictions(ones)] == ["flaky", "flaky", "infra", "passed"]
    assert without_contradictions(ones[2:]) == ones[2:]
