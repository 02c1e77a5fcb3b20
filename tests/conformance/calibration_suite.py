"""Calibrations over every transport: tests beside `OperationsConformance`, with few forgeries, for they really run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harena.core.errors import HostUnsupportedError, ValidationError
from harena.core.idempotency import IdempotencyKey
from harena.core.ports import Operations
from harena.scoring import battery
from harena.scoring.battery import BATTERY

HARMLESS = ("exit-at-import", "words-of-success")
FILE = """
problems:
  - id: sum
    scoring: {type: stdio, cases: [{stdin: "1 2", stdout: "3"}]}
  - id: trusting
    scoring:
      type: python
      source: "def score(run): return 1.0 if run.stdout == '3' or 'PASSED' in run.stdout else 0.0"
scenarios:
  - {id: a, problem: sum, candidate: "print(sum(map(int, input().split())))"}
  - {id: b, problem: trusting, candidate: "print(3, end='')"}
"""
SOLVED = [{"id": "a", "candidate": "print(3)", "scoring": {"type": "stdio", "cases": [{"stdout": "3"}]}}]


class CalibrationConformance:
    """All of it."""

    @pytest.fixture(autouse=True)
    def few_forgeries(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Those that do no harm without isolation."""
        chosen = tuple(forgery for forgery in BATTERY if forgery.name in HARMLESS)
        monkeypatch.setattr(battery, "BATTERY", chosen)

    async def test_a_calibration_is_kept_with_the_version(self, operations: Operations, tmp_path: Path) -> None:
        """It is a job, its report is there at its end, and `get` of the scenarios shows it."""
        file = tmp_path / "calibrated.yaml"
        file.write_text(FILE)
        await operations.create_catalog_entry("scenarios", {"name": "calibrated", "scenarios": str(file)})
        request = {"scenarios": {"ref": "calibrated"}, "gold_runs": 2, "config": {"concurrency": 2}}
        begun = await operations.create_calibration(request)
        assert (begun["scenarios"], begun["gold_runs"]) == ("calibrated@1", 2)
        job = await operations.get_benchmark_job(begun["id"])
        assert (job["name"], job["config"]["timeout_seconds"]) == ("calibration", 10.0)
        events = [event["kind"] async for event in operations.benchmark_job_events(begun["id"])]
        assert events[-1] == "job_ended"
        ended = await operations.wait_calibration(begun["id"])
        assert await operations.get_calibration(begun["id"]) == ended
        assert (ended["state"], ended["ended"], ended["fit"]) == ("completed", True, False)
        fit = {row["scenario"]: row["fit"] for row in ended["report"]["scenarios"]}
        assert fit == {"sum": True, "trusting": False}
        (paid,) = ended["report"]["scenarios"][1]["battery"]["paid"]
        assert paid["forgery"] == "words-of-success"
        found = await operations.get_catalog_entry("scenarios", "calibrated@1")
        assert found["calibration"] == ended["report"]
        assert [(one["id"], one["fit"], one["gold_runs"]) for one in found["calibrations"]] == [(begun["id"], False, 2)]
        listed = (await operations.list_catalog_entries("scenarios", name="calibrated"))["entries"]
        assert "calibration" not in listed[0]

    async def test_a_key_gives_the_calibration_that_is_there(self, operations: Operations) -> None:
        """Also when what it was made of has gone, and beside a job with the same key; another request is refused."""
        await operations.create_catalog_entry("scenarios", {"name": "keyed", "scenarios": SOLVED})
        request = {"scenarios": {"ref": "keyed"}, "gold_runs": 2}
        key = IdempotencyKey.of("calibrated", json.dumps(request).encode())
        begun = await operations.create_calibration(request, key=key)
        job = {"name": "with the same key", "scenarios": SOLVED}
        beside = await operations.create_benchmark_job(
            job, key=IdempotencyKey.of("calibrated", json.dumps(job).encode())
        )
        ended = await operations.wait_calibration(begun["id"])
        await operations.archive_catalog_entry("scenarios", "keyed")
        assert await operations.create_calibration(request, key=key) == ended
        other = {**request, "gold_runs": 3}
        other_key = IdempotencyKey.of("calibrated", json.dumps(other).encode())
        with pytest.raises(ValidationError, match="another request") as refused:
            await operations.create_calibration(other, key=other_key)
        assert refused.value.reason == "IDEMPOTENCY_KEY_REUSED"
        made = {found["id"] for found in (await operations.list_benchmark_jobs())["benchmark_jobs"]}
        assert {begun["id"], beside["id"]} <= made

    async def test_inline_scenarios_and_files(self, operations: Operations, tmp_path: Path) -> None:
        """Calibrated without being stored."""
        file = tmp_path / "calibrated.yaml"
        file.write_text(FILE)
        begun = await operations.create_calibration({"scenarios": str(file), "gold_runs": 2, "name": "mine"})
        ended = await operations.wait_calibration(begun["id"])
        assert (ended["scenarios"], ended["fit"]) == (None, False)
        assert (await operations.get_benchmark_job("mine"))["id"] == begun["id"]

    async def test_bad_calibrations(self, operations: Operations) -> None:
        """What is wrong is named, and no job is there."""
        before = await operations.list_benchmark_jobs()
        for request, says in (
            ({"scenarios": SOLVED, "gold_runs": 1}, "gold_runs"),
            ({"scenarios": [{"id": 3}]}, "id"),
            ({"scenarios": [], "repeats": 3}, "repeats"),
            ({"scenarios": {"problems": [{"id": "p"}]}}, "`scoring` is required"),
        ):
            with pytest.raises(ValidationError, match=says):
                await operations.create_calibration(request)
        assert await operations.list_benchmark_jobs() == before

    async def test_without_isolation_no_forgery_runs_that_could_do_harm(
        self, operations: Operations, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The node of this suite has none: the shipped battery is refused before any job is there."""
        before = await operations.list_benchmark_jobs()
        monkeypatch.setattr(battery, "BATTERY", BATTERY)
        with pytest.raises(HostUnsupportedError, match="does not isolate"):
            await operations.create_calibration({"scenarios": SOLVED})
        assert await operations.list_benchmark_jobs() == before
