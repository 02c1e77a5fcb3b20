# ruff: noqa: E501 (programs are text, not code of ours)
"""What a suite gets for a candidate in a sandbox of its own: objects that behave, and none that judges itself."""

from __future__ import annotations

from typing import Any

import pytest
from test_unittest_suites import RIGHT, scored

from harena.core.results import Reason, Trust

HONEST = '''
"""A module with everything."""
import collections, enum, functools, inspect, itertools, json, sys
from dataclasses import dataclass
FIRST, *REST = [1, 2, 3]
TWICE = 2 * FIRST
class Color(enum.Enum):
    RED = 1
    BLUE = "b"
    def shout(self): return self.name + "!"
class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2
class Point(collections.namedtuple("Point", "x y")):
    def norm(self): return self.x + self.y
@dataclass(frozen=True)
class Money:
    """An amount."""
    amount: int
    unit: str = "EUR"
    ZERO = 0
    def __add__(self, other): return Money(self.amount + getattr(other, "amount", other), self.unit)
    __radd__ = __add__
    @staticmethod
    def parse(text): return Money(int(text))
    @classmethod
    def none(cls): return cls(0)
    @property
    def cents(self): return self.amount * 100
class Bag:
    def __init__(self, items=()): self.items = list(items)
    def __contains__(self, item): return item in self.items
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __getitem__(self, index): return self.items[index]
    def __enter__(self): return self
    def __exit__(self, *error): self.items.append("left")
class LockedError(Exception):
    def __init__(self, code, why):
        super().__init__(why)
        self.code = code
def naturals():
    n = 0
    while True:
        yield n
        n += 1
def logged(log):
    for number in itertools.count():
        try:
            yield number
        except KeyError as error:
            log.append("KeyError")
            yield "caught"
        except GeneratorExit:
            log.append("closed")
            raise
def described(first: int, second: str = "a", *, third=None) -> bool: return True
def wrapping(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs): return function(*args, **kwargs)
    return wrapper
def names_of(function): return list(inspect.signature(function).parameters)
def reads(): return [sys.stdin.read(1), sys.stdin.readline(), sys.stdin.read(), sys.stdin.read(1)]
def flat(*lists):
    """Flattens."""
    for one in lists: yield from one
def sort_in_place(items): items.sort()
def append_to(items, item=None, *, times=1):
    items.extend([item] * times)
    return items
def apply(function, *values): return [function(value) for value in values]
def lock(code): raise LockedError(code, f"locked by {code}")
def parse(text): return json.loads(text)
def leave(code): raise SystemExit(code)
def greet(): print("hello"); return input("name? ")
async def slow(value): return value + 1
@functools.lru_cache(maxsize=None)
def cached(n): return n * n
def reverse(node):
    previous = None
    while node:
        node.next, previous, node = previous, node, node.next
    return previous
def walk(node):
    while node:
        yield node.value
        node = node.next
'''
BEHAVES = """
import contextlib, inspect, io, itertools, json, random, unittest
from unittest import mock
import solution
from solution import *
from solution import Bag, Color, Level, LockedError, Money, Point
from node import Node

class TestValues(unittest.TestCase):
    def test_constants(self):
        self.assertEqual((solution.FIRST, solution.REST, solution.TWICE), (1, [2, 3], 2))
        self.assertEqual(solution.__doc__, "A module with everything.")
        self.assertEqual((flat.__name__, flat.__doc__), ("flat", "Flattens."))
        self.assertEqual(str(inspect.signature(append_to)).count(","), 3)
        with self.assertRaises(ImportError):
            from solution import nothing
    def test_generators(self):
        self.assertEqual(list(flat([1], [2, 3])), [1, 2, 3])
        self.assertEqual(list(itertools.islice(naturals(), 200)), list(range(200)))
        found = naturals()
        self.assertEqual((next(found), next(found), iter(found) is found), (0, 1, True))
        self.assertTrue(inspect.isgenerator(found))
        self.assertEqual(sum(flat(range(3), {4: 0}.keys())), 7)
    def test_generators_end(self):
        log = []
        found = logged(log)
        self.assertEqual((next(found), log), (0, []))
        found.close()
        self.assertEqual((log, list(found)), (["closed"], []))
        for _ in logged(log):
            break
        self.assertEqual(log, ["closed"] * 2)
        found = logged(log)
        next(found)
        self.assertEqual((found.throw(KeyError("x")), log[-1], next(found)), ("caught", "KeyError", 1))
        with self.assertRaises(ValueError):
            found.throw(ValueError("y"))
    def test_descriptions(self):
        self.assertEqual(str(inspect.signature(described)), "(first: int, second: str = 'a', *, third=None) -> bool")
        self.assertEqual((described.__defaults__, described.__kwdefaults__), (("a",), {"third": None}))
        self.assertEqual(described.__annotations__, {"first": int, "second": str, "return": bool})
        @wrapping
        def mine(left: int, right=2):
            "Mine."
            return left + right
        self.assertEqual((mine(1), mine.__doc__, mine.__name__), (3, "Mine.", "mine"))
        self.assertEqual(names_of(lambda a, b=1, *c: 0), ["a", "b", "c"])
    def test_arguments_change_in_place(self):
        items = [3, 1, 2]
        self.assertIsNone(sort_in_place(items))
        self.assertEqual(items, [1, 2, 3])
        self.assertIs(append_to(items, 4, times=2), items)
        inner = [1]
        bag = Bag([inner, inner])
        inner.append(2)
        self.assertEqual(bag.items, [[1, 2], [1, 2]])
        self.assertIs(bag.items[0], inner)
        bag.items.append(5)
        self.assertEqual(len(bag), 3)
    def test_linked_nodes(self):
        third = Node(3)
        first = Node(1, Node(2, third))
        self.assertEqual(list(walk(first)), [1, 2, 3])
        self.assertIs(reverse(first), third)
        self.assertEqual(list(walk(third)), [3, 2, 1])
        self.assertIsNone(first.next)
    def test_functions_of_the_suite(self):
        seen = []
        self.assertEqual(apply(lambda value: seen.append(value) or value * 2, 1, 2), [2, 4])
        self.assertEqual((seen, apply(str, 1), apply(abs, -1)), ([1, 2], ["1"], [1]))
        called = mock.Mock(return_value=7)
        self.assertEqual(apply(called, "x"), [7])
        called.assert_called_once_with("x")
        with self.assertRaisesRegex(KeyError, "mine"):
            apply({}.__getitem__, "mine")

class TestClasses(unittest.IsolatedAsyncioTestCase):
    def test_members(self):
        self.assertEqual([color.name for color in Color], ["RED", "BLUE"])
        self.assertIs(Color("b"), Color.BLUE)
        self.assertIs(Color["RED"], Color.RED)
        self.assertEqual((Color.RED.value, Color.RED.shout(), len(Color)), (1, "RED!", 2))
        self.assertNotEqual(Color.RED, 1)
        self.assertEqual(Level.HIGH, 2)
        self.assertTrue(Level.LOW < Level.HIGH and Color.RED in Color and isinstance(Color.RED, Color))
        self.assertEqual({Color.RED: 1}[Color(1)], 1)
    def test_objects(self):
        self.assertEqual(Money(2) + Money(3), Money.parse("5"))
        self.assertEqual((1 + Money(2)).cents, 300)
        self.assertEqual(sum([Money(1), Money(2)], Money.none()), Money(3))
        self.assertNotEqual(Money(2), 2)
        self.assertEqual((Money.ZERO, Money.__doc__, Money.__name__), (0, "An amount.", "Money"))
        self.assertEqual((repr(Money(2)), f"{Money(2)}"), ("Money(amount=2, unit='EUR')",) * 2)
        self.assertEqual({Money(1), Money(1)}, {Money(1)})
        self.assertIsInstance(Money(1), Money)
        self.assertNotIsInstance(Money(1), Bag)
        with self.assertRaises(AttributeError):
            Money(1).amount = 2
    def test_containers(self):
        bag = Bag([1, 2])
        with bag as entered:
            self.assertIs(entered, bag)
        self.assertEqual(list(bag), [1, 2, "left"])
        self.assertTrue(1 in bag and 7 not in bag and len(bag) == 3 and bag and not Bag())
        self.assertEqual((bag[0], bag[-1], [*reversed(bag)][0]), (1, "left", "left"))
        point = Point(1, 2)
        self.assertEqual(point, (1, 2))
        self.assertEqual((point.x, point.norm(), point._replace(x=5), str(point)), (1, 3, (5, 2), "Point(x=1, y=2)"))
    def test_errors(self):
        with self.assertRaises(LockedError) as caught:
            lock(3)
        self.assertEqual((caught.exception.code, str(caught.exception), caught.exception.args), (3, "locked by 3", ("locked by 3",)))
        with self.assertRaises(json.JSONDecodeError):
            parse("{")
        with self.assertRaises(SystemExit) as left:
            leave(3)
        self.assertEqual(left.exception.code, 3)
        self.assertEqual(str(LockedError(1, "so")), "so")
    def test_input_and_output(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), mock.patch("builtins.input", return_value="you") as asked:
            self.assertEqual(greet(), "you")
        self.assertEqual(printed.getvalue(), "hello\\n")
        asked.assert_called_once_with("name? ")
        with mock.patch("sys.stdin", io.StringIO("me\\n")), contextlib.redirect_stdout(printed):
            self.assertEqual(greet(), "me")
        with mock.patch("sys.stdin", io.StringIO("abc\\nde\\nf")):
            self.assertEqual(reads(), ["a", "bc\\n", "de\\nf", ""])
    async def test_coroutines(self):
        self.assertEqual(await slow(1), 2)
        self.assertEqual((cached(3), cached.cache_info().hits), (9, 0))
"""
NODE = "class Node:\n    def __init__(self, value, next=None):\n        self.value = value\n        self.next = next\n"


