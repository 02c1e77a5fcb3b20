"""Tests that ask whether two values of the candidate's are one object are not failed for values that cross by value."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED, judged
from test_unittest_suites import scored

from harena.core.results import Reason, RunResult
from harena.scoring import load_scenarios

pytestmark = SHARED

PROGRAM = """
import functools, math, random
def rolled(): return random.randint(1, 3)
@functools.lru_cache
def pair(number): return (number, str(number) * 3)
POOL = {}
def interned(text): return POOL.setdefault(text, text)
class Box:
    def __init__(self, value): self.value = value
    def get(self): return self.value
def nans(): return [1.0, math.nan]
def only_nans(values): return [each for each in values if each is not None]
"""
CACHED = """
from solution import pair
def test(): assert pair(3) is pair(3)
"""
QUESTIONS = {
    "cached": CACHED,
    "interned": "from solution import interned\ndef test(): assert interned('a b c') is interned('a b ' + 'c')\n",
    "kept": "from solution import Box\ndef test():\n    text = 'x y' * 3\n    assert Box(text).get() is text\n",
    "unittest": "import unittest\nfrom solution import pair\n"
    "class T(unittest.TestCase):\n    def test(self): self.assertIs(pair(3), pair(3))\n",
    "a library's function": "import random\nfrom solution import rolled\n"
    "def test():\n    random.randint = lambda least, most: 4\n    assert rolled() == 4\n",
    "a library's function, by setattr": "import random\nfrom solution import rolled\n"
    "def test():\n    setattr(random, 'randint', lambda least, most: 4)\n    assert rolled() == 4\n",
    "nan of its own": "from solution import only_nans\ndef test():\n"
    "    nan = float('nan')\n    assert only_nans([nan, None]) == [nan]\n",
}  # fmt: skip


async def asked(program: str, suite: str, **scoring: str) -> RunResult:
    kind = "unittest" if "unittest" in suite else "pytest"
    return await scored(program, suite, kind, by_this_interpreter=kind == "pytest", **scoring)


@pytest.mark.parametrize("suite", QUESTIONS.values(), ids=QUESTIONS)
async def test_who_cannot_be_asked_has_no_zero(suite: str) -> None:
    """Without a gold it has no score, and the reason; with one it is paid."""
    result = await asked(PROGRAM, suite)
    assert (result.score, result.reason) == (None, Reason.SCORER_ERROR), result.detail
    assert any(why in result.detail for why in ("one object", "NaN", "replaces random.randint")), result.detail
    paid = await asked(PROGRAM, suite, gold=PROGRAM + "\n# another text\n")
    assert paid.score == 1.0, paid.detail


async def test_who_keeps_nothing_has_zero() -> None:
    """Where the suite's process decides, it decides as Python does."""
    wrong = PROGRAM.replace("@functools.lru_cache", "")
    result = await asked(wrong, CACHED)
    assert (result.score, str(result.validity)) == (0.0, "valid"), result.detail


async def test_the_nan_that_has_a_name_is_one_object() -> None:
    """As math.nan is in one process, and so are lists with it."""
    suite = """
import math
from solution import Box, nans
def test():
    assert nans() == [1.0, math.nan] and math.nan in nans()
    assert Box(math.nan).get() is math.nan
"""
    result = await asked(PROGRAM, suite)
    assert result.score == 1.0, result.detail


async def test_a_field_may_have_the_name_of_a_method() -> None:
    """Of a record that both sides have: what its instance holds is found before what its class says."""
    node = """
class Node:
    def __init__(self, value=None, successor=None):
        self.value, self.successor = value, successor
    def successor(self): return self.successor
"""
    tests = """
from node import Node
from solution import second
def test():
    last = Node(2)
    assert second(Node(1, last)) is last
"""
    program = "def second(node): return node.successor if node.successor.value == 2 else None\n"
    scoring = {"type": "command", "pytest": ["test_it.py"], "files": {"test_it.py": tests, "node.py": node}}
    (made,) = load_scenarios([{"id": "one", "candidate": program, "scoring": scoring}]).scenarios
    result = await judged(made, by_this_interpreter=True)
    assert result.score == 1.0, result.detail
