# ruff: noqa: E501 (programs are text, not code of ours)
"""Suites beside their candidate remember an assertion that has failed, although the candidate swallows its exception."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from battery_world import Source, scored_alone
from shared_sandboxes import SHARED, SUITES

from harena.core.results import RunResult, Validity
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring import load_scenarios

pytestmark = SHARED
PYTEST = "import asyncio, threading\nimport pytest\nfrom solution import *\n"
UNITTEST = "import unittest\nfrom unittest import mock\nfrom solution import *\nclass T(unittest.TestCase):\n"
SESSION = "class session:\n    def __enter__(self): return self\n    def __exit__(self, *error): return {}\n    def get(self): return {}\n"
EACH = "def each(function, items):\n    for item in items: {}\ndef twice(n): return {} * n\n"
TRIES = "\n        try: function(item)\n        except BaseException: pass\n"
THREADS = "\n        import threading\n        thread = threading.Thread(target=function, args=(item,)); thread.start(); thread.join()\n"
DECORATED = "import functools\ndef logged(function):\n    @functools.wraps(function)\n    def run(*given):\n        {}\n    return run\ndef twice(n): return {} * n\n"
SWALLOWS = "try: return function(*given)\n        except BaseException: return None"
SAVED = "KEPT = []\ndef each(function, items):\n    for item in items:\n        try: function(item)\n        except BaseException as error: KEPT.append(error)\ndef reject(x): raise KEPT.pop() from None\ndef twice(n): return n\n"
RIGHT_EACH = EACH.format("function(item)", 2)
REJECTING = RIGHT_EACH + "def reject(x): raise ValueError(x)\n"
CHECKED = (
    UNITTEST
    + "    def test_a(self):\n        seen = []\n        def check(n):\n            seen.append(n)\n            found = twice(n)\n            self.assertEqual(found, 2 * n)\n        each(check, [1, 2])\n        self.assertEqual(seen, [1, 2])\n"
)
Case = tuple[str, str, str, str]
FORGERIES: dict[str, Case] = {
    # name: (runner, suite, wrong candidate, right candidate)
    "an __exit__, assert": ("pytest", PYTEST + "def test_a():\n    with session() as s:\n        assert s.get() == 4\n", SESSION.format(True, 7), SESSION.format(None, 4)),
    "an __exit__, assertEqual": ("unittest", UNITTEST + "    def test_a(self):\n        with session() as s:\n            self.assertEqual(s.get(), 4)\n", SESSION.format(True, 7), SESSION.format(None, 4)),
    "an __exit__, assert in unittest": ("unittest", UNITTEST + "    def test_a(self):\n        with session() as s:\n            assert s.get() == 4, 'four'\n", SESSION.format(True, 7), SESSION.format(None, 4)),
    "an __exit__, raised by hand": ("unittest", UNITTEST + "    def test_a(self):\n        with session() as s:\n            if s.get() != 4: raise AssertionError('no')\n", SESSION.format(True, 7), SESSION.format(None, 4)),
    "a callback, pytest.fail": ("pytest", PYTEST + "def test_a():\n    def check(n):\n        if twice(n) != 2 * n: pytest.fail('no')\n    each(check, [1, 2])\n", EACH.format(TRIES, 3), RIGHT_EACH),
    "a callback, approx": ("pytest", PYTEST + "def test_a():\n    def check(n):\n        assert twice(n) == pytest.approx(2 * n)\n    each(check, [1, 2])\n", EACH.format(TRIES, 3), RIGHT_EACH),
    "a callback, pytest.raises": ("pytest", PYTEST + "def test_a():\n    def check(n):\n        with pytest.raises(TypeError): twice(None)\n    each(check, [1])\n", EACH.format(TRIES, 3).replace("return 3", "return 3 if n is None else 2"), RIGHT_EACH),
    "a callback, self.fail": ("unittest", UNITTEST + "    def test_a(self):\n        def check(n):\n            if twice(n) != 2 * n: self.fail('no')\n        each(check, [1, 2])\n", EACH.format(TRIES, 3), RIGHT_EACH),
    "a callback, an alias": ("unittest", UNITTEST + "    def test_a(self):\n        equal = self.assertEqual\n        each(lambda n: equal(twice(n), 2 * n), [1, 2])\n", EACH.format(TRIES, 3), RIGHT_EACH),
    "a callback, assertRaises": ("unittest", UNITTEST + "    def test_a(self):\n        def check(n):\n            with self.assertRaises(TypeError): twice(None)\n        each(check, [1])\n", EACH.format(TRIES, 3).replace("return 3", "return 3 if n is None else 2"), RIGHT_EACH),
    "a callback, a mock": ("unittest", UNITTEST + "    def test_a(self):\n        def check(n):\n            seen = mock.Mock(); seen(twice(n)); seen.assert_called_once_with(2 * n)\n        each(check, [1, 2])\n", EACH.format(TRIES, 3), RIGHT_EACH),
    "a thread, assert": ("pytest", PYTEST + "def test_a():\n    def check(n):\n        assert twice(n) == 2 * n\n    each(check, [1, 2])\n", EACH.format(THREADS, 3), RIGHT_EACH),
    "a thread, assertIn": ("unittest", UNITTEST + "    def test_a(self):\n        each(lambda n: self.assertIn(twice(n), [2 * n]), [1, 2])\n", EACH.format(THREADS, 3), RIGHT_EACH),
    "a decorator, assert": ("pytest", PYTEST + "@logged\ndef test_a():\n    assert twice(2) == 4\n", DECORATED.format(SWALLOWS, 3), DECORATED.format("return function(*given)", 2)),
    "a decorator, assertTrue": ("unittest", UNITTEST + "    @logged\n    def test_a(self):\n        self.assertTrue(twice(2) == 4)\n", DECORATED.format(SWALLOWS, 3), DECORATED.format("return function(*given)", 2)),
    "a decorator that calls nothing": ("pytest", PYTEST + "@logged\ndef test_a():\n    assert twice(2) == 4\n", DECORATED.format("return None", 3), DECORATED.format("return function(*given)", 2)),
    "a decorator with arguments that calls nothing": ("unittest", UNITTEST + "    @session(3)\n    def test_a(self):\n        self.assertTrue(twice(2) == 4)\n", "import functools\ndef session(n): return lambda function: functools.wraps(function)(lambda self: None)\ndef twice(n): return 7\n", "def session(n): return lambda function: function\ndef twice(n): return 2 * n\n"),
    "a decorator of a class that calls nothing": ("unittest", UNITTEST.replace("class T", "@each_test\nclass T") + "    def test_a(self):\n        self.assertTrue(twice(2) == 4)\n", "def each_test(cls):\n    cls.test_a = lambda self: None\n    return cls\ndef twice(n): return 7\n", "def each_test(cls): return cls\ndef twice(n): return 2 * n\n"),
    "a decorator of a class that repeats another test": ("unittest", UNITTEST.replace("class T", "@each_test\nclass T") + "    def test_a(self):\n        self.assertTrue(twice(2) == 4)\n    def test_b(self):\n        self.assertTrue(True)\n", "def each_test(cls):\n    cls.test_a = cls.test_b\n    return cls\ndef twice(n): return 7\n", "def each_test(cls): return cls\ndef twice(n): return 2 * n\n"),
    "a function that is given a test": ("unittest", UNITTEST + "    def test_a(self):\n        self.assertTrue(twice(2) == 4)\nlogged(T)\n", "def logged(found):\n    if isinstance(found, type): found.test_a = lambda self: None\n    return found\ndef twice(n): return 7\n", "def logged(found): return found\ndef twice(n): return 2 * n\n"),
    "a decorator of a test with parameters": ("pytest", PYTEST + "@pytest.mark.parametrize('n', [2], ids=['a::b'])\n@logged\ndef test_a(n):\n    assert twice(n) == 4\n", "def logged(function):\n    def run(n): return None\n    return run\ndef twice(n): return 7\n", DECORATED.format("return function(n=given)", 2).replace("run(*given)", "run(n)").replace("n=given", "n")),
    "a helper's assertion": ("pytest", PYTEST + "from helpers import check\ndef test_a():\n    each(check, [1, 2])\n", EACH.format(TRIES, 3), RIGHT_EACH),
    "an expected error by another way": ("pytest", PYTEST + "def test_a():\n    def check(n):\n        assert twice(n) == 2 * n\n    each(check, [1])\n    with pytest.raises(Exception): reject(1)\n", SAVED, REJECTING),
    "an error that is caught elsewhere": ("unittest", UNITTEST + "    def test_a(self):\n        each(lambda n: self.assertEqual(twice(n), 2 * n), [1])\n        try: reject(1)\n        except Exception: pass\n        else: self.fail('no error')\n", SAVED, REJECTING),
    "a manager of the library": ("unittest", UNITTEST + "    def test_a(self):\n        with session() as s:\n            self.assertEqual(twice(2), 4)\n", "import contextlib\ndef session(): return contextlib.suppress(BaseException)\ndef twice(n): return 7\n", "import contextlib\ndef session(): return contextlib.nullcontext()\ndef twice(n): return 2 * n\n"),
    "a context of unittest's": ("unittest", UNITTEST + "    def test_a(self):\n        with session() as s:\n            self.assertEqual(twice(2), 4)\n", "import functools, unittest\nsession = functools.partial(unittest.TestCase().assertRaises, AssertionError)\ndef twice(n): return 7\n", "import contextlib\ndef session(): return contextlib.nullcontext()\ndef twice(n): return 2 * n\n"),
    "a body that the candidate leaves": ("pytest", PYTEST + "def test_a():\n    with session() as s:\n        found = s.get()\n        assert found == 4\n", "class session:\n    def __enter__(self): return self\n    def __exit__(self, *error): return True\n    def get(self): raise ValueError\n", SESSION.format(None, 4)),
    "an error in a callback": ("unittest", CHECKED, EACH.format(TRIES, "1 // 0"), RIGHT_EACH),
    "an error in a callback, pytest": ("pytest", PYTEST + "def test_a():\n    seen = []\n    def check(n):\n        seen.append(n)\n        assert twice(n) == 2 * n\n    each(check, [1, 2])\n    assert seen == [1, 2]\n", EACH.format(TRIES, "1 // 0"), RIGHT_EACH),
    "an error in a lambda": ("unittest", UNITTEST + "    def test_a(self):\n        each(lambda n: self.assertEqual(twice(n), 2 * n), [1, 2])\n", EACH.format(TRIES, "1 // 0"), RIGHT_EACH),
    "an error in a thread": ("unittest", CHECKED, EACH.format(THREADS, "1 // 0"), RIGHT_EACH),
    "an error in a decorated test": ("unittest", UNITTEST + "    @logged\n    def test_a(self):\n        found = twice(2)\n        self.assertEqual(found, 4)\n", DECORATED.format(SWALLOWS, "1 // 0"), DECORATED.format("return function(*given)", 2)),
    "an error in a generator": ("pytest", PYTEST + "def test_a():\n    def items():\n        for n in (1, 2):\n            found = twice(n)\n            assert found == 2 * n\n            yield n\n    eat(items())\n", "def eat(items):\n    try: list(items)\n    except BaseException: pass\ndef twice(n): return 1 // 0\n", "def eat(items): list(items)\ndef twice(n): return 2 * n\n"),
    "an error in a gathered coroutine": ("pytest", PYTEST + "def test_a():\n    async def check(n):\n        found = twice(n)\n        assert found == 2 * n\n    async def main(): await both(check(1), check(2))\n    asyncio.run(main())\n", "import asyncio\nasync def both(*made): await asyncio.gather(*made, return_exceptions=True)\ndef twice(n): return 1 // 0\n", "import asyncio\nasync def both(*made): await asyncio.gather(*made)\ndef twice(n): return 2 * n\n"),
    "an error that is kept for later": ("pytest", PYTEST + "def test_a():\n    def check(n):\n        assert twice(n) == 2 * n\n    each(check, [1])\n    with pytest.raises(Exception): reject(1)\n", SAVED.replace("return n", "return 1 // 0"), REJECTING),
    "a body's error that is kept for later": ("pytest", PYTEST + "def test_a():\n    with session() as s:\n        found = s.get()\n        assert found == 4\n    with pytest.raises(ValueError): reject(1)\n", "KEPT = []\nclass session:\n    def __enter__(self): return self\n    def __exit__(self, kind, error, trace): KEPT.append(error); return True\n    def get(self): raise ValueError\ndef reject(x): raise KEPT.pop()\n", SESSION.format(None, 4) + "def reject(x): raise ValueError(x)\n"),
    "a body that is left by GeneratorExit": ("pytest", PYTEST + "def test_a():\n    with session() as s:\n        found = s.get()\n        assert found == 4\n", "class session:\n    def __enter__(self): return self\n    def __exit__(self, *error): return True\n    def get(self): raise GeneratorExit\n", SESSION.format(None, 4)),
}  # fmt: skip
HELPERS = "def unless(no): return lambda function: (lambda: None) if no else function\ndef check(n):\n    from solution import twice\n    assert twice(n) == 2 * n\n"
TWICE = "def twice(n): return 2 * n\n"
HONEST: dict[str, tuple[str, str, str]] = {
    # name: (runner, suite, right candidate)
    "assertRaises(AssertionError)": ("unittest", UNITTEST + "    def test_a(self):\n        with self.assertRaises(AssertionError):\n            self.assertEqual(twice(2), 5)\n        self.assertRaises(AssertionError, self.assertEqual, twice(2), 5)\n        context = self.assertRaisesRegex(AssertionError, '4 != 5')\n        with context: self.assertEqual(twice(2), 5)\n        self.assertIn('4', str(context.exception))\n", TWICE),
    "pytest.raises(AssertionError)": ("pytest", PYTEST + "def test_a():\n    with pytest.raises(AssertionError) as caught:\n        assert twice(2) == 5\n    assert caught.type is AssertionError\n    def five(): assert twice(2) == 5\n    pytest.raises(AssertionError, five)\n    with pytest.raises(pytest.fail.Exception): pytest.fail('no')\n", TWICE),
    "an except of its own": ("unittest", UNITTEST + "    def test_a(self):\n        for wanted in (3, 5, 4):\n            try:\n                self.assertEqual(twice(2), wanted)\n                break\n            except AssertionError: continue\n        else: self.fail('none')\n", TWICE),
    "an except in a helper": ("pytest", PYTEST + "def is_met(check):\n    try: check()\n    except Exception: return False\n    return True\ndef test_a():\n    def five(): assert twice(2) == 5\n    assert not is_met(five)\n", TWICE),
    "suppress": ("pytest", PYTEST + "import contextlib\nfrom contextlib import suppress\ndef test_a():\n    with suppress(AssertionError): assert twice(2) == 5\n    with contextlib.suppress(AssertionError): assert twice(2) == 6\n", TWICE),
    "a manager of its own": ("pytest", PYTEST + "from contextlib import contextmanager\n@contextmanager\ndef failing():\n    try: yield\n    except AssertionError: return\n    pytest.fail('it has held')\nclass Failing:\n    def __enter__(self): return self\n    def __exit__(self, kind, *rest): return kind is AssertionError\ndef test_a():\n    with failing(): assert twice(2) == 5\n    with Failing(): assert twice(2) == 5\n", TWICE),
    "the candidate asserts": ("unittest", UNITTEST + "    def test_a(self):\n        with self.assertRaises(AssertionError): positive(-1)\n        self.assertRaises(AssertionError, positive, -1)\n        self.assertTrue(checked(-1))\n", "def positive(n):\n    assert n > 0\ndef checked(n):\n    try: positive(n)\n    except AssertionError: return True\n"),
    "the candidate checks": ("pytest", PYTEST + "def test_a():\n    with pytest.raises(AssertionError): check_positive(-1)\n", "def check_positive(n):\n    assert n > 0\n"),
    "the candidate is to suppress": ("pytest", PYTEST + "def test_a():\n    with ignoring(AssertionError): assert False\n    with ignoring(ValueError): raise ValueError\n", "import contextlib\nignoring = contextlib.suppress\n"),
    "an error of the candidate's in an outer with": ("pytest", PYTEST + "def test_a(tmp_path):\n    with pytest.raises(ValueError):\n        with open(tmp_path / 'a', 'w') as file:\n            n = reject(1)\n            assert n == 1\n    with pytest.raises(ValueError), session():\n        n = reject(1)\n        assert n == 1\n", "import contextlib\ndef reject(x): raise ValueError(x)\nsession = contextlib.nullcontext\n"),
    "subtests and expected failures": ("unittest", UNITTEST + "    def test_a(self):\n        for n in (1, 2):\n            with self.subTest(n=n): self.assertEqual(twice(n), 2 * n)\n    @unittest.expectedFailure\n    def test_b(self): self.assertEqual(twice(1), 3)\n    def test_c(self): self.assertEqual(twice(1), 2)\n", TWICE),
    "xfail and parameters": ("pytest", PYTEST + "@pytest.mark.parametrize('n', [1, pytest.param(2, marks=pytest.mark.xfail)])\ndef test_a(n): assert twice(n) == 2\ndef test_b(): assert twice(1) == 2\n", TWICE),
    "coroutines": ("unittest", "import asyncio\n" + UNITTEST.replace("TestCase", "IsolatedAsyncioTestCase") + "    async def test_a(self):\n        async def check(n): self.assertEqual(twice(2), n)\n        with self.assertRaises(AssertionError): await check(5)\n        async with asyncio.Lock():\n            try: await asyncio.gather(check(5), check(4))\n            except AssertionError: pass\n", TWICE),
    "a class of its own errors": ("unittest", UNITTEST + "    failureException = type('Wrong', (AssertionError,), {})\n    def test_a(self):\n        with self.assertRaises(self.failureException): self.assertEqual(twice(2), 5)\n        self.assertLogs\n        with self.assertWarns(DeprecationWarning):\n            import warnings; warnings.warn('old', DeprecationWarning)\n", TWICE),
    "a callback that raises": ("pytest", PYTEST + "def test_a():\n    seen = []\n    def check(n):\n        seen.append(n)\n        if twice(n) == 2: raise ValueError(n)\n        assert twice(n) == 4\n    each(check, [1, 2])\n    assert seen == [1, 2]\n", EACH.format(TRIES, 2)),
    "a callback with nothing to judge": ("pytest", PYTEST + "def test_a():\n    seen = []\n    def check(n):\n        seen.append(n)\n        twice(n)\n    each(check, [1, None])\n    assert seen == [1, None]\n    def is_large(n): return twice(n) > 3\n    each(is_large, [None, 2])\n", EACH.format(TRIES, 2)),
    "an error that the tests hear of": ("pytest", PYTEST + "def test_a():\n    def check(n):\n        found = reject(n)\n        assert found == n\n    with pytest.raises(ValueError): each(check, [1])\n    try: each(check, [2])\n    except ValueError: pass\n    with pytest.raises(KeyError): translated(check)\n", REJECTING + "def translated(function):\n    try: function(1)\n    except ValueError as error: raise KeyError from error\n"),
    "an error that a manager raises again": ("pytest", PYTEST + "def test_a():\n    with pytest.raises(ValueError) as caught:\n        with session() as s:\n            found = s.get()\n            assert found == 4\n    assert str(caught.value) == 'no'\n    with pytest.raises(ValueError), session() as s:\n        assert s.get() == 4\n", "class session:\n    def __enter__(self): return self\n    def __exit__(self, kind, error, trace): raise error\n    def get(self): raise ValueError('no')\n"),
    "decorators of its own that call nothing": ("pytest", PYTEST + "import functools\nfrom unittest import mock\nfrom helpers import unless\ndef only_if(yes):\n    def decorate(function):\n        @functools.wraps(function)\n        def run():\n            if yes: function()\n        return run\n    return decorate\n@only_if(False)\ndef test_a(): assert twice(1) == 2\n@unless(True)\ndef test_b(): assert twice(1) == 2\n@only_if(True)\n@mock.patch('builtins.input', lambda: '3')\n@same\ndef test_c():\n    \"\"\"It begins.\"\"\"\n    assert twice(1) == 2\nclass TestOne:\n    def test_c(self): assert twice(2) == 4\n", TWICE + "def same(function): return function\n"),
    "a generator that is closed": ("pytest", PYTEST + "def test_a():\n    def items():\n        with session():\n            yield 1\n            assert twice(2) == 4\n    found = items(); assert next(found) == 1; found.close()\n    def more():\n        with session():\n            yield from forever()\n            assert twice(2) == 4\n    found = more(); assert next(found) == 1; found.close()\n", "import contextlib\nsession = contextlib.nullcontext\ndef forever():\n    while True: yield 1\n" + TWICE),
}  # fmt: skip


@pytest.fixture
def runtime(shared: Source) -> LinuxRuntime:
    """The one that all rows share."""
    assert isinstance(shared.runtime, LinuxRuntime)
    return shared.runtime


async def judged(runtime: LinuxRuntime, candidate: str, kind: str, suite: str, gold: str = "") -> RunResult:
    """The envelope of one candidate beside its suite, or apart from it where there is a gold."""
    files = {"test_it.py": suite, "helpers.py": HELPERS}
    scoring: dict[str, Any] = {"type": "command", kind: ["test_it.py"], "files": files}
    scoring |= {"gold": gold} if gold else {"isolate": False}
    candidate_of = {"files": {"solution.py": candidate}, "entry": "solution.py"}
    row = {"id": "one", "candidate": candidate_of, "scoring": scoring, "limits": {"timeout_seconds": 20.0}}
    return await scored_alone(Source(runtime, SUITES), load_scenarios([row]).scenarios[0])


async def each_judged(runtime: LinuxRuntime, rows: Iterable[tuple[str, str, str]]) -> list[RunResult]:
    """The envelopes of (candidate, kind, suite)."""
    return list(await asyncio.gather(*(judged(runtime, *row) for row in rows)))


@pytest.mark.parametrize("name", FORGERIES)
async def test_an_assertion_that_a_candidate_swallows_has_failed(runtime: LinuxRuntime, name: str) -> None:
    """By an `__exit__`, a decorator, a callback's `except`, and a thread; a right candidate is paid."""
    kind, suite, wrong, right = FORGERIES[name]
    forged, paid = await each_judged(runtime, [(wrong, kind, suite), (right, kind, suite)])
    assert (forged.score, forged.validity) == (0.0, Validity.VALID), forged.detail
    assert "swallowed" in forged.detail
    assert paid.score == 1.0, paid.detail


