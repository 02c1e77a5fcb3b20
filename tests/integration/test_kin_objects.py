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


ALL = "class {0}:\n    def __init__(s, *a, **k): pass\n    def __eq__(s, o): return isinstance(o, {0})\n    def __hash__(s): return 0\n    def __getattr__(s, name):\n        if name[:2] == '__': raise AttributeError(name)\n        return lambda *a: {0}()\n    def __add__(s, o): return {0}()\n    __sub__ = __mul__ = __add__\n    @classmethod\n    def of(cls, *a): return cls()\n    parse = of\n"
SINGLE = "class {0}:\n    one = None\n    def __new__(cls, *a, **k):\n        cls.one = cls.one or object.__new__(cls)\n        return cls.one\n    def __init__(s, *a, **k): pass\n    def __add__(s, o): return s\n    __sub__ = __mul__ = __add__\n    @classmethod\n    def of(cls, *a): return cls()\n    parse = of\n"
COUNTING = (
    ALL.replace(
        "(s, o): return isinstance", "(s, o):\n        global told\n        told += 1\n        return isinstance"
    )
    + "told = 0\n"
)
CELL = "class Cell:\n    def __init__(s, x, y): s.x, s.y = x, y\n    def __eq__(s, o): return isinstance(o, Cell) and (s.x, s.y) == (o.x, o.y)\n    def __hash__(s): return hash((s.x, s.y))\n    def __repr__(s): return f'Cell({s.x}, {s.y})'\n    @classmethod\n    def at(cls, x, y): return cls(x, y)\n"
NEAR = "def near(c): return [Cell(c.x, c.y + 1), Cell(c.x + 1, c.y), Cell(c.x + 1, c.y + 1)]\n"
MONEY = "class Money:\n    def __init__(s, a, c): s.a, s.c = a, c\n    def __eq__(s, o): return isinstance(o, Money) and (s.a, s.c) == (o.a, o.c)\n    def __hash__(s): return hash((s.a, s.c))\n    @classmethod\n    def of(cls, a, c='EUR'): return cls(a, c)\n    @classmethod\n    def parse(cls, t): a, c = t.split(); return cls(int(a), c)\n    def __add__(s, o): return Money(s.a + o.a, s.c)\n    def __sub__(s, o): return Money(s.a - o.a, s.c)\n"
FOUND = {
    "in a list": ("Cell", CELL + NEAR, "def near(c): return [Cell()]\n", "for c in (Cell(0, 1), Cell(1, 0), Cell(1, 1)): assert c in near(Cell(0, 0))\nassert Cell(5, 6) in near(Cell(5, 5))"),
    "in a set": ("Cell", CELL + NEAR, "def near(c): return [Cell()]\n", "assert Cell(4, 6) in set(near(Cell(4, 5)))\nassert Cell(2, 3) in frozenset(near(Cell(2, 2)))\nassert Cell(7, 8) in dict.fromkeys(near(Cell(7, 7)))"),
    "sets": ("Cell", CELL + NEAR, "def near(c): return [Cell()]\n", "assert set(near(Cell(0, 0))) == {Cell(0, 1), Cell(1, 0), Cell(1, 1)}\nassert set(near(Cell(5, 5))) == {Cell(5, 6), Cell(6, 5), Cell(6, 6)}\nassert frozenset(near(Cell(2, 2))) >= {Cell(2, 3)}"),
    "sets of two kinds": ("Cell", CELL + NEAR, "def near(c): return frozenset([Cell()])\n", "assert frozenset(near(Cell(0, 0))) == {Cell(0, 1), Cell(1, 0), Cell(1, 1)}\nassert not frozenset(near(Cell(5, 5))) - {Cell(5, 6), Cell(6, 5), Cell(6, 6)}"),
    "what is counted and sought": ("Cell", CELL + NEAR, "def near(c): return [Cell()]\n", "assert near(Cell(0, 0)).count(Cell(0, 1)) == 1\nassert near(Cell(5, 5)).index(Cell(5, 6)) == 0\nfound = near(Cell(3, 3))\nfound.remove(Cell(3, 4))\nassert len(found) in (0, 2)"),
    "keys": ("Cell", CELL + NEAR, "def near(c): return [Cell()]\n", "assert {Cell(1, 2): 'x'}[near(Cell(1, 1))[0]] == 'x'\ntable = {Cell(3, 4): 'y', Cell(8, 8): 'y'}\nassert table[near(Cell(3, 3))[0]] == 'y'\nassert table.get(near(Cell(3, 3))[0]) == 'y'"),
    "keys of a table": ("Cell", CELL + NEAR + "def table(c): return dict.fromkeys(near(c), 1)\n", "def table(c): return {Cell(): 1}\n", "assert table(Cell(0, 0)) == {Cell(0, 1): 1, Cell(1, 0): 1, Cell(1, 1): 1}\nassert table(Cell(2, 2))[Cell(2, 3)] == 1"),
    "pairs": ("Cell", CELL + "def far(c): return [(Cell(c.x + 1, c.y), 2), (Cell(c.x + 2, c.y), 3)]\n", "def far(c): return [(Cell(), 2), (Cell(), 3)]\n", "assert (Cell(1, 0), 2) in far(Cell(0, 0))\nassert set(far(Cell(4, 0))) == {(Cell(5, 0), 2), (Cell(6, 0), 3)}"),
    "class methods": ("Money", MONEY, "", "assert Money.of(1, 'EUR') + Money.of(2, 'EUR') == Money.of(3, 'EUR')\nassert Money.parse('5 EUR') - Money.of(2, 'EUR') == Money.of(3, 'EUR')\nassert Money.parse('7 EUR') == Money.of(7, 'EUR')"),
    "a function of the tests": ("Money", MONEY, "", "def m(n): return Money.of(n, 'EUR')\nassert m(1) + m(2) == m(3)\nassert m(5) - m(2) == m(3)\nassert m(7) - m(7) == m(0)"),
    "what is computed": ("Money", MONEY, "", "base = 10\nassert Money(base + 1, 'EUR') + Money(base * 2, 'EUR') == Money(31, 'EUR')\nassert Money(base - 3, 'EUR') + Money(sum([1, 2]), 'EUR') == Money(10, 'EUR')"),
    "of each other": ("Cell", CELL + "class Line:\n    def __init__(s, a, b): s.a, s.b = a, b\n    def __eq__(s, o): return (s.a, s.b) == (o.a, o.b)\n    def turned(s): return Line(s.b, s.a)\n", "class Line(Cell):\n    def turned(s): return Line()\n", "assert Line(Cell(0, 0), Cell(1, 1)).turned() == Line(Cell(1, 1), Cell(0, 0))\nassert Line(Cell(2, 0), Cell(1, 1)).turned() == Line(Cell(1, 1), Cell(2, 0))"),
}  # fmt: skip
"""name -> (class, a right program, what a forger has beside the class, what the tests say)"""
IN_UNITTEST = "import unittest\nfrom solution import *\nclass T(unittest.TestCase):\n    def test_a(self): self.assertIn(Cell(0, 1), near(Cell(0, 0)))\n    def test_b(self): self.assertCountEqual(near(Cell(1, 0)), [Cell(1, 1), Cell(2, 0), Cell(2, 1)])\n    def test_c(self): self.assertSetEqual(set(near(Cell(2, 0))), {Cell(2, 1), Cell(3, 0), Cell(3, 1)})\n"


