"""What a candidate used is in its envelope, and what it does to its judging is its own; on the real runtime."""

from __future__ import annotations

from typing import Any

import pytest
from battery_world import Source

from harena.core.models import SandboxSpec
from harena.core.results import RunResult, Validity
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring import load_scenarios, score_scenario

SPIN = "import time\ndef spin():\n    while time.process_time() < 0.2: pass\n"
CALLED = SPIN + "def f(x):\n    spin()\n    return x\n"
RUN = SPIN + "spin()\nprint(1)\n"
SUITE = """
import unittest
from solution import f
class T(unittest.TestCase):
    def test(self): self.assertEqual(f(1), 1)
"""
PLACES: dict[str, tuple[str, dict[str, Any]]] = {
    "tests": (CALLED, {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 1}]}),
    "stdio": (RUN, {"type": "stdio", "cases": [{"stdout": "1"}]}),
    "python": (RUN, {"type": "python", "source": "def score(run): return 1.0"}),
    "asserts": (CALLED, {"type": "command", "asserts": "assert f(1) == 1"}),
    "asserts, called": (CALLED, {"type": "command", "asserts": "assert f(1) == 1", "calls": {"f": "f"}}),
    **{
        f"unittest, isolate: {isolate}": (
            CALLED,
            {"type": "command", "unittest": ["test_it.py"], "files": {"test_it.py": SUITE}, "isolate": isolate},
        )
        for isolate in (False, True, "sandbox")
    },
}


async def scored(runtime: LinuxRuntime, candidate: Any, scoring: dict[str, Any]) -> RunResult:
    (made,) = load_scenarios([{"id": "one", "candidate": candidate, "scoring": scoring}]).scenarios
    return await score_scenario(made, sandboxes=Source(runtime), base_spec=SandboxSpec(), timeout_seconds=30)


@pytest.mark.parametrize("place", PLACES)
async def test_processor_time_is_the_candidates_in_every_mode(runtime: LinuxRuntime, place: str) -> None:
    """Also where its process is a child of the trusted one."""
    candidate, scoring = PLACES[place]
    result = await scored(runtime, candidate, scoring)
    assert result.score == 1.0, result.detail
    assert result.cpu_seconds >= 0.2


FILE = {"type": "numeric", "target": 1.0, "source": {"file": "out.txt"}}
CASES = {"type": "stdio", "cases": [{"stdout": "1"}, {"stdout": "2"}], "partial_credit": True}
STORM = (
    "import os\nif os.fork() == 0:\n    os.setsid()\n    while True:\n"
    "        try: os.fork()\n        except OSError: pass\n"
)
BOUGHT: dict[str, tuple[str, dict[str, Any]]] = {
    "an endless file": ("import os\nos.symlink('/dev/zero', 'out.txt')\n", FILE),
    "a file that nobody writes": ("import os\nos.mkfifo('out.txt')\n", FILE),
    "a file of holes": ("open('out.txt', 'wb').truncate(1 << 40)\n", FILE),
    "a file of 9 MB": ("open('out.txt', 'w').write('1' * 9_000_000)\n", FILE),
    "no processes left": (STORM + "open('out.txt', 'w').write('0')\n", FILE),
    "no processes left for the next case": (STORM, CASES),
    "no working directory": ("import os\nos.remove('solution.py')\n", CASES),
    "frames beyond all limits": (
        "import os\ndef f(x):\n    os.write(1, b'ffffffff' + b'x' * (70 << 20))\n",
        PLACES["tests"][1],
    ),
    "a command that asks until it is content": (
        "def f():\n    while True: pass\n",
        {"type": "command", "asserts": "while not f(): pass\nassert f() == 1", "timeout_seconds": 1},
    ),
    "an integer of a million digits": ("def f(x): return 1 << (1 << 22)\n", PLACES["tests"][1]),
}


@pytest.mark.parametrize("way", BOUGHT)
async def test_nothing_that_a_wrong_program_does_leaves_it_without_a_score(runtime: LinuxRuntime, way: str) -> None:
    """It has the lowest one."""
    result = await scored(runtime, *BOUGHT[way])
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail
