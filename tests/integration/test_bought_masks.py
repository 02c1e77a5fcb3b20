"""A wrong candidate ends with a score, whatever it does to look as if the contract were broken."""

from __future__ import annotations

from typing import Any

import pytest
from battery_world import Source

from harena.core.models import SandboxSpec
from harena.core.results import Reason, RunResult, Validity
from harena.scoring import load_scenarios, score_scenario
from harena.scoring.battery import defined_functions
from harena.testing import FakeRuntime

HUGE = "class " + "\U00020000" * 50_000 + ":\n" + " def m():0\n" * 4_500
ASSERTS = {"type": "command", "asserts": "assert f(4) == 8"}
IMPORTS = {"type": "command", "asserts": "from mymod import g\nassert g() == 1"}
LOOP = "s = Stack()\ns.push(1)\nout = []\nwhile not s.is_empty(): out.append(s.pop())\nassert out == [1]"
NEVER_EMPTY = (
    "class Stack:\n"
    "    def push(self, x): pass\n"
    "    def pop(self): return 1\n"
    "    def is_empty(self): return False\n"
)  # fmt: skip


async def scored(candidate: Any, contract: dict[str, Any], seconds: float = 10.0) -> RunResult:
    """The envelope."""
    made = load_scenarios([{"id": "one", "candidate": candidate, "scoring": contract}]).scenarios[0]
    source = Source(FakeRuntime())
    return await score_scenario(made, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=seconds)


def beside(text: str) -> dict[str, Any]:
    """A candidate of two modules."""
    return {"files": {"solution.py": "x = 1\n", "mymod.py": text}, "entry": "solution.py"}


BUYERS = {
    "huge name": (HUGE + "import os\nos._exit(127)\n", ASSERTS),
    "module left out": ("x = 1\n", IMPORTS),
    "exit code of a missing module": (beside("import os\nos._exit(85)\n"), IMPORTS),
    "exit code of a missing command": (beside("import os\nos._exit(127)\n"), IMPORTS),
    "module that lacks another": (beside("import no_such_module\n"), IMPORTS),
    "loop of the tests": (NEVER_EMPTY, {"type": "command", "asserts": LOOP}),
}


@pytest.mark.parametrize(("candidate", "contract"), BUYERS.values(), ids=BUYERS)
async def test_a_wrong_candidate_has_a_score(candidate: Any, contract: dict[str, Any]) -> None:
    """It is its own doing, and not the contract's."""
    result = await scored(candidate, contract, seconds=1.0)
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


def suite(lines: str) -> dict[str, Any]:
    """A contract of one test, whose file begins like this."""
    test = "class T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(4), 8)\n"
    return {"type": "command", "unittest": ["test_a.py"], "files": {"test_a.py": f"import unittest\n{lines}{test}"}}


OPTIONAL = (
    "try:\n    import numpie\n    V = [int(part) for part in numpie.__version__.split('.')]\n"
    "except ImportError:\n    numpie = None\nfrom solution import f\n"
)
SUITES = {
    "module left out": ({"files": {"other.py": "x = 1\n"}, "entry": "other.py"}, "from solution import f\n"),
    "part left out": ({"files": {"pkg/__init__.py": "", "pkg/a.py": ""}, "entry": "pkg/a.py"}, "from pkg.b import f\n"),
    "optional module": (
        {
            "files": {"solution.py": "f = id\n", "numpie.py": "__version__ = '1.2'\n"},
            "entry": "solution.py",
        },
        OPTIONAL,
    ),
}


@pytest.mark.parametrize(("candidate", "lines"), SUITES.values(), ids=SUITES)
async def test_a_suite_is_not_broken_by_what_a_candidate_brings_or_not(candidate: Any, lines: str) -> None:
    """In each isolation."""
    for isolate in ("sandbox", True, False):
        result = await scored(candidate, {**suite(lines), "isolate": isolate})
        assert (result.score, result.validity) == (0.0, Validity.VALID), (isolate, result.detail)


async def test_who_leaves_a_module_out_is_told() -> None:
    """And so is the author of a contract whose image should have it."""
    assert "`requires`" in (await scored("x = 1\n", IMPORTS)).detail
    result = await scored("x = 1\n", {**IMPORTS, "requires": ["mymod"]})
    assert (result.score, result.reason) == (None, Reason.SCORER_ERROR)


async def test_tests_that_never_end_have_no_score() -> None:
    """They do not end with candidates that do nothing, either."""
    result = await scored("def f(x): return 8\n", {**ASSERTS, "asserts": "while True: pass\nf(4)"}, seconds=0.5)
    assert (result.score, result.reason) == (None, Reason.SCORER_ERROR)


def test_names_are_few_and_short() -> None:
    """A program may be written so that the list of its names is larger than the memory."""
    assert defined_functions(HUGE) == ()
    many = "class A:\n" + "".join(f" def m{i}(self):0\n" for i in range(4_200))
    assert len(defined_functions(many)) == 1_000