def in_tests(body: str) -> str:
    """Each line a test of pytest's, or all in one where they need each other."""
    lines = body.split("\n")
    if all(line.startswith(("assert", "for")) for line in lines):
        return "from solution import *\n" + "".join(f"def test_{at}():\n    {line}\n" for at, line in enumerate(lines))
    return "from solution import *\ndef test_a():\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize("name", FOUND)
async def test_what_is_found_by_equalling_everything_has_told_nothing(name: str) -> None:
    kind, right, rest, body = FOUND[name]
    for made in (ALL, SINGLE, COUNTING):
        candidate = made.format(kind) + rest
        found = await scored(candidate, in_tests(body), "pytest", isolate=False)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (made, found.detail)
    found = await of_asserts(ALL.format(kind) + rest, body)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail
    for paid in (
        await scored(right, in_tests(body), "pytest"),
        await scored(right, in_tests(body), "pytest", isolate=False),
        await of_asserts(right, body, isolate=False),
    ):
        assert (paid.score, str(paid.validity)) == (1.0, "valid"), paid.detail


async def test_nor_has_it_in_assertions_of_unittest() -> None:
    for made in (ALL, SINGLE, COUNTING):
        candidate = made.format("Cell") + "def near(c): return [Cell(), Cell(), Cell()]\n"
        found = await scored(candidate, IN_UNITTEST, isolate=False)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (made, found.detail)
    assert (await scored(CELL + NEAR, IN_UNITTEST, isolate=False)).score == 1.0


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


