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
