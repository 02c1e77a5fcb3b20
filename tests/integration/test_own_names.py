# ruff: noqa: E501 (programs are text, not code of ours)
"""A candidate's module with a name of the standard library's runs where the task names it, and hides nothing."""

from __future__ import annotations

import asyncio

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

SUITE = "from solution import middle\ndef test_a(): assert middle([1, 2, 9]) == 2\n"
OWN = "def middle(values): return sorted(values)[len(values) // 2]\n"
WRONG = "def middle(values): return values[0]\n"


@pytest.mark.parametrize(
    "name", ["tabnanny", "statistics", "calendar", "queue", "random", "types", "enum", "inspect", "token"]
)
async def test_a_module_that_the_gold_has_runs_whatever_its_name(name: str) -> None:
    """Also one that the interpreter loads for its own use; a wrong one has a 0."""
    solution = f"from {name} import middle\n"
    gold = {"solution.py": solution, f"{name}.py": OWN}
    right, wrong = await asyncio.gather(
        scored({"files": gold, "entry": "solution.py"}, SUITE, "pytest", gold=gold),
        scored({"files": {**gold, f"{name}.py": WRONG}, "entry": "solution.py"}, SUITE, "pytest", gold=gold),
    )
    assert (right.score, str(right.trust)) == (1.0, "separate"), right.detail
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail


USES = "import statistics\nfrom solution import middle\ndef test_a(): assert middle([1, 2, 9]) == statistics.median([1, 2, 9])\n"
FORGED = "class Any:\n    __eq__ = lambda self, other: True\ndef median(values): return Any()\n"


@pytest.mark.parametrize("isolate", ["auto", "sandbox", True, False])
async def test_a_module_that_the_suite_uses_is_never_the_candidates(isolate: object) -> None:
    """Whatever the gold solution has: the suite compares with what it means."""
    files = {"solution.py": WRONG, "statistics.py": FORGED}
    gold = {"solution.py": OWN, "statistics.py": "median = None\n"}
    for scoring in ({"gold": gold}, {}) if isolate == "auto" else ({},):
        forged = await scored({"files": files, "entry": "solution.py"}, USES, "pytest", isolate=isolate, **scoring)
        assert (forged.score, str(forged.validity)) == (0.0, "valid"), (scoring, forged.detail)


async def test_a_module_that_the_task_does_not_name_takes_no_part() -> None:
    """Neither where it has a sandbox of its own, nor beside the suite; the detail tells it."""
    files = {"solution.py": "from tabnanny import middle\n", "tabnanny.py": OWN}
    for isolate in ("auto", False):
        found = await scored({"files": files, "entry": "solution.py"}, SUITE, "pytest", isolate=isolate)
        assert (found.score, "tabnanny.py" in found.detail) == (0.0, True), found.detail


@pytest.mark.parametrize("isolate", ["auto", "sandbox", True, False])
async def test_a_suite_that_would_judge_pythons_module_scores_nobody(isolate: object) -> None:
    """The entry has a name that the suite imports: its own functions would never be called."""
    suite = "import statistics\ndef test_a(): assert statistics.mean([1, 2]) == 1.5\n"
    for text in ("def mean(values): return 0\n", "def mean(values): return sum(values) / len(values)\n"):
        candidate = {"files": {"statistics.py": text}, "entry": "statistics.py"}
        found = await scored(candidate, suite, "pytest", isolate=isolate)
        assert (found.score, str(found.validity)) == (None, "invalid"), found.detail
        assert "another name" in found.detail


@pytest.mark.parametrize("gold", [None, {"solution.py": OWN}])
async def test_no_name_of_an_entry_excuses_a_wrong_candidate(gold: dict[str, str] | None) -> None:
    """The suite asks for another module, or the gold solution has none of that name: the candidate chose it."""
    suite = "import statistics\n" + (SUITE if gold is None else SUITE.replace("def", "import math\ndef"))
    scoring = {} if gold is None else {"gold": gold}
    for text, score in ((WRONG, 0.0), (OWN, 1.0)):
        candidate = {"files": {"solution.py": text, "statistics.py": "x = 1\n"}, "entry": "statistics.py"}
        found = await scored(candidate, suite, "pytest", **scoring)
        assert (found.score, str(found.validity)) == (score, "valid"), found.detail


@pytest.mark.parametrize(
    ("kind", "entry"), [("unittest", "unittest.py"), ("pytest", "pytest.py"), ("pytest", "helpers.py")]
)
async def test_an_entry_of_a_name_that_the_suite_has_from_elsewhere_is_not_what_it_asks_for(
    kind: str, entry: str
) -> None:
    """The suite asks for one module of the candidate's, whose file has another name: nobody brings it."""
    asks = f"import unittest, {entry[:-3]}\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(2), 4)\n"
    files = {"test_it.py": asks, "helpers.py": "def g(): pass\n"}
    found = await scored({"files": {entry: "def f(n): return 5\n"}, "entry": entry}, "", kind, files=files)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