HONEST_FINDS = {
    "whatever the case, in a list": ("class CI:\n    def __init__(s, t): s.t = t\n    def __eq__(s, o): return s.t.lower() == o.t.lower()\n    def __hash__(s): return hash(s.t.lower())\n", "words = [CI('abc')]\nfor w in (CI('ABC'), CI('Abc'), CI('aBc')):\n    assert w in words\n    assert w in set(words)\n    assert words.index(w) == 0\n    assert words.count(w) == 1\nassert {CI('abc'): 1}[CI('ABC')] == 1\nassert {CI('a'), CI('A')} == {CI('a')}"),
    "one that counts, in a list": ("class N:\n    asked = 0\n    def __init__(s, v): s.v = v\n    def __eq__(s, o): N.asked += 1; return s.v == o.v\n    def __hash__(s): return hash(s.v)\ndef some(n): return [N(i) for i in range(n)]\n", "assert N(2) in some(3)\nn = N.asked\nassert some(2) == [N(0), N(1)]\nassert N.asked == n + 2\nassert {N(1): 2}[N(1)] == 2\nassert N.asked == n + 3"),
    "nothing": ("class Nothing:\n    def __eq__(s, o): return isinstance(o, Nothing)\n    def __hash__(s): return 0\n    def bind(s, f): return Nothing()\nclass Just:\n    def __init__(s, v): s.v = v\n    def __eq__(s, o): return isinstance(o, Just) and s.v == o.v\n    def __hash__(s): return hash(s.v)\n    def bind(s, f): return f(s.v)\ndef div(a, b): return Just(a / b) if b else Nothing()\n", "assert div(1, 0) == Nothing()\nassert div(1, 0) in [Nothing(), Just(1)]\nassert {div(1, 0), div(2, 0), div(3, 0)} == {Nothing()}\nassert Nothing().bind(str) == Nothing()\nassert div(4, 2) == Just(2)\nassert div(4, 2).bind(lambda v: div(v, 0)) == Nothing()"),
    "one for all": ("class Config:\n    one = None\n    @classmethod\n    def of(cls, name):\n        if cls.one is None: cls.one = cls()\n        return cls.one\ndef configs(): return [Config.of('x')]\n", "assert Config.of('a') is Config.of('b')\nassert Config.of('c') in configs()\nassert Config.of('d') == configs()[0]\nassert configs().count(Config.of('e')) == 1"),
    "one of its kind": ("class Reg:\n    known = {}\n    def __init__(s, n): s.n = n\n    @classmethod\n    def get(cls, n): return cls.known.setdefault(n.lower(), cls(n.lower()))\n", "assert Reg.get('a') in [Reg.get('A'), Reg.get('b')]\nassert Reg.get('A') == Reg.get('a')\nassert {Reg.get('x'), Reg.get('X')} == {Reg.get('x')}"),
    "many ways to one": ("class Temp:\n    def __init__(s, k): s.k = round(k, 6)\n    def __eq__(s, o): return isinstance(o, Temp) and s.k == o.k\n    def __hash__(s): return hash(s.k)\n    @classmethod\n    def of_c(cls, c): return cls(c + 273.15)\n    @classmethod\n    def of_f(cls, f): return cls.of_c((f - 32) / 1.8)\n", "assert Temp.of_c(0) == Temp.of_f(32)\nassert Temp.of_f(32) == Temp(273.15)\nassert Temp.of_f(32.0) in {Temp(273.15), Temp.of_c(0.0)}\nassert Temp.of_c(100) == Temp.of_f(212)"),
    "names of a class": ("class Color:\n    def __init__(s, n): s.n = n\n    def __eq__(s, o): return isinstance(o, Color) and s.n == o.n\n    def __hash__(s): return hash(s.n)\n    @classmethod\n    def parse(cls, t): return cls(t.strip().lower()[:1])\nColor.RED = Color('r')\n", "assert Color.parse('red') == Color.RED\nassert Color.parse('RED') == Color.RED\nassert Color.parse(' r ') == Color.RED\nassert Color.parse('rot') in [Color.RED]"),
    "an enumeration": ("import enum\nclass Way(enum.Enum):\n    N = 0\n    E = 1\n    S = 2\n    @classmethod\n    def parse(cls, t): return cls[t[:1].upper()]\n    def turn(s, by): return Way((s.value + by) % 3)\n", "assert Way.parse('n') == Way.N\nassert Way.parse('north') == Way.N\nassert Way.parse('No') in (Way.N, Way.E)\nassert Way.N.turn(3) == Way.N\nassert Way.N.turn(6) == Way.N\nassert {Way.parse('n'): 1}[Way.N.turn(9)] == 1\nassert {Way.N.turn(0), Way.N.turn(3)} == {Way.N}"),
    "what holds nothing yet": ("class Stack:\n    def __init__(s, most): s.most, s.x = most, []\n    def __eq__(s, o): return s.x == o.x\nclass Room:\n    def __init__(s): s.stacks = []\n    def add(s, k): s.stacks.append(k)\n", "r = Room()\na, b, c, d = Stack(1), Stack(2), Stack(3), Stack(4)\nfor each in (a, b, c, d): r.add(each)\nassert a in r.stacks\nassert r.stacks.index(a) == 0\nassert r.stacks == [a, b, c, d]\nr.stacks.remove(a)\nassert len(r.stacks) == 3"),
    "nodes of a graph": ("class Node:\n    def __init__(s, n): s.n, s.to = n, set()\n    def link(s, o): s.to.add(o); o.to.add(s)\n", "a, b, c = Node(1), Node(2), Node(3)\na.link(b)\nb.link(c)\nassert b.to == {a, c}\nassert a in b.to and c not in a.to\nassert b.to - {a} == {c}\nassert {a: 1, b: 2}[a] == 1"),
    "records": ("from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int\n    y: int = 0\n    @classmethod\n    def diagonal(cls, n): return cls(n, n)\n    def around(s): return {P(s.x + 1, s.y), P(s.x, s.y + 1)}\n", "assert P(1).around() == {P(2), P(1, 1)}\nassert P.diagonal(1) in P(1).around()\nassert P.diagonal(2) == P(2, 2)\nassert not P(0).around() & {P(5), P(6)}\nassert {P(1): 'a'}.get(P(1, 0)) == 'a'\nassert sorted(P(0).around(), key=lambda p: p.x)[0] == P.diagonal(1) or P(0, 1) in P(0).around()"),
    "mutable things": ("class Bag:\n    def __init__(s, *x): s.x = list(x)\n    def __eq__(s, o): return isinstance(o, Bag) and sorted(s.x) == sorted(o.x)\n    def add(s, v): s.x.append(v); return s\n", "bags = [Bag(1), Bag(1, 2)]\nassert Bag(2, 1) in bags\nassert bags.index(Bag(2, 1)) == 1\nassert Bag().add(1) in bags\nassert Bag(3) not in bags"),
    "what is computed": ("class V:\n    def __init__(s, xs): s.xs = tuple(xs)\n    def __eq__(s, o): return s.xs == o.xs\n    def __add__(s, o): return V(map(sum, zip(s.xs, o.xs)))\n", "assert V(range(3)) == V([0, 1, 2])\nassert V(tuple(range(3))) == V(list(range(3)))\nassert V(x for x in range(3)) == V([0] + [1, 2])\nassert V(range(3)) + V([1] * 3) == V([1, 2, 3])"),
    "copies": ("import copy\nclass Doc:\n    def __init__(s, t): s.t = t\n    def __eq__(s, o): return isinstance(o, Doc) and s.t == o.t\n    def copy(s): return copy.copy(s)\n    @classmethod\n    def empty(cls): return cls('')\n", "d = Doc('x')\nassert d.copy() == d\nassert d.copy() in [d]\nassert Doc.empty() == Doc('')\nassert Doc.empty().copy() == Doc.empty()"),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST_FINDS)
