"""What audits try beside calibrations, and what they say: made and read, not run."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from harena.core.records.calibrations import CalibrationReport
from harena.scoring import load_scenarios
from harena.scoring.audit import given_away, holds_solution, in_another_order, like_problems, lookups, renamed
from harena.scoring.audit.findings import ADVICE, SEVERITIES
from harena.scoring.audit.visible import MOST_READ, Example, examples_of, samples_of
from harena.scoring.calibration import Calibration
from harena.scoring.scenario import Scenario

CHECKS = [{"args": [3], "expected": 7}, {"args": [0], "expected": 1}]
TESTS = {"type": "tests", "entry_point": "odd", "checks": CHECKS}
ODD = "def odd(x):\n    return 2 * x + 1\n"


def scenario(said: str = "", candidate: str = ODD, name: str = "odd", **scoring: Any) -> Scenario:
    """One problem with its right answer."""
    row = {
        "id": f"{name}/right",
        "problem": {"id": name, "statement": said},
        "candidate": candidate,
        "scoring": scoring or TESTS,
    }
    return load_scenarios([row]).scenarios[0]


@pytest.mark.parametrize(
    "said",
    [
        ">>> odd(3)\n7\n",
        "assert odd(3) == 7, 'odd of three'",
        "`odd(3)` -> 7.",
        "odd(3) => 7, and so on",
        "odd(3) should return 7.",
        "odd( 3 )  # 7",
        "print(Solution().odd(3))  # => 7",
        "Input: x = 3\nOutput: 7\n",
        "**Input:** 3\n**Output:** 7\n",
    ],
)
def test_examples_are_found_however_they_are_written(said: str) -> None:
    """A call with literals, and what it gives."""
    assert Example("(3,)", "7") in examples_of(said, "odd")


@pytest.mark.parametrize(
    "said", ["odd(x) is twice x and one", "modd(3) == 7", "odd(3", "odd(open('x')) == 7", "odd(3) of them", "odd" * 9]
)
def test_what_is_no_example_is_none(said: str) -> None:
    """Names, other functions, brackets that do not close, calls that would do something."""
    assert examples_of(said, "odd") == []


def test_samples_are_pairs_below_headings() -> None:
    """What stands behind them, and before the next heading, is none of it; fences are not."""
    said = (
        "-----Examples-----\nInput\n1 2\n3\n\nOutput\n6\n\nNote\nIt is a sum.\n\n"
        "Sample Input 2:\n```\n4\n```\n\nSample Output 2:\n```\n4\n```\n"
    )
    assert samples_of(said) == [("1 2\n3", "6"), ("4", "4")]


def test_a_look_up_is_a_program_that_answers_the_examples() -> None:
    """And nothing else; where none are shown there is no such candidate."""
    ((_, called),) = lookups(scenario(">>> odd(3)\n7\n>>> odd(0)\n1\n"))
    names: dict[str, Any] = {}
    exec(called.source, names)
    assert [names["odd"](3), names["odd"](0), names["odd"](8)] == [7, 1, 7]
    stdio = {"type": "stdio", "cases": [{"stdin": "3", "stdout": "7"}]}
    ((_, program),) = lookups(scenario("Input\n3\nOutput\n7\n", "print(7)\n", **stdio))
    assert "('3',): '7'" in program.source
    assert list(lookups(scenario("Twice a number and one."))) == []


@pytest.mark.parametrize(
    ("said", "is_there"),
    [
        ("Like this:\n```python\ndef odd(n):\n    return n + n + 1\n```", True),
        ("Solution:\n\n    def odd(n):\n        return n + n + 1\n\nThat is all.", True),
        ("Hint: return 2 * x + 1.", True),
        ("Complete:\n```python\ndef odd(n):\n    ...\n```", False),
        ("def odd(n):\n    '''Twice it and one.'''\n", False),
        ("return the number", False),
        ("Return x.", False),
    ],
)
def test_programs_of_the_statement_are_tried(said: str, is_there: bool) -> None:
    """Those with a body; a header that is to be filled in is no answer."""
    assert bool(list(given_away(scenario(said)))) is is_there


def test_words_behind_answer_are_tried() -> None:
    """As a text, or as what a program prints."""
    text = {"type": "string_check", "reference": "Canberra", "operation": "eq"}
    said = "The capital? (Answer: Canberra)"
    assert "Canberra" in [made.source for _, made in given_away(scenario(said, "Canberra", **text))]
    number = {"type": "numeric", "target": 42}
    tried = [made.source for _, made in given_away(scenario("The answer is 42.", "print(42)\n", **number))]
    assert "print('42')\n" in tried


def test_a_statement_holds_a_solution_word_for_word() -> None:
    """White space and quotes aside; a short one, and one whose signature alone is there, is not known again."""
    gold = "def odd(x):\n    '''Twice.'''\n    made = [x, x]\n    made.append('one')\n    return 2 * made[0] + 1\n"
    spread = 'made=[x,\n  x]\nmade.append("one")  # now\nreturn 2*made[0]+1'
    assert holds_solution(scenario(f"Try this: {spread}", gold))
    assert not holds_solution(scenario("def odd(x):\n    '''Twice.'''\n", gold))
    assert not holds_solution(scenario("return 2 * x + 1"))


def test_checks_cases_and_inputs_are_turned_around() -> None:
    """With another fingerprint, though the first one had been computed; a single check has no other order."""
    whole = scenario()
    before = whole.scoring.fingerprint
    turned = in_another_order(whole)
    assert turned is not None
    made = turned.scoring.model_dump()
    assert [check["args"] for check in made["checks"]] == [(0,), (3,)]
    assert turned.scoring.fingerprint != before == whole.scoring.fingerprint
    assert in_another_order(scenario(type="tests", entry_point="odd", checks=CHECKS[:1])) is None
    stdio = in_another_order(
        scenario(candidate="print(1)\n", type="stdio", cases=[{"stdin": "a", "stdout": "1"}, {"stdout": "2"}])
    )
    assert stdio is not None
    assert [case["stdout"] for case in stdio.scoring.model_dump()["cases"]] == ["2", "1"]
    inputs = [{"args": [1]}, {"args": [2]}]
    assert in_another_order(scenario(type="reference", entry_point="odd", solution=ODD, inputs=inputs)) is not None
    assert in_another_order(scenario(type="numeric", target=1)) is None


def in_order(tests: str, runner: str = "pytest") -> str | None:
    """A test file after that."""
    suite = {"type": "command", runner: ["test_it.py"], "files": {"test_it.py": tests}}
    turned = in_another_order(scenario(**suite))
    return None if turned is None else turned.scoring.model_dump()["files"]["test_it.py"]


def test_tests_of_a_suite_are_turned_around() -> None:
    """All that they are defined with still stands before them; methods of unittest run by their names."""
    turned = in_order("def test_a():\n    assert ONE\nONE = 1\nclass TestMore:\n    def test_b(self): pass\n"
                      "    def test_c(self): pass\ndef test_d():\n    assert ONE\n")  # fmt: skip
    assert turned is not None
    names = [node.name for node in ast.walk(ast.parse(turned)) if isinstance(node, ast.FunctionDef)]
    assert names == ["test_d", "test_a", "test_c", "test_b"]
    case = (
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): first()\n    def test_b(self): second()\n"
    )
    renamed_case = in_order(case, "unittest")
    assert renamed_case is not None
    assert renamed_case.index("def test_b(self):\n        first") < renamed_case.index(
        "def test_a(self):\n        second"
    )


@pytest.mark.parametrize(
    "tests",
    [
        "def test_a(): pass\n",
        "def test_a(): pass\ndef test_b(): pass\nALL = [test_a, test_b]\n",
        "import pytest\n@pytest.mark.order(1)\ndef test_a(): pass\ndef test_b(): pass\n",
    ],
)
def test_a_suite_without_another_order_is_left_alone(tests: str) -> None:
    """One test; tests that are named elsewhere; an order that the suite states."""
    assert in_order(tests) is None


def test_problems_are_alike_by_their_checks_or_their_words() -> None:
    """Whatever functions are called; with too little in common they are not compared."""
    same = scenario(name="again", candidate="def again(x):\n    return x + x + 1\n", type="tests", entry_point="again",
                    checks=CHECKS[::-1])  # fmt: skip
    words = "Write a function that takes a list of whole numbers and gives the {} of all of them that are odd."
    other = [{"args": [9], "expected": 9}]
    more = [
        scenario(
            words.format(which),
            name=which,
            type="tests",
            entry_point="odd",
            checks=[*other, {"args": [n], "expected": n}],
        )
        for n, which in enumerate(("sum", "total", "largest"))
    ]  # fmt: skip
    assert like_problems([scenario(), same, *more]) == {1: [0], 3: [2], 4: [2, 3]}
    answer = renamed(scenario(), same)
    assert answer is not None
    assert answer.source.endswith("\n\nagain = odd\n")
    stdio = scenario(candidate="print(1)\n", type="stdio", cases=[{"stdout": "1"}])
    assert renamed(stdio, same) is None


def audited(said: str = "", *, scored: dict[str, float | None], candidate: str = ODD, **scoring: Any) -> dict[str, str]:
    """kind -> severity of what is found; `scored`: by a part of their ids, of rows that do not score as they should."""
    planned = Calibration(load_scenarios([{**_row(said, scoring), "candidate": candidate}]), gold_runs=3)
    runs = []
    for row in planned.rows:
        role = row["id"].split("/", 1)[1]
        score = next(
            (value for start, value in scored.items() if start in role), float(role.startswith(("gold", "reo")))
        )
        runs.append({"scenario_id": row["id"], "score": score, "passed": score == 1.0})
    report = planned.report(runs)
    assert CalibrationReport.from_dict(report).to_dict() == report
    (judged,) = report["scenarios"]
    for finding in judged["findings"]:
        assert (finding["severity"], finding["advice"]) == ADVICE[finding["kind"]]
        assert "\n" not in finding["says"]
    return {finding["kind"]: finding["severity"] for finding in judged["findings"]}


def _row(said: str, scoring: dict[str, Any]) -> dict[str, Any]:
    inline = {"id": "odd", "statement": said}
    return {"id": "odd/right", "problem": inline, "candidate": ODD, "scoring": scoring or TESTS}


SHOWN = ">>> odd(3)\n7\n"


@pytest.mark.parametrize(
    ("scored", "found"),
    [
        ({}, {}),
        ({"gold": 0.0}, {"wrong_gold": "error"}),
        ({"gold/0": 0.0}, {"flaky": "error"}),
        ({"empty": 1.0, "stub": 1.0, "constant": 1.0, "forgery": 1.0, "mutant": 1.0}, {"never_called": "error"}),
        ({"empty": 0.2}, {"empty_answer": "error"}),
        ({"stub": 1.0}, {"stub": "error"}),
        ({"returns 0": 1.0}, {"constant": "error"}),
        ({"lookup": 1.0}, {"look_up": "error"}),
        ({"leak": 1.0}, {"leaked_answer": "error"}),
        ({"exit-at-import": 1.0}, {"constant": "error"}),
        ({"exit-at-import": None}, {"unscored": "error"}),
        ({"returns 0": None}, {"unscored": "error"}),
        ({"mutant": 1.0}, {"blind_tests": "error"}),
        ({"becomes": 1.0}, {"weak_tests": "warning"}),
        ({"nothing is returned": 1.0}, {"survivors": "note"}),
        ({"returns 0": 0.5, "forgery": 0.5}, {"partial_credit": "warning"}),
        ({"reordered": 0.0}, {"order": "warning"}),
        ({"reordered": None}, {"order": "warning"}),
        ({"reordered/0": 0.0}, {}),
    ],
)
def test_each_fault_is_found_and_said_once(scored: dict[str, float | None], found: dict[str, str]) -> None:
    """With what follows from it left out."""
    said = SHOWN + "```python\ndef odd(n):\n    return n + n + 1\n```"
    assert {
        kind: level for kind, level in audited(said, scored=scored).items() if kind != "order" or "order" in found
    } == found


@pytest.mark.parametrize(
    ("candidate", "scoring", "found"),
    [
        ("def odd(x):\n    return max(x)\n", TESTS, {"few_mutants": "note"}),
        ("odd = len\n", TESTS, {"no_mutants": "warning"}),
        ("print(*input())\n", {"type": "stdio", "cases": [{"stdout": "1"}]}, {"no_mutants": "warning"}),
        ("print(int(input()))\n", {"type": "numeric", "target": 1}, {}),
        ("B", {"type": "string_check", "reference": "B", "operation": "eq"}, {}),
    ],
)
def test_few_mutants_are_no_measure_and_none_is_said(
    candidate: str, scoring: dict[str, Any], found: dict[str, str]
) -> None:
    """Where several inputs are asked; other contracts compare one answer."""
    assert audited(scored={}, candidate=candidate, **scoring) == found
    assert audited(scored={"gold": 0.0}, candidate=candidate, **scoring) == {"wrong_gold": "error"}


def test_a_forgery_is_told_where_more_than_a_value_is_compared() -> None:
    """By `tests` it can have been right by chance only."""
    source = "def score(run):\n    return 1.0\n"
    assert audited(scored={"exit-at-import": 1.0}, type="python", source=source) == {"forgery": "error"}


def test_every_kind_has_advice() -> None:
    """A sentence each, and one of the three severities."""
    assert {severity for severity, _ in ADVICE.values()} == set(SEVERITIES)
    assert all(advice.endswith(".") and advice[0].isupper() for _, advice in ADVICE.values())


def test_every_kind_stands_in_the_documentation() -> None:
    """With its severity."""
    text = (Path(__file__).parents[3] / "docs/how-to/audit.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (error|warning|note) \|", text, re.MULTILINE)
    assert dict(rows) == {kind: severity for kind, (severity, _) in ADVICE.items()}


def test_hostile_statements_are_read_to_their_end() -> None:
    """Brackets that never close, headings without end, deep nesting."""
    texts = [
        "odd(" * 30_000,
        "odd((((((((((" * 5_000,
        "Input:\nOutput:\n" * 5_000,
        "[" * 60_000,
        "return (" * 9_000,
        "answer: " * 9_000,
        "def odd(x):\n" * 6_000,
        "```python\n" * 6_000,
        "odd(1) == " + "[" * 50_000,
        "input" + " " * 60_000 + "x",
        "odd(1)" + " )" * 30_000 + "x",
        "odd(1), " + " " * 60_000 + "should" + " " * 5_000,
        "answer" + " *:`" * 15_000,
    ]
    assert all(len(text) >= MOST_READ // 2 for text in texts)
    for text in texts:
        hostile = scenario(text)
        list(lookups(hostile))
        list(given_away(hostile))
        holds_solution(hostile)
    json.dumps(like_problems([scenario(text) for text in texts]))
