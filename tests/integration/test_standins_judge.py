# ruff: noqa: E501 (programs are text, not code of ours)
"""Stand-ins of a candidate's objects say nothing of what is right, in any of the ways that have been tried."""

from __future__ import annotations

import textwrap

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED
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
    "a difference": (
        "class S:\n    o = ()\n    def difference(s, o): s.o = set(o); return set()\n    def __iter__(s): return iter(s.o)\ndef f(x): return S()\n",
        "self.assertSetEqual(f(1), {1, 2, 3})",
    ),
    "a difference of a list": (
        "class S(list):\n    def difference(s, o): s[:] = list(o); return set()\ndef f(x): return S()\n",
        "self.assertSetEqual(f(1), {1, 2})",
    ),
    "a difference of an exception": (
        "def f(x):\n    e = Exception()\n    e.difference = lambda o: set()\n    return e\n",
        "self.assertFalse(f(1).difference({1}))",
    ),
    "a symmetric difference": (
        "class S:\n    def symmetric_difference(s, o): return set()\ndef f(x): return S()\n",
        "self.assertFalse(f(1).symmetric_difference({1, 2, 3}))",
    ),
    "a yes that is a number": (
        "class S:\n    def equals(s, o): return 1\ndef f(x): return S()\n",
        "self.assertTrue(f(2).equals(12))",
    ),
    "a yes that is an object": (
        "class Y:\n    def __iter__(s): yield 1\n    def __len__(s): return 1\nclass S:\n    def startswith(s, o): return Y()\ndef f(x): return S()\n",
        "self.assertTrue(f(2).startswith('Hello'))",
    ),
    "a yes of a string": (
        "class S(str):\n    def equals(s, o): return 1\ndef f(x): return S()\n",
        "self.assertTrue(f(1).equals('abc'))",
    ),
    "a yes of a class": (
        "class S:\n    startswith = staticmethod(lambda o: True)\ndef f(x): return S\n",
        "self.assertTrue(f(2).startswith('Hello'))",
    ),
    "a yes of an exception": (
        "def f(x):\n    e = Exception()\n    e.startswith = lambda o: True\n    return e\n",
        "self.assertTrue(f(2).startswith('Hello'))",
    ),
    "a yes under every key": (
        "class S:\n    def get(s, k, d=None): return 1\ndef f(x): return S()\n",
        "self.assertTrue(f(2).get('sorted', False))",
    ),
    "a set less an answer": (
        "class B:\n    def __init__(s, *a): s.a = a\n    def __len__(s): return len(s.a)\n    def __iter__(s): return iter(s.a)\n    def __rsub__(s, o): return B()\ndef f(x): return B()\n",
        "self.assertEqual(len(B(1, 2)), 2)\nself.assertEqual(len({2} - f(1)), 0)",
    ),
    "a length beside an empty loop": (
        "class M:\n    def __init__(s, rows): s.rows = rows\n    def __len__(s): return 2\n    def __iter__(s): return iter(())\ndef f(x): return M(None)\n",
        "self.assertEqual(M([[1]]).rows, [[1]])\nr = f(2)\nself.assertEqual(len(r), 2)\nfor got, want in zip(r, [3.0, 4.0]): self.assertAlmostEqual(got, want)",
    ),
    "an empty loop before a length": (
        "class M:\n    def __init__(s, rows): s.rows = rows\n    def __len__(s): return 2\n    def __iter__(s): return iter(())\ndef f(x): return M(None)\n",
        "self.assertEqual(M([[1]]).rows, [[1]])\nr = f(2)\nself.assertTrue(all(x == 3 for x in r))\nself.assertEqual(len(r), 2)",
    ),
    "an iterator without items": (
        "class M:\n    def __init__(s, rows): s.rows = rows\n    def __len__(s): return 2\n    def __iter__(s): return s\n    def __next__(s): raise StopIteration\ndef f(x): return M(None)\n",
        "self.assertEqual(M([[1]]).rows, [[1]])\nr = f(2)\nself.assertTrue(r)\nfor got, want in zip(r, [3.0, 4.0]): self.assertAlmostEqual(got, want)",
    ),
    "an operator of a named set": (
        "class S(set):\n    def __xor__(s, o): return S()\ndef f(x): return S()\n",
        "self.assertEqual(len(S([1, 2])), 2)\nself.assertFalse(f(2) ^ {2})",
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


TOLD = {
    "operator of what came back": ("class Vec:\n    def __init__(s, *r): pass\n    def __abs__(s): return s\n    def __sub__(s, o): return 0.0\n", "self.assertTrue(abs(abs(Vec(3, 4)) - 5.0) < 1e-9)"),
    "callback": ("class Cart:\n    def on(s, f): s.f = f\n    def add(s, x): s.f(s)\n    def __sub__(s, o): return 0.0\n", "got = []; c = Cart(); c.on(got.append); c.add(1)\nself.assertTrue(abs(got[-1] - 12.5) < 1e-9)"),
    "capital function": ("class Area:\n    def __init__(s, r): pass\n    def __sub__(s, o): return 0.0\n", "self.assertTrue(abs(Area(2) - 12.5) < 1e-6)"),
    "function as an answer": ("def f(n):\n    def r(): pass\n    r.startswith = lambda *a: True\n    return r\n", "self.assertTrue(f(1).startswith('Hello'))"),
    "judge of a named class": ("class G:\n    def greet(s): return s\n    def startswith(s, p): return True\n", "self.assertTrue(G().greet().startswith('Hello'))"),
    "find": ("class R:\n    def find(s, x): return 0\ndef f(x): return R()\n", "self.assertNotEqual(f(1).find('x'), -1)"),
    "member": ("import enum\nclass E(enum.Enum):\n    A = object()\n    def __sub__(s, o): return s\n    def __abs__(s): return 0.0\ndef f(x): return E.A\n", "assert E.A\nself.assertTrue(abs(f(2) - 12.5) < 1e-6)"),
    "swallowed": ("class P:\n    def __enter__(s): return s\n    def __exit__(s, *a): return True\n    def get(s, x): raise ValueError\n", "got = []\nwith P() as p:\n    for x in (1, 2): got.append(p.get(x))\nfor g, w in zip(got, (1, 4)): self.assertEqual(g, w)"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "isolate"), [*((name, "auto") for name in TOLD), ("operator of what came back", "sandbox")]
)
async def test_no_object_that_is_told_an_operand_is_paid_apart(name: str, isolate: str) -> None:
    """Each was paid with trust `separate`; with `isolate: sandbox` there is no second run, but the same doubt."""
    candidate, body = TOLD[name]
    suite = suite_of(body).replace(
        "from solution import f\n", "" if "def f(" not in candidate else "from solution import f\n"
    )
    result = await scored(candidate, suite, isolate=isolate)
    assert result.score in (0.0, None) or str(result.trust) == "shared", (result.score, result.trust)


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
class Bag:
    def __init__(self, items): self.items = list(items)
    def __iter__(self): return iter(self.items)
    def difference(self, other): return Bag(i for i in self.items if i not in set(other))
    def __len__(self): return len(self.items)
    def startswith(self, *items): return self.items[:len(items)] == list(items)
    def equals(self, other): return self.items == list(other)
def bag(*items): return Bag(items)
class Drained:
    def __init__(self, items): self.items = list(items)
    def __len__(self): return len(self.items)
    def __iter__(self): return self
    def __next__(self):
        if not self.items: raise StopIteration
        return self.items.pop(0)
class Queue(Drained):
    def __iter__(self):
        while self.items: yield self.items.pop(0)
class Told:
    def __init__(self, errors): self.errors = errors
    def __bool__(self): return not self.errors
    def __iter__(self): return iter(self.errors)
    def __len__(self): return len(self.errors)
def drained(*items): return Drained(items)
def queue(*items): return Queue(items)
def told(*errors): return Told(errors)
class Query:
    def __init__(self): self.parts = []
    def eq(self, name, value): self.parts.append(f"{name} = {value}"); return self
    def build(self): return ' and '.join(self.parts)
def query(): return Query()
class Sets:
    def __init__(self): self.up = {}
    def union(self, a, b): self.up[a] = b
    def find(self, a): return self.find(self.up[a]) if a in self.up else a
def sets(): return Sets()
class Found:
    def __init__(self, **known): self.known = known
    def get(self, key, default=None): return self.known.get(key, default)
def found(): return Found(n=1, t='x')
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
self.assertSetEqual(f(1), {1}); self.assertSetEqual({1}, S({1})); self.assertSetEqual(bag(1, 2), {1, 2})
assert Bag([1, 2]).startswith(1) and not Bag([1]).equals([2]) and set(bag(1, 2).difference({1})) == {2}
assert query().eq('a', 1).eq('b', 2).build() == 'a = 1 and b = 2' and found().get('n') == 1 and found().get('u', False) is False
d, q = drained(1, 2), queue(1, 2)
assert len(d) == 2 and list(d) == [1, 2] and len(d) == 0 and list(d) == [] and Drained([1]) and not drained()
assert len(q) == 2 and list(q) == [1, 2] and len(q) == 0 and list(q) == [] and Queue([1]) and not queue()
assert told() and list(told()) == [] and not told('x') and len(told('x')) == 1 and Told([]) and len(queue()) == 0
u = sets(); u.union(1, 2); assert u.find(1) == 2 and u.find(3) == 3
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