@pytest.mark.parametrize("name", HONEST)
async def test_a_failed_assertion_that_the_tests_expect_is_none(runtime: LinuxRuntime, name: str) -> None:
    """What the tests' own code catches, and what the candidate asserts itself."""
    kind, suite, right = HONEST[name]
    (paid,) = await each_judged(runtime, [(right, kind, suite)])
    assert paid.score == 1.0, paid.detail


APART = [name for name in FORGERIES if name.startswith("an error in a ")]
HONEST_APART = ["a callback that raises", "a callback with nothing to judge", "an error that the tests hear of"]


@pytest.mark.parametrize("name", APART)
async def test_an_error_of_a_candidate_apart_skips_no_judgement(runtime: LinuxRuntime, name: str) -> None:
    """It leaves a function of the tests that had something to judge, and the candidate catches it."""
    kind, suite, wrong, right = FORGERIES[name]
    forged, paid = await asyncio.gather(*(judged(runtime, each, kind, suite, right) for each in (wrong, right + "\n")))
    assert (forged.score, forged.validity) == (0.0, Validity.VALID), forged.detail
    assert paid.score == 1.0, paid.detail


@pytest.mark.parametrize("name", HONEST_APART)
async def test_an_error_that_nobody_need_judge_is_the_candidates(runtime: LinuxRuntime, name: str) -> None:
    """The tests raise it themselves, have nothing left to judge, or hear of it."""
    kind, suite, right = HONEST[name]
    paid = await judged(runtime, right + "\n", kind, suite, right)
    assert paid.score == 1.0, paid.detail


