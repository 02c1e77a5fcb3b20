# ruff: noqa: E501 (programs are text, not code of ours)
"""The functions of another trusted module by which tests compute what they expect."""

from __future__ import annotations

import ast

import pytest

from harena.scoring.scorers.oracle_functions import without_oracles

HELPERS = """
def reference(n): return n + n
def inner(n, k): return n + k
def wrapped(n):
    "It passes the question on."
    return inner(n, 2)
def counted(n):
    found = _twice(n) + grow(1)
    return found
def _twice(n): return 2 * n
def grow(n): return n * 4
def linked(items): return [*items]
def norm(text): return text.strip()
alias = reference
class Oracle:
    def __init__(self): self.k = 2
    def answer(self, n): return n * self.k
    def other(self, n): return n
class Node:
    def __init__(self, n): self.n = n
"""
EMPTIED = {
    "a call": ("def test_a(n): assert f(n) == reference(n)\n", {"reference"}),
    "of a constant that is asked": ("def test_a(): assert f(3) == helpers.reference(3)\n", {"reference"}),
    "a method": ("def test_a(n): assert f(n) == Oracle().answer(n)\n", {"answer"}),
    "an assertion": ("class T:\n    def test_a(self): self.assertEqual(reference(n), f(n))\n", {"reference"}),
    "close": ("def test_a(n): assert math.isclose(f(n), reference(n))\n", {"reference"}),
    "an order": ("def test_a(n): assert f(n) <= reference(n)\n", {"reference"}),
    "a variable": ("def test_a(n):\n    want = reference(n)\n    assert f(n) == want\n", {"reference"}),
    "a table": ("ROWS = [(2, reference(2)), (3, reference(3))]\ndef test_a():\n    for n, want in ROWS: assert f(n) == want\n", {"reference"}),
    "parameters": ("@pytest.mark.parametrize('n, want', [(n, reference(n)) for n in range(3)])\ndef test_a(n, want): assert f(n) == want\n", {"reference"}),
    "a map": ("def test_a():\n    for n, want in zip(NS, map(reference, NS)): assert f(n) == want\n", {"reference"}),
    "a fixture": ("@pytest.fixture\ndef want(): return reference\ndef test_a(want): assert f(3) == want(3)\n", {"reference"}),
    "a function of the tests": ("def wanted(n): return helpers.reference(n)\ndef test_a(): assert f(3) == wanted(3)\n", {"reference"}),
    "one that passes it on": ("def test_a(n): assert f(n) == wrapped(n)\n", {"wrapped", "inner"}),
    "one that uses a private one": ("def test_a(n): assert f(n) == counted(n)\n", {"counted", "_twice"}),
    "another name": ("def test_a(n): assert f(n) == alias(n)\n", {"reference"}),
    "without an input": ("def test_a(): assert f() == reference()\n", {"reference"}),
}  # fmt: skip
KEPT = {
    "an input": "def test_a():\n    n = grow(3)\n    assert f(n) == 9\n",
    "a tool": "def test_a(n): assert f(3) == linked([1, 2])\n",
    "a class": "def test_a(n): assert f(n) == Node(n)\n",
    "on both sides": "def test_a(a, b): assert norm(f(a)) == norm(b)\n",
    "a table's": "def test_a():\n    for x, y in ROWS: assert f(x) == y\n",
    "no program": "def test_a(n): assert f(n) == reference(n\n",
}


def _emptied(test: str) -> set[str]:
    found = without_oracles({"test_it.py": test, "helpers.py": HELPERS}, {"helpers.py": HELPERS})
    nodes = [node for text in found.values() for node in ast.walk(ast.parse(text))]
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef) and isinstance(node.body[0], ast.Raise)}


@pytest.mark.parametrize("name", EMPTIED)
def test_what_computes_the_expected_is_emptied(name: str) -> None:
    """And nothing else."""
    test, names = EMPTIED[name]
    assert _emptied(test) == names


@pytest.mark.parametrize("name", KEPT)
def test_what_else_the_tests_use_is_kept(name: str) -> None:
    """A candidate may use it, as far as is known."""
    assert _emptied(KEPT[name]) == set()
