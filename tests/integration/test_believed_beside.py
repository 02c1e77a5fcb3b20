# ruff: noqa: E501 (programs are text, not code of ours)
"""Suites beside their candidate believe no object that equals whatever it is compared with."""

from __future__ import annotations

import asyncio

import pytest
from test_shared_tools import ANY, HONEST, MOD
from test_unittest_suites import scored

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
    right, wrong = [
        await scored({"files": {"solution.py": each}, "entry": "solution.py"}, suite, "unittest", isolate=False)
        for each in (candidate, forged)
    ]
    assert right.score == 1.0, right.detail
    assert wrong.score == 0.0, wrong.detail