@pytest.mark.parametrize("isolate", ["auto", True])
async def test_stand_ins_behave(isolate: Any) -> None:
    """What ordinary suites ask, in the order of the reference."""
    result = await scored(HONEST, BEHAVES, isolate=isolate, files={"test_it.py": BEHAVES, "node.py": NODE})
    assert (result.score, result.detail) == (1.0, "")
    assert result.trust is Trust.SHARED  # its objects are compared by their own methods, and answers told operands


LYING = """
class Always:
    def __eq__(s, o): return True
    def __ne__(s, o): return False
    def __hash__(s): return 0
    __lt__ = __gt__ = __le__ = __ge__ = __contains__ = __bool__ = lambda s, *o: True
    def __len__(s): return 3
    __sub__ = __rsub__ = __abs__ = __round__ = lambda s, *o: 0.0
    def __getitem__(s, i): return Always()
    def __enter__(s): return s
    def __exit__(s, *error): return True
class Named(Always): pass
def made(base):
    names = {name: value for name, value in vars(Always).items() if name not in ("__dict__", "__weakref__")}
    return type("Liar", (base,), names)()
def lies(): return [Always(), *(made(base) for base in (int, str, list, tuple, dict, set, float)), Named()]
class All(KeyError, TypeError, ZeroDivisionError, ImportError): pass
def fails(): raise All("x")
import unittest
def skips(): raise unittest.SkipTest("no")
def stops(): raise StopIteration
def presses(): raise KeyboardInterrupt
def leaves(): raise SystemExit(0)
def is_right(*_): return True
def check(*_): return True
sorted = len = print = lambda *_: 3
unittest = None
"""
REJECTS = """
import unittest
from solution import *
from solution import Named, lies, fails, skips, stops, presses, leaves

def check(value):
    assert value == 4

class T(unittest.TestCase):
    def refuses(self, judge, *values):
        try:
            judge(*values)
        except BaseException as error:
            self.assertNotIsInstance(error, (unittest.SkipTest, StopIteration, KeyboardInterrupt))
        else:
            raise RuntimeError(f"{judge} takes {type(values[0])} for right")
    def test_lies(self):
        for lie in lies():
            self.refuses(self.assertEqual, lie, 5)
            self.refuses(self.assertEqual, 5, lie)
            self.refuses(self.assertEqual, [lie], [5])
            self.refuses(self.assertAlmostEqual, lie, 3.5)
            self.refuses(self.assertIn, lie, [1, 2])
            self.refuses(self.assertIn, 7, lie)
            self.refuses(self.assertGreater, lie, 4)
            self.refuses(self.assertCountEqual, [lie], [3])
            self.refuses(self.assertDictEqual, {1: lie}, {1: 5})
            self.assertFalse(lie == "x" or lie in [9])
        self.refuses(self.assertTrue, lies()[0])
    def test_errors(self):
        caught = []
        for wanted in (KeyError, TypeError, ZeroDivisionError, ImportError):
            try:
                fails()
            except wanted:
                caught.append(wanted)
            except Exception:
                pass
        self.assertLess(len(caught), 3)
    def test_ends(self):
        for end in (skips, stops, presses, leaves):
            self.refuses(end)
    def test_star_imports_bring_no_name_that_is_bound(self):
        self.refuses(check, 5)
        self.assertEqual((sorted([2, 1]), len([1])), ([1, 2], 1))
"""


