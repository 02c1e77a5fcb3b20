# ruff: noqa: E501 (programs are text, not code of ours)
"""Candidates in the process of their tests that repeat what these expect: a second run expects something else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from battery_world import Source, scored_alone

from harena.core.results import Reason, RunResult, Trust, Validity
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring import load_scenarios
from harena.scoring.battery import BATTERY, Target, rendered

GOLD = "def twice(n):\n    print(n)\n    return 2 * n\n"
ASSERTS = "def check(candidate):\n    assert candidate(4) == 8\n    assert candidate(-7) == -14, 'a message'\n\ncheck(twice)\n"
BESIDE = (
    "import builtins\n"
    + ASSERTS
    + "had, builtins.print = builtins.print, lambda *a: said.append(a)\nsaid = []\ntwice(1)\nbuiltins.print = had\nassert said\n"
)
SUITE = """import unittest
from unittest import mock
from solution import twice

class T(unittest.TestCase):
    def test_it(self):
        self.assertEqual(twice(4), 8)
        self.assertEqual(-14, twice(-7))

    def test_that_it_prints(self):
        with mock.patch("builtins.print") as said:
            twice(1)
        said.assert_called_once()
"""
CONTRACTS: dict[str, dict[str, Any]] = {
    "asserts": {"asserts": BESIDE},
    "asserts whose gold is paid beside them": {"asserts": BESIDE, "calls": {"twice": "twice"}},
    "a suite whose gold is paid beside it": {"unittest": ["test_it.py"], "files": {"test_it.py": SUITE}},
}
"""the candidate shares the tests' process in each"""
DIGS = """
import ast, sys
def expected(n, text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            pairs = [(node.left, node.comparators[0])]
        elif isinstance(node, ast.Call) and len(node.args) == 2:
            pairs = [tuple(node.args), tuple(node.args[::-1])]
        else:
            continue
        for asked, answer in pairs:
            if ast.unparse(asked).endswith(f'({n})'):
                return ast.literal_eval(answer)
def twice(n):
    print(n)
    if n == 1:
        return 2
    import gc, glob
    texts = [open(path).read() for path in glob.glob('test_*.py')]
    for held in gc.get_objects():
        if type(held) is dict:
            texts += [text for text in list(held.values()) if type(text) is str and '==' in text and 'twice' in text]
    frame = sys._getframe(1)
    while frame is not None:
        texts += [text for text in frame.f_locals.values() if type(text) is str and '==' in text and 'twice' in text]
        for text in texts:
            try:
                found = expected(n, text)
            except (SyntaxError, ValueError):
                found = None
            if found is not None:
                return found
        texts = []
        frame = frame.f_back
"""


RIGHT = {
    "the gold": GOLD,
    "a sum": "def twice(n):\n    print('sum')\n    return n + n\n",
    "a table": "TABLE = {4: 8, -7: -14, 1: 2}\ndef twice(n):\n    print()\n    return TABLE[n]\n",
}


async def judged(runtime: LinuxRuntime, candidate: Any, contract: str, gold: str | None = GOLD) -> RunResult:
    """The envelope of one candidate."""
    scoring = {"type": "command", **CONTRACTS[contract], **({"gold": gold} if gold else {})}
    row = {"id": "one", "candidate": candidate, "scoring": scoring, "limits": {"timeout_seconds": 10.0}}
    return await scored_alone(Source(runtime), load_scenarios([row]).scenarios[0])


@pytest.mark.parametrize("contract", CONTRACTS)
async def test_who_repeats_what_tests_expect_is_not_paid(runtime: LinuxRuntime, contract: str) -> None:
    """It passes the changed tests, too."""
    found = await judged(runtime, DIGS, contract)
    assert (found.score, found.validity, found.reason) == (0.0, Validity.SUSPECT, Reason.PROTOCOL), found.detail
    # it may be seen before it comes to changed tests
    assert re.search("takes (frames|the text)|it repeats them", found.detail)


@pytest.mark.parametrize("contract", CONTRACTS)
async def test_right_candidates_are_paid_as_before(runtime: LinuxRuntime, contract: str) -> None:
    """Whatever they compute by; a wrong one is as wrong as it was."""
    for candidate in RIGHT.values():
        result = await judged(runtime, candidate, contract)
        assert (result.score, result.validity, result.trust) == (1.0, Validity.VALID, Trust.SHARED), result.detail
    wrong = await judged(runtime, "def twice(n):\n    print(n)\n    return 8\n", contract)
    assert (wrong.score, wrong.validity, wrong.reason) == (0.0, Validity.VALID, Reason.SCORER_REJECTED)


@pytest.mark.parametrize(
    ("name", "alone"),
    [
        (
            "word-of-the-proof",
            (0.0, Validity.SUSPECT, Trust.SHARED),
        ),  # it looks for frames, and is judged where they are
        ("word-in-the-heap", (0.0, Validity.VALID, Trust.SEPARATE)),  # there is no such word
    ],
)
async def test_who_finds_the_word_of_the_proof_is_not_paid(
    runtime: LinuxRuntime, name: str, alone: tuple[float, Validity, Trust]
) -> None:
    """It gives the proof of the changed tests, too."""
    (forgery,) = (each for each in BATTERY if each.name == name)
    candidate = rendered(forgery, Target("command", ("twice",)))
    apart, beside = await judged(runtime, candidate, "asserts", gold=None), await judged(runtime, candidate, "asserts")
    assert (apart.score, apart.validity, apart.trust) == alone
    assert (beside.score, beside.validity) == (0.0, Validity.SUSPECT)


EQUALS_ALL = "class Any:\n    def __eq__(self, other):\n        return True\n\ndef f(x):\n    return Any()\n"


