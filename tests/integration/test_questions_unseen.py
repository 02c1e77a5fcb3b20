# ruff: noqa: E501 (programs are text, not code of ours)
"""What an object of the candidate's is asked about besides the tests' own values leaves no trace for the tests."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged
from test_unittest_suites import scored

from harena.core.results import RunResult
from harena.scoring import load_scenarios

pytestmark = SHARED

LOCKED = "import threading\nclass Counter:\n    def __init__(s): s.lock, s.value = threading.Lock(), 0\n    def __iadd__(s, n):\n        with s.lock: s.value += n\n        return s\n"
COUNTING = "c = Counter()\nc += 5\nassert c.value == 5\nc += 2\nassert c.value == 7"
ACCOUNT = "class Account:\n    def __init__(s): s.lock, s.balance, s.history = threading.RLock(), 0, []\n    def __iadd__(s, n): s.balance += n; s.history.append(n); return s\n    def __isub__(s, n): s.balance -= n; s.history.append(-n); return s\n"
RIGHT = {
    "a counter with a lock": (COUNTING, LOCKED),
    "a stream": ("q = Q()\nq << 1 << 2\nassert list(q) == [1, 2]", "import threading\nclass Q:\n    def __init__(s): s.l, s.x = threading.RLock(), []\n    def __lshift__(s, v):\n        with s.l: s.x.append(v)\n        return s\n    def __iter__(s): return iter(list(s.x))\n"),
    "one object for all": ("c = Config()\nc += 5\nassert Config().total == 5\nc |= {'a': 1}\nassert Config().data == {'a': 1}", "class Config:\n    made = None\n    def __new__(cls):\n        if cls.made is None:\n            cls.made = super().__new__(cls); cls.made.total, cls.made.data = 0, {}\n        return cls.made\n    def __iadd__(s, n): s.total += n; return s\n    def __ior__(s, d): s.data = {**s.data, **d}; return s\n"),
    "a cache that counts": ("c = Cache()\nc.put('a', 1)\nassert 'a' in c\nassert 'b' not in c\nassert (c.hits, c.misses) == (1, 1)", "class Cache:\n    def __init__(s): s.d, s.hits, s.misses = {}, 0, 0\n    def put(s, k, v): s.d[k] = v\n    def __contains__(s, k):\n        if k in s.d: s.hits += 1; return True\n        s.misses += 1; return False\n"),
    "what is taken out": ("b = Bag('ab')\nassert 'a' in b and 'a' not in b and 'b' in b", "class Bag:\n    def __init__(s, x): s.x = list(x)\n    def __contains__(s, k):\n        if k not in s.x: return False\n        s.x.remove(k); return True\n"),
    "an equality that counts": ("s = Spy(7 - 4)\nassert s == 3\nassert s != 4\nassert s.compared == len('ab')", "class Spy:\n    def __init__(s, v): s.v, s.compared = v, 0\n    def __eq__(s, o): s.compared += 1; return s.v == o\n"),
    "an order that counts": ("k, j = Key(5), Key(6)\nassert k < 7\nassert k < j\nassert k.compares == 2", "class Key:\n    def __init__(s, v): s.v, s.compares = v, 0\n    def __lt__(s, o): s.compares += 1; return s.v < getattr(o, 'v', o)\n"),
    "a lock with attempts": ("l = Lock('1234')\nassert not l.equals('1111')\nassert l.equals('1234')\nassert l.attempts == 2", "class Lock:\n    def __init__(s, p): s.p, s.attempts = p, 0\n    def equals(s, o):\n        s.attempts += 1\n        if s.attempts > 2: raise RuntimeError('locked')\n        return s.p == o\n"),
    "a stock": ("s = Stock(10)\nr = s - 3\nassert r == 7\nassert s.n == 7\nassert s.moves == [3]", "import sqlite3\nclass Stock:\n    def __init__(s, n): s.n, s.moves, s.db = n, [], sqlite3.connect(':memory:')\n    def __sub__(s, k): s.n -= k; s.moves.append(k); return s.n\n"),
    "a registry": ("a = Node('x')\nb = a / 'y'\nassert b.path == 'x/y'\nassert Node.all == ['x', 'x/y']", "class Node:\n    all = []\n    def __init__(s, p): s.path = p; Node.all.append(p)\n    def __truediv__(s, o): return Node(s.path + '/' + o)\n"),
    "numbers in a row": ("a = Task('x')\nb = a + 'y'\nassert (a.id, b.id) == (1, 2)\nassert Task('z').id == 3", "import itertools\nclass Task:\n    n = itertools.count(1)\n    def __init__(s, t): s.t, s.id = t, next(Task.n)\n    def __add__(s, o): return Task(s.t + o)\n"),
    "a bus": ("got = []\nb = Bus()\nb.on(got.append)\nb @ 'hi'\nassert got == ['hi']", "class Bus:\n    def __init__(s): s.h = []\n    def on(s, f): s.h.append(f)\n    def __matmul__(s, m):\n        for f in s.h: f(m)\n        return len(s.h)\n"),
    "items that are logged": ("c = Lazy()\nassert 9 in c\nassert c.got == [0, 1, 2, 3]", "class Lazy:\n    def __init__(s): s.got = []\n    def __getitem__(s, i):\n        s.got.append(i)\n        if i > 9: raise IndexError\n        return i * i\n"),
    "a log in a file": ("import os\nj = Journal()\nj + 'a'\nj + 'b'\nassert open('journal.txt').read() == 'ab' and os.path.getsize('journal.txt') == 2", "class Journal:\n    def __init__(s): open('journal.txt', 'w').close()\n    def __add__(s, o):\n        with open('journal.txt', 'a') as f: f.write(o)\n        return s\n"),
    "an open file": ("import tempfile\nf = tempfile.TemporaryFile('w+')\no = Out(f)\no << 'hello' << 3\nf.seek(0)\nassert f.read() == 'hello3'", "class Out:\n    def __init__(s, f): s.f = f\n    def __lshift__(s, x): s.f.write(str(x)); s.f.flush(); return s\n"),
    "a socket": ("import socket\na, b = socket.socketpair()\no = Out(a)\no << 'hi'\nassert b.recv(100) == b'hi'", "class Out:\n    def __init__(s, f): s.f = f\n    def __lshift__(s, x): s.f.send(str(x).encode()); return s\n"),
    "a search without an end": ("f = Up()\nassert 720 in f and 24 in f and 700 not in f\nassert f > 10", "class Up:\n    def __contains__(s, n):\n        i = 0\n        while i < n or n > 10**6: i += 1\n        return n in (24, 720)\n    def __gt__(s, n):\n        while n > 10**6: n += 1\n        return n < 1000\n    def __lt__(s, n):\n        while n > 10**6: n += 1\n        return n > 1000\n"),
}  # fmt: skip


def suites(body: str) -> dict[str, str]:
    lines = body.split("\n")
    test = "".join(f"    {line}\n" for line in lines)
    case = "".join(f"        {line}\n" for line in lines)
    return {
        "pytest": f"from solution import *\ndef test_a():\n{test}",
        "unittest": f"import unittest\nfrom solution import *\nclass T(unittest.TestCase):\n    def test_a(self):\n{case}",
    }


async def of_asserts(candidate: str, tests: str, **fields: Any) -> RunResult:
    scoring = {"type": "command", "asserts": tests, **fields}
    (made,) = load_scenarios([{"id": "one", "candidate": candidate, "scoring": scoring}]).scenarios
    return await judged(made)


@pytest.mark.parametrize("name", RIGHT)
async def test_a_right_program_is_paid_whatever_its_operators_do(name: str) -> None:
    """They count, log, register, deliver, print, hold a lock, or never end for a large number."""
    body, candidate = RIGHT[name]
    found = await scored(candidate, suites(body)["pytest"], "pytest", isolate=False)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


@pytest.mark.parametrize("kind", ["pytest", "unittest", "asserts"])
@pytest.mark.parametrize("gold", [True, False])
async def test_it_is_paid_in_every_kind_of_suite(kind: str, gold: bool) -> None:
    """Also where the gold's objects have no lock."""
    body = (
        "a = Account()\na += 50\nassert a.balance == 50\na -= 20\nassert a.balance == 30\nassert a.history == [50, -20]"
    )
    fields: dict[str, Any] = {"gold": {"solution.py": ACCOUNT.replace("threading.RLock()", "None")}} if gold else {}
    candidate = "import threading\n" + ACCOUNT
    if kind == "asserts":
        found = await of_asserts(candidate, body, **fields)
    else:
        found = await scored(candidate, suites(body)[kind], kind, **fields)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