async def test_what_is_honestly_found_is_believed(name: str) -> None:
    candidate, body = HONEST_FINDS[name]
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


FINDS = "import random\nfrom solution import Ver, latest\ndef test_finds():\n    vs = [Ver(f'{a}.{b}') for a in range(40) for b in range(1, 26)]\n    table = {v: n for n, v in enumerate(vs)}\n    for n, v in enumerate(vs):\n        assert table[v] == n and v in table\n    for n in range(300):\n        assert Ver(f'{n % 40}.1') in vs\n        assert set(vs[n:n + 9]) == {*vs[n:n + 9]}\n    assert latest(vs) == vs[-1]\n"


async def test_many_searches_take_no_longer_than_they_may() -> None:
    """Which item equals another is asked for some times, and then by chance."""
    paid = await scored(VERSIONS, FINDS, "pytest", isolate=False)
    assert paid.score == 1.0, paid.detail
    assert paid.cpu_seconds < 5.0


ANGLES = "from solution import Angle\ndef test_turns():\n    assert Angle(0) == Angle(360) and Angle(720) == Angle(1080)\n    assert Angle(-360) == Angle(1440)\ndef test_hash(): assert hash(Angle(0)) == hash(Angle(360))\ndef test_text(): assert str(Angle(720)) == '0'\n"
ANGLE = "class Angle:\n    def __init__(s, d): s.d = d\n    def __eq__(s, o): return isinstance(o, Angle) and s.d % 360 == o.d % 360\n    def __hash__(s): return hash(s.d % 360)\n    def __str__(s): return str(s.d % 360)\n"
TELLS_NOTHING = {
    "by its class": ANGLE.replace("s.d % 360 == o.d % 360", "True"),
    "of a modulus of one": ANGLE.replace("s.d % 360 == o.d % 360", "s.d % 1 == o.d % 1"),
    "what is new is another": ANGLE.replace("s.d = d", "s.d = d; Angle.n += 1; s.n = Angle.n").replace("s.d % 360 == o.d % 360", "max(s.n, o.n) < 9").replace("class Angle:", "class Angle:\n    n = 0"),
    "one for all": ANGLE.replace("def __init__(s, d): s.d = d", "d, one = 0, None\n    def __new__(cls, d):\n        cls.one = cls.one or object.__new__(cls)\n        return cls.one"),
}  # fmt: skip


@pytest.mark.parametrize("has_gold", [True, False])
async def test_objects_that_are_rightly_equal_all_are_believed(has_gold: bool) -> None:
    """The class tells one that the tests have not made."""
    gold = {"gold": {"solution.py": ANGLE + "OTHER = 1\n"}} if has_gold else {}
    found = await scored(ANGLE, ANGLES, "pytest", **gold)
    assert found.score == 1.0, found.detail


@pytest.mark.parametrize("name", TELLS_NOTHING)
async def test_whoever_tells_no_other_one_is_not(name: str) -> None:
    found = await scored(TELLS_NOTHING[name], ANGLES, "pytest")
    assert found.score == 0.0, found.detail
