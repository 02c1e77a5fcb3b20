# ruff: noqa: E501 (programs are text, not code of ours)
"""A test that is skipped because of what the candidate says or lacks has not passed; one that anybody skips is excused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import RunResult

pytestmark = SHARED
ADD = "def add(a, b): return a + b\n"
ONE = {"solution.py": ADD}
FULL = {"solution.py": ADD + "FLAG = False\ndef more(): return 6\n", "extra.py": "def mul(a, b): return a * b\n"}
FIRST = "from solution import add\ndef test_a(): assert add(1, 2) == 3\n"
FIRST_CASE = "import unittest, importlib.util\nfrom solution import add\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(add(1, 2), 3)\n"
USES = "def test_x():\n    import extra\n    assert extra.mul(2, 3) == 6\n"
TRIES = "import pytest\ntry:\n    import extra\nexcept ImportError:\n    extra = None\n"
MORE = "import solution\ndef test_x(): assert solution.more() == 6\n"
SKIPPING: dict[str, tuple[str, dict[str, str]]] = {
    "file": ("pytest", {"test_it.py": FIRST, "test_x.py": "import pytest\nextra = pytest.importorskip('extra')\n" + USES}),
    "test": ("pytest", {"test_it.py": FIRST + "def test_x():\n    import pytest\n    assert pytest.importorskip('extra').mul(2, 3) == 6\n"}),
    "name computed": ("pytest", {"test_it.py": FIRST + "def test_x():\n    import pytest\n    assert pytest.importorskip('ex' + 'tra').mul(2, 3) == 6  # extra\n"}),
    "mark of a file": ("pytest", {"test_it.py": FIRST, "test_x.py": "import pytest, importlib.util\npytestmark = pytest.mark.skipif(importlib.util.find_spec('extra') is None, reason='no')\n" + USES}),
    "expected": ("pytest", {"test_it.py": FIRST + "import pytest, importlib.util\n@pytest.mark.xfail(importlib.util.find_spec('extra') is None, reason='no')\n" + USES}),
    "tries": ("pytest", {"test_it.py": FIRST + TRIES + "def test_x():\n    if extra is None: pytest.skip('no')\n    assert extra.mul(2, 3) == 6\n"}),
    "not defined": ("pytest", {"test_it.py": FIRST + TRIES + "if extra is not None:\n    def test_x(): assert extra.mul(2, 3) == 6\n"}),
    "not collected": ("pytest", {"test_it.py": FIRST, "test_x.py": "import importlib.util\n__test__ = importlib.util.find_spec('extra') is not None\n" + USES}),
    "unittest, file": ("unittest", {"test_it.py": FIRST_CASE, "test_x.py": "import unittest\ntry:\n    import extra\nexcept ImportError:\n    raise unittest.SkipTest('no')\nclass X(unittest.TestCase):\n    def test_x(self): self.assertEqual(extra.mul(2, 3), 6)\n"}),
    "unittest, mark": ("unittest", {"test_it.py": FIRST_CASE + "    @unittest.skipIf(importlib.util.find_spec('extra') is None, 'no')\n    def test_x(self):\n        import extra\n        self.assertEqual(extra.mul(2, 3), 6)\n"}),
    "unittest, class": ("unittest", {"test_it.py": FIRST_CASE + "class X(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        try:\n            import extra\n        except ImportError: raise unittest.SkipTest('no')\n    def test_x(self):\n        import extra\n        self.assertEqual(extra.mul(2, 3), 6)\n"}),
    "asks, file": ("pytest", {"test_it.py": FIRST, "test_x.py": "import pytest, solution\nif solution.add(2, 2) != 4 or not hasattr(solution, 'more'): pytest.skip('no', allow_module_level=True)\ndef test_x(): assert solution.more() == 6\n"}),
    "asks, name": ("pytest", {"test_it.py": FIRST, "test_x.py": "import pytest\ntry:\n    from solution import more\nexcept ImportError:\n    pytest.skip('no', allow_module_level=True)\ndef test_x(): assert more() == 6\n"}),
    "asks, unittest": ("unittest", {"test_it.py": FIRST_CASE, "test_x.py": "import unittest, solution\nif not hasattr(solution, 'more'): raise unittest.SkipTest('no')\nclass X(unittest.TestCase):\n    def test_x(self): self.assertEqual(solution.more(), 6)\n"}),
}  # fmt: skip
"""suites that skip a test where the candidate does not bring the module `extra`, or the function `more`"""
WAYS: dict[str, dict[str, Any]] = {
    "no gold": {},
    "gold": {"gold": FULL},
    "sandbox": {"isolate": "sandbox"},
    "process": {"isolate": True},
    "beside": {"isolate": False},
}


async def _tried(suite: tuple[str, dict[str, str]], files: dict[str, str], **scoring: Any) -> RunResult:
    kind, tests = suite
    return await scored(
        {"files": files, "entry": "solution.py"}, "", kind, **{kind: list(tests)}, files=tests, **scoring
    )


@pytest.mark.parametrize("name", SKIPPING)
async def test_what_is_skipped_because_the_candidate_lacks_it_has_not_passed(name: str) -> None:
    """With a gold solution and without; in the candidate's own sandbox, in another process and beside the suite."""
    ways = (
        WAYS if name in ("file", "asks, file", "unittest, mark") else {each: WAYS[each] for each in ("no gold", "gold")}
    )
    for way, scoring in ways.items():
        lacking, full = await asyncio.gather(
            _tried(SKIPPING[name], ONE, **scoring), _tried(SKIPPING[name], FULL, **scoring)
        )
        assert (lacking.score, str(lacking.validity)) == (0.0, "valid"), (way, lacking.detail)
        assert full.score == 1.0, (way, full.detail)


