"""What a request leaves in a server's memory when nobody asks for its outcome."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from server_world import world

from harena.scoring import battery
from harena.scoring.battery import BATTERY
from harena.scoring.calibration import Calibration

HARMLESS = ("exit-at-import", "words-of-success")
SOLVED = [{"id": "a", "candidate": "print(3)", "scoring": {"type": "stdio", "cases": [{"stdout": "3"}]}}]


async def test_a_calibration_that_nobody_asks_for_keeps_no_scenarios(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its plan has all of its scenarios. The server's limits count those of jobs that have not ended, and rows that are
    stored: a workspace that cancels and deletes what it has begun gets both back, and would have left the plans."""
    monkeypatch.setattr(battery, "BATTERY", tuple(one for one in BATTERY if one.name in HARMLESS))
    async with world(tmp_path, durable_jobs=True) as here:
        operations = here.state.operations.in_workspace("hostile")
        for _ in range(3):
            begun = await operations.create_calibration({"scenarios": SOLVED, "gold_runs": 2})
            await operations.cancel_benchmark_job(begun.id)
            await operations.wait_benchmark_job(begun.id)
        gc.collect()
        assert [each for each in gc.get_objects() if type(each) is Calibration] == []
        asked = await operations.create_calibration({"scenarios": SOLVED, "gold_runs": 2})
        ended = await operations.wait_calibration(asked.id)
        assert ended.report is not None  # it is made of what is stored
        assert [row["scenario"] for row in ended.report.to_dict()["scenarios"]] == ["a"]