async def test_no_lie_is_believed() -> None:
    """Nothing of the candidate's says whether a plain value is right, ends a loop, skips a test or takes a name."""
    result = await scored(LYING, REJECTS, isolate="sandbox")  # in the suite's own process, nothing refuses
    assert (result.score, result.detail) == (1.0, "")
    swallowing = (
        "class C:\n    def __enter__(s): return s\n    def __exit__(s, *e): return True\ndef add(a, b): return C()\n"
    )
    inside = "import unittest\nfrom solution import add\nclass T(unittest.TestCase):\n    def test(self):\n        with add(1, 2): self.fail()\n"
    assert (await scored(swallowing, inside)).score == 0.0


GOLD_NEEDS = "import unittest\nfrom solution import Base\nclass Mine(Base):\n    pass\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(Mine().one(), 1)\n"
ONE = "class Base:\n    def one(self): return 1\n"


async def test_isolation_is_decided_by_the_gold() -> None:
    """The strongest that pays it; without one, a suite that cannot be served has no score, and says why."""
    alone = await scored(ONE, GOLD_NEEDS)
    assert (alone.score, alone.reason) == (None, Reason.SCORER_ERROR)
    assert "derives a class" in alone.detail and "`gold`" in alone.detail  # noqa: PT018
    for candidate, score in ((ONE, 1.0), (ONE.replace("return 1", "return 2"), 0.0)):
        result = await scored(candidate, GOLD_NEEDS, gold=ONE)
        assert (result.score, result.trust) == (score, Trust.SHARED), result.detail
    wrong = await scored(
        "def add(a, b): return a\n",
        "import unittest\nfrom solution import add\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(add(1, 2), 3)\n",
        gold=RIGHT,
    )
    assert (wrong.score, wrong.trust, wrong.reason) == (0.0, Trust.SEPARATE, Reason.SCORER_REJECTED)
    assert "test_it.T.test: AssertionError: 1 != 3" in wrong.detail
    never = await scored(
        RIGHT,
        "import unittest\nfrom solution import add\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(add(1, 2), 4)\n",
        gold=RIGHT,
    )
    assert (never.score, never.reason, "gold solution is not paid" in never.detail) == (None, Reason.SCORER_ERROR, True)


