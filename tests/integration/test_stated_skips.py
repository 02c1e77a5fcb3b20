# ruff: noqa: E501 (programs are text, not code of ours)
"""Skips and expected failures that are the suite's own are paid after the candidate was asked, too; no others are."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import RunResult

pytestmark = SHARED
RIGHT = (
    "def one(): return 1\nclass D:\n    SLOW = False\n    def get(self): return 2\n    def each(self, call): call(2)\n"
)
WRONG = RIGHT.replace("return 2", "return 9")
HEAD = "import os, sys, unittest\nimport solution\nfrom solution import one, D\n"
CASE = (
    HEAD
    + "class T(unittest.TestCase):\n    def setUp(self): self.d = D()\n    def test_a(self): self.assertEqual(self.d.get(), 2)\n"
)
PYTEST = "import os, sys, pytest\nimport solution\nfrom solution import one, D\n@pytest.fixture\ndef d(): return D()\ndef test_a(d): assert d.get() == 2\n"
NO_NET = "    def test_b(self):\n        if not os.environ.get('NET'): self.skipTest('no network')\n        self.assertEqual(one(), 1)\n"
OWN: dict[str, tuple[str, str]] = {
    "after setUp": ("unittest", CASE + "    def test_b(self): self.skipTest('later')\n"),
    "a platform": ("unittest", CASE + "    def test_b(self):\n        if sys.platform != 'win32': self.skipTest('there')\n        self.assertEqual(self.d.get(), 3)\n"),
    "its own variable": ("unittest", CASE.replace("class T", "os.environ['APP_ENV'] = 'test'\nclass T") + NO_NET),
    "its own variable in setUp": ("unittest", CASE.replace("self.d = D()", "self.d = D(); os.environ['APP_ENV'] = 'test'") + NO_NET),
    "its own variable by a fixture": ("pytest", PYTEST.replace("def test_a", "@pytest.fixture(autouse=True)\ndef e(monkeypatch): monkeypatch.setenv('APP_ENV', 'test')\ndef test_a") + "def test_b(d):\n    if not os.environ.get('NET'): pytest.skip('no net')\n    assert one() == 1\n"),
    "its own variable and a platform": ("unittest", CASE.replace("class T", "os.environ['APP_ENV'] = 'test'\nclass T") + "    def test_b(self):\n        if sys.platform != 'win32': self.skipTest('there')\n        self.assertEqual(one(), 1)\n"),
    "what it has set": ("unittest", CASE.replace("class T", "os.environ['NET'] = ''\nclass T") + NO_NET),
    "what it has patched": ("pytest", PYTEST + "def test_b(d, monkeypatch):\n    monkeypatch.setattr(sys, 'platform', 'win32')\n    if sys.platform == 'win32': pytest.skip('there')\n    assert one() == 1\n"),
    "at the end": ("unittest", CASE + "    def test_b(self):\n        self.assertEqual(one(), 1)\n        raise unittest.SkipTest('the rest')\n"),
    "a subtest": ("unittest", CASE + "    def test_b(self):\n        for n in (1, 2):\n            with self.subTest(n=n):\n                if n == 2: self.skipTest('no')\n                self.assertEqual(one(), n)\n"),
    "expected": ("unittest", CASE + "    @unittest.expectedFailure\n    def test_b(self): self.fail('todo')\n"),
    "expected, asked": ("unittest", CASE + "    @unittest.expectedFailure\n    def test_b(self): self.assertEqual(self.d.get(), 7)\n"),
    "a fixture": ("pytest", PYTEST + "def test_b(d): pytest.skip('later')\n"),
    "unittest by pytest": ("pytest", CASE + "    def test_b(self): self.skipTest('later')\n    @unittest.expectedFailure\n    def test_c(self): self.fail()\n"),
    "xfail, an error": ("pytest", PYTEST + "@pytest.mark.xfail(raises=AssertionError, reason='bug')\ndef test_b(d): assert d.get() == 9\n@pytest.mark.xfail(raises=KeyError)\ndef test_c(d): {}[d.get()]\n"),
    "xfail at the end": ("pytest", PYTEST + "def test_b(d):\n    assert d.get() == 2\n    pytest.xfail('known')\n"),
}  # fmt: skip
LIES: dict[str, tuple[str, str, str]] = {
    "by an answer": ("unittest", "    def test_b(self):\n        if self.d.get() != 2: self.skipTest('no')\n        self.assertEqual(one(), 1)\n", WRONG),
    "by a flag": ("unittest", "    def test_b(self):\n        if D.SLOW: self.skipTest('slow')\n        self.assertEqual(one(), 1)\n", RIGHT.replace("return 1", "return 0").replace("False", "True")),
    "by an error": ("unittest", "    def test_b(self):\n        try: got = one()\n        except Exception: self.skipTest('no')\n        self.assertEqual(got, 1)\n", RIGHT.replace("return 1", "raise ValueError")),
    "by leaving less": ("unittest", "    def test_b(self):\n        if one() == 1:\n            self.assertEqual(self.d.get(), 2)\n            return\n        self.skipTest('no')\n", RIGHT.replace("return 1", "return 0")),
    "by what it fills": ("unittest", "    def test_b(self):\n        seen = []\n        self.d.each(seen.append)\n        if seen != [2]: self.skipTest('no')\n        self.assertEqual(one(), 1)\n", RIGHT.replace("call(2)", "call(3)").replace("return 1", "return 0")),
    "by raising it": ("unittest", "    def test_b(self): self.assertEqual(one(), 1)\n", "import unittest\n" + RIGHT.replace("return 1", "raise unittest.SkipTest('no')")),
    "by swallowing": ("unittest", "    def test_b(self):\n        self.d.each(lambda n: self.assertEqual(n, 2))\n        self.skipTest('the rest')\n", RIGHT.replace("call(2)", "\n        try: call(3)\n        except BaseException: pass")),
    "a judgement before": ("unittest", "    def test_b(self):\n        self.assertEqual(one(), 1)\n        self.skipTest('the rest')\n", RIGHT.replace("return 1", "return 0")),
    "an unexpected success": ("unittest", "    @unittest.expectedFailure\n    def test_b(self): self.assertEqual(one(), 7)\n", RIGHT.replace("return 1", "return 7")),
    "a strict one": ("pytest", "@pytest.mark.xfail(strict=True)\ndef test_b(d): assert one() == 7\n", RIGHT.replace("return 1", "return 7")),
    "another error": ("pytest", "@pytest.mark.xfail(raises=KeyError)\ndef test_b(d): {}[one()]\n", RIGHT.replace("return 1", "raise ValueError")),
    "a skip for an error": ("pytest", "@pytest.mark.xfail(raises=KeyError)\ndef test_b(d): {}[one()]\n", "import pytest\n" + RIGHT.replace("return 1", "pytest.skip('no')")),
    "by raising xfail": ("pytest", "def test_b(d): assert one() == 1\n", "import pytest\n" + RIGHT.replace("return 1", "pytest.xfail('no')")),
    "xfail by an answer": ("pytest", "def test_b(d):\n    if one() != 1: pytest.xfail('known')\n", RIGHT.replace("return 1", "return 0")),
}  # fmt: skip


ANSWERS = (
    RIGHT.replace("return 1", "return 0") + "def mode(): return 'off'\ndef each(call): call('MODE', 'off')\n"
    "def env(given=None):\n    if given is not None: given['MODE'] = 'off'\n    return {'MODE': 'off'}\n"
)
OFF = "    if os.environ.get('MODE') == 'off': pytest.skip('no')\n    assert one() == 1\n"
PUT = {
    "an answer": "def test_b(monkeypatch):\n    monkeypatch.setenv('MODE', mode())\n" + OFF,
    "assigned": "def test_b():\n    os.environ['MODE'] = mode()\n" + OFF,
    "many": "def test_b():\n    os.environ.update(env())\n" + OFF,
    "many, in another test": "def test_b(): os.environ.update(env())\ndef test_c():\n" + OFF,
    "the environment": "def test_b():\n    env(os.environ)\n" + OFF,
    "the environment, elsewhere": "def test_b(): env(os.environ)\ndef test_c():\n" + OFF,
    "patched": "from unittest import mock\ndef test_b():\n    mock.patch.dict(os.environ, env()).start()\n" + OFF,
    "a callback": "def test_b(monkeypatch):\n    each(lambda k, v: monkeypatch.setenv(k, v))\n" + OFF,
    "a callback of constants": "def test_b(monkeypatch):\n    each(lambda k, v: monkeypatch.setenv('MODE', 'off'))\n" + OFF,
    "a condition": "def test_b():\n    if one() != 1: os.environ['MODE'] = 'off'\n" + OFF,
    "a platform": "def test_b(monkeypatch):\n    monkeypatch.setattr(sys, 'platform', mode())\n    if sys.platform == 'off': pytest.skip('no')\n    assert one() == 1\n",
}  # fmt: skip


async def _tried(kind: str, suite: str, candidate: str, **scoring: Any) -> RunResult:
    return await scored(candidate, suite, kind, **scoring)


@pytest.mark.parametrize("name", OWN)
async def test_the_suites_own_skips_and_expected_failures_are_paid(name: str) -> None:
    """Apart and in one process; whoever fails another test is not paid."""
    kind, suite = OWN[name]
    paid, beside, unpaid = await asyncio.gather(
        _tried(kind, suite, RIGHT), _tried(kind, suite, RIGHT, isolate=False), _tried(kind, suite, WRONG)
    )
    for found in (paid, beside):
        assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
    assert (unpaid.score, str(unpaid.validity)) == (0.0, "valid"), unpaid.detail


@pytest.mark.parametrize("name", LIES)
async def test_who_makes_its_tests_skip_or_fail_is_not_paid(name: str) -> None:
    """Nor does it choose to have no score; apart, and in one process."""
    kind, test, lying = LIES[name]
    suite = (CASE if kind == "unittest" else PYTEST) + test
    for found in await asyncio.gather(_tried(kind, suite, lying), _tried(kind, suite, lying, isolate=False)):
        assert (found.score, str(found.validity) != "invalid") == (0.0, True), found.detail


async def test_in_one_process_nobody_changes_what_a_skip_asks_for() -> None:
    """A condition on the environment, which the candidate sets. The same skip is paid where it sets another variable."""
    test = "    def test_b(self):\n        if os.environ.get('SLOW'): self.skipTest('slow')\n        self.assertEqual(one(), 1)\n"
    lying = "import os\nos.environ['SLOW'] = '1'\n" + RIGHT.replace("return 1", "return 0")
    own = CASE + test.replace("if os", "if not os")
    unpaid, apart, paid = await asyncio.gather(
        _tried("unittest", CASE + test, lying, isolate=False),
        _tried("unittest", CASE + test, lying),
        _tried("unittest", own, "import os\nos.environ['OTHER'] = '1'\n" + RIGHT, isolate=False),
    )
    for found in (unpaid, apart):
        assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail
    assert (paid.score, str(paid.validity)) == (1.0, "valid"), paid.detail


async def test_in_one_process_nobody_does_what_another_test_does() -> None:
    """What the suite puts into the environment elsewhere is not there where a skip asks for it."""
    suite = PYTEST + (
        "def test_b(monkeypatch):\n    monkeypatch.setenv('CI', '1')\n    assert one() == 1\n"
        "def test_c(d):\n    if os.environ.get('CI'): pytest.skip('slow')\n    assert d.get() == 3\n"
    )
    lying = "import os\nos.environ['CI'] = '1'\n" + RIGHT
    found = await _tried("pytest", suite, lying, isolate=False)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


async def test_what_is_skipped_apart_may_be_skipped_in_one_process() -> None:
    """A right candidate sets for itself what a skip asks for; and so does the suite, to no constant."""
    candidate = "import os\nos.environ.setdefault('NET', '')\n" + RIGHT
    path = CASE.replace("class T", "os.environ['NET'] = os.path.join('', '')\nclass T")
    for found in await asyncio.gather(
        _tried("unittest", CASE + NO_NET, candidate), _tried("unittest", path + NO_NET, RIGHT)
    ):
        assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


@pytest.mark.parametrize("name", PUT)
async def test_who_puts_into_the_environment_what_a_skip_asks_for_is_not_paid(name: str) -> None:
    """By the suite's own hand; also where no run in one process follows."""
    found = await _tried(
        "pytest", PYTEST.replace("one, D", "one, D, mode, each, env") + PUT[name], ANSWERS, isolate="sandbox"
    )
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


async def test_a_condition_that_cannot_be_followed_gives_no_score() -> None:
    """No name in it is the candidate's; who fails another test has failed."""
    suite = CASE.replace("class T", "def offline(): return not os.environ.get('NET')\nclass T")
    suite += (
        "    def test_b(self):\n        if offline(): self.skipTest('no net')\n        self.assertEqual(one(), 1)\n"
    )
    unknown, unpaid = await asyncio.gather(_tried("unittest", suite, RIGHT), _tried("unittest", suite, WRONG))
    assert (unknown.score, "give the contract a `gold`" in unknown.detail) == (None, True), unknown.detail
    assert (unpaid.score, str(unpaid.validity)) == (0.0, "valid"), unpaid.detail
    assert (await _tried("unittest", suite, RIGHT + "#\n", gold={"solution.py": RIGHT})).score == 1.0
