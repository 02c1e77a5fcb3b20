"""Whether a server's memory grows with the runs that it has finished: one job after the other, and its RSS then."""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.figures import slope
from benchmarks.scenarios import scenario_rows
from benchmarks.server import server
from benchmarks.ways import BLUEPRINT, TIMEOUT_SECONDS
from benchmarks.workload import suite
from harena.core.requests import BenchmarkJobFields

CONCURRENCY = 200


def measure(*, jobs: int, runs: int) -> dict[str, Any]:
    """RSS of `harena serve` before the first job and after each; the slope over the last half of the jobs, in KiB for
    1,000 runs, and over all."""
    with tempfile.TemporaryDirectory(prefix="harena-benchmark-home-") as home, server(Path(home)) as serving:
        kibibytes = asyncio.run(_run_jobs(serving.url, serving.pid, jobs, runs))
    thousands = [number * runs / 1000 for number in range(len(kibibytes))]
    half = len(kibibytes) // 2
    return {
        "jobs": jobs,
        "runs": runs,
        "rss_kib": kibibytes,
        "slope_kib": slope(thousands[half:], [float(value) for value in kibibytes[half:]]),
        "slope_of_all_kib": slope(thousands[1:], [float(value) for value in kibibytes[1:]]),
    }


async def _run_jobs(url: str, pid: int, jobs: int, runs: int) -> list[int]:
    from harena.sdk.http import open_http

    operations = await open_http(url)
    try:
        found = [_rss_kib(pid)]
        for number in range(jobs):
            request: BenchmarkJobFields = {
                "name": f"job {number}",
                "scenarios": scenario_rows(suite("clean", runs, seed=number)),
                "blueprint_id": BLUEPRINT,
                "config": {"concurrency": CONCURRENCY, "timeout_seconds": TIMEOUT_SECONDS},
            }
            job = await operations.create_benchmark_job(request)
            results = await operations.wait_benchmark_job(job.id)
            verdicts = results.summary.verdicts
            if verdicts is None or verdicts.right != runs:
                raise RuntimeError(f"job {number}: {results.summary}")
            found.append(_rss_kib(pid))
        return found
    finally:
        await operations.close()


def _rss_kib(pid: int) -> int:
    found = re.search(r"^VmRSS:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def render(results: dict[str, Any]) -> list[str]:
    """The slopes and every value."""
    megabytes = [f"{value / 1024:.1f}" for value in results["rss_kib"]]
    return [
        f"{results['jobs']} jobs of {results['runs']} runs over HTTP, one after the other, each with its results read "
        "as one answer; RSS of the server's own process in MiB before the first and after each:",
        "",
        ", ".join(megabytes),
        "",
        f"**For each 1,000 runs {results['slope_kib']:.0f} KiB over the last half of the jobs** (over all of them "
        f"{results['slope_of_all_kib']:.0f} KiB; the first jobs fill pools and caches).",
    ]
