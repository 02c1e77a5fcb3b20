# ruff: noqa: E501 (programs are text, not code of ours)
"""Weak suites that pay an empty answer: plain Python pays it as well, and so does harena. A calibration says so."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged

from harena.scoring import load_scenarios
from harena.scoring.battery.stubs import EMPTY_OF_EACH
from harena.scoring.calibration import Calibration

pytestmark = SHARED
TEXT = "def f(n): return str(2 * n)\n"
SETS = "def f(n): return {1, n}\n"
WEAK: dict[str, tuple[dict[str, str], str, str]] = {
    "contained": ({"solution.py": TEXT}, "from solution import f\ndef test_a(): assert f(2) in '4 or 14'\n", 'returns ""'),
    "begins": ({"solution.py": TEXT}, "from solution import f\ndef test_a(): assert '4 apples'.startswith(f(2))\n", 'returns ""'),
    "a part": ({"solution.py": SETS}, "from solution import f\ndef test_a(): assert f(2) <= {1, 2} and not f(7) - {1, 7}\n", "returns set()"),
    "two kinds, of a class and of another module": (
        {
            "solution.py": "class Shop:\n    def __init__(self, name): self.name = name\n    def label(self) -> str: return self.name.upper()\n",
            "sets.py": "def some(n):\n    return {1, n}\n",
        },
        "from sets import some\nfrom solution import Shop\ndef test_a(): assert Shop('ab').label() in 'AB or CD' and some(3) <= {1, 3}\n",
        EMPTY_OF_EACH,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WEAK)
async def test_a_suite_that_pays_nothing_is_told(name: str) -> None:
    """The stub that is paid is one of those that a calibration tries, and its report says which."""
    files, suite, stub = WEAK[name]
    scoring = {"type": "command", "pytest": ["test_it.py"], "files": {"test_it.py": suite}, "gold": files}
    row = {"id": "right", "scoring": scoring, "candidate": {"files": files, "entry": "solution.py"}}
    planned = Calibration(load_scenarios([row]), gold_runs=2)
    (tried,) = (each for each in planned.rows if each["id"].endswith(f"-{stub}"[:61]))
    found = await judged(load_scenarios([tried]).scenarios[0])
    assert (found.score, found.passed) == (1.0, True), found.detail

    def run(row_id: str) -> dict[str, Any]:
        score = found.score if row_id == tried["id"] else float("/gold/" in row_id)
        return {"scenario_id": row_id, "score": score, "passed": score == 1.0, "validity": "valid", "detail": ""}

    (report,) = planned.report([run(each["id"]) for each in planned.rows])["scenarios"]
    assert (report["verdict"], report["why"]) == ("not_fit", f"an answer without a thought passes: {stub}")
