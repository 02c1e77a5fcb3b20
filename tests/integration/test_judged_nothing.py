# ruff: noqa: E501 (programs are text, not code of ours)
"""Test code that executes no assertion judges nobody; and in one process an assertion that failed stays failed."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import RunResult, Validity
from harena.scoring import load_scenarios
from harena.scoring.guest.suite_protocol import NOTHING

pytestmark = SHARED
RIGHT = "def f(x): return x + 1\n"
WRONG = "def f(x): return 0\n"
WAYS: dict[str, dict[str, Any]] = {"apart": {}, "beside": {"isolate": False}, "called": {"calls": {"f": "f"}}}


async def scored(candidate: str, tests: str, **fields: Any) -> RunResult:
    scoring = {"type": "command", "asserts": tests, **fields}
    return await judged(load_scenarios([{"id": "one", "candidate": candidate, "scoring": scoring}]).scenarios[0])


NOBODY_CALLS = {
    "a function": "def test_f():\n    assert f(2) == 3\n",
    "a method": "import unittest\nclass T(unittest.TestCase):\n    def test_f(self): self.assertEqual(f(2), 3)\n",
    "a coroutine": "async def t():\n    assert f(2) == 3\n",
    "an empty loop": "for x, y in []:\n    assert f(x) == y\n",
    "only a call": "f(2)\n",
}


GOLDEN = {f"{way}, gold": {**WAYS[way], "gold": RIGHT} for way in ("apart", "called")}


@pytest.mark.parametrize("way", [*WAYS, *GOLDEN])
@pytest.mark.parametrize("name", NOBODY_CALLS)
async def test_code_that_executes_no_assertion_scores_nobody(name: str, way: str) -> None:
    """Neither a right candidate nor a wrong one: the contract is broken, and says why."""
    fields = {**WAYS, **GOLDEN}[way]
    for candidate in (RIGHT, WRONG):
        result = await scored(candidate, NOBODY_CALLS[name], **fields)
        assert (result.score, result.validity, NOTHING in result.detail) == (None, Validity.INVALID, True), (
            result.detail
        )


JUDGES = {
    "a raise": "if f(2) != 3:\n    raise ValueError('wrong')\n",
    "an except": "try:\n    f('a')\n    wrong = True\nexcept TypeError:\n    wrong = False\nif wrong: raise ValueError\n",
    "unittest": "import unittest\nunittest.TestCase().assertEqual(f(2), 3)\n",
    "a function of a library": "from unittest import TestCase\ncheck = TestCase().assertEqual\ncheck(f(2), 3)\n",
    "a function that is called": "def test_f():\n    assert f(2) == 3\nfor test in [test_f]: test()\n",
    "an end": "import sys\nif f(2) != 3: sys.exit(1)\n",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", JUDGES)
async def test_what_judges_without_the_word_assert_counts(name: str, way: str) -> None:
    assert (await scored(RIGHT, JUDGES[name], **WAYS[way])).score == 1.0
    wrong = await scored("def f(x): return 0\n", JUDGES[name], **WAYS[way])
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail


async def test_a_candidate_for_which_nothing_is_judged_is_not_paid() -> None:
    """The gold solution shows that the contract is not broken."""
    tests = "for x in f(3):\n    assert x in (0, 1, 2)\n"
    gold = "def f(n): return range(n)\n"
    for way in (WAYS["apart"], WAYS["called"]):
        result = await scored("def f(n): return []\n", tests, gold=gold, **way)
        assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail
        assert (await scored(gold, tests, gold=gold, **way)).score == 1.0


SWALLOWED = {
    "an __exit__": (
        "with f(2) as r:\n    assert r == 3\n",
        "class f:\n    def __init__(self, x): self.x = x\n    def __enter__(self): return self.x + 1\n    def __exit__(self, *_): return False\n",
        "class f:\n    def __init__(self, x): pass\n    def __enter__(self): return 0\n    def __exit__(self, *_): return True\n",
    ),
    "a decorator": (
        "@f\ndef g():\n    assert f(len)('ab') == 3\n    return 1\nassert g() == 2\n",
        "def f(g): return lambda *args: g(*args) + 1\n",
        "def f(g):\n    def h(*args):\n        try: return g(*args) and 0\n        except AssertionError: return 2\n    return h\n",
    ),
    "an assertion by name": (
        "import unittest\nwith f(2) as r:\n    unittest.TestCase().assertEqual(r, 3)\n",
        "import contextlib\n@contextlib.contextmanager\ndef f(x):\n    yield x + 1\n",
        "import contextlib\n@contextlib.contextmanager\ndef f(x):\n    try: yield 0\n    except BaseException: pass\n",
    ),
    "a module's place": (
        "import math\nassert math.isclose(f(2), 3)\nassert [f(2)] != []\n",
        RIGHT,
        "import sys, types\nm = types.ModuleType('math')\nm.isclose = lambda *_: True\nsys.modules['math'] = m\ndef f(x): return 0\n",
    ),
}


@pytest.mark.parametrize("name", SWALLOWED)
async def test_what_failed_in_one_process_stays_failed(name: str) -> None:
    """Whatever the candidate does with the exception, or with the place of a module."""
    tests, right, forged = SWALLOWED[name]
    assert (await scored(right, tests, isolate=False)).score == 1.0
    result = await scored(forged, tests, isolate=False)
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


@pytest.mark.parametrize("way", ["apart", "beside"])
async def test_tests_may_expect_that_an_assertion_fails(way: str) -> None:
    """In their own `except`, `suppress` and `assertRaises`."""
    tests = (
        "import contextlib, unittest\ndef check(x, y):\n    assert f(x) == y, 'not right'\n"
        "try:\n    check(2, 4)\n    assert f(0)\nexcept AssertionError as error:\n    assert str(error) == 'not right'\n"
        "def fails():\n    try: check(1, 1)\n    except Exception as error: raise ValueError from error\n"
        "try: fails()\nexcept ValueError: pass\nassert f(2) == 3\n"
    )
    expects = "with contextlib.suppress(AssertionError): check(2, 4)\nunittest.TestCase().assertRaises(AssertionError, check, 2, 4)\n"
    for text in (tests, tests + expects):
        result = await scored(RIGHT, text, **WAYS[way])
        assert result.score == 1.0, result.detail
