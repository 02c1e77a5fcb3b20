"""Rows of a prompt and a contract, and of a question and a number: read for benchmarks and audits as for training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from data_set_rows import mistakes_of, written

from harena.scoring.audit.fit_rows import fit_rows
from harena.scoring.contracts.stored import StoredContract
from harena.scoring.formats import import_scenarios
from harena.scoring.scenario import Scenario

TESTS = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 2}]}
PROMPT = {"id": "next", "prompt": "add 1>", "scoring": TESTS}
RIGHT = "def f(x): return x + 1"
GSM8K = {"question": "Half of 36?", "answer": "36 / 2 = <<36/2=18>>18\n#### 18"}


def sources(scenarios: tuple[Scenario, ...]) -> list[tuple[str, str]]:
    return [(scenario.id, scenario.candidate.source) for scenario in scenarios]


@pytest.mark.parametrize(
    "row",
    [
        PROMPT,
        {"id": "next", "question": "add 1>", "scoring_contract": TESTS},
        {"id": "next", "instruction": "add", "input": "1>", "scoring": json.dumps(TESTS)},
        {"id": "next", "messages": [{"role": "user", "content": "add 1>"}], "scoring": TESTS},
        {"id": "next", "statement": "add 1>", "scoring": TESTS},
        {"id": "next", "problem": {"statement": "add 1>", "scoring": TESTS}},
        {**PROMPT, "scoring": {**TESTS, "entry_point": None}, "program": {"problem": {"entry_point": "f"}}},
    ],
)
def test_every_way_of_asking_is_a_problem(row: dict[str, Any]) -> None:
    """Each with an answer of a file, which is read as a model's answers are."""
    said = {"id": "next", "completion": f"Here it is:\n```python\n{RIGHT}\n```"}
    batch = import_scenarios([row], candidates=[said])
    (scenario,) = batch.scenarios
    assert (batch.form, scenario.id, scenario.problem_id) == ("prompts", "next/1", "next")
    assert scenario.candidate.source.strip() == RIGHT
    assert scenario.scoring.model_dump()["entry_point"] == "f"
    assert "add" in scenario.statement


@pytest.mark.parametrize("field", ["solution", "own_solution", "candidate"])
def test_a_row_may_say_what_is_right(field: str) -> None:
    """Then it is its own oracle; without, the mistake says what to do, and an audit goes on with nothing."""
    solved = {**PROMPT, field: RIGHT}
    assert sources(import_scenarios([solved]).scenarios) == [("next/oracle", RIGHT)]
    ((_, _, told),) = mistakes_of([PROMPT])
    assert "holds no solution of its own" in told
    assert "--candidates nop" in told
    both = import_scenarios([{**solved, "id": "solved"}, PROMPT], unsolved_too=True).scenarios
    assert sources(both) == [("solved/oracle", RIGHT), ("next/nop", "")]
    assert [one.expected and one.expected.passed for one in both] == [True, False]


def test_a_mistake_in_a_contract_is_told_with_its_place(tmp_path: Path) -> None:
    """As harena's own scenarios tell it, with the line of the row."""
    wrong = {**PROMPT, "id": "wrong", "scoring": {**TESTS, "checks": [{"args": [1]}]}}
    path = written(tmp_path / "rows.jsonl", [PROMPT, wrong])
    ((line, field, told),) = mistakes_of(path, candidates="nop")
    assert (line, field) == (2, "scoring.checks[0]")
    assert "expected" in told
    ((_, field, told),) = mistakes_of([{**PROMPT, "program": {"prefx": ""}}], candidates="nop")
    assert field == "[0].program"
    assert "prefx" in told
    ((_, field, told),) = mistakes_of([{**PROMPT, "scoring": {"scenario": "NAME@2", "id": "a"}}], candidates="nop")
    assert "ref:NAME@2" in told


def test_a_stored_contract_is_looked_up_and_told() -> None:
    """The scenario's lineage names the version."""
    (known,) = import_scenarios([PROMPT], candidates="nop").scenarios
    row = {**PROMPT, "scoring": {"contract": "adds"}}
    batch = import_scenarios([row], candidates="nop", contracts=lambda _: StoredContract("adds@3", known.scoring))
    assert [scenario.lineage.contract for scenario in batch.scenarios] == ["adds@3"]


def test_a_prefix_stands_before_a_completion() -> None:
    """As in training."""
    row = {**PROMPT, "prompt": "def f(x):\n", "program": {"prefix": "def f(x):\n"}}
    (scenario,) = import_scenarios([row], candidates=[{"id": "next", "completion": "    return x + 1\n"}]).scenarios
    assert scenario.candidate.source == "def f(x):\n    return x + 1\n"


def test_harenas_own_form_takes_other_candidates() -> None:
    """Problems alone, and problems with scenarios: those that are right, and answers that do nothing."""
    problems = {"problems": [{"id": "p", "scoring": TESTS}, {"id": "q", "scoring": TESTS}]}
    right = {"id": "p1", "problem": "p", "candidate": RIGHT}
    wrong = {"id": "p2", "problem": "p", "candidate": "def f(x): ...", "expected": {"passed": False}}
    both: dict[str, Any] = {**problems, "scenarios": [right, wrong]}
    assert sources(import_scenarios(problems, candidates="nop").scenarios) == [("p/nop", ""), ("q/nop", "")]
    assert sources(import_scenarios(both, candidates="nop").scenarios) == [("p/nop", ""), ("q/nop", "")]
    assert sources(import_scenarios(both, candidates="oracle").scenarios) == [("p1", RIGHT)]
    assert [one.id for one in import_scenarios(both, unsolved_too=True).scenarios] == ["p1", "p2", "q/nop"]
    ((_, _, told),) = mistakes_of(problems, candidates="oracle")
    assert "holds no solution of its own" in told


@pytest.mark.parametrize(
    ("said", "judged"),
    [
        ("It is half of it, so\n#### 18", "18"),
        ("The answer is **18.0**.", "18"),
        ("<think>17</think>18 apples", "18"),
        ("19", "19"),
        ("I do not know", "(no number)"),
        ("", ""),
    ],
)
def test_an_answer_to_gsm8k_is_the_number_that_it_ends_with(said: str, judged: str) -> None:
    """By the rule of gsm8k_v1; the row's own answer is its oracle."""
    (scenario,) = import_scenarios([GSM8K], candidates=[{"index": 0, "response": said}]).scenarios
    assert scenario.candidate.source == judged
    assert scenario.scoring.model_dump()["reference"] == "18"
    assert sources(import_scenarios([GSM8K]).scenarios) == [("0/oracle", "18")]


def test_what_only_training_compares_is_told_why() -> None:
    """A row of MATH has an answer, and no contract."""
    row = {"problem": "1/2+1/2?", "solution": "It is $\\boxed{1}$."}
    ((_, _, told),) = mistakes_of([row])
    assert "math_v1" in told
    assert "scoring" in told


def test_rows_of_fit_problems_are_found_again(tmp_path: Path) -> None:
    """Their names are those of the audit, also where a contract is stored elsewhere."""
    rows = [PROMPT, {**PROMPT, "id": "other", "scoring": {"contract": "adds"}}]
    path = written(tmp_path / "rows.jsonl", rows)
    assert [json.loads(line)["id"] for line in fit_rows(path, {"next"})] == ["other"]