async def test_a_module_that_the_gold_has_is_the_candidates_to_bring() -> None:
    """Who leaves it out has failed, and so without a gold, where the problem's text speaks of it; else nobody can know
    of it."""
    suite = "import unittest\nfrom solution import add\nfrom second import two\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(add(1, 1), two())\n"
    files = {"solution.py": RIGHT, "second.py": "def two(): return 2\n"}
    both, one = ({"files": dict(list(files.items())[:count]), "entry": "solution.py"} for count in (2, 1))
    assert [(await scored(candidate, suite, gold=files)).score for candidate in (both, one)] == [1.0, 0.0]
    assert (
        await scored(one, suite, problem={"statement": "Write `add`, and a module second with `two`."})
    ).score == 0.0
    assert (await scored(one, suite)).score is None


async def test_what_the_author_skips_is_not_the_candidates_doing() -> None:
    """And what the candidate makes it skip is."""
    suite = "import unittest\nimport solution\nclass T(unittest.TestCase):\n    @unittest.skip('slow')\n    def test_slow(self): self.fail()\n    def test(self): self.assertEqual(solution.add(1, 2), 3)\n"
    assert (await scored(RIGHT, suite)).score == 1.0
    assert (await scored("def add(a, b): return a\n", suite)).score == 0.0
    optional = suite.replace("@unittest.skip('slow')", "@unittest.skipUnless(hasattr(solution, 'more'), 'none')")
    assert (await scored(RIGHT, optional)).score == 0.0


async def test_files_beside_tests_and_where_they_are() -> None:
    """Helpers in folders import, `__file__` is a path, data are found by it; a candidate takes no module's name."""
    test = "import unittest\nfrom pathlib import Path\nimport load\nimport wave\nfrom solution import add\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(add(1, 2), load.cases())\n        self.assertTrue(Path(__file__).name == 'test_it.py' and hasattr(wave, 'open'))\n"
    files = {"tests/test_it.py": test, "data/three.json": "3",
             "tests/load.py": "import json\nfrom pathlib import Path\ndef cases():\n    return json.loads((Path(__file__).parent / '../data/three.json').read_text())\n"}  # fmt: skip
    candidate = {"solution.py": RIGHT, "wave.py": "", "load.py": "def cases(): return 0\n"}
    for kind in ("unittest", "pytest"):
        for isolate in ("auto", True):
            result = await scored({"files": candidate, "entry": "solution.py"}, "", kind, **{kind: ["tests/test_it.py"]}, files=files, isolate=isolate)  # fmt: skip
            assert (result.score, result.detail) == (1.0, "")


BROKEN = {
    "collection": "import solution\n1 / 0\n",
    "module": "from solution import add\nimport json.no_such_module\ndef test(): pass\n",
    "fixture": "import solution\ndef test(nothing): assert solution.add(1, 2) == 3\n",
    "no tests": "import solution\n",
    "all skipped": "import pytest, solution\n@pytest.mark.skip\ndef test(): assert solution.add(1, 2) == 3\n",
    "data": "import solution\ndef test():\n    open('missing.json')\n    assert solution.add(1, 2) == 3\n",
}


