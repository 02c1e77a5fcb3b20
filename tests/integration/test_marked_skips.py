# ruff: noqa: E501 (programs are text, not code of ours)
"""Skips that marks state, in suites that use the candidate while they are read: without it they show nothing."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED
RIGHT, WRONG = "def f(x): return x + 1\n", "def f(x): return x + 2\n"
HEAD = "import os, sys, unittest\nfrom solution import f\nY = f(3)\n"
BODY = "    def test_a(self): self.assertEqual(f(1), 2)\n"
MARKED = HEAD + "@unittest.skipUnless(os.environ.get('SLOW'), 'slow')\nclass T(unittest.TestCase):\n" + BODY
OTHER = "class U(unittest.TestCase):\n    def test_b(self): self.assertEqual(f(1), 2)\n"
PYTEST = "import pytest\n" + HEAD + "{}\ndef test_a(): assert f(1) == 2\n"
ALL_SKIPPED = {
    "a class": ("unittest", MARKED),
    "a class, by pytest": ("pytest", MARKED),
    "always": ("unittest", MARKED.replace("skipUnless(os.environ.get('SLOW'), 'slow')", "skip('no')")),
    "in a setUp": ("pytest", HEAD + "class T(unittest.TestCase):\n    def setUp(self):\n        if not os.environ.get('SLOW'): self.skipTest('slow')\n" + BODY),
    "of a class": ("pytest", HEAD + "class T(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        if not os.environ.get('SLOW'): raise unittest.SkipTest('slow')\n" + BODY),
    "of a file": ("pytest", PYTEST.format("pytestmark = pytest.mark.skipif(sys.platform != 'win32', reason='no')")),
    "by a name": ("pytest", PYTEST.format("slow = pytest.mark.skipif(not os.environ.get('SLOW'), reason='no')\n@slow")),
    "by a text": ("pytest", PYTEST.format("@pytest.mark.skipif(\"sys.platform != 'win32'\", reason='no')")),
    "with parameters": ("pytest", PYTEST.replace("test_a()", "test_a(v)").format("@pytest.mark.parametrize('v', [f(1), f(2)])\n@pytest.mark.skip")),
}  # fmt: skip
STEERED = {
    "an answer": MARKED.replace("os.environ.get('SLOW')", "Y == 5"),
    "an answer, or the environment": MARKED.replace("os.environ.get('SLOW')", "os.environ.get('SLOW') or f(3) == 5"),
    "two marks": MARKED.replace("@unittest", "@unittest.skipIf(Y == 4, 'four')\n@unittest"),
    "in the test": MARKED.replace("skipUnless", "skipIf").replace("self.assert", "\n        if f(1) == 2: raise unittest.SkipTest('two')\n        self.assert"),
    "what the suite has put there": MARKED.replace("Y = f(3)", "os.environ['FAST'] = str(f(3))").replace("skipUnless(os.environ.get('SLOW')", "skipIf(os.environ.get('FAST') == '4'"),
    "put on later": HEAD + "class T(unittest.TestCase):\n    @unittest.skipIf(bool(os.environ.get('FAST')), 'no')\n" + BODY + "T = unittest.skipIf(Y == 4, 'x')(T)\n",
    "inherited": HEAD + "@unittest.skipIf(Y == 4, 'x')\nclass B(unittest.TestCase): pass\nclass T(B):\n    @unittest.skipIf(bool(os.environ.get('FAST')), 'no')\n" + BODY,
    "in a block": "import pytest\n" + HEAD + "class T(unittest.TestCase):\n    if Y == 4:\n        pytestmark = pytest.mark.skip\n    @unittest.skipIf(bool(os.environ.get('FAST')), 'no')\n" + BODY,
    "no parameters": "import pytest\n" + HEAD + "@pytest.mark.skipif(bool(os.environ.get('FAST')), reason='no')\n@pytest.mark.parametrize('v', range(Y - 4))\ndef test_a(v): assert f(1) == 2\n",
}  # fmt: skip


@pytest.mark.parametrize("name", ALL_SKIPPED)
async def test_a_suite_that_skips_all_by_itself_judges_nobody(name: str) -> None:
    """A right candidate has no score, as where nothing is used before."""
    kind, suite = ALL_SKIPPED[name]
    result = await scored(RIGHT, suite, kind=kind)
    assert (result.score, str(result.validity)) == (None, "invalid"), result.detail
    assert "every test is skipped" in result.detail


@pytest.mark.parametrize("name", STEERED)
@pytest.mark.parametrize("more", ["", OTHER], ids=["alone", "beside another"])
async def test_a_skip_that_a_candidate_may_have_caused_is_no_excuse(name: str, more: str) -> None:
    """It has its 0, or no score where nobody can tell; it is never paid."""
    result = await scored(RIGHT, STEERED[name] + more, kind="pytest")
    assert result.score == 0.0 or (more and result.score is None), result.detail


@pytest.mark.parametrize("kind", ["pytest", "unittest"])
async def test_the_tests_that_are_not_skipped_judge(kind: str) -> None:
    """The others are skipped whoever the candidate is."""
    result = await scored(RIGHT, MARKED + OTHER, kind=kind)
    assert (result.score, result.trust, result.detail) == (1.0, Trust.SEPARATE, "")
    assert (await scored(WRONG, MARKED + OTHER, kind=kind)).score == 0.0


async def test_what_a_candidate_puts_into_the_environment_excuses_no_test() -> None:
    """Beside the suite it can; whatever is skipped there has to be skipped apart, too."""
    suite = MARKED.replace("skipUnless(os.environ.get('SLOW')", "skipIf(os.environ.get('FAST')") + OTHER
    sets = "import os\nos.environ['FAST'] = '1'\n" + RIGHT
    for more in ({}, {"isolate": False}):
        result = await scored(sets, suite, **more)
        assert result.score == 0.0, result.detail


TAKES_AWAY = """import builtins
really = builtins.__build_class__
def made(*given, **named):
    cls = really(*given, **named)
    if cls.__name__ == "T": del cls.test_a
    return cls
builtins.__build_class__ = made
def f(x): return {}
"""
TODO = "    @unittest.skip('todo')\n    def test_b(self): pass\n"
VANISHING = {
    "where it lacks a name": ("import solution, unittest\nclass T(unittest.TestCase):\n    if hasattr(solution, 'g'):\n        def test_a(self): self.assertEqual(solution.g(1), 2)\n" + TODO, WRONG),
    "by what it answers": (HEAD + "class T(unittest.TestCase):\n    if Y == 4:\n        def test_a(self): self.assertEqual(f(1), 2)\n" + TODO, WRONG),
    "taken away": (HEAD + "class T(unittest.TestCase):\n" + BODY + TODO, TAKES_AWAY.format("x")),
    "taken away, and noted": (HEAD + "class T(unittest.TestCase):\n" + BODY + TODO, TAKES_AWAY.format("'x' * 10_000_000")),
}  # fmt: skip


@pytest.mark.parametrize("name", VANISHING)
@pytest.mark.parametrize("isolate", ["auto", False])
async def test_who_makes_tests_vanish_is_not_excused_by_those_that_are_skipped(name: str, isolate: str | bool) -> None:
    """All tests that are left are skipped by the suite's own doing."""
    suite, program = VANISHING[name]
    result = await scored(program, suite, kind="unittest", **({} if isolate == "auto" else {"isolate": isolate}))
    assert result.score == 0.0, result.detail
