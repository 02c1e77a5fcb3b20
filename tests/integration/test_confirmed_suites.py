# ruff: noqa: E501 (programs are text, not code of ours)
"""A suite that passes over stand-ins is run once more in one process: there is what a stand-in cannot show. And what a
suite does without any candidate is no excuse for one."""

from __future__ import annotations

import asyncio

import pytest
from test_unittest_suites import scored

from harena.core.results import Trust

HEAD = "import asyncio, inspect, signal, sys, threading, unittest\nimport solution\nfrom solution import *\n"


def suite(body: str) -> str:
    """One test, a coroutine where it awaits."""
    kind, word = ("IsolatedAsyncioTestCase", "async ") if "await " in body else ("TestCase", "")
    text = "\n".join("        " + line for line in body.splitlines())
    return f"{HEAD}class T(unittest.{kind}):\n    {word}def test_it(self):\n{text}\n"


BANK = """import asyncio
class Bank:
    def __init__(self): self.balance, self.lock = 100, asyncio.Lock()
    async def withdraw(self, n):
        async with self.lock:
            if self.balance >= n:
                await asyncio.sleep(0.01)
                self.balance -= n
                return True
        return False
"""
COUNTER = """import threading, time
class Counter:
    def __init__(self): self.value, self.lock = 0, threading.Lock()
    def increment(self):
        with self.lock:
            value = self.value
            time.sleep(0.002)
            self.value = value + 1
"""
SORTED = "def my_sort(values):\n    made = []\n    for value in values: made.insert(sum(1 for each in made if each <= value), value)\n    return made\n"
RACES = {
    "coroutines": (BANK, BANK.replace("async with self.lock:", "if True:"), "b = Bank()\nr = await asyncio.gather(b.withdraw(80), b.withdraw(80))\nself.assertEqual((sorted(r), b.balance), ([False, True], 20))"),
    "threads": (COUNTER, COUNTER.replace("with self.lock:", "if True:"), "c = Counter()\nts = [threading.Thread(target=c.increment) for _ in range(6)]\n[t.start() for t in ts]\n[t.join() for t in ts]\nself.assertEqual(c.value, 6)"),
}  # fmt: skip
OWN_OF_STAND_INS = {
    "annotations": ("def add(a: int, b: int) -> int: return a + b\n", "def add(a, b): return a + b\n", "self.assertEqual(add(1, 2), 3)\nself.assertIn('return', add.__annotations__)"),
    "code": (SORTED, "def my_sort(values): return sorted(values)\n", "self.assertEqual(my_sort([2, 1]), [1, 2])\nself.assertNotIn('sorted', my_sort.__code__.co_names)"),
    "slots": ("class P:\n    __slots__ = ('x',)\n    def __init__(self, x): self.x = x\n", "class P:\n    def __init__(self, x): self.x = x\n", "self.assertEqual(P(1).x, 1)\nself.assertTrue(hasattr(P, '__slots__'))"),
    "repr": ("class P:\n    def __init__(self, x): self.x = x\n    def __repr__(self): return f'P({self.x})'\n", "class P:\n    def __init__(self, x): self.x = x\n", "self.assertEqual(P(1).x, 1)\nself.assertNotIn('object at 0x', repr(P(1)))"),
    "errors": ("class E(Exception): pass\n", "class E(Exception):\n    def __eq__(self, o): return True\n    __hash__ = None\n", "self.assertNotEqual(E('a'), E('b'))"),
    "modules": ("def mean(x): return sum(x) / len(x)\n", "import statistics\ndef mean(x): return statistics.mean(x)\n", "self.assertEqual(mean([1, 3]), 2)\nself.assertNotIn('statistics', sys.modules)"),
    "globals": ("def f(x): return x\n", "kept = []\ndef f(x): kept.append(x); return x\n", "self.assertEqual(f(1), 1)\nself.assertEqual([n for n, v in vars(solution).items() if isinstance(v, list) and n[:2] != '__'], [])"),
    "signals": ("def f(): return 1\n", "import signal\ndef f(): signal.signal(signal.SIGTERM, signal.SIG_IGN); return 1\n", "h = signal.getsignal(signal.SIGTERM)\nself.assertEqual(f(), 1)\nself.assertEqual(signal.getsignal(signal.SIGTERM), h)"),
    "path": ("def f(): return 1\n", "import sys\ndef f(): sys.path.append('/x'); return 1\n", "p = list(sys.path)\nself.assertEqual(f(), 1)\nself.assertEqual(sys.path, p)"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*RACES, *OWN_OF_STAND_INS])
async def test_a_pass_over_stand_ins_is_confirmed(name: str) -> None:
    """What is not synchronised, and what a stand-in has of its own, fails in one process; a right program is paid, and
    its values were judged where it was not."""
    right, wrong, body = {**RACES, **OWN_OF_STAND_INS}[name]
    text = suite(body).replace("from solution import *", "from solution import " + body_names(right))
    paid, unpaid = await asyncio.gather(
        scored({"files": {"solution.py": right}}, text), scored({"files": {"solution.py": wrong}}, text)
    )
    # a stand-in does not serve `vars`: little is seen apart, and the pass in one process says so in its trust
    trust = Trust.SHARED if name == "globals" else Trust.SEPARATE
    assert (paid.score, paid.trust) == (1.0, trust), paid.detail
    assert (unpaid.score, str(unpaid.validity)) == (0.0, "valid"), unpaid.detail


def body_names(program: str) -> str:
    """What a program defines at its top."""
    return ", ".join(
        line.split()[1].split("(")[0].rstrip(":")
        for line in program.splitlines()
        if line.startswith(("def ", "class "))
    )


CONSTANTS = {
    "key": ("CONFIG = {'a': 1}\n", "CONFIG = {'a': 2}\n", "self.assertEqual(CONFIG['a'], 1)"),
    "members": ("NAMES = ['x']\n", "NAMES = ['y']\n", "self.assertIn('x', NAMES)"),
    "product": ("LIMIT = 5\n", "LIMIT = 6\n", "self.assertEqual(LIMIT * 2, 10)"),
    "difference": ("PI = 3.1416\n", "PI = 3\n", "self.assertLess(abs(PI - 3.14159), 1e-3)"),
    "subclass": ("class E(ValueError): pass\n", "class E(Exception): pass\n", "self.assertTrue(issubclass(E, ValueError))"),
    "instance": ("TABLE = {}\n", "TABLE = None\n", "self.assertTrue(isinstance(TABLE, dict))"),
    "function": ("def f(x): return x\n", "f = 3\n", "self.assertTrue(inspect.isfunction(f))"),
    "identity": ("FLAG = True\n", "FLAG = 1\n", "self.assertIs(FLAG, True)"),
    "document": ("TABLE = {'a': [1]}\n", "TABLE = {'a': {1}}\n", "import json\nself.assertEqual(json.dumps(TABLE), '{\"a\": [1]}')"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["unittest", "pytest"])
async def test_a_first_use_of_any_kind_asks_for_the_candidate(kind: str) -> None:
    """A test of a constant fails without any candidate, which proves no broken suite: the wrong one has a 0."""
    for name, (right, wrong, body) in list(CONSTANTS.items())[:: 4 if kind == "pytest" else 1]:
        names = right.split()[0] if " = " in right else body_names(right)
        text = suite(body).replace("from solution import *", f"from solution import {names}")
        found = await scored({"files": {"solution.py": wrong}}, text, kind)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (name, found.detail)
    paid = await scored({"files": {"solution.py": right}}, text, kind)
    assert paid.score == 1.0, paid.detail
