# ruff: noqa: E501 (programs are text, not code of ours)
"""Ordinary programs that stand-ins once refused with a valid 0: they are served, or the run in one process decides."""

from __future__ import annotations

import re
import textwrap

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED
WRAPPED = "import functools\ndef count(f):\n    @functools.wraps(f)\n    def inner(*a):\n        inner.calls += 1\n        if a not in inner.cache: inner.cache[a] = f(*a)\n        return inner.cache[a]\n    inner.calls, inner.cache = 0, {}\n    return inner\ndef add(a: int, b: int = 2) -> int: return a + b\nadd.unit = 'm'\n"
ERRORS = "class AppError(Exception):\n    status = 500\n    def __init__(self, code, *a):\n        super().__init__(code, *a)\n        self._code = code\n    @property\n    def code(self): return self._code\n    def is_client(self): return 400 <= self.status < 500\n    def __repr__(self): return f'<{self.code}>'\n    def __eq__(self, o): return isinstance(o, AppError) and self.code == o.code\nclass NotFound(AppError): status = 404\nclass Stop(BaseException): pass\ndef find(x): raise NotFound(x)\ndef read(p): open(p)\ndef stop(): raise Stop('now')\ndef noted():\n    e = ValueError('x')\n    e.add_note('more')\n    raise e\n"
CLASSES = "import abc, enum\nfrom collections import UserDict\nfrom collections.abc import Mapping\nclass Shape(abc.ABC):\n    __slots__ = ('_r',)\n    @abc.abstractmethod\n    def area(self): ...\nclass Circle(Shape):\n    __match_args__ = ('r',)\n    unit: str = 'm'\n    def __init__(self, r): self._r = r\n    @property\n    def r(self):\n        'The radius.'\n        return self._r\n    def area(self):\n        'Its area.'\n        return 3 * self._r ** 2\n    @staticmethod\n    def one(): return Circle(1)\n    def __fspath__(self): return 'c'\nclass Level(enum.IntEnum):\n    LOW = 1\nclass Meta(type): pass\nclass Made(metaclass=Meta): pass\nclass Table(Mapping):\n    def __init__(self, d): self.d = d\n    def __getitem__(self, k): return self.d[k]\n    def __iter__(self): return iter(self.d)\n    def __len__(self): return len(self.d)\n"
SERVED = {
    "functions": (WRAPPED, "seen = []\n@count\ndef sq(x):\n    seen.append(x)\n    return x * x\nself.assertEqual(([sq(2), sq(2)], seen, sq.calls, sq.cache), ([4, 4], [2], 2, {(2,): 4}))\nself.assertEqual(sq.__wrapped__(3), 9)\nself.assertEqual((add.unit, add.__annotations__, add.__defaults__), ('m', {'a': int, 'b': int, 'return': int}, (2,)))\nadd.unit = 'km'\nself.assertEqual(add.unit, 'km')\nself.assertTrue(inspect.isfunction(add) and isinstance(add, types.FunctionType))\nself.assertFalse(hasattr(add, 'cache'))"),
    "exceptions": (ERRORS, "with self.assertRaises(NotFound) as c: find(7)\ne = c.exception\nself.assertEqual((e.code, e._code, e.status, NotFound.status, e.is_client(), repr(e)), (7, 7, 404, 404, True, '<7>'))\nself.assertEqual((NotFound(7), NotFound(8).code), (e, 8))\nself.assertNotEqual(e, NotFound(8))\nwith self.assertRaises(FileNotFoundError) as c: read('/nope')\nself.assertEqual((c.exception.errno, c.exception.filename), (2, '/nope'))\nwith self.assertRaises(ValueError) as c: noted()\nself.assertEqual(c.exception.__notes__, ['more'])\nwith self.assertRaises(Stop): stop()"),
    "classes": (CLASSES, "self.assertTrue(issubclass(Circle, abc.ABC) and issubclass(Level, enum.Enum) and isinstance(Made, Meta))\nself.assertIsInstance(Level.LOW, int)\nself.assertIsInstance(Level.LOW, enum.Enum)\nself.assertNotIsInstance(Circle(1), int)\nself.assertIsInstance(Table({}), collections.abc.Mapping)\nself.assertEqual(Table({'a': 1}), {'a': 1})\nself.assertNotEqual(Table({'a': 1}), {'a': 2})\nself.assertEqual([c.__name__ for c in Circle.__mro__], ['Circle', 'Shape', 'ABC', 'object'])\nself.assertEqual((Circle.__bases__, Shape.__slots__, Circle.__annotations__), ((Shape,), ('_r',), {'unit': str}))\nself.assertFalse(hasattr(Level, '__slots__') and Level.__slots__)\nself.assertIsInstance(Circle.r, property)\nself.assertIsInstance(vars(Circle)['one'], staticmethod)\nself.assertEqual((Circle.r.__doc__, Circle(1).area.__doc__, os.fspath(Circle(2))), ('The radius.', 'Its area.', 'c'))\nmatch Circle(4):\n    case Circle(r): self.assertEqual(r, 4)\n    case _: self.fail()"),
    "values": ("import re\nfrom datetime import datetime, timedelta, timezone\nfrom pathlib import Path\nWORD = re.compile(r'[a-z]+', re.I)\ndef join(a, b): return Path(a) / b\ndef at(): return datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1), 'CET'))\nclass L(list): pass\n", "self.assertEqual(join('a', 'b'), pathlib.Path('a/b'))\nself.assertTrue(re.fullmatch(WORD, 'Abc'))\nself.assertEqual(at().tzname(), 'CET')\nself.assertEqual(copy.copy(L([1])), [1])"),
    "signature of what is wrapped": ("import functools\ndef logged(f):\n    @functools.wraps(f)\n    def inner(*given, **named): return f(*given, **named)\n    return inner\n", "def add(a, b=2, *, c='x'): return a + b\nself.assertEqual((logged(add)(1), str(inspect.signature(logged(add)))), (3, \"(a, b=2, *, c='x')\"))"),
    "patches": ("import os, random\ndef roll(): return random.randint(1, 6)\ndef there(p): return os.path.exists(p)\n", "with mock.patch('solution.random.randint', return_value=9) as m: self.assertEqual(roll(), 9)\nm.assert_called_once_with(1, 6)\nwith mock.patch('solution.os.path.exists', return_value=True): self.assertTrue(there('/nope'))\nself.assertIn(roll(), range(1, 7))"),
    "the end of a loop, for itself": ("def first(xs): return next(iter(xs))\ndef raises(kind, f):\n    try: f()\n    except kind: return True\n    return False\n", "self.assertTrue(raises(StopIteration, lambda: first([])))\nself.assertFalse(raises(StopIteration, lambda: first([1])))"),
    "documentation of its own": ("class Curried:\n    'A class.'\n    def __init__(self, f): self.f, self.__doc__ = f, f.__doc__\nclass Plain:\n    'Plain.'\ndef curry(f): return Curried(f)\n", "def add():\n    'Adds.'\nself.assertEqual((curry(add).__doc__, Curried.__doc__, Plain().__doc__, Plain.__doc__), ('Adds.', 'A class.', 'Plain.', 'Plain.'))"),
    "a list that is a key": ("class Key(list):\n    def __init__(self, key):\n        self[:] = key\n        self.value = hash(tuple(key))\n    def __hash__(self): return self.value\ndef make(): return {Key(['a']): 1, Key(['b', 1]): 2}\n", "self.assertEqual(sorted(make().values()), [1, 2])\nself.assertEqual([list(key) for key in make()], [['a'], ['b', 1]])"),
    "forked children": ("import os, sys\ndef leave(): sys.exit(3)\ndef fail(): raise ValueError\ndef parent(end, n):\n    child = os.fork()\n    if child == 0: end()\n    else:\n        os.waitpid(child, 0)\n        return n\ndef one(): return parent(leave, 1)\ndef two(): return parent(fail, 2)\n", "self.assertEqual((one(), two(), one()), (1, 2, 1))"),
    "threads": ("import threading\nfrom concurrent.futures import ThreadPoolExecutor\ndef pmap(f, xs):\n    with ThreadPoolExecutor(4) as pool: return list(pool.map(f, xs))\ndef later(f): threading.Timer(0.01, f).start()\n", "self.assertEqual(pmap(lambda x: x * x, range(20)), [x * x for x in range(20)])\ncalled = []\nlater(lambda: called.append(1))\nfor _ in range(200):\n    if called: break\n    time.sleep(0.02)\nself.assertEqual(called, [1])"),
}  # fmt: skip
LATER = "import threading\ndef later(f, t=0.05):\n    x = threading.Timer(t, f)\n    x.start()\n    return x\ndef both(f): [later(f, 0) for _ in range(2)]\n"
WAITS = {
    "event": "e = threading.Event()\nlater(e.set)\nself.assertTrue(e.wait(60))",
    "event without an end": "e = threading.Event()\nlater(lambda: e.set())\nself.assertTrue(e.wait())",
    "queue": "q = queue.Queue()\nlater(lambda: q.put(1))\nself.assertEqual(q.get(timeout=60), 1)",
    "queue in C": "q = queue.SimpleQueue()\nlater(lambda: q.put(1))\nself.assertEqual(q.get(timeout=60), 1)\nself.assertIsInstance(q, queue.SimpleQueue)",
    "condition": "c, got = threading.Condition(threading.Lock()), []\ndef put():\n    with c:\n        got.append(1)\n        c.notify()\nlater(put)\nwith c: self.assertTrue(c.wait_for(lambda: got, 60))",
    "semaphore": "s = threading.Semaphore(0)\nlater(s.release)\nself.assertTrue(s.acquire(timeout=60))",
    "lock": "lock = threading.Lock()\nlock.acquire()\nlater(lambda: lock.release())\nself.assertTrue(lock.acquire(timeout=60))\nself.assertFalse(lock.acquire(False))",
    "future": "f = concurrent.futures.Future()\nlater(lambda: f.set_result(5))\nself.assertEqual(f.result(60), 5)",
    "thread of its own": "e = threading.Event()\nt = threading.Thread(target=e.wait)\nt.start()\nlater(e.set)\nt.join(60)\nself.assertTrue(e.is_set() and not t.is_alive())",
    "functions that wait for each other": "b, e = threading.Barrier(2), threading.Event()\ndef meet():\n    b.wait(60)\n    e.set()\nboth(meet)\nself.assertTrue(e.wait(60))",
    "event loop": "async def main():\n    e, loop = asyncio.Event(), asyncio.get_running_loop()\n    later(lambda: loop.call_soon_threadsafe(e.set))\n    return await asyncio.wait_for(e.wait(), 60)\nself.assertTrue(asyncio.run(main()))",
    "no event loop in a thread": "seen = []\ndef look():\n    try: asyncio.get_running_loop()\n    except RuntimeError: seen.append(1)\nasync def main():\n    later(look)\n    for _ in range(6000):\n        if seen: return\n        await asyncio.sleep(0.01)\nasyncio.run(main())\nself.assertEqual(seen, [1])",
}  # fmt: skip
STACK = "class Stack:\n    def __init__(self, items=()): self.items = list(items)\n    @classmethod\n    def of(cls, *items): return cls(items)\n    def __len__(self): return len(self.items)\n    def __contains__(self, x): return x in self.items\n    def __bool__(self): return bool(self.items)\n    def __sub__(self, n): return len(self.items) - n\n    def __eq__(self, o): return len(self.items) == (o if isinstance(o, int) else len(o.items))\ndef make(*items): return Stack(items)\n"
FACTORY = ("class Bag:\n" + STACK.partition("\n")[2]).replace("Stack(items)", "Bag(items)")
UNSERVED = {
    "count of a factory": (FACTORY, "self.assertEqual(len(make(1, 2)), 2)", "len(self.items)", "0"),
    "item of a factory": (FACTORY, "self.assertTrue(2 in make(1, 2) and 3 not in make(1, 2))", "x in self.items", "x == 1"),
    "truth of a factory": (FACTORY, "self.assertTrue(make(1))\nself.assertFalse(make())", "bool(self.items)", "False"),
    "item of a class method": (STACK, "self.assertIn(2, Stack.of(1, 2))", "x in self.items", "x == 1"),
    "operator of a class method": (STACK, "self.assertEqual(Stack.of(1, 2) - 1, 1)", "- n", "+ n"),
    "equality of a class method": (STACK, "self.assertTrue(Stack.of(1, 2) == 2)", "==", "!="),
    "own object": ("from types import SimpleNamespace\ndef make(): return SimpleNamespace(a=1)\n", "self.assertEqual(make(), types.SimpleNamespace(a=1))", "a=1", "a=2"),
    "time zone": ("import datetime\nclass Zone(datetime.tzinfo):\n    def utcoffset(self, t): return datetime.timedelta(hours=1)\n    def dst(self, t): return None\n", "self.assertEqual(datetime.datetime(2024, 1, 1, tzinfo=Zone()).utcoffset(), datetime.timedelta(hours=1))", "hours=1", "hours=2"),
    "long text": ("def make(): return 'x' * 10_000_000\n", "self.assertEqual(len(make()), 10_000_000)", "* 10_", "* 9_"),
    "many items": ("def make(): return [i * i for i in range(1_000_000)]\n", "self.assertEqual(make()[-1], 999_999 ** 2)", "range(1_", "range(2_"),
    "descriptor": ("class Positive:\n    def __set_name__(self, owner, name): self.name = '_' + name\n    def __get__(self, o, t=None): return getattr(o, self.name)\n    def __set__(self, o, v):\n        if v <= 0: raise ValueError(v)\n        setattr(o, self.name, v)\n", "class A: x = Positive()\na = A()\na.x = 3\nself.assertEqual(a.x, 3)", "setattr(o, self.name, v)", "setattr(o, self.name, 1)"),
}  # fmt: skip
LIARS = {
    "all is in it": ("class Bag:\n    def __contains__(self, x): return True\ndef f(x): return Bag()\n", "self.assertIn(7, f(2))"),
    "difference is none": ("class Stack:\n    def __sub__(self, o): return 0\ndef f(x): return Stack()\n", "Stack(); self.assertEqual(f(1) - 3, 0)"),
    "a function that never calls back": ("def later(f): pass\n", "e = threading.Event()\nlater(e.set)\nself.assertTrue(e.wait(0.5))"),
    "a function that dies": ("import os\ndef f(x): os._exit(0)\n", "self.assertEqual(f(1), 2)"),
}  # fmt: skip