LATE = "import datetime\ndef _strptime_datetime(cls, text, form): return datetime.datetime(2000, 1, 1)\n"
MADE = "def f():\n    import datetime\n    return datetime.datetime(2000, 1, 1)\n"
PARSES = "    assert f() == datetime.datetime.strptime('2020-01-02', '%Y-%m-%d')\n"
BY_SUITE = f"import sys\nsys.path.insert(0, 'src')\nimport datetime\nfrom solution import f\ndef test_a():\n{PARSES}"
BY_CANDIDATE = f"import datetime\nfrom solution import f\ndef test_a():\n{PARSES}"


@pytest.mark.parametrize("isolate", ["auto", "sandbox", True, False])
async def test_what_the_library_loads_late_is_the_librarys(isolate: object) -> None:
    """In whatever folder the candidate has a module of that name, and whoever puts the folder first on the path."""
    for solution, tests in ((MADE, BY_SUITE), (f"import sys\nsys.path.insert(0, 'src')\n{MADE}", BY_CANDIDATE)):
        files = {"solution.py": solution, "src/_strptime.py": LATE}
        found = await scored({"files": files, "entry": "solution.py"}, tests, "pytest", isolate=isolate)
        assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


async def test_a_module_in_a_folder_of_the_candidates_is_its_own_by_its_own_import() -> None:
    """Though the library has one of this name, which nobody has loaded."""
    files = {"src/solution.py": "from graphlib import f\n", "src/graphlib.py": "def f(x): return x * x\n"}
    tests = "import sys\nsys.path.insert(0, 'src')\nfrom solution import f\ndef test_a(): assert f(3) == 9\n"
    found = await scored({"files": files, "entry": "src/solution.py"}, tests, "pytest", isolate=False)
    assert found.score == 1.0, found.detail


ADDS = "from solution import f\ndef test_a():\n    assert f(2) == 3\n"
ADDS_BY_METHOD = "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(2), 3)\n"
NAMES = ("org", "java", "docutils", "argcomplete", "exceptiongroup", "setup", "noxfile", "harena")


@pytest.mark.parametrize("isolate", ["auto", True, False])
async def test_a_module_that_only_libraries_look_for_is_the_candidates(isolate: object) -> None:
    """The library imports it if it is there, or a tool that no suite starts reads it."""
    files = {f"{name}.py": f"def g(x):\n    return x + {number}\n" for number, name in enumerate(NAMES)}
    sums = " + ".join(f"{name}.g(x) - x" for name in NAMES)
    files["solution.py"] = f"import {', '.join(NAMES)}\ndef f(x): return {sums} - 25\n"
    for runner, tests in (("pytest", ADDS), ("unittest", ADDS_BY_METHOD)):
        found = await scored({"files": files, "entry": "solution.py"}, tests, runner, isolate=isolate)
        assert (found.score, found.detail) == (1.0, ""), (runner, found.detail)


@pytest.mark.parametrize("name", ["org", "setup", "harena"])
async def test_an_entry_may_have_a_name_that_only_libraries_look_for(name: str) -> None:
    """The suite itself imports it; a wrong one has a 0."""
    tests = ADDS.replace("solution", name)
    for isolate in ("auto", False):
        for text, score in (("def f(x): return x + 1\n", 1.0), ("def f(x): return x\n", 0.0)):
            candidate = {"files": {f"{name}.py": text}, "entry": f"{name}.py"}
            found = await scored(candidate, tests, "pytest", isolate=isolate)
            assert (found.score, str(found.validity)) == (score, "valid"), (isolate, found.detail)


LOOKS = "import platform\nfrom solution import f\ndef test_a():\n    platform.java_ver()\n    assert f(2) == 3\n"


@pytest.mark.parametrize("isolate", ["auto", True, False])
async def test_what_a_library_looks_for_is_never_found_with_the_candidate(isolate: object) -> None:
    """Neither in its process nor by a stand-in: `platform` imports `java.lang`, and does without it."""
    forged = {"java/__init__.py": "import os\nos._exit(0)\n", "java/lang.py": ""}
    files = {"solution.py": "def f(x): return x + 1\n", **forged}
    found = await scored({"files": files, "entry": "solution.py"}, LOOKS, "pytest", isolate=isolate)
    assert found.score == 1.0, found.detail


HIDDEN = {"solution.py": "def f(x): return x + int(open('.step').read())\n", ".step": "1"}
STARTS = f"import subprocess\n{ADDS}"


async def test_a_hidden_file_is_there_unless_the_suite_starts_programs() -> None:
    """Programs of any kind may be steered by it, and a lowest score tells what was left out."""
    candidate = {"files": HIDDEN, "entry": "solution.py"}
    for isolate in ("auto", True, False):
        found = await scored(candidate, ADDS, "pytest", isolate=isolate)
        assert found.score == 1.0, (isolate, found.detail)
    found = await scored(candidate, STARTS, "pytest", isolate=False)
    assert found.score == 0.0
    assert found.detail.endswith("left out of the candidate's files, because their names are taken: .step")
