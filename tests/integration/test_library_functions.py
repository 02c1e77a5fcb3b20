# ruff: noqa: E501 (programs are text, not code of ours)
"""Functions and classes of libraries that a candidate holds are the suite's own where they have a name, and else no valid 0."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED
HOLDS = "import {0}\nclass RR:\n    def __init__(self, choice={1}): self.choice = choice\n"
ASKS = "import {0}\nfrom solution import RR\ndef test():\n    assert RR().choice {2} {1}\n    assert RR({1}).choice {2} {1}\n"
OWN = [
    ("random", "random.choice", "is"), ("random", "random.random", "is"), ("time", "time.time", "is"),
    ("time", "time.sleep", "is"), ("os", "dict.get", "is"), ("os", "os.environ.get", "=="), ("os.path", "os.path.join", "is"),
    ("sys", "sys.stdout.write", "=="), ("json", "json.dumps", "is"), ("datetime", "datetime.datetime.now", "=="),
    ("hashlib", "hashlib.sha256", "is"), ("logging", "logging.info", "is"), ("sys", "sys.exit", "is"),
    ("os", "eval", "is"), ("pathlib", "pathlib.Path", "is"), ("os", "str.__len__", "is"),
]  # fmt: skip
OTHERS = [("logging", "logging.getLogger('x').info", "==")]
PLAIN = "{0}\nclass RR:\n    def __init__(self): self.choice = {1}\n"
FORGED = {
    "a function": ("import json\nfrom solution import RR\ndef test(): assert RR().choice == json.dumps\n", "def dumps(x): return '1'\ndumps.__module__ = 'json'", "dumps"),
    "a method": ("import random\nfrom solution import RR\ndef test(): assert RR().choice == random.choice\n", "class Random:\n    def choice(self, x): return x[0]\nRandom.__module__ = Random.choice.__module__ = 'random'", "Random().choice"),
    "in its place": ("import json\nfrom solution import RR\ndef test(): assert RR().choice([1]) == '[1]' and json.dumps is RR().choice\n", "import json\ndef dumps(x): return '1'\ndumps.__module__ = 'json'\njson.dumps = dumps", "dumps"),
    "what it does": ("import json\nfrom solution import RR\ndef test(): assert RR().choice([1]) == '1'\n", "import json", "json.dumps"),
}  # fmt: skip
RIGHT = {
    "seeds on both sides": ("import random\nrand = random.random\ndef roll(): return random.random()\n", "import random\nfrom solution import rand, roll\ndef test():\n    random.seed(5)\n    found = [rand(), roll()]\n    random.seed(5)\n    assert found == [random.random(), random.random()]\n"),
    "an environment of its own": ("import os\nclass C:\n    def __init__(self):\n        os.environ['MODE_X'] = '1'\n        self.get = os.environ.get\n", "from solution import C\ndef test(): assert C().get('MODE_X') == '1'\n"),
    "methods of one object": ("class Bus:\n    def __init__(self): self.found = []\n    def add(self, f): self.found.append(f)\nclass Obj:\n    def on(self): pass\n", "from solution import Bus, Obj\ndef test():\n    o, b = Obj(), Bus()\n    b.add(o.on)\n    assert b.found == [o.on]\n"),
    "a list's method": ("class Bus:\n    def __init__(self, found): self.hook = found.append\n", "from solution import Bus\ndef test():\n    found = []\n    b = Bus(found)\n    assert b.hook == found.append\n"),
    "named at the top": ("from getpass import getpass as asked\n", "import getpass\nfrom solution import asked\ndef test(): assert asked == getpass.getpass\n"),
}  # fmt: skip


ADDER = "class P:\n    def __init__(self, n): self.n = n\n    def add(self, x): return self.n + x\n"
BOUND = {
    "a bound method": (ADDER + "add = P(2).add\n", "from solution import add\ndef test():\n    class A: f = add\n    assert A().f(2) == 4\n"),
    "of a test case": (ADDER + "add = P(2).add\n", "import unittest\nfrom solution import add\nclass T(unittest.TestCase):\n    f = add\n    def test(self): self.assertEqual(self.f(2), 4)\n"),
    "a method in C": ("add = [4].index\n", "from solution import add\ndef test():\n    class A: f = add\n    assert A().f(4) == 0\n"),
}  # fmt: skip


@pytest.mark.parametrize(("module", "function", "sign"), OWN)
async def test_a_function_that_both_sides_have_is_the_suites_own(module: str, function: str, sign: str) -> None:
    """Also where the suite gives it back."""
    result = await scored(HOLDS.format(module, function), ASKS.format(module, function, sign), kind="pytest")
    assert (result.score, result.trust, result.detail) == (1.0, Trust.SEPARATE, "")


@pytest.mark.parametrize(("module", "function", "sign"), OTHERS)
async def test_one_that_has_no_name_is_no_valid_nothing(module: str, function: str, sign: str) -> None:
    """The run in one process decides: a right program has no score, a wrong one its 0."""
    suite = ASKS.format(module, function, sign)
    result = await scored(HOLDS.format(module, function), suite, kind="pytest")
    assert (result.score, str(result.validity)) == (None, "invalid"), result.detail
    wrong = await scored(HOLDS.format(module, "min"), suite, kind="pytest")
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail


@pytest.mark.parametrize("name", FORGED)
async def test_what_only_says_that_it_is_a_librarys_is_not_paid(name: str) -> None:
    """Nor what is put into a module in the place of one, or does something else than the test asks for."""
    suite, before, function = FORGED[name]
    for more in ({}, {"isolate": "sandbox"}):
        result = await scored(PLAIN.format(before, function), suite, kind="pytest", **more)
        assert result.score == 0.0, (more, result.detail)


@pytest.mark.parametrize("name", RIGHT)
async def test_state_of_each_side_is_no_valid_nothing(name: str) -> None:
    """A function that is the suite's own here, and whose state is the candidate's, was met."""
    candidate, suite = RIGHT[name]
    result = await scored(candidate, suite, kind="pytest")
    assert result.score is None or result.score == 1.0, result.detail
    assert result.score or "cannot be run" in result.detail


async def test_a_patched_function_is_the_candidates_again() -> None:
    """What a patch puts back is what was there."""
    candidate = "import json\ndef f(): return json.dumps([1])\n"
    suite = "from unittest import mock\nimport solution\ndef test():\n    with mock.patch('solution.json.dumps', return_value='x') as m: assert solution.f() == 'x'\n    m.assert_called_once_with([1])\n    assert solution.f() == '[1]'\n"
    result = await scored(candidate, suite, kind="pytest")
    assert (result.score, result.detail) == (1.0, "")


@pytest.mark.parametrize("name", BOUND)
async def test_what_is_bound_is_not_bound_again(name: str) -> None:
    """The suite's object is not given to it."""
    candidate, suite = BOUND[name]
    result = await scored(candidate, suite, kind="pytest")
    assert (result.score, result.trust, result.detail) == (1.0, Trust.SEPARATE, "")
