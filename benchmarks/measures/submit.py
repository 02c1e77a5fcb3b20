"""From the submission of a job with one scenario until its result is in the caller's hands, on a warm node."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.figures import spread
from benchmarks.scenarios import scenario_row
from benchmarks.server import server
from benchmarks.ways import BLUEPRINT, TIMEOUT_SECONDS, open_way
from benchmarks.workload import Program, suite
from harena.core.requests import BenchmarkJobFields

if TYPE_CHECKING:
    from harena.core.ports import Operations

WARM_UP = 10
PAUSE_SECONDS = 0.03
"""between two submissions, so that a sandbox waits in the pool, as on a node that is not busy"""


def measure(*, count: int) -> dict[str, Any]:
    """`count` rounds; in each, one program by every way."""
    return asyncio.run(_measure(count))


async def _measure(count: int) -> dict[str, Any]:
    from harena.node import open_embedded
    from harena.sdk.http import open_http

    taken: dict[str, list[float]] = defaultdict(list)
    parts: dict[str, dict[str, list[float]]] = {"embedded": defaultdict(list), "over HTTP": defaultdict(list)}
    programs = suite("clean", WARM_UP + count)
    async with open_way("plain", concurrency=1) as plain, open_way("direct", concurrency=1) as direct:
        with tempfile.TemporaryDirectory(prefix="harena-benchmark-home-") as home:
            os.environ["HARENA_HOME"] = home
            served = Path(home) / "server"
            with server(served) as serving:
                operations = {"embedded": await open_embedded(), "over HTTP": await open_http(serving.url)}
                try:
                    for number, program in enumerate(programs):
                        if number == WARM_UP:
                            taken.clear()
                            for found in parts.values():
                                found.clear()
                        for label, way in (("python -c, no sandbox, no job", plain), ("runtime alone", direct)):
                            await asyncio.sleep(PAUSE_SECONDS)
                            began = time.perf_counter()
                            await way.run([_first(program)])
                            taken[label].append(time.perf_counter() - began)
                        for label, node in operations.items():
                            await asyncio.sleep(PAUSE_SECONDS)
                            seconds, stages = await _submit(node, program)
                            taken[f"job, {label}"].append(seconds)
                            for stage, value in stages.items():
                                parts[label][stage].append(value)
                finally:
                    for node in operations.values():
                        await node.close()
    return {
        "count": count,
        "rows": {label: spread(values) for label, values in taken.items()},
        "parts": {label: {stage: spread(values) for stage, values in found.items()} for label, found in parts.items()},
    }


def _first(program: Program) -> Program:
    """The program as the first of a suite of one."""
    return replace(program, index=0)


async def _submit(node: Operations, program: Program) -> tuple[float, dict[str, float]]:
    """(seconds until the result, seconds of each stage)."""
    request: BenchmarkJobFields = {
        "name": "one",
        "scenarios": [scenario_row(program)],
        "blueprint_id": BLUEPRINT,
        "config": {"timeout_seconds": TIMEOUT_SECONDS},
    }
    clock_began, began = time.time(), time.perf_counter()
    job = await node.create_benchmark_job(request)
    accepted = time.perf_counter() - began
    results = await node.wait_benchmark_job(job["id"])
    seconds = time.perf_counter() - began
    if results["state"] != "completed" or results["summary"]["verdicts"]["right"] != 1:
        raise RuntimeError(f"the job of {program.index} gave no right verdict: {results}")
    events = [event async for event in node.benchmark_job_events(job["id"])]
    return seconds, {"answer to create": accepted, **_stages(events, clock_began), "result in hand": seconds}


def _stages(events: Sequence[Any], began: float) -> dict[str, float]:
    """When each kind of event happened, in seconds since `began`, by the clock of this machine."""
    return {event["kind"]: datetime.fromisoformat(event["at"]).timestamp() - began for event in events}


def render(results: dict[str, Any]) -> list[str]:
    """Two tables: the whole way, and its stages."""
    lines = [
        f"{results['count']} rounds, every way once per round, one at a time. A job: create, wait, results.",
        "",
        "| | p50 ms | p90 ms | p99 ms | mean ms |",
        "|---|---|---|---|---|",
    ]
    for label, row in results["rows"].items():
        lines.append(f"| {label} | {' | '.join(f'{row[key] * 1e3:.1f}' for key in ('p50', 'p90', 'p99', 'mean'))} |")
    stages = list(results["parts"]["embedded"])
    lines += ["", "p50 ms since the submission:", "", f"| | {' | '.join(stages)} |", "|---|" + "---|" * len(stages)]
    for label, found in results["parts"].items():
        medians = [f"{found[stage]['p50'] * 1e3:.1f}" for stage in stages]
        lines.append(f"| {label} | {' | '.join(medians)} |")
    return lines
