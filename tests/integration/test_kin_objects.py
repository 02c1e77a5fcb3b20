# ruff: noqa: E501 (programs are text, not code of ours)
"""Objects that equal everything of their class are not believed where the tests compare them with each other only."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_questions_unseen import of_asserts
from test_unittest_suites import scored

pytestmark = SHARED

REST = "    def __add__(s, o): return Vector()\n    def __mul__(s, k): return Vector()\n    __rmul__ = __mul__\n    def __neg__(s): return Vector()\n    @classmethod\n    def parse(cls, t): return cls()\n"
RIGHT = "class Vector:\n    def __init__(s, x, y): s.x, s.y = x, y\n    def __eq__(s, o): return isinstance(o, Vector) and (s.x, s.y) == (o.x, o.y)\n    def __hash__(s): return hash((s.x, s.y))\n    def __add__(s, o): return Vector(s.x + o.x, s.y + o.y)\n    def __mul__(s, k): return Vector(s.x * k, s.y * k)\n    __rmul__ = __mul__\n    def __neg__(s): return s * -1\n    @classmethod\n    def parse(cls, t): return cls(*map(int, t.split(',')))\n"
ALIKE = {
    "by its class": "class Vector:\n    def __init__(s, *a): pass\n    def __eq__(s, o): return isinstance(o, Vector)\n",
    "a record of nothing": "from dataclasses import dataclass\n@dataclass(init=False)\nclass Vector:\n    def __init__(s, *a): pass\n",
    "who made it": "class Vector:\n    def __init__(s, *a): s.a = a\n    def __eq__(s, o): return isinstance(o, Vector) and (s.a == o.a or bool(s.a) != bool(o.a))\n",
    "a constant": "class Vector:\n    def __init__(s, *a): s.k = 1\n    def __eq__(s, o): return s.k == o.k\n",
    "one object": "class Vector:\n    _i = None\n    def __new__(cls, *a):\n        cls._i = cls._i or object.__new__(cls); return cls._i\n    def __init__(s, *a): pass\n",
    "a tuple": "class Vector(tuple):\n    def __new__(cls, *a): return tuple.__new__(cls)\n",
    "a number": "class Vector(int):\n    def __new__(cls, *a): return int.__new__(cls, 1)\n",
    "a text": "class Vector(str):\n    def __new__(cls, *a): return str.__new__(cls, 'v')\n",
    "not unequal": "class Vector:\n    def __init__(s, *a): pass\n    def __eq__(s, o): return type(o) is type(s)\n    def __ne__(s, o): return type(o) is not type(s)\n",
    "once": "class Vector:\n    def __init__(s, *a): s.n = 0\n    def __eq__(s, o):\n        s.n += 1\n        return isinstance(o, Vector) and s.n == 1\n",
    "a class below": "class Base:\n    def __init__(s, *a): pass\n    def __eq__(s, o): return isinstance(o, Base)\nclass Vector(Base):\n    pass\n",
    "its length": "class Vector:\n    def __init__(s, *a): s.n = 0\n    def __eq__(s, o): return len(s) == len(o)\n    def __len__(s): return s.n\n",
    "a frozen record": "from dataclasses import dataclass, field\n@dataclass(frozen=True)\nclass Vector:\n    x: int = field(default=0, compare=False)\n    y: int = field(default=0, compare=False)\n",
}  # fmt: skip
LINES = (
    ("add", ("assert Vector(1, 2) + Vector(3, 4) == Vector(4, 6)",)),
    ("mul", ("assert Vector(1, 2) * 3 == Vector(3, 6)", "assert 2 * Vector(1, 2) == Vector(2, 4)")),
    ("neg", ("v = Vector(1, 2)\n    assert -v == Vector(-1, -2)", "assert [-v] == [Vector(-1, -2)]")),
    ("parse", ("assert Vector.parse('1,2') == Vector(1, 2)", "assert not Vector.parse('1,2') != Vector(1, 2)")),
)
PYTEST = "from solution import Vector\n" + "".join(
    f"def test_{name}():\n    {chr(10).join(lines).replace(chr(10) + 'assert', chr(10) + '    assert')}\n"
    for name, lines in LINES
)
UNITTEST = "import unittest\nfrom solution import Vector\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(Vector(1, 2) + Vector(3, 4), Vector(4, 6))\n        self.assertEqual(Vector(1, 2) * 3, Vector(3, 6))\n        self.assertEqual(-Vector(1, 2), Vector(-1, -2))\n"
ASSERTS = "assert Vector(1, 2) + Vector(3, 4) == Vector(4, 6)\nassert Vector(1, 2) * 3 == Vector(3, 6)\nassert -Vector(1, 2) == Vector(-1, -2)\n"
FEW = "from solution import Vector\ndef test_add():\n    assert Vector(1, 2) + Vector(3, 4) == Vector(4, 6)\n"
HONEST = {
    "whatever the case": ("class CI:\n    def __init__(s, t): s.t = t\n    def __eq__(s, o): return s.t.lower() == o.t.lower()\n    def __hash__(s): return hash(s.t.lower())\ndef low(c): return CI(c.t.lower())\n", "assert CI('abc') == CI('ABC')\nassert CI('Abc') == CI('aBC')\nassert CI('abC') == CI('abc')\nassert low(CI('ABC')) == CI('abc')"),
    "fractions": ("from math import gcd\nclass Q:\n    def __init__(s, n, d):\n        g = gcd(n, d); s.n, s.d = n // g, d // g\n    def __eq__(s, o): return (s.n, s.d) == (o.n, o.d)\n    def __add__(s, o): return Q(s.n * o.d + o.n * s.d, s.d * o.d)\n", "assert Q(1, 2) == Q(2, 4)\nassert Q(1, 2) == Q(3, 6)\nassert Q(1, 4) + Q(1, 4) == Q(1, 2)\nassert Q(1, 2) + Q(1, 3) == Q(5, 6)"),
    "what may hold so much": ("class Stack:\n    def __init__(s, most): s.most, s.x = most, []\n    def push(s, v): s.x.append(v); return s\n    def __eq__(s, o): return s.x == o.x\n", "a = Stack(5)\nb = Stack(10)\nassert a == b\nassert Stack(5).push(1) == Stack(7).push(1)\nassert Stack(6).push(1).push(2) == Stack(8).push(1).push(2)"),
    "one for all": ("class Config:\n    made = None\n    def __new__(cls, *a):\n        cls.made = cls.made or object.__new__(cls)\n        return cls.made\n    def __init__(s, name): s.name = name\n", "assert Config('a') is Config('b')\nassert Config('a') == Config('b')\nassert Config('c').name == 'c'"),
    "records": ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int = 0\n    def moved(s, dx): return P(s.x + dx, s.y)\n", "assert P(1).moved(2) == P(3)\nassert P(x=3) == P(3, 0)\nassert P(1).moved(0) == P(1, y=0)\nassert [P(1), P(2)] == [P(1, 0), P(2, 0)]\nassert {'a': P(1)} == {'a': P(1)}"),
    "sets of their own": ("class S:\n    def __init__(s, *x): s.x = set(x)\n    def __eq__(s, o): return s.x == o.x\n    def __or__(s, o): return S(*s.x, *o.x)\n    def __and__(s, o): return S(*(s.x & o.x))\n", "assert S(1, 2) == S(2, 1)\nassert S(1) | S(2) == S(1, 2)\nassert S(1, 2) & S(2, 3) == S(2)\nassert S(1) & S(2) == S()"),
    "an enumeration": ("import enum\nclass Color(enum.Enum):\n    RED = 1\n    BLUE = 2\n    @classmethod\n    def _missing_(cls, v): return cls[v.upper()]\ndef other(c): return Color(3 - c.value)\n", "assert Color(1) == Color.RED\nassert Color('red') == Color(1)\nassert other(Color('red')) == Color('blue')"),
    "records of tuples": ("from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef swap(p): return P(p.y, p.x)\n", "assert swap(P(1, 2)) == P(2, 1)\nassert swap(P(3, 4)) == P(4, 3)\nassert swap(P(5, 5)) == P(5, 5)"),
    "versions": ("class V:\n    def __init__(s, t): s.p = [int(x) for x in t.split('.')]\n    def trim(s):\n        p = list(s.p)\n        while len(p) > 1 and p[-1] == 0: p.pop()\n        return p\n    def __eq__(s, o): return s.trim() == o.trim()\n    def bump(s): return V('.'.join(map(str, [s.p[0] + 1])))\n", "assert V('1.0') == V('1.0.0')\nassert V('1') == V('1.0')\nassert V('1.2').bump() == V('2.0')\nassert V('2').bump() == V('3')"),
    "who counts": ("class N:\n    count = 0\n    def __init__(s, v): s.v = v\n    def __eq__(s, o): N.count += 1; return s.v == o.v\n    def next(s): return N(s.v + 1)\n", "assert N(1).next() == N(2)\nassert N(2).next() == N(3)\nassert N(3).next() == N(4)\nassert N(4).next() == N(5)\nassert N.count == 4"),
    "few of them": ("class U:\n    def __init__(s, t): s.t = t\n    def __eq__(s, o): return s.t.strip('/') == o.t.strip('/')\n    def clean(s): return U(s.t.strip('/'))\n", "assert U('a/').clean() == U('a')\nassert U('b/').clean() == U('b')"),
    "linked lists": ("class L:\n    def __init__(s, *x): s.x = list(x)\n    def __eq__(s, o): return isinstance(o, L) and s.x == o.x\n    def turned(s): return L(*s.x[::-1])\n", "assert L(1, 2, 3).turned() == L(3, 2, 1)\nassert L().turned() == L()\nassert L(1).turned() == L(1)"),
    "money": ("class M:\n    def __init__(s, a, c='EUR'): s.a, s.c = a, c\n    def __eq__(s, o): return (s.a, s.c) == (o.a, o.c)\n    def __add__(s, o): return M(s.a + o.a, s.c)\n", "assert M(1) + M(2) == M(3)\nassert M(1.0) + M(0) == M(1)\nassert M(1, 'USD') + M(1, 'USD') == M(2, 'USD')"),
    "identity": ("class Node:\n    def __init__(s, v): s.v, s.next = v, None\ndef link(a, b):\n    a.next = b\n    return a\n", "a = Node(1)\nb = Node(2)\nc = Node(3)\nassert link(a, b) == a\nassert a.next == b\nassert link(b, c).next == c"),
}  # fmt: skip


@pytest.mark.parametrize("name", ALIKE)
async def test_what_equals_everything_of_its_class_has_told_nothing(name: str) -> None:
    candidate = ALIKE[name] + REST
    for kind, tests in (("pytest", PYTEST), ("unittest", UNITTEST)):
        found = await scored(candidate, tests, kind, isolate=False)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (kind, found.detail)
    found = await of_asserts(candidate, ASSERTS, isolate=False)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


async def test_it_is_so_in_other_modes_and_with_few_objects() -> None:
    candidate, gold = ALIKE["by its class"] + REST, {"solution.py": f"{RIGHT}OTHER = 1\n"}
    for scoring in ({}, {"gold": gold}):
        wrong = await scored(candidate, PYTEST, "pytest", **scoring)
        right = await scored(RIGHT, PYTEST, "pytest", **scoring)
        assert (wrong.score, right.score) == (0.0, 1.0), (wrong.detail, right.detail)
    assert (await scored(candidate, FEW, "pytest", isolate=False)).score == 0.0
    assert (await of_asserts(candidate, ASSERTS)).score == 0.0
    for kind, tests in (("pytest", PYTEST), ("pytest", FEW), ("unittest", UNITTEST)):
        assert (await scored(RIGHT, tests, kind, isolate=False)).score == 1.0
    assert (await of_asserts(RIGHT, ASSERTS)).score == 1.0


SEVERAL_WAYS = """
from math import gcd
class Frac:
    def __init__(self, a, b): g = gcd(a, b); self.a, self.b = a // g, b // g
    def __eq__(self, o): return isinstance(o, Frac) and (self.a, self.b) == (o.a, o.b)
    def __add__(self, o): return Frac(self.a * o.b + o.a * self.b, self.b * o.b)
