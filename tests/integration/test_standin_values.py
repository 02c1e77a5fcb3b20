# ruff: noqa: E501 (programs are text, not code of ours)
"""What a suite sees of a candidate's objects is one thing, however often it looks; and ordinary objects behave."""

from __future__ import annotations

from typing import Any

from test_unittest_suites import RIGHT, scored

from harena.core.results import Reason, Trust

LIARS = """
import collections, decimal
class Flips:
    def __init__(s): s.n = 0
    def __iter__(s):
        s.n += 1
        return iter([1, 2, 3] if s.n == 1 else [7])
    def __len__(s): return 3
    @property
    def p(s):
        s.n += 1
        return s.n
    __int__ = __index__ = __round__ = lambda s, *a: s.p
    def __getitem__(s, i): return s.p
def flips(): return Flips()
class Leaves:
    k = 1
    def __enter__(s): return s
    def __exit__(s, *e): return True
    async def __aenter__(s): return s
    async def __aexit__(s, *e): return True
    def compute(s): raise ValueError("x")
def leaves(): return Leaves()
class Replaces(Leaves):
    def __exit__(s, *e): raise KeyError("instead")
def replaces(): return Replaces()
class Yes:
    def __getattr__(s, name): return lambda *a: True
    def __getitem__(s, name): return True
    def get(s, *a): return True
def yes(): return Yes()
class Number(decimal.Decimal):
    def compare(s, o): return 0
    def __sub__(s, o): return 0
def number(): return Number(1)
class Queue(collections.deque):
    def count(s, x): return 1
def queue(): return Queue()
class Meta(type):
    def __contains__(s, o): return True
    def __iter__(s): return iter(range(9))
    def __len__(s): return 9
class things(metaclass=Meta): pass
V = TypeError
class Holder: Error = (KeyError, TypeError)
def parse(x): return None
"""
REFUSES = """
import decimal, unittest
import pytest
from solution import V, Holder, flips, leaves, number, parse, queue, replaces, things, yes

def check(value):
    got = value.compute()
    assert got == 5

class T(unittest.IsolatedAsyncioTestCase):
    def refuses(self, judge):
        try:
            judge()
        except BaseException:
            return
        raise RuntimeError("a lie is taken for right")
    def test_looks(self):
        for judge in (lambda f: (f.p, f.p) == (1, 2), lambda f: (list(f), list(f)) == ([1, 2, 3], [7]), lambda f: len(f) == 3 and all(x == 7 for x in f),
                      lambda f: (int(f), int(f)) == (1, 2), lambda f: (f[0], f[0]) == (1, 2), lambda f: 1 in f and 7 in f, lambda f: bool(f) and list(f) == [7]):
            self.assertFalse(judge(flips()))
    def test_values(self):
        self.refuses(lambda: self.assertTrue(yes().almost_equals([1.5])))
        self.refuses(lambda: self.assertTrue(yes().equals(3)))
        self.refuses(lambda: self.assertTrue(yes()["has", 5]))
        self.refuses(lambda: self.assertTrue(yes().get(5, False)))
        self.refuses(lambda: self.assertEqual(number().compare(decimal.Decimal("3.5")), 0))
        self.refuses(lambda: self.assertEqual(number() - decimal.Decimal("3.5"), 0))
        self.refuses(lambda: self.assertEqual(queue().count(4), 1))
        self.refuses(lambda: self.assertIn(5, things))
        self.refuses(lambda: self.assertEqual(len(things), 9))
    def test_names_of_errors(self):
        for wanted in (V, Holder.Error):
            def judge():
                with self.assertRaises(wanted):
                    if parse("x") is None: raise TypeError("parse gave nothing")
            self.refuses(judge)
    def test_ends(self):
        def judged():
            with leaves() as x: self.assertEqual(x.compute(), 5)
        def before():
            with leaves() as x:
                y = x.compute()
                self.assertEqual(y, 5)
        def helped():
            with leaves() as x: check(x)
        def raised():
            with leaves() as x:
                if x.k != 3: raise ValueError("wrong")
        def expected():
            with self.assertRaises(ValueError), leaves() as x: self.assertEqual(x.compute(), 5)
        def measured():
            with leaves() as x: self.assertEqual(len(x), 5)
        def failed():
            with leaves(): self.fail("no")
        def stopped():
            with leaves(): pytest.fail("no")
        def instead():
            with self.assertRaises(KeyError), replaces(): self.fail("no")
        for judge in (judged, before, helped, raised, expected, measured, failed, stopped, instead): self.refuses(judge)
    async def test_asynchronous_ends(self):
        try:
            async with leaves() as x: self.assertEqual(x.compute(), 5)
        except AssertionError:
            return
        raise RuntimeError("a lie is taken for right")
"""
ORDINARY = """
import collections, contextlib, datetime, decimal, enum, fractions, math, typing
class Stack:
    def __init__(s): s.i = []
    def push(s, x): s.i.append(x)
    def __len__(s): return len(s.i)
    def __iter__(s): return iter(s.i)
    @property
    def top(s): return s.i[-1]
class Drain(Stack):
    def __iter__(s):
        while s.i: yield s.i.pop()
def stack(): return Stack()
class Suppress:
    def __init__(s, *k): s.k = k
    def __enter__(s): return s
    def __exit__(s, k, e, t): return k is not None and issubclass(k, s.k)
class MyError(ValueError): pass
def boom(): raise MyError("b")
@contextlib.contextmanager
def handled():
    try: yield 1
    except MyError as error: assert type(error) is MyError and error.args == ("b",)
@contextlib.contextmanager
def strict(): yield
def wraps():
    try: {}["k"]
    except KeyError as error: raise ValueError("v") from error
Alias = ValueError
def refuse(): raise ValueError("no")
class D(collections.deque):
    def total(s): return sum(s)
class M(dict):
    def __missing__(s, key):
        s[key] = len(key)
        return s[key]
class Mod(int):
    def __add__(s, o): return Mod((int(s) + int(o)) % 7)
class Money(decimal.Decimal):
    def cents(s): return int(s * 100)
class Day(datetime.date): pass
class When(datetime.datetime): pass
class Q(fractions.Fraction): pass
class Ordered(collections.OrderedDict): pass
class Bytes(bytearray): pass
def values(): return [D([1, 2], 5), M(), Money("1.5"), Day(2020, 1, 2), When(2020, 1, 2, 3), Q(1, 2), Ordered(a=1), Bytes(b"xy"), memoryview(b"abc")]
class Bits:
    def __init__(s): s.b = [False] * 8
    def __getitem__(s, i): return s.b[i]
    def set(s, i): s.b[i] = True
class Table:
    d = {"a": True, "b": 2}
    def __getitem__(s, k): return s.d[k]
    def __iter__(s): return iter(s.d)
    def get(s, k, default=None): return s.d.get(k, default)
def bits(): return Bits()
def table(): return Table()
@typing.runtime_checkable
class Sized(typing.Protocol):
    def size(self) -> int: ...
class Square:
    def size(self): return 1
class Pair(typing.NamedTuple):
    a: int
    b: str = "q"
class Flag(enum.Flag):
    A = 1
    B = 2
def endless(n): return endless(n + 1)
async def count(n):
    for i in range(n): yield i
async def echo():
    x = yield 1
    yield x
class Steps:
    def __init__(s, n): s.n = n
    def __aiter__(s): return s
    async def __anext__(s):
        if not s.n: raise StopAsyncIteration
        s.n -= 1
        return s.n
"""
BEHAVES = """
import collections, datetime, decimal, fractions, math, unittest
import solution
from solution import *
from solution import Alias, D, Drain, Flag, M, Mod, Money, MyError, Pair, Q, Sized, Square, Stack, Steps, Suppress

class T(unittest.IsolatedAsyncioTestCase):
    def test_what_changes_is_seen(self):
        for s in (Stack(), stack()):
            s.push(1)
            self.assertEqual((list(s), s.top, list(s)), ([1], 1, [1]))
            s.push(2)
            self.assertEqual((list(s), s.top, [*s]), ([1, 2], 2, [1, 2]))
        drain = Drain()
        drain.push(1); drain.push(2)
        for n, x in enumerate(drain): self.assertEqual(len(drain), 1 - n)
        self.assertEqual(list(drain), [])
        drain.push(5)
        self.assertEqual(list(drain), [5])
    def test_ends(self):
        with Suppress(ValueError): raise ValueError("x")
        with Suppress(ValueError): boom()
        with Suppress(ValueError): int("x")
        with Suppress(KeyError):
            {}["k"]
            self.fail("not reached")
        with self.assertRaises(ValueError):
            with Suppress(KeyError): raise ValueError
        with Suppress(MyError): raise MyError("q")
        with handled() as one: boom()
        with self.assertRaises(MyError), strict(): boom()
        self.assertTrue(Suppress(KeyError).__exit__(KeyError, KeyError("x"), None))
    def test_errors(self):
        with self.assertRaises(ValueError) as caught: wraps()
        self.assertEqual((type(caught.exception.__cause__), caught.exception.__cause__.args), (KeyError, ("k",)))
        for wanted in (Alias, ValueError):
            with self.assertRaisesRegex(wanted, "no"): refuse()
        with self.assertRaises(RecursionError): endless(0)
    def test_values(self):
        d, m, money, day, when, q, ordered, held, view = values()
        d.append(3)
        self.assertEqual((list(d), d.total(), d.maxlen, d.popleft(), len(d)), ([1, 2, 3], 6, 5, 1, 2))
        self.assertEqual((m["abc"], dict(m), Mod(5) + 4), (3, {"abc": 3}, 2))
        self.assertEqual((money, money.cents()), (decimal.Decimal("1.5"), 150))
        self.assertEqual((day, when - datetime.datetime(2020, 1, 2)), (datetime.date(2020, 1, 2), datetime.timedelta(hours=3)))
        self.assertEqual((q + q, ordered, held, bytes(view)), (1, {"a": 1}, b"xy", b"abc"))
        self.assertIsInstance(money, decimal.Decimal)
        b, t = bits(), table()
        b.set(3)
        self.assertEqual((b[3], b[2], t["a"], t["b"], t.get("a"), t.get("z")), (True, False, True, 2, True, None))
        self.assertIsInstance(Square(), Sized)
        self.assertEqual((Pair(1), Pair(1)._asdict(), Flag.A | Flag.B), ((1, "q"), {"a": 1, "b": "q"}, Flag(3)))
        self.assertEqual((solution.math.pi, solution.math.sqrt(4)), (math.pi, 2.0))
    async def test_asynchronous_generators(self):
        self.assertEqual([x async for x in count(3)], [0, 1, 2])
        self.assertEqual([x async for x in Steps(2)], [1, 0])
        found = echo()
        self.assertEqual((await found.__anext__(), await found.asend(9)), (1, 9))
"""


