# ruff: noqa: E501 (programs are text, not code of ours)
"""Skips that depend on a look at the candidate that no object hears, told by the text of a suite."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.defined_tests import Dependence, dependence
from harena.scoring.scorers.suite_apart import Report
from harena.scoring.scorers.suite_defined import unheard_skip_of

HEAD = "import importlib.util, os, sys, pytest, solution, unittest\n"
SKIP = "pytest.skip('no', allow_module_level=True)\n"
UNHEARD = {
    "bound before": "S = solution.SLOW\nif S is not None: " + SKIP,
    "type": "if type(solution.X) is not int: " + SKIP,
    "by default": "if getattr(solution, 'X', None) is not True: " + SKIP,
    "within": "if (s := solution.X) is not None: " + SKIP,
    "nothing in a match": "match solution.X:\n    case None: " + SKIP,
    "a list in a match": "match solution.X:\n    case [_]: pass\n    case x: " + SKIP,
    "by hash": "if solution.X in {1, 2}: " + SKIP,
    "a function": "def slow(x): return x is not None\n@pytest.mark.skipif(slow(solution.X), reason='n')\ndef test_a(): pass\n",
    "a name": "S = solution.X is None\n@unittest.skipIf(S, 'n')\nclass T(unittest.TestCase): pass\n",
    "a flag": "from solution import X\nOLD = False\nif X is None:\n    OLD = True\n@unittest.skipIf(OLD, 'n')\nclass T(unittest.TestCase): pass\n",
    "a fixture": "@pytest.fixture\ndef f():\n    X = solution.X\n    if X is None: pytest.skip('n')\n    return X\n",
    "an assertion": "try:\n    assert solution.X is not True\nexcept AssertionError:\n    " + SKIP,
    "a mark of the file": "pytestmark = pytest.mark.skipif(solution.X is not True, reason='no')\n",
    "callable": "if not callable(solution.X): " + SKIP,
}  # fmt: skip
HEARD = {
    "presence": "X = getattr(solution, 'X', None)\nif X is None: " + SKIP,
    "a module": "if importlib.util.find_spec('solution') is None: " + SKIP,
    "its own reason": "assert solution.X is None\n@pytest.mark.skipif(sys.platform == 'l', reason='n')\ndef test_a(): assert solution.f() is None\n",
    "truth": "if solution.X: " + SKIP,
    "an import": "try:\n    from solution import Z\nexcept ImportError:\n    Z = None\nif Z is None: " + SKIP,
    "its names": "if 'secret' not in dir(solution): " + SKIP,
    "the environment": "if os.environ.get('SLOW') is None: " + SKIP,
    "no skip": "@pytest.fixture\ndef f():\n    s = solution.Stack()\n    assert s is not None\n    return s\n@pytest.mark.skipif(os.environ.get('X') is None, reason='')\ndef test_a(f): assert type(f.x) is int\n",
    "equality": "if solution.X in (1, 2): " + SKIP,
}  # fmt: skip


def _found(text: str) -> Dependence:
    return dependence({"test_it.py": HEAD + text}, {"pytest"})


@pytest.mark.parametrize("name", UNHEARD)
def test_a_skip_by_identity_or_kind_is_told(name: str) -> None:
    assert list(_found(UNHEARD[name]).unheard) == ["test_it.py"]


@pytest.mark.parametrize("name", HEARD)
def test_what_a_stand_in_hears_is_not_told(name: str) -> None:
    """Truth, equality and presence; the suite's own reasons; looks by which nothing is skipped."""
    assert not _found(HEARD[name]).unheard


def test_a_file_of_tests_speaks_for_its_own() -> None:
    """Another file may skip by its own reasons; a helper speaks for all."""
    tests = {"test_it.py::test_a": 1, "test_item.py::test_b": 1}
    own = Report(excused=("test_it.py::test_a",), counts=tests)
    other = Report(excused=("test_item.py::test_b",), counts=tests)
    assert "test_it.py:7" in unheard_skip_of(own, Dependence(unheard={"test_it.py": 7}))
    assert unheard_skip_of(other, Dependence(unheard={"test_it.py": 7})) == ""
    assert "conftest.py:7" in unheard_skip_of(other, Dependence(unheard={"conftest.py": 7}))
