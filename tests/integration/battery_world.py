"""The scenarios that the battery is tried on, one for each scoring contract, and how one try is made."""

from __future__ import annotations

import compileall
import importlib.metadata
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from harena.core.models import SandboxSpec
from harena.core.records.blueprints import Blueprint
from harena.core.results import RunResult
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring import Candidate, Scenario, StarvedError, load_scenarios, score_scenario
from harena.scoring.scorers import driver_boot
from sandbox_source import SandboxSource

Source = SandboxSource
WARM = Blueprint(id="bp_warm", name="warm", warm=())
PYTEST_LAYER = Blueprint(id="bp_pytest", name="pytest", layer="pytest")


_PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
INSTALLED = {"pytest": _PYTEST, "numpy": (*_PYTEST, "numpy")}
"""layer -> the distributions that it has"""


class InstalledHere:
    """A layer store with two layers, pytest and pytest with numpy, of which each is copied from the environment that
    runs these tests when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, digest: str) -> Path:
        """The folder of a layer of `INSTALLED`."""
        place = self.root / digest
        if not place.exists():
            place.mkdir(parents=True)
            for name in INSTALLED[digest]:
                _copied(name, place)
            compileall.compile_dir(place, quiet=2)  # as an installer would: else each start compiles all of pytest
            for path in (place, *place.rglob("*")):
                path.chmod(0o755 if path.is_dir() else 0o644)
        return place


_LEXERS = ("__init__", "_mapping", "diff", "python")
"""what pytest imports of `pygments.lexers`; to compile the other 250 takes seconds"""


def _copied(distribution: str, place: Path) -> None:
    """Copy what a distribution has, with what is compiled of it already, but neither its tests nor unused lexers."""
    for file in importlib.metadata.files(distribution) or []:
        found = Path(str(file.locate()))
        is_used = "lexers" not in file.parts or file.name.partition(".")[0] in _LEXERS
        if is_used and not {"..", "tests"} & {*file.parts} and found.exists():
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(found, place / file)


def linux_runtime(home: Path) -> LinuxRuntime:
    """The real one, whose blueprint `PYTEST_LAYER` has pytest, and whose warm templates know the driver of `tests`."""
    return LinuxRuntime(
        home=home, layers=InstalledHere(home / "pytest"), known_programs=lambda: (driver_boot.known_program(),)
    )


ADD = "def add(a, b):\n    return a + b\n"
LIMITS = {"memory_mb": 96, "disk_mb": 8, "output_mb": 2, "pids": 64, "timeout_seconds": 1.0}

CHECKED = """
import subprocess, sys
word = sys.stdin.readline().strip()
ASK = "import sys, solution; print(repr(solution.add(*map(int, sys.argv[1:]))))"
for a, b in ((1, 2), (20, 22)):
    asked = [sys.executable, "-c", ASK, str(a), str(b)]
    done = subprocess.run(asked, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.stdout == f"{a + b}\\n", done.stderr[-200:]
print("harena-proof", word)
"""
LOOPED = """
def is_right(case):
    a, b, expected = case
    return add(a, b) == expected
assert all(map(is_right, [(1, 2, 3), (20, 22, 42)]))
"""
SUITE = """
import unittest
import pytest
from solution import add

@pytest.mark.parametrize(("a", "b", "expected"), [(1, 2, 3), (20, 22, 42)])
def test_add(a, b, expected):
    assert add(a, b) == expected

class TestAdd(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 2), 4)
"""
MORE = """
import solution

def test_zero():
    assert type(solution.add(0, 0)) is int and solution.add(0, 0) == 0
"""
JUDGE = """
def score(run):
    words = run.stdout.split() + run.files.get("out.txt", "").split()
    return {"score": float(words == ["2", "4"]), "detail": "".join(words)[:100]}
"""
DOUBLING = "import sys\nfor line in sys.stdin:\n    print(int(line) * 2)\n"
NUMBER = "print(7.25)\nopen('n.txt', 'w').write('7.25')\n"

PYTEST = {
    "type": "command",
    "pytest": ["test_add.py", "test_more.py"],
    "files": {"test_add.py": SUITE, "test_more.py": MORE},
}
CLASSIC = """
import unittest
import solution
from solution import add

class TestAdd(unittest.TestCase):
    def test_add(self):
        for a, b in ((1, 2), (20, 22)):
            self.assertEqual(add(a, b), a + b)

    def test_zero(self):
        self.assertIs(type(solution.add(0, 0)), int)
        self.assertEqual(solution.add(0, 0), 0)
