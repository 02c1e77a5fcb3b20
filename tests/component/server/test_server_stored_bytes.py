"""What a workspace keeps in the store has a limit, whatever noun it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from server_world import World

from harena.scoring import battery
from harena.store.benchmark_jobs import JobStore
from harena.testing.conformance_operations import GOOD

LONG = "x" * 20_000
STORED: dict[str, dict[str, Any]] = {
    "/v1/scenarios": {"name": "s", "scenarios": [{**GOOD, "metadata": {"note": LONG}}]},
    "/v1/scoring_contracts": {"name": "c", "contract": GOOD["scoring"]},
    "/v1/benchmark_job_defs": {"name": "d", "request": {"scenarios": [GOOD]}},
    "/v1/benchmark_jobs": {"name": "j", "scenarios": [GOOD]},
}


async def posted(http: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> tuple[int, Any]:
    async with http.post(path, json=body) as answer:
        return answer.status, await answer.json(content_type=None)


@pytest.mark.parametrize("path", STORED)
async def test_nothing_is_stored_beyond_a_workspaces_limit(here: World, http: aiohttp.ClientSession, path: str) -> None:
    """And what there is stays readable."""
    quotas = here.state.quotas
    quotas._defaults = replace(quotas._defaults, stored_bytes=1000)
    status, job = await posted(http, "/v1/benchmark_jobs", {"name": "first", "scenarios": [GOOD]})
    assert status == 201, job
    async with http.get(f"/v1/benchmark_jobs/{job['id']}?wait_seconds=30") as answer:
        assert (await answer.json())["state"] == "completed"
    status, problem = await posted(http, path, STORED[path])
    assert (status, problem["reason"]) == (429, "STORED_BYTES"), problem
    assert "(stored_bytes)" in problem["detail"]
    async with http.get(f"/v1/benchmark_jobs/{job['id']}/results") as answer:
        assert answer.status == 200
    quotas._defaults = replace(quotas._defaults, stored_bytes=1_000_000)
    status, made = await posted(http, path, STORED[path])
    assert status == 201, made


async def test_metadata_of_scenarios_counts_before_its_job_is_run(here: World, http: aiohttp.ClientSession) -> None:
    """It is stored with the results; what a job takes is known when it is accepted."""
    quotas = here.state.quotas
    quotas._defaults = replace(quotas._defaults, stored_bytes=15_000)
    body = {"name": "j", "scenarios": [{**GOOD, "metadata": {"note": LONG}}]}
    status, problem = await posted(http, "/v1/benchmark_jobs", body)
    assert (status, problem.get("reason")) == (429, "STORED_BYTES"), problem


async def all_results_are_read(*_: object) -> list[Any]:
    """Instead of reading them."""
    raise AssertionError("all results were read")


async def test_who_waits_for_a_job_reads_no_results(
    here: World, http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may be many, and the answer holds none of them."""
    monkeypatch.setattr(JobStore, "list_runs", all_results_are_read)
    status, job = await posted(http, "/v1/benchmark_jobs", STORED["/v1/benchmark_jobs"])
    assert status == 201, job
    async with http.get(f"/v1/benchmark_jobs/{job['id']}?wait_seconds=30") as answer:
        assert (answer.status, (await answer.json())["state"]) == (200, "completed")


async def test_a_calibration_reads_a_page_of_results_at_a_time(
    here: World, http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nobody's metadata: what its report says of each run is small."""
    monkeypatch.setattr(battery, "BATTERY", ())
    monkeypatch.setattr(JobStore, "list_runs", all_results_are_read)
    status, begun = await posted(http, "/v1/calibrations", {"scenarios": [GOOD], "gold_runs": 3})
    assert status == 201, begun
    async with http.get(f"/v1/benchmark_jobs/{begun['id']}?wait_seconds=30") as answer:
        assert (await answer.json())["state"] == "completed"
    async with http.get(f"/v1/calibrations/{begun['id']}") as answer:
        told = await answer.json()
    assert (answer.status, told["ended"]) == (200, True), told
    (scenario,) = told["report"]["scenarios"]
    assert scenario["gold"]["runs"] == 3