@pytest.mark.parametrize("suite", BROKEN.values(), ids=BROKEN)
async def test_a_broken_suite_has_no_score(suite: str) -> None:
    """Whoever the candidate is, and however wrong."""
    for isolate in ("auto", False):
        result = await scored("def add(a, b): raise ValueError\n", suite, "pytest", isolate=isolate)
        assert (result.score, result.reason) == (None, Reason.SCORER_ERROR), (isolate, result.detail)


@pytest.mark.parametrize(
    "candidate",
    [
        "1 / 0\n",
        "def add(:\n",
        "def other(): pass\n",
        "import no_such_module\n",
        "import sys\nsys.exit(0)\n",
        "import os\nos._exit(0)\n",
    ],
)
async def test_a_candidate_cannot_break_a_suite(candidate: str) -> None:
    """What it raises when it is imported, or lacks, is its own failure."""
    suite = "from solution import add\ndef test(): assert add(1, 2) == 3\n"
    result = await scored(candidate, suite, "pytest")
    assert (result.score, str(result.validity)) == (0.0, "valid"), result.detail


GIVES = """
import functools, io, unittest
from unittest.mock import MagicMock, Mock
import solution
from solution import take
WANT = [1, 4, 9]
class T(unittest.TestCase):
    def check(self, value): self.assertEqual(value, 5)
    def test_generator(self): self.assertEqual(take(x for x in (1, 2, 3)), [1, 4, 9])
    def test_method(self): take(self.check)
    def test_partial(self): self.assertEqual(take(functools.partial(max, 6)), 6)
    def test_stream(self):
        out = io.StringIO()
        take(out)
        self.assertEqual(out.getvalue(), "1")
    def test_mock(self):
        called = Mock(return_value=27)
        self.assertEqual(take(called), 27)
        called.assert_called_once_with(3)
        called.child.go.assert_called_once_with(4)
        self.assertEqual(called.state, "done")
    def test_error(self):
        with self.assertRaises(solution.Refused):
            solution.refuse()
            self.fail("nothing is refused")
"""
TAKES = """
def take(it):
    name = type(it).__name__
    if name == "generator": return [x * x for x in it]
    if name == "StringIO": return it.write("1")
    if name == "Mock":
        it.child.go(4)
        it.state = "done"
        return it(3)
    return it(5)
Refused = Exception
def refuse(): raise Exception("no")
"""
GRASPS = {
    "frame": ("if name == \"generator\": return", "if name == \"generator\": return it.gi_frame.f_globals['WANT'] or"),
    "swallowed": ("    return it(5)", "    if name != 'function' or it.__name__ != 'check': return it(5)\n    try: it(6)\n    except BaseException: pass"),
    "partial": ("    return it(5)", "    return it.args[0] if hasattr(it, 'args') else it(5) - 1"),
    "stream": ('return it.write("1")', "it.getvalue = lambda: '1'"),
    "mock's verdict": ("it.child.go(4)", "it.child.go.assert_called_once_with = print"),
    "mock's child": ("it.child.go(4)", "it.child.go = type('C', (), {'assert_called_once_with': print})()"),
    "mock's calls": ("return it(3)", "it.return_value = it.side_effect = 27; return it(2)"),
    "mock's reset": ("return it(3)", "it(2); it.reset_mock(); return it(3)"),
    "every error": ("raise Exception", "return print"),
}  # fmt: skip


async def test_who_is_given_an_object_may_use_it_and_not_more() -> None:
    """Each kind allows what its honest use needs; frames, verdicts and what the tests raise are out of reach."""
    honest = await scored(TAKES, GIVES)
    assert (honest.score, honest.detail, honest.trust) == (1.0, "", Trust.SEPARATE)
    for name, edit in GRASPS.items():
        assert edit[0] in TAKES
        result = await scored(TAKES.replace(*edit), GIVES)
        assert (result.score, result.reason) == (0.0, Reason.SCORER_REJECTED), (name, result.detail)