@pytest.mark.parametrize("name", ["a cache that counts", "an equality that counts", "a bus"])
async def test_a_right_program_has_no_valid_nothing_apart(name: str) -> None:
    """A stand-in asks as little of what counts; what it cannot serve is no score."""
    body, candidate = RIGHT[name]
    found = await scored(candidate, suites(body)["pytest"], "pytest")
    assert (found.score, str(found.validity)) in ((1.0, "valid"), (None, "invalid")), found.detail


async def test_assertions_of_unittest_ask_an_object_once() -> None:
    candidate = "class S:\n    def __init__(s, v): s.v, s.n = v, 0\n    def __eq__(s, o): s.n += 1; return s.v == o\n    def __ne__(s, o): s.n += 1; return s.v != o\n    def __lt__(s, o): s.n += 1; return s.v < o\n    def __contains__(s, o): s.n += 1; return o == s.v\n"
    body = "s = S(3)\nself.assertEqual(s, 3)\nself.assertNotEqual(s, 4)\nself.assertLess(s, 5)\nself.assertIn(3, s)\nself.assertNotIn(4, s)\nself.assertEqual(s.n, len('abcde'))"
    found = await scored(candidate, suites(body)["unittest"], "unittest", isolate=False)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


SLY = "import os\nHERE = os.getpid()\nclass E:\n    def __init__(s): s.n = 0\n    def __eq__(s, o): s.n += 1; return os.getpid() == HERE\n    def __lt__(s, o): s.n += 1; return os.getpid() == HERE\n    __gt__ = __contains__ = equals = __lt__\n    def __sub__(s, o): s.n += 1; return 0 if os.getpid() == HERE else o\n    __rsub__ = __xor__ = __sub__\ndef f(x): return E()\n"
EAGER = "class E:\n    def __init__(s): s.n = 0\n    def __eq__(s, o): s.n += 1; return True\n    def __lt__(s, o): s.n += 1; return True\n    __gt__ = __contains__ = equals = __lt__\n    def __sub__(s, o): s.n += 1; return 0\n    __rsub__ = __xor__ = __sub__\ndef f(x): return E()\n"
LIARS = {
    "equal to all": EAGER, "equal to all here": SLY,
    "one that ends copies": SLY.replace("os.getpid() == HERE", "os.getpid() == HERE or os._exit(0)"),
    "one that raises in copies": SLY.replace("os.getpid() == HERE", "os.getpid() == HERE or open('/none')"),
}  # fmt: skip
LIES = ("f(5) == 25", "f(5) < 25", "25 in f(5)", "f(5).equals(25)", "f(5) - 25 == 0", "abs(f(5) - 25) < 1e-6")


@pytest.mark.parametrize("name", LIARS)
async def test_a_liar_gains_nothing_by_a_copy(name: str) -> None:
    """Nor by knowing that it is asked in one."""
    for lie in LIES:
        found = await scored(LIARS[name], suites(f"assert {lie}")["pytest"], "pytest", isolate=False)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (lie, found.detail)
