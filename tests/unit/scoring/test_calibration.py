"""What a calibration runs, and what it makes of runs: nothing is executed here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.scoring import load_scenarios
from harena.scoring.battery import BATTERY
from harena.scoring.calibration import Calibration

PROBLEM = {
    "id": "add",
    "entry_point": "add",
    "scoring": {"type": "tests", "checks": [{"args": [1, 2], "expected": 3}]},
    "files": {"notes.txt": "x"},
}
RIGHT = {"id": "right", "problem": "add", "candidate": "def add(a, b): return a + b\n", "expected": {"passed": True}}
WRONG = {"id": "wrong", "problem": "add", "candidate": "def add(a, b): return 0\n", "expected": {"passed": False}}
APPLYING = [forgery.name for forgery in BATTERY if "tests" in forgery.contracts]


def calibration(*rows: dict[str, Any], gold_runs: int = 3, **problem: Any) -> Calibration:
    """Of one problem."""
    content = {"problems": [{**PROBLEM, **problem}], "scenarios": list(rows or (RIGHT, WRONG))}
    return Calibration(load_scenarios(content), gold_runs=gold_runs)


Scored = Callable[[str], float | None]


def runs(planned: Calibration, scored: Scored | None = None) -> list[dict[str, Any]]:
    """A run for each row, as a job would answer; `scored` gives the score by the row's id (without: gold 1, else 0)."""
    scored = scored or (lambda row_id: float("/gold/" in row_id))
    scores = {row["id"]: scored(row["id"]) for row in planned.rows}
    return [{"scenario_id": row_id, "score": score, "passed": score == 1.0} for row_id, score in scores.items()]


def test_it_runs_right_answers_often_and_everything_else_once() -> None:
    """And what it plans are rows of a scenario file."""
    planned = calibration()
    roles = [row["id"].split("/")[1] for row in planned.rows]
    assert (roles.count("gold"), roles.count("known-wrong"), roles.count("empty"), roles.count("stub")) == (3, 1, 1, 1)
    assert roles.count("forgery") == len(APPLYING)
    loaded = load_scenarios(planned.rows)
    assert len(loaded) == len(planned.rows)
    assert all(scenario.files == {"notes.txt": "x"} for scenario in loaded.scenarios)
    assert {scenario.scoring.fingerprint for scenario in loaded.scenarios} == {
        planned.subjects[0].scenario.scoring.fingerprint
    }
    sources = [scenario.candidate.source for scenario in loaded.scenarios]
    assert sources[:4] == [RIGHT["candidate"]] * 3 + [WRONG["candidate"]]


def test_a_scenario_that_pays_for_right_answers_only_is_fit() -> None:
    """With its rates, and digests to know it by."""
    planned = calibration()
    report = planned.report(runs(planned))
    (row,) = report["scenarios"]
    assert report["fit"] is row["fit"] is True
    assert row["faults"] == []
    assert (report["flake_rate"], row["true_positive_rate"], row["false_positive_rate"]) == (0.0, 1.0, 0.0)
    assert row["gold"] == {"runs": 3, "scored": 3, "passed": 3, "flakes": 0, "flake_rate": 0.0}
    assert (row["battery"]["tried"], row["battery"]["paid"]) == (len(APPLYING), [])
    assert (row["contract"], row["trust"], len(row["digest"])) == ("tests", "separate", 64)


def first(ending: str, score: float | None) -> Scored:
    """All is well, but for the rows whose id ends so."""
    return lambda row_id: score if row_id.endswith(ending) else float("/gold/" in row_id)