NOT_THERE: dict[str, tuple[str, dict[str, str]]] = {
    "dropped by conftest": ("pytest", {"test_it.py": FIRST + MORE, "conftest.py": "import solution\ndef pytest_collection_modifyitems(items):\n    if not hasattr(solution, 'more'): items[:] = [each for each in items if each.name != 'test_x']\n"}),
    "class not collected": ("pytest", {"test_it.py": FIRST + "import solution\nclass TestX:\n    __test__ = hasattr(solution, 'more')\n    def test_x(self): assert solution.more() == 6\n"}),
    "name, not defined": ("pytest", {"test_it.py": FIRST + "import solution\nif hasattr(solution, 'more'):\n    def test_x(): assert solution.more() == 6\n"}),
    "name, not defined, unittest": ("unittest", {"test_it.py": FIRST_CASE + "    import solution\n    if hasattr(solution, 'more'):\n        def test_x(self): self.assertEqual(self.solution.more(), 6)\n"}),
    "in a loop": ("pytest", {"test_it.py": FIRST + "import solution\nfor name in ('more', 'other'):\n    if hasattr(solution, name):\n        def test_x(name=name): assert getattr(solution, name)() == 6\n"}),
}  # fmt: skip
"""suites in which a test is not there at all where the candidate lacks the function `more`; nothing is skipped"""


@pytest.mark.parametrize("name", NOT_THERE)
async def test_what_the_gold_runs_is_to_be_run(name: str) -> None:
    """A test that is dropped, or not defined, because of the candidate has not passed if the gold solution runs it."""
    lacking, full = await asyncio.gather(
        _tried(NOT_THERE[name], ONE, gold=FULL),
        _tried(NOT_THERE[name], {**FULL, "solution.py": FULL["solution.py"] + "OTHER = 1\n"}, gold=FULL),
    )
    assert (lacking.score, str(lacking.validity)) == (0.0, "valid"), lacking.detail
    assert full.score == 1.0, full.detail


