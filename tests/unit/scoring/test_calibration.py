"""What a calibration runs, and what it makes of runs: nothing is executed here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.core.records.calibrations import CalibrationReport
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
    assert CalibrationReport.from_dict(report).to_dict() == report
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
        ("-wrong", None, "1 answers known to be wrong have no score: wrong"),
        ("-returns 0", None, "1 constants have no score: returns 0"),
        ("nothing is returned", None, "1 mutants have no score: line 1: nothing is returned"),
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


@pytest.mark.parametrize(
    ("scoring", "ending", "fault"),
    [
        ({"type": "numeric", "range": [0, 10], "pass_mark": 0.5}, "-stub", "a stub that does nothing scores 0.6"),
        (
            {"type": "text_similarity", "reference": "a", "evaluation_metric": "rouge_l", "pass_mark": 0.5},
            "-empty",
            "an empty answer scores 0.6",
        ),
    ],
)
def test_nothing_that_passes_is_told_whatever_it_scores(scoring: dict[str, Any], ending: str, fault: str) -> None:
    """A contract with a mark to pass at pays for less than 1, and a text is a little like every other."""
    row = {"id": "one", "candidate": "print(7)\n", "scoring": scoring}
    planned = Calibration(load_scenarios([row]), gold_runs=2)
    made = [
        {**run, "score": 0.6, "passed": True} if str(run["scenario_id"]).endswith(ending) else run
        for run in runs(planned)
    ]
    (judged,) = planned.report(made)["scenarios"]
    assert (judged["verdict"], judged["faults"][:1]) == ("not_fit", [fault])


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


def test_fit_is_never_said_where_nothing_was_tried() -> None:
    """Without a right answer, or a forgery, nothing is known."""
    alone = calibration(WRONG)
    row = alone.report(runs(alone, lambda row_id: 0.0))["scenarios"][0]
    assert (row["fit"], row["verdict"]) == (False, "not_judged")
    assert row["why"] == "there is no candidate that is expected to pass; add a right one"
    planned = calibration()
    tried = [run for run in runs(planned) if "/forgery/" not in run["scenario_id"]]
    row = planned.report(tried)["scenarios"][0]
    assert (row["fit"], row["verdict"], row["why"]) == (
        False,
        "not_judged",
        "no forgery was run against the contract 'tests'",
    )


@pytest.mark.parametrize("ending", ["/gold/1-right", "-empty", "-stub", "-exit-at-import", "-wrong"])
def test_a_starved_host_makes_nothing_unfit(ending: str) -> None:
    """What the platform did not score says nothing about the scenario: no verdict, and no fault."""
    planned = calibration()
    made = runs(planned)
    for run in made:
        if run["scenario_id"].endswith(ending):
            run.update(score=None, passed=False, validity="infra", reason="starved")
    report = planned.report(made)
    (row,) = report["scenarios"]
    assert (report["fit"], row["verdict"], row["faults"]) == (False, "no_verdict", [])
    starved = sum(run["score"] is None for run in made)
    assert row["why"].startswith(f"{starved} runs have no score because of the platform")
    paid = "-equals-everything"
    made = [{**run, "score": 1.0, "passed": True} if run["scenario_id"].endswith(paid) else run for run in made]
    assert planned.report(made)["scenarios"][0]["verdict"] == "not_fit"


def test_why_runs_have_no_score_or_do_not_pass_is_told() -> None:
    """A judge that cannot be reached is no busy host, and a right answer that fails says how."""
    planned = calibration()
    made = runs(planned)
    lost = {"score": None, "passed": False, "validity": "infra", "reason": "judge_error", "detail": "no answer"}
    judged = [{**run, **lost} for run in made]
    (row,) = planned.report(judged)["scenarios"]
    assert row["why"].endswith("have no score because of the platform, mostly judge_error: no answer")
    starved = [{**run, **lost, "reason": "starved", "detail": ""} for run in made]
    (row,) = planned.report(starved)["scenarios"]
    assert row["why"].endswith("because of the platform, mostly starved; calibrate again on a less busy host")
    broken = {"score": None, "passed": False, "validity": "invalid", "reason": "scorer_error", "detail": "no pytest"}
    made = [{**run, **broken} if "/gold/" in run["scenario_id"] else run for run in made]
    (row,) = planned.report(made)["scenarios"]
    assert row["faults"] == ["the right answer passed 0 of 3 runs (3 had no score): scorer_error: no pytest"]


def test_a_fault_lists_few_names() -> None:
    """The report has all of them."""
    planned = calibration()
    made = [
        {**run, "score": None, "validity": "invalid"} if "/forgery/" in run["scenario_id"] else run
        for run in runs(planned)
    ]
    (row,) = planned.report(made)["scenarios"]
    assert row["battery"]["unscored"] == APPLYING
    assert row["faults"] == [f"forgeries without a score: {', '.join(APPLYING[:5])}, ... ({len(APPLYING)} in all)"]


def test_what_a_constant_earns_is_told() -> None:
    """Partial credit for nothing is a number, a pass is a fault, and a forgery gains nothing up to there."""
    planned = calibration()
    row = planned.report(runs(planned, first("-returns 0", 0.25)))["scenarios"][0]
    assert (row["fit"], row["constants"]["best"], row["constants"]["best_score"]) == (True, "returns 0", 0.25)
    row = planned.report(runs(planned, first("-returns 0", 1.0)))["scenarios"][0]
    assert row["faults"] == ["an answer without a thought passes: returns 0"]


CHOICE = {"id": "choice", "statement": "Which? A, B, C or D", "scoring": {"type": "string_check", "reference": "B"}}


@pytest.mark.parametrize(
    ("gold", "paid", "constants"),
    [
        ("B", {"b"}, []),
        ("B\n", {"b"}, []),
        ("<think>B or C?</think>B", {"b"}, []),
        ("B", {"b", "c"}, ["says C"]),
        ("Paris", {"paris", "b"}, ["says B"]),
        (None, {"b"}, []),
        (None, {"true"}, []),
        (None, {"b", "c"}, ["says B", "says C"]),
    ],
)
def test_the_right_answer_is_none_without_a_thought_however_short(
    gold: str | None, paid: set[str], constants: list[str]
) -> None:
    """Else no multiple choice would be fit. Where nobody knows what is right, one word alone may be."""
    row: dict[str, Any] = {"id": "one", "problem": "choice", "candidate": gold or "x", "expected": {"passed": True}}
    if gold is None:
        row["expected"] = {"passed": False}
    planned = Calibration(load_scenarios({"problems": [CHOICE], "scenarios": [row]}), gold_runs=2)
    said = {row["id"]: load_scenarios([row]).scenarios[0].candidate.source for row in planned.rows}
    words = {row_id: text.rpartition("</think>")[2].strip().casefold() for row_id, text in said.items()}
    report = planned.report(runs(planned, lambda row_id: float(words[row_id] in paid)))
    (judged,) = report["scenarios"]
    assert judged["constants"]["passed"] == constants
    assert any(one["kind"] == "constant" for one in judged["findings"]) is bool(constants)
    assert report["fit"] is (gold is not None and not constants)


def test_mutants_of_the_right_answer_are_counted() -> None:
    """Killed k of n; a contract that notices none of many is not fit."""
    branching = "def add(a, b):\n    if a < 10:\n        return a + b\n    return b + a + 0\n"
    planned = calibration({**RIGHT, "candidate": branching})
    mutated = [row["id"] for row in planned.rows if "/mutant/" in row["id"]]
    assert len(mutated) >= 6
    row = planned.report(runs(planned))["scenarios"][0]["mutants"]
    assert (row["tried"], row["killed"], row["survived"]) == (len(mutated), len(mutated), [])
    scored = planned.report(runs(planned, lambda row_id: float("/gold/" in row_id or row_id == mutated[0])))
    row = scored["scenarios"][0]
    assert (row["fit"], row["mutants"]["killed"], len(row["mutants"]["survived"])) == (True, len(mutated) - 1, 1)
    blind = planned.report(runs(planned, lambda row_id: float("/gold/" in row_id or "/mutant/" in row_id)))
    assert blind["scenarios"][0]["faults"] == [f"none of {len(mutated)} mutants of the right answer is noticed"]


CHECKED = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 2}]}
ADDING = "def f(a): return a + 1\n"
CONTRACTS: dict[str, tuple[str, dict[str, Any]]] = {
    "harbor": ("echo 3 > /app/answer.txt\nexit 0\n", {"tests": {"test.sh": "true"}}),
    "regex": ("the answer is 42", {"pattern": "42"}),
    "string_check": ("42", {"reference": "42"}),
    "text_similarity": ("42 apples", {"reference": "42 apples", "evaluation_metric": "fuzzy_match"}),
    "score_model": ("42", {"model": "m", "messages": [{"role": "user", "content": "?"}]}),
    "reference": (ADDING, {"entry_point": "f", "solution": ADDING, "inputs": [{"args": [1]}]}),
    "weighted": (ADDING, {"parts": {"one": {"scoring": CHECKED}}}),
}


@pytest.mark.parametrize("kind", CONTRACTS)
def test_every_contract_has_its_forgeries_stubs_and_mutants(kind: str) -> None:
    """Else its scenarios would be called fit with nothing tried."""
    candidate, scoring = CONTRACTS[kind]
    entry = "solve.sh" if kind == "harbor" else "solution.py"
    row = {
        "id": "right",
        "scoring": {"type": kind, **scoring},
        "candidate": {"files": {entry: candidate}, "entry": entry},
    }
    planned = Calibration(load_scenarios([row]), gold_runs=2)
    roles = [row["id"].split("/")[1] for row in planned.rows]
    assert roles.count("forgery") >= 5
    assert roles.count("constant") >= 2
    assert roles.count("mutant") >= 1
    load_scenarios(planned.rows)
    sources = {row["candidate"].source for row in planned.rows}
    if kind in ("reference", "weighted"):
        assert any("def f(*arguments" in source for source in sources)
    if kind == "harbor":
        assert sum(source.startswith("python3 - <<") for source in sources) >= 50


OUTER = {"parts": {"one": {"scoring": {"type": "numeric", "range": [0, 7]}}}}
WORTH_MOST = "states the number that is worth most"


@pytest.mark.parametrize(
    ("scoring", "name", "said"),
    [
        ({"type": "numeric", "range": [0, 100], "pass_mark": 0.9}, WORTH_MOST, "print('100.0')\n"),
        ({"type": "numeric", "range": [50, 2.5]}, WORTH_MOST, "print('2.5')\n"),
        ({"type": "numeric", "range": [0, 1], "source": {"file": "o"}}, WORTH_MOST, "open('o', 'w').write('1.0')\n"),
        (
            {"type": "numeric", "range": [0, 1], "source": {"pattern": r"^acc\s*=\s*([0-9.]+)%$"}},
            WORTH_MOST,
            r"print('1.0\nacc = 1.0%')",
        ),
        ({"type": "weighted", **OUTER}, WORTH_MOST, "print('7.0')\n"),
        (
            {"type": "tests", "entry_point": "f", "checks": [{"raises": "KeyError"}]},
            "raises KeyError",
            "raise KeyError",
        ),
    ],
)
def test_what_a_contract_takes_at_its_word_is_said(scoring: dict[str, Any], name: str, said: str) -> None:
    """The best number of a range and the exception that is expected need no thought; who pays them is not fit."""
    row = {"id": "right", "scoring": scoring, "candidate": "print(95)\n"}
    planned = Calibration(load_scenarios([row]), gold_runs=2)
    (stub,) = [row for row in planned.rows if str(row["id"]).endswith(f"-{name}")]
    assert said in stub["candidate"].source
    report = planned.report(runs(planned, lambda row_id: float("/gold/" in row_id or row_id.endswith(name))))
    (judged,) = report["scenarios"]
    assert (judged["verdict"], judged["faults"][0]) == ("not_fit", f"an answer without a thought passes: {name}")


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


@pytest.mark.parametrize(("own", "given"), [(None, 1.0), (0.5, 0.5), (30.0, 1.0)])
def test_forgeries_that_wait_for_their_end_get_a_second(own: float | None, given: float) -> None:
    """Everything else, and what is loaded beside a test suite, has the scenario's time."""
    limits = {} if own is None else {"limits": {"timeout_seconds": own}}
    planned = calibration({**RIGHT, **limits})
    times = {row["id"].split("/", 1)[1].split("-", 1)[-1]: row["limits"].timeout_seconds for row in planned.rows}
    waiting = {forgery.name for forgery in BATTERY if forgery.outlasts}
    assert {name for name, seconds in times.items() if name in waiting and seconds == given} == waiting
    assert {seconds for name, seconds in times.items() if name not in waiting} == {own}
    suite = {"type": "command", "command": ["python", "test_it.py"], "files": {"test_it.py": "import solution"}}
    beside = Calibration(load_scenarios([{"id": "one", "candidate": "x = 1\n", "scoring": suite}]), gold_runs=2)
    assert {row["limits"].timeout_seconds for row in beside.rows} == {None, 2.0}
    verifier = {"type": "python", "source": "def score(run):\n    return 1.0\n"}
    other = Calibration(load_scenarios([{"id": "one", "candidate": "x = 1\n", "scoring": verifier}]), gold_runs=2)
    assert {row["limits"].timeout_seconds for row in other.rows} == {None}