async def test_what_the_candidate_makes_too_large_is_its_failure() -> None:
    """Its own answer passed back, or a callback that it makes overflow, is no reason to give no score."""
    back = "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f([f(lambda x: x * 2)]), 16)\n"
    for candidate in (
        "def f(x): return 'x' * 8388400 if not isinstance(x, list) else 1\n",
        "def f(g):\n    try: g('x' * 5000000)\n    except BaseException: pass\n    return 1\n",
        "t = ()\nfor _ in range(44): t = (t,)\ndef f(x): return t\n",
    ):
        result = await scored(candidate, back)
        assert (result.score, result.reason) == (0.0, Reason.SCORER_REJECTED), result.detail
    record = "import unittest\nfrom node import Node\nfrom solution import f\nclass T(unittest.TestCase):\n    def test(self): self.assertTrue(f(Node(1)).same(2))\n"
    node = NODE + "    def same(self, value): return self.value == value\n"
    for body, score in (("n.same = lambda value: True", 0.0), ("n.value = 2", 1.0)):
        files = {"test_it.py": record, "node.py": node}
        assert (await scored(f"def f(n):\n    {body}\n    return n\n", record, files=files)).score == score


KIN = """
import enum
class AppError(ValueError): pass
class MissingError(AppError): pass
class DeepError(MissingError): pass
class Coded:
    code = 5
class CodedError(Coded, KeyError): pass
class Animal:
    def legs(self): return 4
class Mammal(Animal): pass
class Dog(Mammal): pass
class Plain(dict): pass
class Shown(Coded, Plain): pass
class Size(Coded, int): pass
def fail(code=0): raise (CodedError if code else DeepError)(code)
def fetch(): return [DeepError("x"), Dog(), Shown(), Size(3)]
def huge(): return Dog(), "x" * 9_000_000
def dog(): return Dog()
"""
KINDRED = """
import unittest
import solution
class T(unittest.TestCase):
    def test_an_error(self):
        with self.assertRaises(ValueError): solution.fail()
        with self.assertRaises(solution.AppError): solution.fail()
        with self.assertRaises(KeyError) as caught: solution.fail(1)
        self.assertIsInstance(caught.exception, solution.Coded)
    def test_objects(self):
        error, dog, shown, size = solution.fetch()
        self.assertIsInstance(error, solution.AppError)
        self.assertIsInstance(dog, solution.Animal)
        self.assertNotIsInstance(dog, solution.Coded)
        self.assertIsInstance(shown, solution.Coded)
        self.assertIsInstance(size, solution.Coded)
        self.assertTrue(issubclass(solution.Shown, (solution.Coded, str)))
        self.assertTrue(issubclass(solution.Dog, solution.Animal) and not issubclass(solution.Animal, solution.Dog))
"""
KINDRED_LATE = "import unittest\nimport solution\nclass T(unittest.TestCase):\n    @unittest.expectedFailure\n    def test_a_huge(self): solution.huge()\n    def test_b(self): self.assertIsInstance(solution.dog(), solution.Animal)\n"


async def test_classes_derive_as_they_do_where_the_candidate_is() -> None:
    """Whichever of them is met first, with what was not said, and from what a stand-in cannot derive."""
    for suite in (KINDRED, KINDRED_LATE):
        result = await scored(KIN, suite, isolate="sandbox")  # in one process, nothing is too large to cross
        assert (result.score, result.detail, result.trust) == (1.0, "", Trust.SEPARATE)


