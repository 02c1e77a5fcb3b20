# ruff: noqa: E501 (programs are text, not code of ours)
"""Suites that put a folder of the candidate's on the path, as those of packages in `src` do."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import RunResult, Trust, Validity
from harena.scoring import load_scenarios

pytestmark = SHARED
INSERT = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'src'))\n"
BY_PATHLIB = (
    "import sys\nfrom pathlib import Path\nsys.path.append(str(Path(__file__).resolve().parent.parent / 'src'))\n"
)
BY_CONFTEST = {"conftest.py": "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent / 'src'))\n"}
BY_INI = {"pytest.ini": "[pytest]\npythonpath = src\n"}
BY_TABLE = {"pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\n"}
RIGHT, WRONG = "def double(x):\n    return 2 * x\n", "def double(x):\n    return x * x\n"
TESTS = "from mypkg import double\nfrom mypkg.core import double as again\ndef test_double():\n    assert double(3) == 6\n    assert again(4) == 8\n"
CASES = "import unittest\nfrom mypkg import double\nclass T(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(3), 6)\n"
PACKAGE = {"src/mypkg/__init__.py": "from .core import double\n"}
ABOVE = {"src/mypkg/__init__.py": "from mypkg.core import double\n"}
LAYOUTS: dict[str, tuple[str, str, dict[str, str], dict[str, str]]] = {
    # runner, tests, further trusted files, the candidate's package
    "insert": ("pytest", INSERT + TESTS, {}, PACKAGE),
    "pathlib": ("pytest", BY_PATHLIB + TESTS, {}, PACKAGE),
    "conftest": ("pytest", TESTS, BY_CONFTEST, PACKAGE),
    "pytest.ini": ("pytest", TESTS, BY_INI, PACKAGE),
    "pyproject.toml": ("pytest", TESTS, BY_TABLE, PACKAGE),
    "unittest": ("unittest", INSERT + CASES, {}, PACKAGE),
    "a trusted package around it": ("pytest", INSERT + TESTS, ABOVE, {}),
}
SAME = "def same(a, b):\n    return a == b\n"
ALWAYS = "def same(a, b):\n    return True\n"
HELPED = "from core import double\nfrom {0} import same\ndef test_double():\n    assert same(double(3), 6)\n    assert same(double(4), 8)\n"
PLANT = "import sys, types\nm = types.ModuleType('helper')\nm.same = lambda a, b: True\nsys.modules['helper'] = m\ndef double(x): return 0\n"
ZERO = "def double(x): return 0\n"
IN_ITS_PLACE: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    # the helper's name, further trusted files, the candidate's
    "beside the tests": ("helper", {"tests/helper.py": SAME}, {"src/helper.py": ALWAYS}),
    "at the top": ("helper", {"helper.py": SAME}, {"src/helper.py": ALWAYS}),
    "named as a test": ("test_helper", {"tests/test_helper.py": SAME}, {"src/test_helper.py": ALWAYS}),
    "by settings": ("helper", {"helper.py": SAME, **BY_INI}, {"src/helper.py": ALWAYS}),
    "in a package": ("tests.helper", {"tests/__init__.py": "", "tests/helper.py": SAME}, {"src/tests/__init__.py": "", "src/tests/helper.py": ALWAYS}),
    "planted": ("helper", {"tests/helper.py": SAME}, {"src/core.py": PLANT}),
}  # fmt: skip


async def scored(runner: str, tests: str, trusted: dict[str, str], files: dict[str, str], isolate: Any) -> RunResult:
    """One run."""
    path = "tests/test_it.py"
    scoring = {"type": "command", runner: [path], "files": {path: tests, **trusted}, "isolate": isolate}
    row = {"id": "one", "candidate": {"files": files, "entry": max(files)}, "scoring": scoring}
    return await judged(load_scenarios([row]).scenarios[0])


@pytest.mark.parametrize("name", LAYOUTS)
async def test_the_candidates_modules_are_found_there_apart(name: str) -> None:
    runner, tests, trusted, package = LAYOUTS[name]
    found = await scored(runner, tests, trusted, {"src/mypkg/core.py": RIGHT, **package}, "auto")
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail
    found = await scored(runner, tests, trusted, {"src/mypkg/core.py": WRONG, **package}, "auto")
    assert (found.score, found.validity) == (0.0, Validity.VALID), found.detail
    assert "Error: assert 9 == 6" in found.detail or "9 != 6" in found.detail


@pytest.mark.parametrize("name", ["insert", "pytest.ini"])
@pytest.mark.parametrize("isolate", [True, False])
async def test_the_candidates_modules_are_found_there_in_one_sandbox(name: str, isolate: bool) -> None:
    runner, tests, trusted, package = LAYOUTS[name]
    for core, score in ((RIGHT, 1.0), (WRONG, 0.0)):
        found = await scored(runner, tests, trusted, {"src/mypkg/core.py": core, **package}, isolate)
        assert (found.score, found.validity) == (score, Validity.VALID), found.detail


@pytest.mark.parametrize("name", IN_ITS_PLACE)
@pytest.mark.parametrize("isolate", ["auto", True, False])
async def test_no_module_there_is_taken_for_one_of_the_suites(name: str, isolate: Any) -> None:
    helper, trusted, files = IN_ITS_PLACE[name]
    tests = (INSERT if "pytest.ini" not in trusted else "") + HELPED.format(helper)
    found = await scored("pytest", tests, trusted, {"src/core.py": ZERO, **files}, isolate)
    assert (found.score, found.validity) == (0.0, Validity.VALID), found.detail
    if isolate is False:
        found = await scored("pytest", tests, trusted, {"src/core.py": RIGHT}, isolate)
        assert found.score == 1.0, found.detail


async def test_tests_may_import_their_own_conftest() -> None:
    found = await scored(
        "pytest", INSERT + HELPED.format("conftest"), {"tests/conftest.py": SAME}, {"src/core.py": RIGHT}, False
    )
    assert found.score == 1.0, found.detail
