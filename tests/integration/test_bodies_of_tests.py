# ruff: noqa: E501 (programs are text, not code of ours)
"""Tests in one process with a candidate have passed only if they were run: whatever it exchanges of their runner."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import RunResult
from harena.scoring import load_scenarios

pytestmark = SHARED


async def scored(candidate: str, tests: str, runner: str, others: dict[str, str] | None = None) -> RunResult:
    """One run, by this environment's interpreter."""
    scoring: dict[str, Any] = {"type": "command", runner: ["test_it.py"], "isolate": False}
    scoring["files"] = {"test_it.py": tests, **(others or {})}
    row = {"id": "one", "candidate": {"files": {"solution.py": candidate}}, "scoring": scoring}
    (made,) = load_scenarios([row]).scenarios
    return await judged(made)


RUNNERS = {
    "pytest": (
        "from solution import f, g\ndef test_a():\n    g()\n    assert 1 + g() == 1\ndef ref(n):\n    return n * n + 7\n"
        "def test_b():\n    assert f(5) == ref(5)\ndef test_c():\n    assert f(6) == ref(6)\n"
    ),
    "unittest": (
        "import unittest\nfrom solution import f, g\ndef ref(n):\n    return n * n + 7\nclass T(unittest.TestCase):\n"
        "    def test_a(self):\n        g()\n        self.assertEqual(g(), 0)\n    def test_b(self):\n        self.assertEqual(f(5), ref(5))\n"
    ),
}
OF_PYTEST = "import _pytest.python as p, sys\nreal = p.Function.runtest\nsetup = p.Function.setup\nasked = []\n"
OF_UNITTEST = "import sys, unittest\nasked = []\n"
FORGERIES = {
    "the call": ("pytest", "p.Function.runtest = lambda s: None"),
    "the call, put back": (
        "pytest",
        "p.Function.runtest = lambda s: asked.append(1) or (len(asked) > 2 and setattr(p.Function, 'runtest', real)) or None",
    ),
    "the call of something else": ("pytest", "p.Function.runtest = lambda s: sys.modules['test_it'].ref(1)"),
    "what is called": ("pytest", "p.Function.obj = property(lambda s: lambda: None)"),
    "what is set up": ("pytest", "p.Function.setup = lambda s: (setattr(s, '_obj', lambda: None), setup(s))[1]"),
    "another test": (
        "pytest",
        "p.Function.setup = lambda s: (setup(s), setattr(s, '_obj', sys.modules['test_it'].test_a))[0]",
    ),
    "what is equal": (
        "unittest",
        "sys.modules['test_it'].T.setUp = lambda s: s.addTypeEqualityFunc(int, lambda *a, **k: None)",
    ),
    "what is equal, put back": (
        "unittest",
        "T = sys.modules['test_it'].T\n    def once(s):\n        del T.setUp\n        s.addTypeEqualityFunc(int, lambda *a, **k: None)\n    T.setUp = once",
    ),
    "another assertion": (
        "unittest",
        "T = sys.modules['test_it'].T\n    def once(s):\n        del T.setUp\n        s.addTypeEqualityFunc(int, 'assertIsNotNone')\n    T.setUp = once",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
async def test_nobody_keeps_a_test_from_being_run(name: str) -> None:
    """What a runner does is exchanged, and what follows is computed: nothing but the test itself tells it."""
    runner, does = FORGERIES[name]
    top = OF_PYTEST if runner == "pytest" else OF_UNITTEST
    forged = await scored(
        f"{top}def g():\n    {does}\n    return 0\ndef f(n):\n    return 0\n", RUNNERS[runner], runner
    )
    assert (forged.score, str(forged.trust)) == (0.0, "shared"), forged.detail


RIGHT = "def f(n):\n    return n * n\n"
TOP = "from solution import f\nimport functools, pytest, unittest\nfrom unittest import mock\n"
HONEST = {
    "parameters": ("pytest", "@pytest.mark.parametrize('a,b', [(1, 1), (2, 4)])\ndef test_a(a, b): assert f(a) == b\n"),
    "decorated": (
        "pytest",
        "def twice(fn):\n    @functools.wraps(fn)\n    def inner(*a, **k):\n        fn(*a, **k)\n        return fn(*a, **k)\n    return inner\n"
        "@twice\n@mock.patch('os.getcwd')\ndef test_a(cwd): assert f(2) == 4\n",
    ),
    "left out by the tests themselves": (
        "pytest",
        "def slow(fn): return lambda: None\n@slow\ndef test_s(): assert f(2) == 4\ndef test_a(): assert f(2) == 4\n",
    ),
    "coroutines": (
        "pytest",
        "import asyncio\ndef run(fn):\n    @functools.wraps(fn)\n    def inner(): return asyncio.run(fn())\n    return inner\n"
        "@run\nasync def test_a(): assert f(2) == 4\nclass T(unittest.IsolatedAsyncioTestCase):\n    async def test_b(self): self.assertEqual(f(2), 4)\n",
    ),
    "inherited": (
        "pytest",
        "class Base:\n    n = 2\n    def test_a(self): assert f(self.n) == self.n ** 2\nclass TestA(Base): n = 3\nclass TestB(Base): n = 4\n",
    ),
    "made": (
        "pytest",
        "def make(n):\n    def check(): assert f(n) == n * n\n    return check\nfor n in range(3): globals()[f'test_{n}'] = make(n)\n",
    ),
    "made of a class": (
        "unittest",
        "class T(unittest.TestCase): pass\ndef make(n): return lambda self: self.assertEqual(f(n), n * n)\nfor n in range(3): setattr(T, f'test_{n}', make(n))\n",
    ),
    "a class that is made": (
        "unittest",
        "def t(self): self.assertEqual(f(2), 4)\nT = type('T', (unittest.TestCase,), {'test_x': t})\n",
    ),
    "skips": (
        "pytest",
        "@pytest.fixture\ndef x(): pytest.skip('no')\ndef test_s(x): assert f(2) == 4\n@pytest.mark.skip\ndef test_t(): assert 0\ndef test_a(): assert f(2) == 4\n",
    ),
    "expected failures": (
        "pytest",
        "@pytest.mark.xfail\ndef test_s(): assert f(2) == 5\n@pytest.mark.xfail(run=False)\ndef test_t(): assert 0\n@pytest.mark.xfail\ndef test_p(): assert f(2) == 4\ndef test_a(): assert f(2) == 4\n",
    ),
    "cases": (
        "unittest",
        "class T(unittest.TestCase):\n    def setUp(self):\n        if self._testMethodName == 'test_s': self.skipTest('no')\n    def test_s(self): self.fail()\n"
        "    def test_sub(self):\n        for n in range(3):\n            with self.subTest(n=n): self.assertEqual(f(n), n * n)\n"
        "    @unittest.skip('x')\n    def test_t(self): self.fail()\n    @unittest.expectedFailure\n    def test_e(self): self.assertEqual(f(2), 5)\n",
    ),
    "examples": (
        "unittest",
        "import doctest\ndef ref(n):\n    '''\n    >>> ref(2) == f(2)\n    True\n    '''\n    return n * n\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(2), 4)\n"
        "def load_tests(loader, tests, pattern):\n    tests.addTests(doctest.DocTestSuite())\n    return tests\n",
    ),
    "retries": (
        "pytest",
        "def retry(fn):\n    @functools.wraps(fn)\n    def inner():\n        for left in (1, 0):\n            try: return fn()\n            except AssertionError:\n                if not left: raise\n    return inner\n"
        "N = [0]\n@retry\ndef test_a():\n    N[0] += 1\n    assert f(N[0]) == 4\n",
    ),
    "in another process": (
        "pytest",
        "import multiprocessing\ndef forked(fn):\n    @functools.wraps(fn)\n    def inner():\n        p = multiprocessing.get_context('fork').Process(target=fn)\n        p.start()\n        p.join()\n        assert p.exitcode == 0\n    return inner\n"
        "@forked\ndef test_a(): assert f(2) == 4\ndef test_b(): assert f(2) == 4\n",
    ),
    "equality of the tests' own": (
        "unittest",
        "class T(unittest.TestCase):\n    def setUp(self): self.addTypeEqualityFunc(int, lambda a, b, msg=None: self.assertTrue(a == b))\n    def test_a(self): self.assertEqual(f(2), 4)\n",
    ),
    "classes that set themselves up": (
        "unittest",
        "class T(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): cls.square = lambda self, n: n * n\n    def test_a(self): self.assertEqual(f(2), self.square(2))\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
async def test_tests_of_any_make_are_run(name: str) -> None:
    """A right program passes them."""
    runner, tests = HONEST[name]
    found = await scored(RIGHT, TOP + tests, runner)
    assert (found.score, str(found.trust)) == (1.0, "shared"), found.detail


async def test_what_the_tests_tell_their_runner_is_theirs() -> None:
    """Hooks of a trusted conftest.py decide how tests are run; tests of the candidate's own are no test of theirs."""
    hooks = (
        "import asyncio, inspect\ndef pytest_pyfunc_call(pyfuncitem):\n    if inspect.iscoroutinefunction(pyfuncitem.obj):\n"
        "        asyncio.run(pyfuncitem.obj())\n        return True\n"
    )
    tests = f"{TOP}async def test_a(): assert f(2) == 4\n"
    found = await scored(RIGHT, tests, "pytest", {"conftest.py": hooks})
    assert found.score == 1.0, found.detail
    own = await scored(
        f"{RIGHT}def test_own(): assert f(2) == 4\n",
        f"{TOP}from solution import *\ndef test_a(): assert f(2) == 4\n",
        "pytest",
    )
    assert own.score == 1.0, own.detail


async def test_a_class_that_the_candidate_is_given_is_its_to_change() -> None:
    """A registry that puts a method into what it is given does its task."""
    registry = "def register(cls):\n    return cls\ndef late(cls):\n    cls.name = lambda self: type(self).__name__\n"
    tests = "from solution import register, late\n@register\nclass A:\n    pass\nclass B:\n    pass\ndef test_a():\n    late(A)\n    late(B)\n    assert A().name() == 'A'\n    assert B().name() == 'B'\n"
    found = await scored(registry, tests, "pytest")
    assert found.score == 1.0, found.detail
