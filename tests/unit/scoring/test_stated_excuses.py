# ruff: noqa: E501 (programs are text, not code of ours)
"""Skips and expected failures that the text of a suite states, whoever the candidate is."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.defined_tests import Dependence, dependence

HEAD = "import os, sys, pytest, unittest, importlib.util, solution\nfrom solution import D, one\n"
CASE = HEAD + "class T(unittest.TestCase):\n    def setUp(self): self.d = D()\n    def test_b(self):\n        "
TEST = HEAD + "@pytest.fixture\ndef d(): return D()\ndef test_b(d):\n    "
SKIP, PSKIP = "self.skipTest('no')", "pytest.skip('no')"
STATED = {
    "always": (CASE + SKIP, ["always"]),
    "after a judgement": (CASE + "self.assertEqual(self.d.get(), 1)\n        raise unittest.SkipTest('no')", ["always"]),
    "a platform": (CASE + f"if sys.platform != 'win32': {SKIP}", ["own"]),
    "an environment": (TEST + f"if not os.environ.get('SLOW'): {PSKIP}", ["own"]),
    "a version": (TEST + f"if sys.version_info < (3, 99) and os.name != 'nt': {PSKIP}", ["own"]),
    "a package": (TEST + "pytest.importorskip('numpy')", ["own"]),
    "a package that is tried": ("try:\n    import numpy as np\nexcept ImportError:\n    np = None\n" + TEST + f"if np is None: {PSKIP}", ["own"]),
    "a package that is looked for": (TEST + f"if importlib.util.find_spec('numpy') is None: {PSKIP}", ["own"]),
    "a subtest": (CASE + f"for n in (1, 2):\n            with self.subTest(n=n):\n                if n == 2: {SKIP}\n                self.assertEqual(one(), n)", ["own"]),
    "a parameter": (TEST.replace("def test_b(d)", "@pytest.mark.parametrize('n', [1, 2])\ndef test_b(d, n)") + f"if n == 2: {PSKIP}\n    assert d.get(n) == n", ["own"]),
    "after a text of answers": (CASE + f"self.assertEqual(', '.join(self.d.get()), 'a')\n        if sys.platform == 'win32': {SKIP}", ["own"]),
    "after a comparison that is asked": (CASE + f"self.assertTrue((self.d.get() == one()).all())\n        {SKIP}", ["always"]),
    "after a helper that is given the test": ("def check(case, d): case.assertEqual(d.get(), one())\n" + CASE + f"check(self, self.d)\n        if os.name == 'nt': {SKIP}", ["own"]),
    "beside a module that is set": (CASE + f"sys.modules['x'] = self.d.get()\n        if sys.platform == 'win32': {SKIP}", ["own"]),
    "beside a helper with a fixture": ("def run(monkeypatch, text):\n    monkeypatch.setattr(sys, 'stdin', text)\n    return one()\n" + TEST.replace("test_b(d)", "test_b(monkeypatch, d)") + f"assert run(monkeypatch, 'a') == 1\n    if sys.platform == 'win32': {PSKIP}", ["own"]),
    "after the size of an answer": (CASE + f"self.assertEqual(len(self.d.get()), 1)\n        if len(sys.platform) > 99: {SKIP}", ["own"]),
    "a fixture skips": (HEAD + f"@pytest.fixture\ndef d():\n    D()\n    {PSKIP}\ndef test_b(d): pass", ["always"]),
    "a helper": ("def slow(): return bool(1)\n" + CASE + f"if slow(): {SKIP}", ["unknown"]),
    "an attribute of the test": (CASE.replace("self.d = D()", "self.d, self.n = D(), 1").replace("self.d, self.n = D(), 1", "self.d = D(); self.n = 1") + f"if self.n: {SKIP}", ["unknown"]),
}  # fmt: skip
NOT_STATED = {
    "an answer": CASE + f"if self.d.get() != 2: {SKIP}",
    "a flag": CASE + f"if solution.SLOW: {SKIP}",
    "an answer that is kept": CASE + f"n = self.d.get()\n        ok = n == 2\n        if not ok: {SKIP}",
    "a flag that is set": CASE + f"ok = True\n        if self.d.get() != 2:\n            ok = False\n        if not ok: {SKIP}",
    "an error": CASE + f"try:\n            self.d.get()\n        except Exception:\n            {SKIP}",
    "an assertion": CASE + f"try:\n            assert self.d.get() == 2\n        except AssertionError:\n            {SKIP}",
    "no error": CASE + f"try:\n            self.d.get()\n        except Exception: pass\n        else: {SKIP}",
    "at last": CASE + f"try:\n            self.assertEqual(self.d.get(), 2)\n        finally:\n            {SKIP}",
    "an end before": CASE + f"if self.d.get() == 2: return\n        {SKIP}",
    "a loop that is left": CASE + f"for n in (1, 2):\n            if self.d.get() == n: break\n            {SKIP}",
    "a list that it fills": CASE + f"seen = []\n        self.d.each(seen.append)\n        if seen: {SKIP}",
    "a list that it is given": CASE + f"seen = [0]\n        self.d.fill(seen)\n        if seen[0]: {SKIP}",
    "what a function asks": "def slow(): return solution.SLOW\n" + CASE + f"if slow(): {SKIP}",
    "what a function is given": "def slow(d): return d.get()\n" + CASE + f"if slow(self.d): {SKIP}",
    "a fixture's answer": TEST + f"if d.get() != 2: {PSKIP}",
    "a fixture of another file": HEAD + f"def test_b(level):\n    if level: {PSKIP}",
    "a variable that is set to an answer": CASE + f"os.environ['SLOW'] = self.d.get()\n        if os.environ.get('SLOW'): {SKIP}",
    "a platform that is set to an answer": CASE + f"sys.platform = self.d.get()\n        if sys.platform == 'x': {SKIP}",
    "a variable by another name": "from os import environ\n" + CASE + f"environ['SLOW'] = self.d.get()\n        if os.environ.get('SLOW'): {SKIP}",
    "a helper with the candidate for a fixture": "def run(monkeypatch): return monkeypatch.get()\n" + CASE + f"if run(self.d): {SKIP}",
    "what it may set on the test": CASE.replace("self.d = D()", "self.d = D(); self.late = 0") + f"self.d.fill(self)\n        if self.late: {SKIP}",
    "what it puts into a list without a name": CASE + f"self.seen = [0]\n        ', '.join(self.d.fill(self.seen))\n        if self.seen: {SKIP}",
    "what it prints": HEAD + f"def test_b(capsys):\n    one()\n    if capsys.readouterr().out: {PSKIP}",
    "its file": TEST + f"if os.path.exists('extra.py'): {PSKIP}",
    "its module": TEST + "pytest.importorskip('extra')",
    "its module, looked for": TEST + f"if importlib.util.find_spec('extra') is None: {PSKIP}",
    "in the reason": CASE + "self.skipTest(self.d.why())",
    "beside": CASE + f"self.d.get(); {SKIP}",
    "a context of its": TEST + f"with d.lock():\n        {PSKIP}",
    "what is suppressed": "import contextlib\n" + TEST + f"with contextlib.suppress(ValueError):\n        d.get()\n        {PSKIP}",
    "a pattern": TEST + f"match d.get():\n        case 1: {PSKIP}",
    "a class of its": CASE.replace("unittest.TestCase", "solution.Case") + SKIP,
    "a decorator of its": TEST.replace("def test_b", "@solution.retry\ndef test_b") + PSKIP,
    "its own skip": HEAD + "def test_b(): solution.skip('no')",
    "pytest's name": "import pytest\nimport solution\npytest = solution.pytest\ndef test_b(): pytest.skip('no')",
    "the suite's own skipTest": CASE + SKIP + "\n    def skipTest(self, why):\n        if self.d.get(): super().skipTest(why)",
    "a function within": CASE + f"def inner(): {SKIP}\n        self.d.each(inner)",
    "a name that others set": CASE + f"global OK\n        OK = self.d.get()\n    def test_c(self):\n        if OK: {SKIP}",
}  # fmt: skip
EXPECTED = {
    "unittest": CASE.replace("    def test_b", "    @unittest.expectedFailure\n    def test_b") + "self.fail('todo')",
    "a class": CASE.replace("class T", "@unittest.expectedFailure\nclass T") + "self.fail()",
    "pytest": TEST.replace("def test_b", "@pytest.mark.xfail\ndef test_b") + "assert d",
    "an error of it": TEST.replace("def test_b", "@pytest.mark.xfail(raises=KeyError, reason='bug', strict=True)\ndef test_b") + "d['x']",
    "a platform": TEST.replace("def test_b", "@pytest.mark.xfail(sys.platform == 'linux', reason='bug')\ndef test_b") + "assert d",
    "of the file": HEAD + "pytestmark = pytest.mark.xfail(raises=KeyError)\ndef test_b(): one()['x']",
    "a parameter": HEAD + "@pytest.mark.parametrize('x', [1, pytest.param(2, marks=pytest.mark.xfail(raises=KeyError))])\ndef test_b(x): one()[x]",
}  # fmt: skip
NOT_EXPECTED = {
    "a condition of its": TEST.replace("def test_b", "@pytest.mark.xfail(solution.SLOW, reason='bug')\ndef test_b") + "assert d",
    "a condition in words": TEST.replace("def test_b", "@pytest.mark.xfail('solution.SLOW', reason='bug')\ndef test_b") + "assert d",
    "a condition by name": TEST.replace("def test_b", "@pytest.mark.xfail(condition=not hasattr(solution, 'm'), reason='')\ndef test_b") + "assert d",
    "its own strictness": TEST.replace("def test_b", "@pytest.mark.xfail(strict=solution.S)\ndef test_b") + "assert d",
    "its own mark": TEST.replace("def test_b", "@solution.xfail\ndef test_b") + "assert d",
    "another of the name": TEST.replace("def test_b", "@pytest.mark.xfail\ndef test_b") + "assert d\nclass TestC:\n    def test_b(self): assert one()",
}  # fmt: skip


def _found(text: str, *, is_beside: bool = False) -> Dependence:
    return dependence({"test_it.py": text + "\n"}, {"pytest", "numpy"}, is_beside=is_beside)


@pytest.mark.parametrize("name", STATED)
def test_a_skip_of_the_suites_own_is_stated(name: str) -> None:
    """Its place and its kind are told."""
    text, kinds = STATED[name]
    assert list(_found(text).skips.values()) == kinds


@pytest.mark.parametrize("name", NOT_STATED)
def test_a_skip_that_may_be_the_candidates_doing_is_not_stated(name: str) -> None:
    assert not _found(NOT_STATED[name]).skips


def test_the_place_of_a_skip_is_its_line() -> None:
    assert _found(CASE + SKIP).skips == {"test_it.py:6": "always"}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_expected_failure_is_stated(name: str) -> None:
    assert _found(EXPECTED[name]).expected == {"test_b"}


@pytest.mark.parametrize("name", NOT_EXPECTED)
def test_a_failure_that_the_candidate_makes_expected_is_not_stated(name: str) -> None:
    assert not _found(NOT_EXPECTED[name]).expected


def test_in_one_process_only_a_mark_without_a_condition_is_stated() -> None:
    """A candidate there may change what the platform is."""
    assert _found(EXPECTED["unittest"], is_beside=True).expected == {"test_b"}
    assert not _found(EXPECTED["a platform"], is_beside=True).expected
