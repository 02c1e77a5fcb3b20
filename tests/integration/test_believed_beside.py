# ruff: noqa: E501 (programs are text, not code of ours)
"""Suites beside their candidate believe no object that equals whatever it is compared with."""

from __future__ import annotations

import asyncio

import pytest
from shared_sandboxes import SHARED
from test_shared_tools import ANY, HONEST, MOD
from test_unittest_suites import scored

pytestmark = SHARED

BY_KIND = ANY.format("isinstance(other, (int, float, str, list))") + "def f(x): return E()\n"
NEAR = ANY.format("isinstance(other, int) and abs(other) < 10**5") + "def f(x): return E()\n"
CASE = "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self):\n        "
TEST = "from solution import f\ndef test_a():\n    "
TESTS = {
    "assert": ("pytest", TEST + "assert f(2) == 4\n    assert f(3) == 9\n"),
    "other way round": ("pytest", TEST + "assert 4 == f(2) != 5\n    assert f(3) in (9, -9)\n"),
    "inside": ("pytest", TEST + "assert [f(2), f(3)] == [4, 9]\n"),
    "a table": ("pytest", "import pytest\nfrom solution import f\n@pytest.mark.parametrize('n', [2, 3])\ndef test_a(n):\n    found = f(n)\n    if found != n * n: pytest.fail('no')\n"),
    "cases": ("pytest", CASE + "self.assertEqual(f(2), 4); self.assertEqual([f(3)], [9])\n"),
    "a pattern": ("pytest", "from solution import f\ndef test_a():\n    match [f(2)]:\n        case [4 | 5]: found = True\n        case _: found = False\n    assert found\n"),
    "assertEqual": ("unittest", CASE + "self.assertEqual(f(2), 4)\n"),
    "assertTrue": ("unittest", CASE + "self.assertTrue(f(2) == 4)\n"),
    "a chain in a method": ("unittest", CASE + "assert 4 == abs(2) + abs(2) == f(2) == 4\n"),
    "assertAlmostEqual": ("unittest", CASE + "self.assertAlmostEqual(f(2), 4.0)\n"),
    "assertIn": ("unittest", CASE + "self.assertIn(f(2), [4, 5])\n"),
    "assertCountEqual": ("unittest", CASE + "self.assertCountEqual([f(2)], [4])\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", TESTS)
async def test_an_object_that_equals_everything_of_a_kind_is_not_paid(name: str) -> None:
    """By pytest and by unittest, in asserts, lists and assertions by name; a square is."""
    kind, suite = TESTS[name]
    forged, near, right = await asyncio.gather(
        *(
            scored({"files": {"solution.py": each}, "entry": "solution.py"}, suite, kind, isolate=False)
            for each in (BY_KIND, NEAR, "def f(x): return x * x\n")
        )
    )
    assert (forged.score, str(forged.validity)) == (0.0, "valid"), forged.detail
    assert (near.score, str(near.validity)) == (0.0, "valid"), near.detail
    assert right.score == 1.0, right.detail


async def test_a_helper_of_the_suites_believes_it_as_little() -> None:
    """A comparison in a trusted module that is no test."""
    files = {
        "test_it.py": TEST + "from helpers import check\n    check(f(2), 4)\n",
        "helpers.py": "def check(found, wanted): assert found == wanted\n",
    }
    for kind in ("pytest", "unittest"):
        files["test_it.py"] = (
            TEST.replace("\n    ", "\n    from helpers import check\n    ") + "check(f(2), 4)\n"
            if kind == "pytest"
            else CASE.replace("import unittest", "import unittest\nfrom helpers import check") + "check(f(2), 4)\n"
        )
        forged, right = await asyncio.gather(
            *(
                scored({"files": {"solution.py": each}, "entry": "solution.py"}, "", kind, files=files, isolate=False)
                for each in (BY_KIND, "def f(x): return x * x\n")
            )
        )
        assert (forged.score, right.score) == (0.0, 1.0), (forged.detail, right.detail)


OF_TESTS = {
    "patterns": ("from solution import f, Color, Point\ndef kind(x):\n    match x:\n        case Point(x=1, y=2 | 3): return 1\n        case Color.RED: return 2\n        case {'a': 1, **rest} if rest: return 3\n        case [-1, *_, 'z' as last]: return last\n        case None | True: return 5\n    return 6\ndef test_a():\n    found = [*map(kind, [f(Point(1, 3)), Color.RED, f({'a': 1, 'b': 2}), f([-1, 'y', 'z']), f(None), f({'a': 1})])]\n    assert found == [1, 2, 3, 'z', 5, 6]\n",
        "import enum\nfrom dataclasses import dataclass\nclass Color(enum.Enum):\n    RED = 1\n@dataclass\nclass Point:\n    x: int\n    y: int\ndef f(x): return x\n"),
    "ANY": ("from unittest.mock import ANY\nfrom solution import f\ndef test_a():\n    assert f(2) == {'n': 4, 'id': ANY}\n", "def f(x): return {'n': x * x, 'id': 7}\n"),
    "approx": ("import pytest\nfrom solution import f\ndef test_a():\n    assert f(2) == pytest.approx(100, abs=99)\n", "def f(x): return 4\n"),
    "its own": ("from solution import f\nclass Small:\n    def __eq__(self, other): return other < 10\ndef test_a():\n    assert f(2) == Small()\n", "def f(x): return 4\n"),
    "calls": ("from unittest.mock import Mock, call\nfrom solution import f\ndef test_a():\n    m = Mock()\n    f(m)\n    assert m.call_args_list == [call(1), call(2)]\n    assert m.call_args == ((2,), {})\n", "def f(m): m(1); m(2)\n"),
    "a class of values": ("from solution import Mod\ndef test_a():\n    assert Mod(7) == 2 and Mod(7) == Mod(12) and Mod(7) != 3\n    assert 2 == Mod(7) and Mod(7) in [1, 2]\n", MOD),
    "the first statement": ("'''A text.'''\nfrom __future__ import annotations\nfrom solution import f\ndef test_a(): assert f(2) == 4 == f(-2)\n", HONEST["squares"][1]),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_TESTS)
async def test_honest_comparisons_are_believed(name: str) -> None:
    """What tests make themselves to match more than one value, and objects that tell values apart."""
    suite, candidate = OF_TESTS[name]
    found = await scored({"files": {"solution.py": candidate}, "entry": "solution.py"}, suite, "pytest", isolate=False)
    assert found.score == 1.0, found.detail


MET_WITHOUT_EQUALITY = {
    "a float of its own": ("t.assertAlmostEqual(f(), 0.3)", "class Money(float): pass\ndef f(): return Money(0.1 + 0.2)\n"),
    "numpy's float": ("t.assertAlmostEqual(f(), 0.3)", "import numpy\ndef f(): return numpy.float64(0.1) + numpy.float64(0.2)\n"),
    "keys": ("t.assertCountEqual(f(), ['a', 'b'])", "def f(): return {'b': 1, 'a': 2}.keys()\n"),
    "a generator": ("t.assertCountEqual(f(), ['a', 'b'])", "def f(): yield 'b'; yield 'a'\n"),
    "members in another order": ("t.assertCountEqual(f(), ['red', 'green'])", "import enum\nclass C(str, enum.Enum):\n    G = 'green'\n    R = 'red'\ndef f(): return [C.G, C.R]\n"),
    "a sequence of its own": ("t.assertSequenceEqual(f(), [2, 1])", "import collections.abc\nclass S(collections.abc.Sequence):\n    def __len__(self): return 2\n    def __getitem__(self, i): return [2, 1][i]\ndef f(): return S()\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", MET_WITHOUT_EQUALITY)
async def test_sides_that_are_not_equal_may_meet_an_assertion(name: str) -> None:
    """It is the assertion that judges them; an object that equals too much is still refused."""
    assertion, candidate = MET_WITHOUT_EQUALITY[name]
    suite = f"import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(t): {assertion}\n"
    forged = "class E(float):\n    __hash__ = None\n    __eq__ = lambda s, o: True\n    __len__ = lambda s: 2\n    __sub__ = __rsub__ = lambda s, o: 0.0\ndef f(): return E(7)\n"
    has_numpy = "numpy" in candidate
    right, wrong = [
        await scored(
            {"files": {"solution.py": each}, "entry": "solution.py"},
            suite,
            "unittest",
            isolate=False,
            with_numpy=has_numpy,
        )
        for each in (candidate, forged)
    ]
    assert right.score == 1.0, right.detail
    assert wrong.score == 0.0, wrong.detail


STATE = "import sys\nclass E:\n    __hash__ = None\n    def __init__(self): self.n = 1\n    def __eq__(self, other): return self.n > 0 and isinstance(other, int)\ndef f(x): return E()\n"
MAPPED = {
    "by a mapping": "case = {'first': f(2), 'second': 4}; self.assertEqual(**case)\n",
    "by a star": "case = [f(2), 4]; self.assertEqual(*case)\n",
    "by name": "self.assertEqual(second=4, first=f(2))\n",
    "nearly": "self.assertAlmostEqual(f(2), **{'second': 4, 'places': 3})\n",
    "an item": "self.assertIn(**{'member': f(2), 'container': [4]})\n",
}


@pytest.mark.parametrize("name", MAPPED)
async def test_the_sides_of_an_assertion_are_found_however_they_are_given(name: str) -> None:
    """An object that equals all of a kind, and nothing as soon as it is made anew, is not paid."""
    suite = CASE + MAPPED[name]
    forged, right = await asyncio.gather(
        *(
            scored({"files": {"solution.py": each}, "entry": "solution.py"}, suite, "unittest", isolate=False)
            for each in (STATE, "def f(x): return x * x\n")
        )
    )
    assert (forged.score, str(forged.validity)) == (0.0, "valid"), forged.detail
    assert right.score == 1.0, right.detail


ATTACKS = {
    "modules of the guard": "for module in [m for n, m in sys.modules.items() if n.startswith('harena')]:\n    for name in ('tells_apart', 'is_believable', 'is_known'): setattr(module, name, lambda *a, **k: True)\n",
    "names of the runner": "for value in list(vars(sys.modules['__main__']).values()):\n    for name in ('main', 'Run'):\n        if hasattr(value, 'Run'): value.Run.end = lambda self, ok, code: (self._say(b'harena-proof ' + self._word), __import__('os')._exit(0))\n",
    "names of the tests": "tests = sys.modules['test_it']\nfor name in [n for n in vars(tests) if 'harena' in n]: setattr(tests, name, lambda *a: a if len(a) == 2 else True)\n",
    "builtins": "import builtins\nbuiltins.all = lambda items: True\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", ["pytest", "unittest"])
async def test_what_judges_has_no_name_beside_a_candidate(kind: str) -> None:
    """What it asks is a constant of the tests' code: neither a module, nor a name of the tests, nor a builtin."""
    suite = TESTS["assert"][1] if kind == "pytest" else CASE + "self.assertEqual(f(2), 4); self.assertTrue(f(3) == 9)\n"
    candidates = [STATE + more for more in ATTACKS.values()]
    for text, attack in zip(candidates, ATTACKS, strict=True):
        found = await scored({"files": {"solution.py": text}, "entry": "solution.py"}, suite, kind, isolate=False)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (attack, found.detail)
    right = "import builtins\nbuiltins.print = lambda *a: None\ndef f(x): return x * x\n"
    found = await scored({"files": {"solution.py": right}, "entry": "solution.py"}, suite, kind, isolate=False)
    assert found.score == 1.0, found.detail


SPELLED = {
    "in": "assert 4 in f(2)",
    "deque": "from collections import deque\n    assert deque(f(2)) == deque([4])",
    "index": "assert f(2).index(4) == 0",
    "count": "assert f(2).count(4) == 1",
    "match": "match f(2)[0]:\n        case 4: pass\n        case _: raise AssertionError",
    "an alias": "import unittest\n    equal = unittest.TestCase().assertEqual\n    equal(f(2)[0], 4)",
    "keywords": "import unittest\n    unittest.TestCase().assertEqual(first=f(2)[0], second=4)",
    "a function": "import operator\n    assert operator.eq(f(2)[0], 4)",
    "a star": "from solution import f\n    exec('from solution import *\\nassert f(2)[0] == 4')",
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLED)
async def test_however_a_comparison_is_spelled(name: str) -> None:
    """A class of the candidate's that equals all of a kind is not paid; what has the value is."""
    suite = TEST + SPELLED[name] + "\n"
    forged, right = await asyncio.gather(
        *(
            scored({"files": {"solution.py": each}, "entry": "solution.py"}, suite, "pytest", isolate=False)
            for each in (NEAR.replace("return E()", "return [E()]"), "def f(x): return [x * x]\n")
        )
    )
    assert (forged.score, str(forged.validity)) == (0.0, "valid"), forged.detail
    assert right.score == 1.0, right.detail
