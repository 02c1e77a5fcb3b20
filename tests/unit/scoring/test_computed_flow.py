"""Where tests compute what they compare answers with, and what may be another value there."""

from __future__ import annotations

import ast

import pytest

from harena.scoring.scorers.computed_flow import computed_flow

HEAD = "from solution import f\ndef brute(n): return n * 2\n"


def _found(text: str, **others: str) -> tuple[list[str], list[str]]:
    """(expected sides, points), as their texts"""
    trees = {"test_it.py": ast.parse(text), **{f"{name}.py": ast.parse(each) for name, each in others.items()}}
    flow = computed_flow(trees, {"test_it", *others})
    points = [f"{ast.unparse(node)} {path}" for node, paths in flow.points.values() for path in sorted(paths, key=repr)]
    return [ast.unparse(place.expected) for place in flow.places], sorted(points)


POINTS = {
    "zip": ("W = list(map(brute, X))\nfor x, w in zip(X, W): assert f(x) == w", ["map(brute, X) ('item',)"]),
    "rows": ("C = [(x, brute(x)) for x in range(3)]\nfor x, w in C: assert f(x) == w", ["brute(x) ()"]),
    "a row by its index": ("C = [(1, brute(1))]\nfor row in C: assert f(row[0]) == row[1]", ["brute(1) ()"]),
    "a row by a number": ("C = [(x, brute(x)) for x in X]\nfor i in X: assert f(C[i][0]) == C[i][1]", ["brute(x) ()"]),
    "what is put in": ("C = {}\nfor x in X: C[x] = brute(x)\nassert f(2) == C[2]", ["brute(x) ()", "{} (2,)"]),
    "pairs": ("C = {x: brute(x) for x in X}\nfor x, w in C.items(): assert f(x) == w", ["brute(x) ()"]),
    "a look-up": ("C = {x: brute(x) for x in X}\nassert f(2) == C[2]", ["brute(x) ()"]),
    "both sides are kept": ("got = f(3)\nw = brute(3)\nassert w == got", ["brute(3) ()"]),
    "what is added": ("W = []\nW.append(brute(1))\nfor w in W: assert f(1) == w", ["brute(1) ()"]),
    "nothing is kept": ("for x in X: assert f(x) == brute(x)", []),
}


@pytest.mark.parametrize(("body", "points"), POINTS.values(), ids=POINTS)
def test_points_are_where_values_come_from_that_are_no_arguments(body: str, points: list[str]) -> None:
    """They are found through loops, tables, keys and indices."""
    places, found = _found(f"{HEAD}X = [1, 2, 3]\n{body}\n")
    assert len(places) == 1
    assert [each for each in found if each[:2] != "[]"] == points


NO_PLACES = {
    "the candidate's on both sides": "assert f(1) == f(2)",
    "of the candidate by a name": "n = f(1)\nassert f(2) == n + 1",
    "of the candidate by a function of the tests": "def g(n): return f(n) + 1\nassert f(2) == g(1)",
    "of what counts": "import time\nassert f(2) == time.time()",
    "of a fixture that is not there": "def test_a(tmp_path): assert f(2) == str(tmp_path)",
    "stated": "assert f(2) == [4]",
    "no candidate": "assert brute(2) == brute(2)",
    "of an object that nobody knows": "with open('x') as file: assert f(2) == file",
    "of an attribute that nobody sets": "class T:\n    def test_a(self): assert f(1) == self.w",
    "of another order": "assert f(1) < brute(1)",
    "what is not certain to hold": "assert f(1) == brute(1) or f(2)",
}


@pytest.mark.parametrize("body", NO_PLACES.values(), ids=NO_PLACES)
def test_what_is_not_computed_by_the_tests_alone_is_no_place(body: str) -> None:
    """A right program may answer otherwise than the gold does there."""
    assert _found(f"{HEAD}{body}\n")[0] == []


def test_values_of_other_trusted_files() -> None:
    """Those that import nothing of a candidate's."""
    text = "from solution import f\nfrom oracle import brute\nassert f(2) == brute(2)\n"
    assert _found(text, oracle="import math\ndef brute(n): return n\n")[0] == ["brute(2)"]
    assert _found(text, oracle="from solution import g\ndef brute(n): return g(n)\n")[0] == []
    assert _found(text)[0] == []


def test_a_function_of_the_tests_hands_nothing_to_a_candidate_by_itself() -> None:
    """What it is called with counts where it calls others."""
    body = "def same(a, b): return a == b\nW = [brute(3)]\nfor w in W: assert same(f(3), w)\n"
    assert _found(HEAD + body)[1] == ["brute(3) ()"]
    assert _found(HEAD + "def check(w): return f(w) == w\nW = [brute(3)]\nfor w in W: assert check(w)\n")[1] == []


LEFT_OUT = {
    "what is handed on": "def visit(n): assert f(n) == brute(n)\nf(visit)",
    "one of two that will do": "assert f(1) == brute(1) or f(1) == 3",
    "one of several": "assert any(f(1) == brute(i) for i in range(3))",
    "a way": "if f(1) == brute(1): pass\nelse: assert f(1) == 3",
    "what is looked for": "n = 0\nwhile f(n) != brute(n): n += 1",
    "what is chosen": "W = [n for n in range(3) if f(n) == brute(n)]",
}


@pytest.mark.parametrize("body", LEFT_OUT.values(), ids=LEFT_OUT)
def test_where_another_answer_may_do_nobody_is_asked(body: str) -> None:
    """An answer that is not equal is no failure there."""
    assert _found(f"{HEAD}{body}\n")[0] == []