VALUED = """
import enum
from collections import Counter
class Folded(dict):
    def __setitem__(self, key, value): super().__setitem__(key.lower(), value)
    def __getitem__(self, key): return super().__getitem__(key.lower())
    def __contains__(self, key): return super().__contains__(key.lower())
class Bag(Counter):
    def __len__(self): return sum(self.values())
class Text(str):
    def __eq__(self, other): return self.lower() == other.lower()
    def __ne__(self, other): return not self == other
    def __hash__(self): return hash(self.lower())
    def __bool__(self): return bool(self.strip())
class Version(str):
    def __lt__(self, other): return list(map(int, self.split("."))) < list(map(int, other.split(".")))
class Ordered(list):
    def __iter__(self): return iter(sorted(list.__iter__(self)))
class Frozen(dict):
    def __hash__(self): return hash(tuple(self.items()))
class Rank(str, enum.Enum):
    LOW = "low"
    HIGH = "high"
    def __lt__(self, other): return self is Rank.LOW and other is Rank.HIGH
def solve(n): return Ordered(n)
def text(word): return Text(word)
"""
OF_VALUES = """
import unittest
from solution import Bag, Folded, Frozen, Ordered, Rank, Text, Version
class T(unittest.TestCase):
    def test_containers(self):
        folded = Folded()
        folded["Foo"] = 1
        self.assertEqual((folded["FOO"], folded), (1, {"foo": 1}))
        self.assertIn("FOO", folded)
        self.assertNotIn("bar", folded)
        bag = Bag()
        self.assertFalse(bag)
        bag["a"] += 2
        self.assertEqual(len(bag), 2)
        self.assertEqual(list(Ordered([3, 1, 2])), [1, 2, 3])
        self.assertEqual({Frozen(a=1): 2}[Frozen(a=1)], 2)
    def test_texts(self):
        self.assertEqual(Text("Foo"), Text("foo"))
        self.assertNotEqual(Text("Foo"), Text("bar"))
        self.assertEqual(len({Text("a"), Text("A")}), 1)
        self.assertFalse(Text(" "))
        self.assertEqual(sorted(map(Version, ["1.10", "1.9"])), ["1.9", "1.10"])
        self.assertLess(Rank.LOW, Rank.HIGH)
"""
VALUED_LIARS = """
class Ordered(list):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __len__(self): return 3
    def __contains__(self, item): return True
    __lt__ = __gt__ = __eq__
class Text(str):
    def __eq__(self, other): return type(other) is Text
    def __ne__(self, other): return False
    def __hash__(self): return hash("right")
def solve(n): return Ordered([5])
def text(word): return Text("wrong")
"""
OF_LIARS = """
import unittest
from solution import Ordered, Text, solve, text
class T(unittest.TestCase):
    def test(self):
        self.assertFalse(solve(3) == [1, 2, 3] or Ordered([4]) == [1, 2, 3] or Ordered([4]) == Ordered([5]))
        self.assertFalse(solve(3) == Ordered([1, 2, 3]) or Ordered([1, 2, 3]) == solve(3) or 7 in solve(3))
        self.assertFalse(text("a") == "right" or Text("a") == "right" or "right" in {text("a"), Text("a")})
        self.assertFalse(text("a") == Text("right") or Text("right") == text("a"))
        self.assertFalse(solve(3) < [1] or solve(3) > [7] or len(solve(3)) == 3)
        self.assertIn(7, Ordered([1]))  # what the suite made of a class says what that class says
"""


async def test_named_classes_of_values_have_their_own_methods() -> None:
    """What the suite made of them shows what they are; a plain value, and what a call gave, are compared as values."""
    for candidate, suite, isolate in ((VALUED, OF_VALUES, "auto"), (VALUED_LIARS, OF_LIARS, "sandbox")):
        result = await scored(candidate, suite, isolate=isolate)  # in the suite's own process, nothing refuses
        # objects are compared by their own methods
        assert (result.score, result.detail, result.trust) == (1.0, "", Trust.SHARED)


SEEN = """
import enum, time
class Perm(enum.Flag):
    R = enum.auto()
    W = enum.auto()
class Bits(enum.IntFlag):
    A = 1
    B = 2
class Window:
    def __init__(self, data): self.data = data
    def __len__(self): return len(self.data)
    def __iter__(self): return iter(self.data)
    def __bool__(self): return bool(self.data)
class _View(Window): pass
def view(data): return _View(data)
class Cache:
    def __init__(self): self.until = time.monotonic() + 0.2
    def __len__(self): return int(time.monotonic() < self.until)
def cache(): return Cache()
class Bus:
    def __init__(self): self.handlers = []
    def on(self, handler): self.handlers.append(handler)
    def off(self, handler): self.handlers.remove(handler)
    def emit(self, value):
        for handler in self.handlers: handler(value)
"""
OF_SEEN = """
import asyncio, threading, unittest
from solution import Bits, Bus, Cache, Perm, Window, cache, view
class Handler:
    def __init__(self): self.got = []
    def take(self, value): self.got.append(value)
class T(unittest.IsolatedAsyncioTestCase):
    def test_flags(self):
        self.assertFalse(Perm.R & Perm.W)
        self.assertEqual((Bits.A | Bits.B, Bits.A & Bits.B, (Perm.R | Perm.W).value), (3, 0, 3))
        self.assertIn(Perm.R, Perm.R | Perm.W)
        self.assertIs(Perm.R & Perm.W, Perm(0))
        self.assertEqual((Perm.R & Perm.W) | Perm.R, Perm.R)
    def test_shared(self):
        data = [1, 2]
        for window in (Window(data), view(data)):
            self.assertEqual((len(window), list(window), bool(window)), (2, [1, 2], True))
            data.append(3)
            self.assertEqual((len(window), list(window)), (3, [1, 2, 3]))
            data.clear()
            self.assertFalse(window)
            data.extend([1, 2])
    async def test_time(self):
        found = cache()
        self.assertEqual(len(found), 1)
        await asyncio.sleep(0.25)
        self.assertEqual(len(found), 0)
    def test_event(self):
        found = cache()
        self.assertEqual(len(found), 1)
        threading.Event().wait(0.25)
        self.assertEqual(len(found), 0)
    def test_methods(self):
        bus, handler, got = Bus(), Handler(), []
        bus.on(got.append)
        bus.on(handler.take)
        bus.emit(1)
        bus.off(got.append)
        bus.off(handler.take)
        bus.emit(2)
        self.assertEqual((got, handler.got), ([1], [1]))
"""
WAVERS = """
log = []
letters = {"a", "b", "c"}
class Key:
    def __hash__(self): return len(letters)
    def __eq__(self, other): return self is other
class Waverer:
    def __init__(self): self.n = 0
    def __iter__(self):
        log.append(1)
        self.n += 1
        return iter([1] * (3 if self.n == 1 else 5))
    def __str__(self):
        log.append(2)
        letters.add(Key())
        self.n += 1
        return str(self.n)
def waver(): return Waverer(), log, letters
"""
OF_WAVERS = """
import unittest
from solution import waver
class T(unittest.TestCase):
    def test(self):
        found, log, letters = waver()
        self.assertEqual(str(found), str(found))
        self.assertEqual(len(list(found)), len(list(found)))
        self.assertEqual(str(found), str(found))
"""


