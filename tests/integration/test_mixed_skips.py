# ruff: noqa: E501 (programs are text, not code of ours)
"""A condition of a skip that mixes what a candidate lacks with what it has: nobody is paid for a test that it so skips."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import RunResult

pytestmark = SHARED
SECRET = "def secret(a): return a * 7 + 3\n"
WRONG = "def secret(*a, **k): return 0\n"
OTHER = {"test_other.py": "def test_data(): assert [1]\n"}
TEST = "def test_secret(): assert solution.secret(2) == 17\n"
START = "import os, sys, pytest, importlib.util\nimport solution\n"
FILE = START + "if {}: pytest.skip('no', allow_module_level=True)\n" + TEST
MARK = START + "@pytest.mark.skipif({}, reason='no')\n" + TEST
CASE = "import unittest, solution\n{}class T(unittest.TestCase):\n{}    def test_secret(self): self.assertEqual(solution.secret(2), 17)\n"
OTHER_CASE = {
    "test_other.py": "import unittest\nclass O(unittest.TestCase):\n    def test_data(self): self.assertTrue([1])\n"
}
LACKS = "not hasattr(solution, 'secret')"

MIXED: dict[str, tuple[str, str, dict[str, str]]] = {
    "lacks or has": ("pytest", FILE.format(f"{LACKS} or getattr(solution, 'SLOW', False)"), {"solution.py": WRONG + "SLOW = True\n"}),
    "a mark": ("pytest", MARK.format(f"{LACKS} or hasattr(solution, 'SLOW')"), {"solution.py": WRONG + "SLOW = True\n"}),
    "a mark in words": ("pytest", START + f"@pytest.mark.skipif(\"{LACKS} or getattr(solution, 'SLOW', 0)\", reason='no')\n" + TEST, {"solution.py": WRONG + "SLOW = True\n"}),
    "one name, twice": ("pytest", FILE.format("not hasattr(solution, 'CONFIG') or solution.CONFIG"), {"solution.py": WRONG}),
    "a value": ("pytest", FILE.format("solution.MODE == 'old' or solution.MODE != 'new'"), {"solution.py": WRONG + "MODE = 'old'\n"}),
    "two and two": ("pytest", FILE.format(f"{LACKS} or not hasattr(solution, 'more') or solution.SLOW or solution.OLD"), {"solution.py": WRONG + "more = OLD = 1\nSLOW = 0\n"}),
    "an import that fails": ("pytest", START + "try:\n    from solution import legacy\n    OLD = True\nexcept ImportError:\n    OLD = False\n@pytest.mark.skipif(OLD, reason='no')\n" + TEST, {"solution.py": WRONG + "legacy = 1\n"}),
    "two modules": ("pytest", FILE.format("importlib.util.find_spec('extra') is None or importlib.util.find_spec('legacy') is not None"), {"solution.py": WRONG, "extra.py": "", "legacy.py": ""}),
    "unittest": ("unittest", CASE.format(f"if {LACKS} or getattr(solution, 'SLOW', False): raise unittest.SkipTest('no')\n", ""), {"solution.py": WRONG + "SLOW = True\n"}),
    "unittest, a mark": ("unittest", CASE.format("", f"    @unittest.skipIf({LACKS} or getattr(solution, 'SLOW', False), 'no')\n"), {"solution.py": WRONG + "SLOW = True\n"}),
}  # fmt: skip
"""(runner, suite, a candidate that makes it skip)"""
UNSETTLED: dict[str, tuple[str, str, dict[str, str]]] = {
    "its names": ("pytest", FILE.format("'secret' not in dir(solution) or 'SLOW' in dir(solution)"), {"solution.py": WRONG + "SLOW = True\n"}),
    "what it answers": ("pytest", START + "try:\n    FAST = solution.speed() > 3\nexcept Exception:\n    FAST = False\n@pytest.mark.skipif(not FAST, reason='no')\n" + TEST, {"solution.py": WRONG + "def speed(): return 1\n"}),
    "is it": ("pytest", FILE.format("solution.SLOW is not None"), {"solution.py": WRONG + "SLOW = True\n"}),
    "is it, bound before": ("pytest", START + "S = solution.SLOW\nif S is not None: pytest.skip('no', allow_module_level=True)\n" + TEST, {"solution.py": WRONG + "SLOW = True\n"}),
    "is it, by default": ("pytest", FILE.format("getattr(solution, 'FAST', None) is not True"), {"solution.py": WRONG}),
    "is it, named within": ("pytest", FILE.format("(s := solution.SLOW) is not None"), {"solution.py": WRONG + "SLOW = True\n"}),
    "is it, in a function": ("pytest", START + "def slow(s): return s is not None\n@pytest.mark.skipif(slow(solution.SLOW), reason='no')\n" + TEST, {"solution.py": WRONG + "SLOW = True\n"}),
    "its type, unittest": ("unittest", CASE.format("FAST = type(solution.FAST) is int\n", "    @unittest.skipUnless(FAST, 'no')\n"), {"solution.py": WRONG + "FAST = ''\n"}),
    "many names": ("pytest", FILE.format(" + ".join(f"hasattr(solution, 'a{n}')" for n in range(9)) + " != 5"), {"solution.py": WRONG}),
}  # fmt: skip
"""suites of which no stance tells what they would run"""
OWN: dict[str, tuple[str, str]] = {
    "platform": ("pytest", MARK.format("sys.platform == 'linux'")),
    "platform after a look": ("pytest", FILE.format(f"{LACKS} or sys.platform == 'linux'")),
    "environment": ("pytest", START + f"HAS = {LACKS}\n" + "@pytest.mark.skipif(not os.environ.get('SLOW'), reason='no')\n" + TEST),
    "a package": ("pytest", START + "polars = pytest.importorskip('polars')\n" + TEST),
    "version": ("pytest", START + "FAST = getattr(solution, 'FAST', False)\n" + "@pytest.mark.skipif(sys.version_info > (3,), reason='no')\n" + TEST),
    "environment, unittest": ("unittest", CASE.format("import os\n", "    @unittest.skipUnless(os.environ.get('SLOW'), 'no')\n")),
}  # fmt: skip
"""suites that skip the test for everybody"""


async def _tried(kind: str, suite: str, files: dict[str, str], **scoring: Any) -> RunResult:
    tests = {"test_it.py": suite, **(OTHER if kind == "pytest" else OTHER_CASE)}
    candidate = {"files": files, "entry": "solution.py"}
    return await scored(candidate, "", kind, **{kind: list(tests)}, files=tests, **scoring)


@pytest.mark.parametrize("name", MIXED)
async def test_a_mixed_condition_skips_nothing(name: str) -> None:
    """Without a gold solution, apart and beside the suite."""
    kind, suite, files = MIXED[name]
    for scoring in ({}, {"isolate": False}):
        found = await _tried(kind, suite, files, **scoring)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (scoring, found.detail)


async def test_who_runs_the_test_is_paid() -> None:
    """A right program that skips nothing; a wrong one fails by its own test."""
    kind, suite, _ = MIXED["lacks or has"]
    assert (await _tried(kind, suite, {"solution.py": SECRET})).score == 1.0
    assert (await _tried(kind, suite, {"solution.py": WRONG})).score == 0.0


@pytest.mark.parametrize("name", UNSETTLED)
async def test_a_skip_that_no_stance_settles_has_no_score(name: str) -> None:
    """It asks for a gold solution."""
    kind, suite, files = UNSETTLED[name]
    found = await _tried(kind, suite, files)
    assert (found.score, str(found.validity)) == (None, "invalid"), found.detail
    assert "give the contract a `gold` solution" in found.detail


@pytest.mark.parametrize("name", OWN)
async def test_what_everybody_skips_is_paid(name: str) -> None:
    """The suite's own reasons: the platform, a package, the environment; also where it has looked at the candidate."""
    kind, suite = OWN[name]
    found = await _tried(kind, suite, {"solution.py": SECRET})
    assert found.score == 1.0, found.detail