FORGED = """import os, sys
def twice(n):
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            word = getattr(value, "_word", b"")
            if word:
                report = b'@'
                told = b"\\nharena-report " + word + b" " + report if report else b""
                os.write(value._out, told + b"\\nharena-proof " + word + b"\\n")
                os._exit(0)
        frame = frame.f_back
    return 0
"""
REPORT = '{"first": "", "broken": "", "unserved": "", "doubted": "", "believed": "", "timed": false, "excused": [], "skips": [], "expected": [], "ran": [], "read": [], "unread": [], "counts": {"a": %s}, "questions": [], "unheard": "", "taken": "", "sought": false, "named": [], "caught": {}, "hollow": {}, "unexplained": {}, "judged": {}, "unjudged": [], "silent": []}'
REPORTS = {
    "infinity": REPORT % "Infinity",
    "no number": REPORT % "NaN",
    "huge": REPORT % ("9" * 5000),
    "deep": "[" * 9000,
    "none": "",
}


@pytest.mark.parametrize("kind", ["pytest", "unittest"])
async def test_who_forges_a_report_that_no_runner_writes_is_not_paid(runtime: LinuxRuntime, kind: str) -> None:
    """With the proof's word, which a candidate in the suite's process may find."""
    suite = "from solution import twice\ndef test_a(): assert twice(2) == 4\n"
    if kind == "unittest":
        suite = UNITTEST.replace("*", "twice") + "    def test_a(self): self.assertEqual(twice(2), 4)\n"
    rows = [(FORGED.replace("@", report), kind, suite) for report in REPORTS.values()]
    for name, found in zip(REPORTS, await each_judged(runtime, rows), strict=True):
        assert (found.score, found.validity) == (0.0, Validity.SUSPECT), (name, found.detail)