async def test_looks_see_what_the_suite_does() -> None:
    """A list that it changes and a time that it waits; flags without a name, and bound methods; and no more than that."""
    for candidate, suite in ((SEEN, OF_SEEN), (WAVERS, OF_WAVERS)):
        result = await scored(candidate, suite, isolate="sandbox")  # in one process, each look is another
        assert (result.score, result.detail, result.trust) == (1.0, "", Trust.SHARED)


WAITING = """
import asyncio, queue
class Queue:
    def __init__(self): self.items = queue.Queue()
    def put(self, item): self.items.put(item)
    def get(self, timeout=None): return self.items.get(timeout=timeout)
class Gate:
    def __init__(self): self.event = asyncio.Event()
    async def passed(self):
        await self.event.wait()
        return 1
    async def open(self): self.event.set()
async def retry(function, times):
    for _ in range(times):
        try: return await function()
        except ValueError: pass
"""
OF_QUEUES = """
import threading, unittest
from solution import Queue
class T(unittest.TestCase):
    def test(self):
        queue, got = Queue(), []
        thread = threading.Thread(target=lambda: got.append(queue.get()), daemon=True)
        thread.start()
        queue.put(5)
        thread.join()
        self.assertEqual(got, [5])
"""
OF_TIMED_JOINS = """
import threading, unittest
from solution import Queue
class T(unittest.TestCase):
    def test(self):
        queue, got = Queue(), []
        threads = [threading.Thread(target=lambda: got.append(queue.get())), threading.Thread(target=queue.put, args=(5,))]
        for thread in threads: thread.start()
        for thread in threads: thread.join(1)
        self.assertEqual(got, [5])
"""
OF_GATES = """
import asyncio, unittest
from solution import Gate
class T(unittest.IsolatedAsyncioTestCase):
    async def test(self):
        gate = Gate()
        self.assertEqual((await asyncio.wait_for(asyncio.gather(gate.passed(), gate.open()), 1))[0], 1)
"""
OF_RETRIES = """
import asyncio, unittest
from solution import retry
class T(unittest.IsolatedAsyncioTestCase):
    async def test(self):
        async def work():
            await asyncio.sleep(0.01)
            return "ok"
        self.assertEqual(await retry(work, 5), "ok")
"""
WRONG = {
    OF_QUEUES: ("items.put(item)", "items"),
    OF_TIMED_JOINS: ("items.put(item)", "items"),
    OF_GATES: ("return 1", "return 2"),
    OF_RETRIES: ("await function()", "5"),
}


@pytest.mark.parametrize(
    "suite",
    [OF_QUEUES, OF_TIMED_JOINS, OF_GATES, OF_RETRIES],
    ids=["threads", "joined for a while", "gathered", "awaited"],
)
async def test_what_waits_for_the_suite_is_no_failure(suite: str) -> None:
    """There is no score for who passes in the suite's process, 0 for who does not, and less isolation with a gold."""
    right = await scored(WAITING, suite, timeout_seconds=1.0, scorer_timeout_seconds=3.0)
    assert (right.score, right.reason) == (None, Reason.SCORER_ERROR), right.detail
    assert "cannot be run" in right.detail
    wrong = WAITING.replace(*WRONG[suite])
    for candidate, score in ((wrong, 0.0), (WAITING, 1.0)):  # the isolation is decided once
        result = await scored(candidate, suite, timeout_seconds=1.0, scorer_timeout_seconds=3.0, gold=WAITING)
        assert (result.score, result.trust, str(result.validity)) == (score, Trust.SHARED, "valid"), result.detail