def suite_of(candidate: str, body: str) -> str:
    """A suite of one test, which imports the candidate's names that it uses."""
    lines = [line.split()[1] for line in candidate.splitlines() if line.startswith(("class ", "def "))]
    names = [re.split(r"\W", name)[0] for name in lines] + ["WORD"]
    used = ", ".join(name for name in names if re.search(rf"\b{name}\b", body))
    imported = "import abc, asyncio, collections.abc, concurrent.futures, copy, datetime, enum, inspect, os, pathlib, queue, re, threading, time, types, unittest\nfrom unittest import mock"
    head = f"{imported}\nfrom solution import {used}\nclass T(unittest.TestCase):\n    def test(self):\n"
    return head + textwrap.indent(body, " " * 8) + "\n"


@pytest.mark.parametrize("name", SERVED)
async def test_what_is_served_is_paid(name: str) -> None:
    """With values that were judged where the candidate is not."""
    candidate, body = SERVED[name]
    result = await scored(candidate, suite_of(candidate, body))
    assert (result.score, result.detail) == (1.0, "")


@pytest.mark.parametrize("name", WAITS)
async def test_threads_of_the_candidates_call_while_the_suite_waits(name: str) -> None:
    """Whatever it waits for is not locked meanwhile."""
    result = await scored(LATER, suite_of(LATER, WAITS[name]))
    assert (result.score, result.trust, result.detail) == (1.0, Trust.SEPARATE, "")