async def test_no_object_answers_two_looks_differently() -> None:
    """Nor says yes to a key, is a container because it is a class, or swallows what would have been judged."""
    result = await scored(LIARS, REFUSES, isolate="sandbox")  # in the suite's own process, nothing refuses
    assert (result.score, result.detail, result.trust) == (1.0, "", Trust.SHARED)


async def test_ordinary_objects_behave() -> None:
    """Containers that change, contexts that swallow, classes that derive from values, asynchronous generators."""
    result = await scored(ORDINARY, BEHAVES)
    assert (result.score, result.detail, result.trust) == (1.0, "", Trust.SHARED)  # answers are told operands


async def test_who_needs_what_is_withheld_has_no_score() -> None:
    """Without a gold nobody knows that a candidate may import trusted data: one that passes with them is no 0."""
    suite = "import unittest\nfrom solution import add\nfrom rules import BASE\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(add(1, 2), BASE + 3)\n"
    files = {"test_it.py": suite, "rules.py": "BASE = 10\n"}
    imports = "from rules import BASE\ndef add(a, b): return BASE + a + b\n"
    found: dict[str, Any] = {
        name: await scored(candidate, suite, files=files)
        for name, candidate in {"right": imports, "wrong": imports.replace("a + b", "a - b"), "other": RIGHT}.items()
    }
    assert {name: result.score for name, result in found.items()} == {"right": None, "wrong": 0.0, "other": 0.0}
    assert found["right"].reason is Reason.SCORER_ERROR
    assert "imports rules.py" in found["right"].detail and "`gold`" in found["right"].detail  # noqa: PT018
    assert (await scored(imports, suite, files=files, gold=imports)).score == 1.0