@pytest.mark.parametrize(
    ("ending", "score", "fault"),
    [
        ("/gold/1-right", 0.0, "the right answer passed 2 of 3 runs"),
        ("/gold/1-right", 0.0, "1 runs of the right answer did not score as the others did"),
        ("/gold/1-right", None, "passed 2 of 3 runs (1 had no score)"),
        ("-empty", 0.25, "an empty answer scores 0.25"),
        ("-empty", None, "the empty answer has no score"),
        ("-stub", 1.0, "a stub that does nothing scores 1"),
        ("-wrong", 1.0, "wrong, which is known to be wrong, passes"),
        ("-exit-at-import", 0.5, "the forgery exit-at-import scores 0.5: Ends the process"),
        ("-exit-at-import", None, "forgeries without a score: exit-at-import"),
    ],
)
def test_each_fault_is_told(ending: str, score: float | None, fault: str) -> None:
    """One sentence, and the scenario is not fit."""
    planned = calibration()
    report = planned.report(runs(planned, first(ending, score)))
    assert not report["fit"]
    assert any(fault in said for said in report["scenarios"][0]["faults"])


def test_flakes_are_a_share_of_the_scored_runs_of_right_answers() -> None:
    """Two of five disagree with the other three; a run without a score is neither."""
    planned = calibration(gold_runs=6)
    scores = iter([1.0, 0.0, 1.0, None, 0.0, 1.0])
    report = planned.report(runs(planned, lambda row_id: next(scores) if "/gold/" in row_id else 0.0))
    assert report["flake_rate"] == report["scenarios"][0]["gold"]["flake_rate"] == 0.4
    assert report["scenarios"][0]["gold"]["scored"] == 5


def test_a_forgery_may_score_what_a_stub_does() -> None:
    """With partial credit, doing nothing may be right sometimes; nobody gains by forging it."""
    planned = calibration()
    quarter = planned.report(
        runs(planned, lambda row_id: 1.0 if "/gold/" in row_id else 0.25 * ("empty" not in row_id))
    )
    assert quarter["fit"]


def test_runs_that_are_missing_and_problems_without_a_right_answer_are_not_fit() -> None:
    """What was not seen is not known."""
    planned = calibration()
    assert "1 runs did not end" in planned.report(runs(planned)[:-1])["scenarios"][0]["faults"]
    alone = calibration(WRONG)
    faults = alone.report(runs(alone))["scenarios"][0]["faults"]
    assert "there is no candidate that is expected to pass; add a right one" in faults


def test_the_digest_is_of_what_decides_a_score() -> None:
    """Contract, files, limits, right answers; not the wrong ones."""
    digest = calibration().subjects[0].digest
    assert calibration(RIGHT).subjects[0].digest == digest
    assert calibration(files={"notes.txt": "y"}).subjects[0].digest != digest
    assert calibration(limits={"memory_mb": 64}).subjects[0].digest != digest
    assert calibration({**RIGHT, "candidate": "add = lambda a, b: a + b\n"}).subjects[0].digest != digest


def test_one_problem_under_two_contracts_is_calibrated_twice() -> None:
    """Under names that differ."""
    other = {"type": "stdio", "cases": [{"stdout": "3"}]}
    planned = calibration(RIGHT, {**RIGHT, "id": "printed", "candidate": "print(3)", "scoring": other})
    assert [subject.id for subject in planned.subjects] == ["add", "add#2"]
    assert len({row["id"] for row in planned.rows}) == len(planned.rows)


def test_honeypots_are_left_out() -> None:
    """And a file of nothing else is refused."""
    pot = {
        **RIGHT,
        "id": "pot",
        "problem": None,
        "honeypot": True,
        "scoring": {"type": "stdio", "cases": [{"stdout": "x"}]},
    }
    assert [subject.id for subject in calibration(RIGHT, pot).subjects] == ["add"]
    with pytest.raises(ValidationError, match="every scenario is a honeypot"):
        calibration(pot)


@pytest.mark.parametrize("gold_runs", [0, 1, 1001, True, 2.0])
def test_one_run_says_nothing_about_flakes(gold_runs: Any) -> None:
    """The number is checked before anything runs."""
    with pytest.raises(ValidationError, match="gold_runs must be a whole number from 2 to 1000"):
        calibration(gold_runs=gold_runs)
