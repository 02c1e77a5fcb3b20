"""The demo again and again while another process burns every core: is each verdict the known one, each time?

A flake is a scenario that gets another score than before (none, too). What forges may be caught by one of several
reasons, of which its known verdict lists those that are right: more than one of them is told, and is no flake.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harena.core.requests import BenchmarkJobFields

DEMO = Path(__file__).parents[2] / "examples/candidate-solutions.yaml"
CONCURRENCY = 200
_BURN = """
import multiprocessing, os, sys
def burn():
    while os.getppid() == parent:
        sum(range(100_000))
parent = os.getpid()
for _ in range(int(sys.argv[1])):
    multiprocessing.get_context("fork").Process(target=burn, daemon=True).start()
sys.stdin.read()
"""
"""one process tree that keeps so many cores busy until its standard input ends"""


def measure(*, repeats: int, rescore_fraction: float, burners: int | None) -> dict[str, Any]:
    """`repeats` jobs of the whole demo on one node, `burners` busy processes beside it (None = one per core)."""
    burners = len(os.sched_getaffinity(0)) if burners is None else burners
    with tempfile.TemporaryDirectory(prefix="harena-benchmark-home-") as home, _burning(burners):
        os.environ["HARENA_HOME"] = home
        os.environ.pop("HARENA_DATABASE_URL", None)
        return {"burners": burners, **asyncio.run(_repeat(repeats, rescore_fraction))}


@contextmanager
def _burning(count: int) -> Iterator[None]:
    if count == 0:
        yield
        return
    burner = subprocess.Popen([sys.executable, "-c", _BURN, str(count)], stdin=subprocess.PIPE)
    assert burner.stdin is not None
    try:
        yield
    finally:
        burner.stdin.close()
        burner.wait()


async def _repeat(repeats: int, rescore_fraction: float) -> dict[str, Any]:
    from harena.node import open_embedded

    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    wrong: list[str] = []
    jobs: list[dict[str, Any]] = []
    operations = await open_embedded()
    try:
        for number in range(repeats):
            request: BenchmarkJobFields = {
                "name": f"demo {number}",
                "scenarios": str(DEMO),
                "blueprint_id": "python-warm",
                "config": {"concurrency": CONCURRENCY, "timeout_seconds": 120.0, "rescore_fraction": rescore_fraction},
            }
            began = time.perf_counter()
            job = await operations.create_benchmark_job(request)
            results = await operations.wait_benchmark_job(job["id"])
            for run in results["runs"]:
                verdicts[run["scenario_id"]][str(run["score"])] += 1
                reasons[run["scenario_id"]][run["reason"]] += 1
                if run["verdict_right"] is False:
                    wrong.append(f"repeat {number}: {run['scenario_id']}: {run['reason']}: {run['detail']}")
            jobs.append(_told(results, time.perf_counter() - began))
            print(f"repeat {number + 1}/{repeats}: {jobs[-1]}", file=sys.stderr)
    finally:
        await operations.close()
    return {
        "repeats": repeats,
        "verdicts": len(verdicts),
        "flakes": {name: dict(seen) for name, seen in verdicts.items() if len(seen) > 1},
        "several_reasons": {name: dict(seen) for name, seen in reasons.items() if len(seen) > 1},
        "wrong": wrong,
        "jobs": jobs,
    }


def _told(results: Any, seconds: float) -> dict[str, Any]:
    summary = results["summary"]
    return {
        "seconds": round(seconds, 1),
        "right": summary["verdicts"]["right"],
        "wrong": summary["verdicts"]["wrong"],
        "infra": summary["infra"],
        "retries": sum(run["platform_retries"] for run in results["runs"]),
        "rescored": summary["rescored"],
    }


def render(results: dict[str, Any]) -> list[str]:
    """What differed, and what was wrong."""
    jobs = results["jobs"]
    rescored = [job["rescored"] for job in jobs if job["rescored"]]
    runs, disagreed = sum(found["runs"] for found in rescored), sum(found["disagreed"] for found in rescored)
    several = results["several_reasons"]
    seconds = sorted(job["seconds"] for job in jobs)
    lines = [
        f"`examples/candidate-solutions.yaml`, {results['repeats']} times, config.concurrency {CONCURRENCY}, while "
        f"another process kept {results['burners']} cores busy.",
        "",
        "| verdicts | repeats | with more than one score | with more than one reason | not the known one "
        "| without a score | tries again after a platform failure | scored twice | disagreed | s per repeat |",
        "|" + "---|" * 10,
        f"| {results['verdicts']} | {results['repeats']} | {len(results['flakes'])} | {len(several)} "
        f"| {len(results['wrong'])} | {sum(job['infra'] for job in jobs)} | {sum(job['retries'] for job in jobs)} "
        f"| {runs} | {disagreed} | {seconds[0]:.0f}-{seconds[-1]:.0f} |",
    ]
    lines += [f"* scores of {name}: {seen}" for name, seen in results["flakes"].items()]
    lines += [f"* reasons of {name}: {seen}" for name, seen in several.items()]
    lines += [f"* {line}" for line in results["wrong"]]
    return lines