async def test_parameters_may_differ_from_those_of_the_gold() -> None:
    """Their number is compared: who has fewer of its own has not passed every test that the gold solution passes."""
    test = "import pytest, solution\n@pytest.mark.parametrize('n', solution.CASES)\ndef test_x(n): assert solution.add(n, 1) == n + 1\n"
    few, others, more = ({"solution.py": f"{ADD}CASES = {cases}\n"} for cases in ([1], [4, 5, 6], [2, 3]))
    suite = ("pytest", {"test_it.py": FIRST + test})
    chosen = {"solution.py": "def add(a, b): return 3\nCASES = [2]\n"}
    wrong = {"solution.py": "def add(a, b): return 3\nCASES = [5]\n"}
    shorter, easier, own, failing = await asyncio.gather(
        *(_tried(suite, each, gold=more) for each in (few, chosen, others, wrong))
    )
    for found in (shorter, easier):
        assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail
        assert "1 times, and 2 times with the gold" in found.detail
    assert own.score == 1.0, own.detail
    assert (failing.score, str(failing.validity)) == (0.0, "valid"), failing.detail


async def test_who_makes_parameters_be_missing_does_not_pass() -> None:
    """They are there for whoever has every name that the gold solution has."""
    test = "import pytest, solution\n@pytest.mark.parametrize('n', [n for n in ('add', 'more') if hasattr(solution, n)])\ndef test_x(n): assert getattr(solution, n)\n"
    suite = ("pytest", {"test_it.py": FIRST + test})
    lacking, full = await asyncio.gather(_tried(suite, ONE, gold=FULL), _tried(suite, {**FULL, "x.py": ""}, gold=FULL))
    assert (lacking.score, str(lacking.validity)) == (0.0, "valid"), lacking.detail
    assert full.score == 1.0, full.detail