BEGUN = "import threading\nmarked = threading.Event()\ndef mark(): marked.set()\ndef start(f):\n    threading.Thread(target=f).start()\n    marked.wait()\n"
STANDS = "go, done = threading.Event(), threading.Event()\ndef work():\n    mark()\n    go.wait()\n    done.set()\nstart(work)\ngo.set()\nself.assertTrue(done.wait(1))"


@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
async def test_a_suite_that_waits_for_ever_is_no_valid_nothing(is_right: bool) -> None:
    """Its function waits for what it does itself after the call in which the candidate's thread has called that one."""
    candidate = BEGUN if is_right else BEGUN.replace("target=f", "target=mark")
    result = await scored(candidate, suite_of(candidate, STANDS), scorer_timeout_seconds=2)
    assert (result.score, str(result.validity)) == ((None, "invalid") if is_right else (0.0, "valid")), result.detail
    assert ("it waits for what no thread does" in result.detail) == is_right


CROWD = "from concurrent.futures import ThreadPoolExecutor\ndef pmap(f, n):\n    with ThreadPoolExecutor(n) as pool: return list(pool.map(f, range(n)))\n"
MEETS = "b = threading.Barrier(30)\nself.assertEqual(sorted(pmap(lambda x: b.wait(2), 30)), list(range(30)))"