"""
VERIFIER = """
mkdir -p /logs/verifier
if [ "$(cat /app/answer.txt)" = 42 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
UNITTEST = {"type": "command", "unittest": ["test_add.py"], "files": {"test_add.py": CLASSIC}}

CALLED = {
    "candidate": ADD,
    "scoring": {
        "type": "tests",
        "entry_point": "add",
        "checks": [{"args": [1, 2], "expected": 3}, {"args": [20, 22], "expected": 42}],
    },
}

WORLDS: dict[str, dict[str, Any]] = {
    "tests": CALLED,
    "tests, warm": CALLED,
    "tests, partial credit": {
        "candidate": "def pick(items, index):\n    return items[index]\n",
        "scoring": {
            "type": "tests",
            "entry_point": "pick",
            "checks": [
                {"args": [[1.5], 0], "expected": 1.5},
                {"args": [[], 0], "raises": "IndexError"},
                {"args": [["x"], 0], "expected": "x"},
            ],
            "comparison": "float",
            "partial_credit": True,
        },
    },
    "stdio": {
        "candidate": DOUBLING,
        "scoring": {
            "type": "stdio",
            "cases": [{"stdin": "1\n2\n", "stdout": "2\n4\n"}, {"stdin": "5\n", "stdout": "10\n"}],
            "partial_credit": True,
        },
    },
    "stdio, a first case for nothing": {
        "candidate": DOUBLING,
        "scoring": {"type": "stdio", "cases": [{"stdin": "", "stdout": ""}, {"stdin": "5\n", "stdout": "10\n"}]},
    },
    "numeric, printed": {
        "candidate": NUMBER,
        "scoring": {"type": "numeric", "range": [7.0, 7.25], "source": {"pattern": "[0-9.]+"}},
    },
    "numeric, in a file": {
        "candidate": NUMBER,
        "scoring": {"type": "numeric", "target": 7.25, "source": {"file": "n.txt"}},
    },
    "python": {
        "candidate": DOUBLING,
        "scoring": {"type": "python", "source": JUDGE, "stdin": "1\n2\n", "output_files": ["out.txt"]},
    },
    "command": {
        "candidate": ADD,
        "scoring": {"type": "command", "command": ["python", "check.py"], "files": {"check.py": CHECKED}},
    },
    "command, test code": {
        "candidate": ADD,
        "scoring": {"type": "command", "asserts": LOOPED, "calls": {"add": "add"}},
    },
    "command, pytest": {"candidate": ADD, "scoring": PYTEST},
    "command, pytest, apart": {"candidate": ADD, "scoring": {**PYTEST, "isolate": "sandbox"}},
    "reference": {
        "candidate": ADD,
        "scoring": {
            "type": "reference",
            "entry_point": "add",
            "solution": ADD,
            "inputs": [{"args": [1, 2]}, {"args": [20, 22]}],
        },
    },
    "harbor": {
        "candidate": {"files": {"solve.sh": "echo 42 > /app/answer.txt\n"}, "entry": "solve.sh"},
        "scoring": {"type": "harbor", "tests": {"test.sh": VERIFIER}, "verifier_timeout_seconds": 10.0},
    },
    "regex": {"candidate": "it is 42.75", "scoring": {"type": "regex", "pattern": r"it is (?:\d+)*42\.75"}},
    "command, unittest": {"candidate": ADD, "scoring": UNITTEST},
    "command, unittest, apart": {"candidate": ADD, "scoring": {**UNITTEST, "isolate": "sandbox"}},
}


def world(name: str, **changes: Any) -> Scenario:
    """The scenario with its right candidate; time for a forgery that only waits is short."""
    limits = {**LIMITS, "timeout_seconds": 3.0} if "test" in name.removeprefix("tests") else LIMITS
    return load_scenarios([{"id": name, "limits": limits, **WORLDS[name], **changes}]).scenarios[0]


def patient_world(name: str) -> Scenario:
    """The same with time enough on any machine, for its right candidate."""
    return world(name, limits={**LIMITS, "timeout_seconds": 10.0})


TRIES_ALONE = 6


async def scored(
    source: Source,
    scenario: Scenario,
    candidate: Candidate | None = None,
    *,
    alone: bool = False,
    timeout_seconds: float = 10,
) -> RunResult:
    """One try. Raises StarvedError where a job would try again with nothing of its own beside it."""
    tried = scenario if candidate is None else replace(scenario, candidate=candidate)
    return await score_scenario(
        tried, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=timeout_seconds, alone=alone
    )


async def scored_alone(
    source: Source, scenario: Scenario, candidate: Candidate | None = None, *, timeout_seconds: float = 10
) -> RunResult:
    """As a job makes its second try. On a machine with other work even that may starve, so there are some more."""
    for _ in range(TRIES_ALONE - 1):
        with suppress(StarvedError):
            return await scored(source, scenario, candidate, alone=True, timeout_seconds=timeout_seconds)
    return await scored(source, scenario, candidate, alone=True, timeout_seconds=timeout_seconds)