SAYS = {
    "a flag": ("", "@unittest.skipIf(solution.FLAG, 'no')", "FLAG = True\n"),
    "a name": ("", "@unittest.skipIf(hasattr(solution, 'legacy'), 'no')", "legacy = 1\n"),
    "a class's name": ("class Stack: pass\n", "@unittest.skipIf(hasattr(solution.Stack, 'legacy'), 'no')", "Stack.legacy = 1\n"),
    "a value": ("MODE = 'old'\n", "@unittest.skipIf(solution.MODE != 'old', 'no')", "MODE = 'new'\n"),
    "another value": ("MODE = 'old'\n", "@unittest.skipIf(solution.MODE == 'new', 'no')", "MODE = 'new'\n"),
    "a module": ("", "@unittest.skipIf(importlib.util.find_spec('legacy') is not None, 'no')", "import legacy\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAYS)
async def test_what_the_candidate_says_skips_nothing(name: str) -> None:
    """A mark that is computed from the candidate is true for one that does nothing, or false for another such one."""
    start, mark, lie = SAYS[name]
    test = f"import solution\nclass X(unittest.TestCase):\n    {mark}\n    def test_x(self): self.assertEqual(solution.more(), 6)\n"
    suite = ("unittest", {"test_it.py": FIRST_CASE + test})
    brings = {"legacy.py": ""} if name == "a module" else {}
    wrong = {"solution.py": FULL["solution.py"].replace("return 6", "return 5") + start + lie, **brings}
    unpaid, paid = await asyncio.gather(
        _tried(suite, wrong), _tried(suite, {"solution.py": FULL["solution.py"] + start})
    )
    assert (unpaid.score, str(unpaid.validity)) == (0.0, "valid"), unpaid.detail
    assert paid.score == 1.0, paid.detail


ANYBODY: dict[str, tuple[str, dict[str, str]]] = {
    "platform": ("pytest", {"test_it.py": "import pytest, sys\n" + FIRST + "@pytest.mark.skipif(sys.platform != 'win32', reason='there')\ndef test_x(): assert add(1, 1) == 3\n"}),
    "platform of a file": ("pytest", {"test_it.py": FIRST, "test_x.py": "import pytest, sys, solution\nif sys.platform != 'win32': pytest.skip('there', allow_module_level=True)\ndef test_x(): assert solution.add(1, 1) == 3\n"}),
    "platform, unittest": ("unittest", {"test_it.py": FIRST_CASE + "    @unittest.skipUnless(__import__('sys').platform == 'win32', 'there')\n    def test_x(self): self.fail()\n", "test_x.py": "import solution, unittest\nraise unittest.SkipTest('never')\n"}),
    "package of a test": ("pytest", {"test_it.py": FIRST + "def test_x():\n    import pytest\n    polars = pytest.importorskip('polars')\n    assert add(polars, 1) == 3\n"}),
    "package of a file": ("pytest", {"test_it.py": FIRST, "test_x.py": "import pytest\npolars = pytest.importorskip('polars')\nfrom solution import add\ndef test_x(): assert add(polars, 1) == 3\n"}),
    "package, not defined": ("pytest", {"test_it.py": FIRST + "try:\n    import polars\nexcept ImportError:\n    polars = None\nif polars is not None:\n    def test_x(): assert add(1, 1) == 3\n"}),
    "package in a try": ("pytest", {"test_it.py": "import pytest\n" + FIRST + "def test_x():\n    try:\n        import polars\n        assert add(polars.one, 1) == 2\n    except ImportError:\n        pytest.skip('no polars')\n"}),
    "package in a try, unittest": ("unittest", {"test_it.py": "try:\n    import numpy as np\nexcept ImportError:\n    np = None\n" + FIRST_CASE + "    @unittest.skipIf(np is None, 'no numpy')\n    def test_x(self): self.fail()\n    def test_y(self):\n        if np is None: self.skipTest('no numpy')\n        self.fail()\n"}),
    "module of another system": ("unittest", {"test_it.py": FIRST_CASE + "    @unittest.skipIf(importlib.util.find_spec('winreg') is None, 'there')\n    def test_x(self): self.fail()\n"}),
    "module of another version": ("pytest", {"test_it.py": FIRST + "def test_x():\n    import pytest\n    assert pytest.importorskip('cPickle') and add(1, 1) == 3\n"}),
    "always, expected": ("pytest", {"test_it.py": "import pytest\n" + FIRST + "@pytest.mark.skip\ndef test_x(): assert add(1, 1) == 3\n@pytest.mark.xfail\ndef test_y(): assert add(1, 1) == 3\n@pytest.mark.parametrize('a', [1, pytest.param(2, marks=pytest.mark.skip)])\ndef test_z(a): assert add(a, 1) == a + 1 == 2\n"}),
    "another way": ("pytest", {"test_it.py": "try:\n    from fast_solution import add\nexcept ImportError:\n    from solution import add\ndef test_a(): assert add(1, 2) == 3\n"}),
}  # fmt: skip


@pytest.mark.parametrize("name", ANYBODY)
async def test_what_anybody_skips_is_excused(name: str) -> None:
    """Platforms, packages that the image lacks, and what the author always skips; a wrong candidate is not paid."""
    wrong = {"solution.py": "def add(a, b): return 3 * b\n"}
    for way in ("no gold", "gold", "beside"):
        scoring = {"gold": ONE} if way == "gold" else WAYS[way]
        right = await _tried(ANYBODY[name], ONE, **scoring)
        assert right.score == 1.0, (way, right.detail)
    assert (await _tried(ANYBODY[name], wrong)).score == 0.0


async def test_a_package_that_the_contract_requires_is_not_the_candidates() -> None:
    """A module that nobody knows counts as the candidate's; the author says in `requires` that it is not."""
    suite = (
        "pytest",
        {
            "test_it.py": FIRST
            + "def test_x():\n    import pytest\n    assert pytest.importorskip('rare_package').f() == add(1, 1)\n"
        },
    )
    told = await _tried(suite, ONE)
    assert (told.score, "`requires`" in told.detail) == (0.0, True), told.detail
    assert (await _tried(suite, ONE, requires=["rare_package"])).score == 1.0
    assert (await _tried(suite, ONE, gold=ONE)).score == 1.0


async def test_who_has_every_test_run_beside_its_files_is_paid() -> None:
    """A suite that skips a test where a file of the candidate's is not there."""
    suite = (
        "unittest",
        {
            "test_it.py": FIRST_CASE
            + "    @unittest.skipUnless(__import__('os').path.exists('extra.py'), 'no')\n    def test_x(self):\n        import extra\n        self.assertEqual(extra.mul(2, 3), 6)\n"
        },
    )
    for scoring in (WAYS["no gold"], WAYS["beside"]):
        assert (await _tried(suite, ONE, **scoring)).score == 0.0
        assert (await _tried(suite, FULL, **scoring)).score == 1.0
