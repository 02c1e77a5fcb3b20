# ruff: noqa: E501 (programs are text, not code of ours)
"""Tests that the text of a suite marks as skipped, whoever the candidate is."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.defined_tests import dependence
from harena.scoring.scorers.suite_apart import Report
from harena.scoring.scorers.suite_defined import excuses_of

HEAD = "import os, sys, pytest, unittest, solution\nfrom solution import f\nY = f(3)\n"
MARKS = {
    "@unittest.skip('no')": "always",
    "@pytest.mark.skip": "always",
    "@unittest.skipUnless(os.environ.get('SLOW'), f'a reason')": "own",
    "@pytest.mark.skipif(sys.platform == 'linux', reason='no')": "own",
    "@pytest.mark.skipif('sys.platform == 1', reason='no')": "own",
    "slow = unittest.skipIf(os.name == 'nt', 'no')\n@slow": "own",
    "@pytest.mark.parametrize('v', [f(1), pytest.param(f(2), marks=pytest.mark.skipif(os.name == 'nt', reason='no'))])": None,
    "@pytest.mark.parametrize('v', [f(1)])\n@unittest.skipIf(os.name == 'nt', 'no')": "own",
    "@pytest.mark.parametrize('v', Y)\n@unittest.skipIf(os.name == 'nt', 'no')": None,
    "@unittest.skipIf(Y, 'no')": None,
    "@unittest.skipIf(Y, 'no')\n@unittest.skipIf(os.name == 'nt', 'no')": None,
    "@unittest.skipIf(Y, 'no')\n@unittest.skip('no')": "always",
    "@f\n@unittest.skipIf(os.name == 'nt', 'no')": None,
    "@pytest.mark.skipif('Y == 1', reason='no')": None,
    "@pytest.mark.skipif('Y ==', reason='no')": None,
    "@unittest.skipIf(open('a').read(), 'no')": None,
    "@pytest.mark.xfail(f(1), run=False)\n@unittest.skipIf(os.name == 'nt', 'no')": None,
    "@pytest.mark.asyncio": None,
}  # fmt: skip


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_states_what_no_candidate_changes(mark: str) -> None:
    """Every mark that may skip has to."""
    found = dependence({"test_it.py": f"{HEAD}{mark}\ndef test_a(v=1): assert f(1)\n"}, ["pytest"]).marked
    assert found.get("test_a") == MARKS[mark]
    again = f"{HEAD}{mark}\ndef test_a(v=1): pass\ndef test_b(): pass\nclass T:\n    def test_b(self): pass\n"
    assert dependence({"test_it.py": again, "test_no.py": "def test_a(): pass\n"}, ["pytest"]).marked == {}


def test_a_class_of_the_candidates_states_nothing() -> None:
    """Its base may skip, too."""
    for base, kind in (("unittest.TestCase", "own"), ("solution.Case", None)):
        suite = f"{HEAD}@unittest.skipIf(os.name == 'nt', 'no')\nclass T({base}):\n    def test_a(self): pass\n"
        assert dependence({"test_it.py": suite}, ["pytest"]).marked.get("test_a") == kind


def test_only_a_skip_that_no_code_has_raised_is_a_marks() -> None:
    """Beside the suite a candidate may put there what a mark asks for."""
    suite = f"{HEAD}@unittest.skipIf(os.name == 'nt', 'no')\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
    on = dependence({"test_it.py": suite}, ["pytest"])
    name = "test_it.py::T::test_a[1]"
    by_mark, by_code = (Report(excused=(name,), skips=((name, place),)) for place in ("*", ""))
    assert excuses_of(by_mark, on).stated == {name}
    assert not excuses_of(by_code, on).stated
    assert not excuses_of(by_mark, on, is_beside=True).stated


OWN = "    @unittest.skipIf(os.name == 'nt', 'no')\n    def test_a(self): assert f(1)\n"
OTHERWISE = {
    "in a block of the class": f"class T(unittest.TestCase):\n    if Y == 5:\n        pytestmark = pytest.mark.skip(reason='x')\n{OWN}",
    "in a block": f"if Y == 5:\n    pytestmark = pytest.mark.skip\nclass T:\n{OWN}",
    "parameters, in a block": f"if Y == 5:\n    pytestmark = pytest.mark.parametrize('v', Y)\nclass T:\n{OWN}",
    "put on later": f"class T(unittest.TestCase):\n{OWN}T = unittest.skipIf(Y == 5, 'x')(T)\n",
    "put on later, always": f"class T(unittest.TestCase):\n{OWN}if Y == 5:\n    T = unittest.skip('x')(T)\n",
    "inherited": f"@unittest.skipIf(Y == 5, 'n')\nclass B(unittest.TestCase):\n    pass\nclass T(B):\n{OWN}",
    "inherited twice": f"@unittest.skipIf(Y == 5, 'n')\nclass A(unittest.TestCase):\n    pass\nclass B(A):\n    pass\nclass T(B):\n{OWN}",
    "of a class that inherits the test": f"class B:\n{OWN}@unittest.skipIf(Y == 5, 'n')\nclass T(B, unittest.TestCase):\n    pass\n",
    "inherited of another file": f"from other import B\nclass T(B):\n{OWN}",
    "a name of two": f"deco = unittest.skip('x')\nif Y == 4:\n    deco = f\n@deco\nclass T(unittest.TestCase):\n{OWN}",
    "a name in a block": f"if Y == 5:\n    deco = unittest.skip('x')\nelse:\n    deco = f\n@deco\nclass T(unittest.TestCase):\n{OWN}",
    "a function that marks": f"def needs(y): return unittest.skipIf(y == 5, 'x')\n@needs(Y)\nclass T(unittest.TestCase):\n{OWN}",
    "an attribute": f"class T:\n{OWN}T.pytestmark = [pytest.mark.skip]\n",
    "setattr": f"class T(unittest.TestCase):\n{OWN}if Y == 5: setattr(T, '__unittest_skip__', True)\n",
    "another name": f"from unittest import skipIf as unless\n@unless(Y == 5, 'x')\nclass T(unittest.TestCase):\n{OWN}",
    "a hook": f"class T:\n{OWN}def pytest_collection_modifyitems(items):\n    for item in items:\n        if hasattr(solution, 'BAD'): item.add_marker(pytest.mark.skip())\n",
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_suite_that_marks_in_another_way_states_no_mark(name: str) -> None:
    """The test has a mark of the suite's own, and may be skipped by one that the candidate steers."""
    plain = {"test_it.py": f"{HEAD}class T(unittest.TestCase):\n{OWN}"}
    assert dependence(plain, ["pytest"]).marked == {"test_a": "own"}
    suite = {"test_it.py": HEAD + OTHERWISE[name], "other.py": "import unittest\nclass B(unittest.TestCase): pass\n"}
    assert "test_a" not in dependence(suite, ["pytest"]).marked


