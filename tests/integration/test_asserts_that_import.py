# ruff: noqa: E501 (programs are text, not code of ours)
"""Asserts that import the candidate's own modules: nothing of them runs ahead of what judges, and who is right is paid."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import Validity
from harena.scoring import load_scenarios

pytestmark = SHARED
ROOT = "import math\ndef f(x): return math.sqrt(x)\n"
ALWAYS = "import math\nmath.isclose = lambda *a, **k: True\ndef f(x): return 0\n"
NOTHING = {"solution.py": "x = 1\n"}
TESTS = "import math\n{}\nassert math.isclose(f(2), 1.41421356, rel_tol=1e-6)\nassert math.isclose(f(9), 3.0)\n"
RIGHT: dict[str, tuple[str, dict[str, str]]] = {
    "a name of the entry": ("from solution import f", {"solution.py": ROOT}),
    "the entry": ("import solution\nf = solution.f", {"solution.py": ROOT}),
    "all names": ("from solution import *", {"solution.py": ROOT}),
    "another module": ("from helper import f", {**NOTHING, "helper.py": ROOT}),
    "a package": ("from pkg.roots import f", {**NOTHING, "pkg/__init__.py": "", "pkg/roots.py": ROOT}),
}
WRONG: dict[str, tuple[str, dict[str, str]]] = {
    "a wrong answer": ("from solution import f", {"solution.py": "def f(x): return x / 2\n"}),
    "what judges, in the entry": ("from solution import f", {"solution.py": ALWAYS}),
    "what judges, in another module": ("from helper import f", {**NOTHING, "helper.py": ALWAYS}),
    "what judges, in a package": ("from pkg.roots import f", {**NOTHING, "pkg/__init__.py": ALWAYS, "pkg/roots.py": "def f(x): return 0\n"}),
    "no such name": ("from solution import f", NOTHING),
}  # fmt: skip


async def result(imports: str, files: dict[str, str], isolate: Any) -> tuple[float | None, Validity]:
    """The score of one candidate."""
    scoring = {"type": "command", "asserts": TESTS.format(imports), "isolate": isolate}
    row = {"id": "one", "candidate": {"files": files, "entry": "solution.py"}, "scoring": scoring}
    found = await judged(load_scenarios([row]).scenarios[0])
    return found.score, found.validity


@pytest.mark.parametrize("isolate", ["auto", False])
@pytest.mark.parametrize("name", RIGHT)
async def test_who_is_right_is_paid_where_the_asserts_import_it(name: str, isolate: Any) -> None:
    assert await result(*RIGHT[name], isolate) == (1.0, Validity.VALID)


@pytest.mark.parametrize("isolate", ["auto", False])
@pytest.mark.parametrize("name", WRONG)
async def test_no_imported_module_changes_what_judges(name: str, isolate: Any) -> None:
    assert await result(*WRONG[name], isolate) == (0.0, Validity.VALID)
