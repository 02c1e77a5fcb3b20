# ruff: noqa: E501 (programs are text, not code of ours)
"""Stand-ins of a candidate's objects say nothing of what is right, in any of the ways that have been tried."""

from __future__ import annotations

import textwrap

import pytest
from test_unittest_suites import scored

FORGERIES = {
    "an exception of the runner's": (
        "class E(Exception): pass\nE.__module__, E.__qualname__ = 'test_it', 'unittest.case._ShouldStop'\ndef f(x): raise E()\n",
        "for a in (1, 2):\n    with self.subTest(a=a): self.assertEqual(f(a), 2 * a)",
    ),
    "a name of a star import": (
        "def f(x): return 0.0\ndef isclose(a, b): return True\n",
        "self.assertTrue(isclose(f(2), 12.5))",
    ),
    "a class for a function": (
        "class f:\n    def __init__(s, x): pass\n    def __sub__(s, o): return 0.0\n    __rsub__ = __sub__\n",
        "assert abs(f(2) - 12.5) < 1e-6",
    ),
    "an instance of a named class": (
        "class Stack:\n    def __sub__(s, o): return 0\ndef f(x): return Stack()\n",
        "Stack(); assert f(1) - 3 == 0",
    ),
    "an operator of a member": (
        "import enum\nclass E(enum.Enum):\n    A = 1\n    def __sub__(s, o): return 0.0\ndef f(x): return E.A\n",
        "assert abs(f(2) - 12.5) < 1e-6",
    ),
    "a member that has all": (
        "import enum\nclass E(str, enum.Enum):\n    A = 'x'\n    def __contains__(s, o): return True\ndef f(x): return E.A\n",
        "self.assertIn('needle', f(2))",
    ),
    "a method of a string": (
        "class S(str):\n    def startswith(s, *o): return True\ndef f(x): return S()\n",
        "assert f(2).startswith('Hello')",
    ),
    "an operator of a set": (
        "class S(set):\n    def __xor__(s, o): return set()\ndef f(x): return S()\n",
        "assert not f(2) ^ {1, 2}",
    ),
}


def suite_of(body: str) -> str:
    """A suite of one test."""
    return (
        "import unittest\nfrom math import *\nfrom solution import *\nfrom solution import f\nclass T(unittest.TestCase):\n    def test(self):\n"
        + textwrap.indent(body, " " * 8)
        + "\n"
    )


@pytest.mark.parametrize(("candidate", "body"), FORGERIES.values(), ids=FORGERIES)
async def test_no_object_judges_itself(candidate: str, body: str) -> None:
    """Each of these was paid once."""
    result = await scored(candidate, suite_of(body))
    assert (result.score, str(result.validity)) == (0.0, "valid"), result.detail


HONEST = """
import enum
class Vector:
    def __init__(self, x, y): self.x, self.y = x, y
    def __sub__(self, o): return Vector(self.x - o.x, self.y - o.y) if isinstance(o, Vector) else Vector(self.x - o, self.y - o)
    def __mul__(self, n): return Vector(self.x * n, self.y * n)
    def __abs__(self): return (self.x ** 2 + self.y ** 2) ** 0.5
class Stack:
    def __init__(self): self.items = []
    def push(self, x):
        self.items.append(x)
        return self
    def __contains__(self, x): return x in self.items
    def __len__(self): return len(self.items)
class Lower(dict):
    def get(self, key, default=None): return super().get(key.lower(), default)
    def __getitem__(self, key): return super().__getitem__(key.lower())
class Ring(list):
    def __getitem__(self, i): return super().__getitem__(i % len(self))
class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2
class Right(enum.IntFlag):
    R = 1
    W = 2
class S(set):
    def __xor__(self, o): return S(set(self) ^ set(o))
def f(x): return S({x})
"""
WORKS = """
v = (Vector(3, 4) - Vector(0, 0)) * 2
assert (v.x, v.y, abs(Vector(3, 4) - Vector(0, 0))) == (6, 8, 5) and abs(Vector(3, 4) * 2) == 10
s = Stack(); s.push(1).push(2)
assert 1 in s and 3 not in s and len(s) == 2 and s and not Stack()
d = Lower({'a': 1})
assert d.get('A') == d['A'] == 1 and Ring([1, 2])[3] == 2
assert Level.LOW + 1 == Level.HIGH and 3 - Level.LOW == 2 and Right.W in (Right.R | Right.W) and Right.R & 1
assert f(1) ^ {2} == {1, 2} and f(1) ^ S({1}) == set()
"""


async def test_classes_that_are_tested_have_their_operators() -> None:
    """Objects that the suite makes, and what comes of them."""
    result = await scored(
        HONEST,
        suite_of(
            WORKS.strip()
            + "\nself.assertTrue(Vector and Stack and Lower and Ring and Level and Right and S and Bag and bag and query and sets and found and Drained and drained and Queue and queue and told and Told)"
        ),
    )
    assert (result.score, result.detail) == (1.0, "")