def test_a_hook_of_another_file_states_no_mark() -> None:
    """As people write them that skip what is slow."""
    hook = "import pytest, solution\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        if hasattr(solution, 'BAD'): item.add_marker(pytest.mark.skip())\n"
    suite = {"test_it.py": f"{HEAD}class T(unittest.TestCase):\n{OWN}", "conftest.py": hook}
    assert dependence(suite, ["pytest"]).marked == {}


def test_marks_of_a_base_of_the_file_are_its_own() -> None:
    """A base of the suite's own, and one of a library's."""
    suite = f"{HEAD}class B(unittest.TestCase):\n    pass\nclass T(B):\n{OWN}"
    assert dependence({"test_it.py": suite}, ["pytest"]).marked == {"test_a": "own"}


def test_a_class_of_another_file_may_have_the_test() -> None:
    """It is marked there."""
    base = f"import os, unittest\nclass B:\n{OWN}"
    suite = f"{HEAD}from base import B\n@unittest.skipIf(Y == 5, 'n')\nclass T(B, unittest.TestCase):\n    pass\n"
    assert dependence({"base.py": base, "test_it.py": suite}, ["pytest"]).marked == {}


WITHOUT_TESTS = {
    "a class of values": "@f\nclass Point:\n    x = 1\n",
    "one that derives from it": "@f\nclass Point: pass\nclass Other(Point): pass\n",
    "an error": "@f('x')\nclass Own(ValueError): pass\n",
    "an enumeration": "import enum\n@f\nclass Own(enum.Enum):\n    A = 1\n",
    "in a test": "def test_b():\n    @f\n    class Point: pass\n    assert Point()\n",
}  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT_TESTS)
def test_a_class_without_tests_marks_none(name: str) -> None:
    """What the candidate decorates may be what the tests are about."""
    suite = f"{HEAD}{WITHOUT_TESTS[name]}class T(unittest.TestCase):\n{OWN}"
    assert dependence({"test_it.py": suite}, ["pytest"]).marked == {"test_a": "own"}