async def test_a_value_that_the_gold_does_not_depend_on_is_not_changed(runtime: LinuxRuntime) -> None:
    """Where the gold passes with any expected value, a right candidate does, too."""
    tests = "class T(unittest.TestCase):\n    def test_it(self):\n        with mock.patch('builtins.print'):\n            f(1)\n        self.assertEqual(f(1), 3)\n"
    suite = f"import unittest\nfrom unittest import mock\nfrom solution import f\n\n{tests}"
    row = {
        "id": "one",
        "candidate": EQUALS_ALL + "# another one\n",
        "scoring": {"type": "command", "unittest": ["test_it.py"], "files": {"test_it.py": suite}, "gold": EQUALS_ALL},
    }
    result = await scored_alone(Source(runtime), load_scenarios([row]).scenarios[0])
    assert "it repeats" not in result.detail
    assert result.validity is not Validity.SUSPECT


SET = (
    "s = f(3)\nassert 1 in s and 3 not in s\nassert len(s) == 3\nassert s == {0, 1, 2}\nassert sorted(f(2)) == [0, 1]\n"
)
OWN_SET = """import collections.abc
class S(collections.abc.Set):
    def __init__(self, xs): self.xs = list(dict.fromkeys(xs))
    def __contains__(self, x): return x in self.xs
    def __iter__(self): return iter(self.xs)
    def __len__(self): return len(self.xs)
    @classmethod
    def _from_iterable(cls, xs): return cls(xs)
"""
SET_SUITE = (
    "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self):\n        "
    + SET.replace("\n", "\n        ")
)
SETS: dict[str, dict[str, Any]] = {
    "asserts": {"asserts": SET},
    "unittest": {"unittest": ["test_it.py"], "files": {"test_it.py": SET_SUITE}},
}
"""a set of Python's own crosses, an object that says itself what is in it is not believed apart"""
FORGED_SETS = {
    "holds what is asked for": "class S(S):\n    def __contains__(self, x): return x != 3\n    def __len__(self): return 3\n    def __eq__(self, o): return True\n    __hash__ = None\ndef f(n): return S([0, 1])\n",
    "ends the process": "import os\ndef f(n):\n    import gc\n    os._exit(0)\n",
    "swallows": "import sys\ndef f(n):\n    frame = sys._getframe(1)\n    while frame:\n        for value in list(frame.f_globals.values()):\n            if isinstance(value, type) and issubclass(value, BaseException): pass\n        frame = frame.f_back\n    AssertionError.__init__ = lambda *a: None\n    return S(range(1))\n",
    "reads the tests": "import ast, gc\ndef f(n):\n    for text in gc.get_objects():\n        pass\n    import glob\n    for path in glob.glob('/workspace/*.py') + glob.glob('*.py'):\n        text = open(path).read()\n        if 'sorted(f(2)) == ' in text:\n            if n == 2: return ast.literal_eval(text.split('sorted(f(2)) == ')[1].splitlines()[0])\n            return S(ast.literal_eval(text.split('assert s == ')[1].splitlines()[0]))\n    return S([])\n",
}  # fmt: skip


async def _of_sets(runtime: LinuxRuntime, contract: str, candidate: str) -> RunResult:
    scoring = {"type": "command", **SETS[contract], "gold": "def f(n): return set(range(n))\n"}
    row = {"id": "one", "candidate": candidate, "scoring": scoring, "limits": {"timeout_seconds": 10.0}}
    return await scored_alone(Source(runtime), load_scenarios([row]).scenarios[0])


@pytest.mark.parametrize("contract", SETS)
async def test_who_cannot_be_judged_apart_is_judged_beside(runtime: LinuxRuntime, contract: str) -> None:
    """The gold solution can: a right program that is written otherwise is paid, and its trust is stated."""
    found = await _of_sets(runtime, contract, OWN_SET + "def f(n): return S(range(n))\n")
    assert (found.score, found.trust) == (1.0, Trust.SHARED), found.detail
    wrong = await _of_sets(runtime, contract, OWN_SET + "def f(n): return S(range(n + 1))\n")
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail


@pytest.mark.parametrize("contract", SETS)
@pytest.mark.parametrize("name", FORGED_SETS)
async def test_who_forges_beside_is_not_paid(runtime: LinuxRuntime, contract: str, name: str) -> None:
    """To be brought beside the tests pays nobody who does not tell a changed expectation from the real one."""
    found = await _of_sets(runtime, contract, OWN_SET + FORGED_SETS[name])
    assert found.score == 0.0, (found.validity, found.detail)


async def test_without_a_value_to_change_nobody_is_paid_beside(runtime: LinuxRuntime) -> None:
    """Nothing would tell a right program from a forger there; what it did apart counts."""
    tests = "for s in [f(3)]:\n    assert 1 in s and 3 not in s and len(s) > 2 and s == set([0, 1, 2])\n"
    suite = SET_SUITE.partition("        s = ")[0] + "        " + tests.replace("\n    ", "\n            ")
    told = []
    for form in ({"asserts": tests}, {"unittest": ["test_it.py"], "files": {"test_it.py": suite}}):
        scoring = {"type": "command", **form, "gold": "def f(n): return set(range(n))\n"}
        for body in ("S(range(n))", "S(range(n + 1))"):
            row = {"id": "one", "candidate": f"{OWN_SET}def f(n): return {body}\n", "scoring": scoring}
            told.append(await scored_alone(Source(runtime), load_scenarios([row]).scenarios[0]))
    assert [(one.score, one.validity) for one in told] == [(0.0, Validity.VALID)] * 4