async def test_no_exception_is_of_every_builtin_class() -> None:
    """Whatever its classes call themselves: two unrelated ones are believed, and no third."""
    program = (
        "import zipfile\nclass A(KeyError, ValueError): __module__ = 'builtins'\nclass B(A, TypeError): __module__ = 'builtins'\n"
        "class C(B, zipfile.BadZipFile): pass\nclass D(ValueError, KeyError): pass\ndef f(): raise C('x')\ndef g(): raise D('x')\n"
    )
    suite = (
        "import unittest, zipfile\nfrom solution import A, B, C, D, f, g\nclass T(unittest.TestCase):\n    def test_a(self):\n"
        "        for kind in (KeyError, ValueError, LookupError):\n            with self.assertRaises(kind): g()\n"
        "        for kind in (TypeError, zipfile.BadZipFile):\n            with self.assertRaises(C):\n"
        "                try: f()\n                except kind: pass\n"
    )
    result = await scored(program, suite, isolate="sandbox")  # in one process, they are of each
    assert (result.score, result.detail, result.trust) == (1.0, "", Trust.SEPARATE)


SUITE = "import unittest\nfrom solution import Box\nclass T(unittest.TestCase):\n    def test_a(self):\n        "
BOX = """
class Box:
    def __init__(self, *items): self.items = [*items]; boxes.append(self)
    def add(self, item): self.items.append(item); return self
    def same(self): return boxes[0]
    def __contains__(self, item): return item in self.items
    def __iter__(self): return iter(self.items)
    def __eq__(self, other): return self.items == other.items if isinstance(other, Box) else NotImplemented
    def __lt__(self, other): return self.items < other.items if isinstance(other, Box) else NotImplemented
boxes = []
"""
HONEST = "box = Box(1); self.assertIs(box.add(2).add(3), box); self.assertIn(3, box); self.assertNotIn(4, box)\n        self.assertNotEqual(box, 'abc'); self.assertFalse(box == None)\n        with self.assertRaises(TypeError): box < 5\n"
LIES = {
    "itself": ("item in self.items", "isinstance(item, int)", "", "self.assertIn(7, Box(1).add(2))"),
    "another": ("item in self.items", "isinstance(item, int)", "", "a, b = Box(1), Box(2); self.assertIn(7, b.same())"),
    "contains": ("item in self.items", "True", "", "self.assertNotIn(7, Box(1))"),
    "contains, by not": ("item in self.items", "True", "", "assert not (7 in Box(1))"),
    "contains, in an expression": ("item in self.items", "True", "", "assert 7 not in Box(1)"),
    "equal": (
        " if isinstance(other, Box) else NotImplemented\n    def __lt__",
        "\n    def __lt__",
        "",
        "self.assertNotEqual(Box(1), 'abc')",
    ),
    "none": (
        "self.items == other",
        "other is None or self.items == other",
        "else NotImplemented\n    def __lt__",
        "self.assertFalse(Box(1) == None)",
    ),
    "all": ("self.items == other.items", "True", "", "self.assertNotEqual(Box(1), Box(2))"),
    "less": (
        "self.items < other.items if isinstance(other, Box) else NotImplemented",
        "True",
        "",
        "with self.assertRaises(TypeError): Box(1) < 5",
    ),
}


async def test_what_an_object_says_of_a_plain_operand_is_its_answer() -> None:
    """Its errors are, too; and an object that the suite has made is an answer once a call has given it back."""
    found = await scored(BOX, SUITE + HONEST)
    assert (found.score, found.detail, found.trust) == (1.0, "", Trust.SHARED)
    paid = {}
    for name, (right, wrong, also, test) in LIES.items():
        lie = BOX.replace(right, wrong).replace("def __iter__", "def list")
        if also:
            lie = lie.replace("if isinstance(other, Box) " + also, "if other is not None else True\n    def __lt__")
        assert lie != BOX
        paid[name] = (await scored(lie, SUITE + test + "\n")).score
    assert paid == dict.fromkeys(LIES, 0.0)
