# ruff: noqa: E501 (programs are text, not code of ours)
"""Which expected values of trusted tests may be changed, and into what."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from harena.scoring import load_scenarios
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.scorers.changed_expectations import MOST_CHANGES, changed_contracts

GOLD = "def f(x):\n    return x\n"
CHECK = "def check(candidate):\n    {}\n\ncheck(f)\n"
SUITE = "import unittest\nimport helper\nfrom solution import f\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        {}\n"


def contract(**scoring: Any) -> CommandContract:
    """One of type `command`."""
    row = {"id": "one", "candidate": GOLD, "scoring": {"type": "command", "gold": GOLD, **scoring}}
    made = load_scenarios([row]).scenarios[0].scoring
    assert isinstance(made, CommandContract)
    return made


def changes(asserts: str) -> list[str]:
    """Texts with one value changed."""
    return [made.asserts or "" for made in changed_contracts(contract(asserts=asserts))]


def suite_changes(line: str) -> list[str]:
    """Texts of a suite with this line in a test."""
    made = contract(unittest=["test_it.py"], files={"test_it.py": SUITE.format(line), "helper.py": ""})
    return [changed.files["test_it.py"] for changed in changed_contracts(made)]


@pytest.mark.parametrize(
    "named", [["pkg"], ["pkg/"], ["pkg/test_it.py"], ["pkg/test_it.py::T::test_it"], ["-q", "pkg/sub"]]
)
def test_tests_are_found_however_the_suite_names_them(named: list[str]) -> None:
    """By their folder, their file, or one of them; a helper beside them expects nothing."""
    path = "pkg/sub/test_it.py" if named[-1] == "pkg/sub" else "pkg/test_it.py"
    text = SUITE.format("self.assertEqual(f(1), 1)")
    made = changed_contracts(contract(pytest=named, files={path: text, "pkg/helper.py": "assert f(1) == 1\n"}))
    assert made
    assert all(changed.files[path] != text for changed in made)


@pytest.mark.parametrize(
    "line",
    ["assert f(1) == 1", "assert 1 == f(1), 'said'", "assert f(-2) == -2", "assert f('ab') == 'ab'", "assert len(f([1])) == 1",
     "assert f(2.5) == 2.5", "assert f(True) == True", "assert sorted(f([1, 2])) == [1, 2]", "assert f({}) == {'a': [1, ()]}"],
)  # fmt: skip
def test_a_value_that_an_answer_is_compared_with_is_changed(line: str) -> None:
    """One constant of it, in its place, by another of its type: nothing else of the text is another one."""
    for text in (f"{line}\n", CHECK.format(line.replace("f(", "candidate("))):
        made = changes(text)
        assert made
        for changed in made:
            had, has = ast.parse(text), ast.parse(changed)
            pairs = list(zip(ast.walk(had), ast.walk(has), strict=True))
            others = [(a.value, b.value) for a, b in pairs if isinstance(a, ast.Constant) and isinstance(b, ast.Constant)
                      and a.value != b.value]  # fmt: skip
            assert len(others) == 1
            assert type(others[0][0]) is type(others[0][1])
            assert [type(a) for a, _ in pairs] == [type(b) for _, b in pairs]
            assert changed.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    ["if f(1):\n    assert f(1) == 1\n", "for n in (1, 2):\n    assert f(n) == 1\n", "assert f(1) in (1, 2)\n",
     "try:\n    assert f(1) == 1\nexcept AssertionError:\n    pass\n", "assert f(1) == 1 or f(1) == 2\n",
     "assert abs(f(1) - 1) < 0.1\n", "x = 1\nassert x == 1\n", "from pytest import approx\nassert approx(f(1)) == 1\n",
     "assert f(1) == g\n", "assert f(1) != 1\n", "def check(c):\n    assert c(1) == 1\n", "assert f(1) == None\n",
     "def check(c):\n    if c(0):\n        return\n    assert c(1) == 1\ncheck(f)\n", "assert f('') == ''\n",
     "@once\ndef check(c):\n    assert c(1) == 1\ncheck(f)\n", "assert f(1) == 1 == 1\n", "with any:\n    assert f(1) == 1\n"],
)  # fmt: skip
def test_a_value_that_a_right_answer_may_differ_from_is_not(text: str) -> None:
    """It is not always compared, or it is not all that is expected, or what is compared is not the candidate's."""
    assert changes(text) == []


@pytest.mark.parametrize("value", [0, 7, 10, 1234567890123, 2.5, 1e-05, 12.0, "Ab9", -31])
def test_a_changed_value_looks_alike(value: Any) -> None:
    """As long as before, and as large: who looks up what is expected sees nothing strange."""
    for changed in changes(f"assert f({value!r}) == {value!r}\n"):
        (statement,) = ast.parse(changed).body
        assert isinstance(statement, ast.Assert)
        assert isinstance(statement.test, ast.Compare)
        other = ast.literal_eval(statement.test.comparators[0])
        assert other != value
        assert type(other) is type(value)
        assert isinstance(value, str) or abs(other - value) <= 9 * max(1, abs(value))
        assert len(changed) == len(f"assert f({value!r}) == {value!r}\n")


def test_values_of_suites() -> None:
    """Where a test compares what it has of the gold solution's module."""
    assert suite_changes("self.assertEqual(f(1), 1)")
    assert suite_changes("assert f(1) == 1")
    for line in ("self.assertEqual(helper.f(1), 1)", "self.assertEqual(f(1), f(1))", "self.assertAlmostEqual(f(1), 1)"):
        assert suite_changes(line) == []


def test_there_are_few_and_they_are_the_same_each_time() -> None:
    """The gold solution is run for each."""
    text = "".join(f"assert f({n}) == {n}\n" for n in range(100))
    made = changes(text)
    assert len(made) == len(set(made)) == MOST_CHANGES
    assert made == changes(text)