async def test_more_functions_that_wait_than_are_heard_are_no_valid_nothing() -> None:
    """Each of them waits within the one before."""
    result = await scored(CROWD, suite_of(CROWD, MEETS))
    assert (result.score, str(result.validity)) == (None, "invalid"), result.detail
    assert "too many functions" in result.detail


@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
@pytest.mark.parametrize("name", UNSERVED)
async def test_what_is_not_served_is_no_valid_nothing(name: str, is_right: bool) -> None:
    """The run in one process decides: right programs have no score and the reason, wrong ones their 0."""
    candidate, body, right, wrong = UNSERVED[name]
    if not is_right:
        candidate = candidate.replace(right, wrong)
    result = await scored(candidate, suite_of(candidate, body))
    found = (result.score, str(result.validity), "cannot be run" in result.detail)
    assert found == ((None, "invalid", True) if is_right else (0.0, "valid", False)), result.detail


@pytest.mark.parametrize("name", LIARS)
async def test_no_excuse_is_bought(name: str) -> None:
    """Who says yes to everything, or dies, has a valid 0 and the reason."""
    candidate, body = LIARS[name]
    result = await scored(candidate, suite_of(candidate, body))
    assert (result.score, str(result.validity)) == (0.0, "valid"), result.detail
    assert result.detail.startswith("test_it.T.test: ")