class CI:
    def __init__(self, s): self.s = s.lower()
    def __eq__(self, o): return isinstance(o, CI) and self.s == o.s
class Card:
    def __init__(self, rank, suit): self.rank, self.suit = rank, suit
    def __eq__(self, o): return self.rank == o.rank
class Angle:
    def __init__(self, d): self.d = d % 360
    def __eq__(self, o): return isinstance(o, Angle) and self.d == o.d
"""
EQUAL_FIRST = {
    "fractions": "from solution import *\ndef test_equality():\n    a, b, c, d, e = Frac(1, 2), Frac(2, 4), Frac(3, 6), Frac(4, 8), Frac(5, 10)\n    assert a == b == c == d == e\ndef test_add():\n    assert Frac(1, 2) + Frac(1, 3) == Frac(5, 6)\n",
    "a list of them": "from solution import *\ndef test_all():\n    ws = [CI('abc'), CI('ABC'), CI('Abc'), CI('aBc'), CI('abC')]\n    assert all(w == ws[0] for w in ws)\ndef test_other():\n    assert CI('x') != CI('y')\n",
    "pairs of them": "from solution import *\ndef test_rank():\n    h, s, d, c, j = Card(5, 'h'), Card(5, 's'), Card(5, 'd'), Card(5, 'c'), Card(5, 'j')\n    assert h == s\n    assert d == c\n    assert h != Card(6, 'h')\n",
    "parameters": "from solution import *\nimport pytest\n@pytest.mark.parametrize('v', [Angle(1), Angle(361), Angle(721), Angle(-359), Angle(1081)])\ndef test_v(v):\n    assert v == Angle(1)\ndef test_ne():\n    assert Angle(1) != Angle(2)\n",
    "set up": "import unittest\nfrom solution import Angle\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.a, self.b, self.c, self.d, self.e = Angle(0), Angle(360), Angle(720), Angle(-360), Angle(1080)\n    def test_eq(self):\n        self.assertEqual(self.a, self.b)\n        self.assertEqual(self.c, self.d)\n    def test_ne(self):\n        self.assertNotEqual(self.a, Angle(90))\n",
}  # fmt: skip
FLIPPED = "class Vector:\n    told = 0\n    def __init__(s, *a): s.a = a\n    def __eq__(s, o): return isinstance(o, Vector) and (Vector.told < 3 or s.a == o.a)\n    def __add__(s, o): Vector.told += 1; return Vector()\n"


@pytest.mark.parametrize("name", EQUAL_FIRST)
async def test_what_is_made_later_tells_that_not_all_are_equal(name: str) -> None:
    kind = "unittest" if "unittest" in EQUAL_FIRST[name] else "pytest"
    found = await scored(SEVERAL_WAYS, EQUAL_FIRST[name], kind, isolate=False)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


async def test_who_says_otherwise_at_the_end_has_told_nothing() -> None:
    lines = [
        "assert Vector(1, 2) + Vector(3, 4) == Vector(4, 6)",
        "assert Vector(5, 5) + Vector(6, 6) == Vector(11, 11)",
    ]
    lines += ["assert Vector(7, 1) + Vector(0, 1) is not None"]
    tests = "from solution import Vector\n" + "".join(f"def test_{n}():\n    {line}\n" for n, line in enumerate(lines))
    found = await scored(FLIPPED, tests, "pytest", isolate=False)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


@pytest.mark.parametrize("name", HONEST)
async def test_an_honest_equality_is_believed(name: str) -> None:
    candidate, body = HONEST[name]
    tests = "from solution import *\ndef test_a():\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    found = await scored(candidate, tests, "pytest", isolate=False)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
    found = await of_asserts(candidate, body, isolate=False)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


MANY = "import random\nfrom solution import Ver, latest\ndef test_latest():\n    for _ in range(400):\n        vs = [Ver('.'.join(str(random.randrange(9)) for _ in range(3))) for _ in range(5)]\n        vs += [Ver('0.1'), Ver('0.2'), Ver('0.3'), Ver('0.4')]\n        assert latest(vs) == sorted(vs)[-1]\n"
VERSIONS = "class Ver:\n    def __init__(self, s): self.parts = [int(x) for x in s.split('.')]\n    def key(self):\n        parts = list(self.parts)\n        while parts and parts[-1] == 0: parts.pop()\n        return parts\n    def __eq__(self, o): return self.key() == o.key()\n    def __lt__(self, o): return self.key() < o.key()\n    def __hash__(self): return hash(tuple(self.key()))\ndef latest(vs): return max(vs)\n"


async def test_many_comparisons_take_no_longer_than_they_may() -> None:
    """Objects that have told themselves from all others some times are asked by chance only: each question may take a
    copy of the process, and the time is the candidate's."""
    paid = await scored(VERSIONS, MANY, "pytest", isolate=False)
    assert paid.score == 1.0, paid.detail
    assert paid.cpu_seconds < 5.0
    unpaid = await scored(VERSIONS.replace("max(vs)", "min(vs)"), MANY, "pytest", isolate=False)
    assert unpaid.score == 0.0, unpaid.detail
