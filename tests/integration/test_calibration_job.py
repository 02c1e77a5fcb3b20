"""Calibration, from a scenario file to its stored report, on running sandboxes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import harena
from harena.scoring import battery, calibration
from harena.scoring.battery import BATTERY

FEW = ("exit-at-import", "words-of-success", "reward-files", "equals-everything")
TRUSTING = "def score(run):\n    return 1.0 if run.stdout == '3\\n' or 'PASSED' in run.stdout else 0.0\n"
TOSSING = "import os\nprint(['heads', 'tails'][os.urandom(1)[0] % 2])\n"
FILE = {
    "problems": [
        {
            "id": "add",
            "entry_point": "add",
            "scoring": {"type": "tests", "checks": [{"args": [1, 2], "expected": 3}]},
        },
        {"id": "trusting", "scoring": {"type": "python", "source": TRUSTING}},
        {"id": "tossing", "scoring": {"type": "stdio", "cases": [{"stdout": "heads"}]}},
    ],
    "scenarios": [
        {"id": "add/right", "problem": "add", "candidate": "def add(a, b): return a + b\n"},
        {"id": "trusting/right", "problem": "trusting", "candidate": "print(3)\n"},
        {"id": "tossing/right", "problem": "tossing", "candidate": TOSSING},
    ],
}  # fmt: skip


@pytest.fixture
def few_forgeries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole battery has a test of its own."""
    chosen = tuple(forgery for forgery in BATTERY if forgery.name in FEW)
    monkeypatch.setattr(battery, "BATTERY", chosen)


@pytest.mark.usefixtures("few_forgeries")
def test_a_file_is_calibrated_and_its_report_stored_beside_it(home: Path, tmp_path: Path) -> None:
    """A good scenario is fit; one that trusts its candidate pays for a forgery; one that tosses a coin flakes."""
    file = tmp_path / "scenarios.json"
    file.write_text(json.dumps(FILE))
    seen: list[Any] = []
    report = harena.calibrate(file, gold_runs=20, timeout_seconds=5, follow=seen.extend)
    stored = tmp_path / "scenarios.json.calibration.json"
    assert json.loads(stored.read_text()) == report.to_dict()
    stored.unlink()
    file.unlink()
    add, trusting, tossing = report["scenarios"]
    assert (add["fit"], add["gold"]["passed"], add["battery"]["tried"]) == (True, 20, 4)
    assert {paid["forgery"] for paid in trusting["battery"]["paid"]} == {"words-of-success"}
    assert not tossing["fit"]
    assert 0 < tossing["gold"]["flake_rate"] <= 0.5
    assert not report["fit"]
    assert [event.kind for event in seen][-1] == "job_ended"
    harena.shutdown()
    for left in home.iterdir():  # the store of the job
        if left.is_file():
            left.unlink()


def test_calibrations_are_of_the_battery_that_is_shipped() -> None:
    """The few of the test above are not what users get."""
    assert calibration.battery_version() == battery.battery_version()
    assert len(BATTERY) > 60
