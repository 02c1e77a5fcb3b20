"""What a page of results costs over HTTP: the first, the middle and the last page of a small and of a large job."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import postgres
from benchmarks.figures import spread
from benchmarks.server import server

if TYPE_CHECKING:
    from harena.core.job_store import NewBenchmarkJob, RunChange

PAGE = 100
WARM_UP = 5
BATCH = 500
MOMENT = "2030-01-01T00:00:00+00:00"


def measure(*, runs: tuple[int, ...], count: int) -> dict[str, Any]:
    """`count` rounds over jobs of that many ended runs, in SQLite and in PostgreSQL (left out where there is none)."""
    rows: dict[str, dict[str, Any]] = {}
    absent = postgres.unavailable()
    for store in ("SQLite", "PostgreSQL"):
        if store == "PostgreSQL" and absent is not None:
            continue
        with ExitStack() as stack:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="harena-benchmark-home-")))
            url = stack.enter_context(postgres.postgres()) if store == "PostgreSQL" else None
            asyncio.run(_fill(url or home / "harena.db", runs))
            serving = stack.enter_context(server(home, url))
            for place, values in asyncio.run(_read(serving.url, runs, count)).items():
                rows[f"{store}, {place}"] = spread(values)
    return {"runs": list(runs), "count": count, "page": PAGE, "absent": absent, "rows": rows}


async def _fill(place: Path | str, sizes: tuple[int, ...]) -> None:
    """One ended job of each size, its results as a node stores them."""
    from harena.core.job_store import Batch, JobChanges, JobEvent, OpenRun
    from harena.store.benchmark_jobs import JobStore
    from harena.store.database import Database

    database = await Database.open(place)
    try:
        store = JobStore(database)
        for size in sizes:
            new = _job(size)
            runs = [OpenRun(number=n, scenario_id=f"scenario-{n}", attempt=1, state="queued") for n in range(size)]
            await store.insert_job(new, runs)
            ended_at = JobChanges(started_at=MOMENT, ended_at=MOMENT, duration_seconds=1.0)
            await store.write(Batch(new.id, job=ended_at))
            for first in range(0, size, BATCH):
                numbers = range(first, min(size, first + BATCH))
                ended = {number: _ended(number) for number in numbers}
                events = [JobEvent(cursor=number + 1, at=MOMENT, kind="run_finished", body={}) for number in numbers]
                await store.write(Batch(new.id, runs=ended, events=events))
    finally:
        await database.close()


def _job(size: int) -> NewBenchmarkJob:
    from harena.core.job_store import NewBenchmarkJob
    from harena.core.leases import Owner

    return NewBenchmarkJob(
        id=f"job_{size}",
        workspace="default",
        name=f"of {size} runs",
        state="completed",
        created_at=MOMENT,
        blueprint="default",
        config={"concurrency": 8},
        effective_concurrency=8,
        total=size,
        durable=True,
        owner=Owner(pid=1, started="", boot=""),
    )


def _ended(number: int) -> RunChange:
    from harena.core.job_store import RunChange
    from harena.core.results import Reason, RunResult, Trust, Validity
    from harena.jobs.summary import run_record
    from harena.scoring.formats import import_scenarios

    check = {"args": [number], "expected": number}
    scoring = {"type": "tests", "entry_point": "f", "checks": [check]}
    row = {"id": f"scenario-{number}", "candidate": "def f(x): return x", "scoring": scoring}
    scenario = import_scenarios([row]).scenarios[0]
    result = RunResult(
        scenario_id=scenario.id,
        score=1.0,
        passed=True,
        validity=Validity.VALID,
        trust=Trust.SEPARATE,
        reason=Reason.PASSED,
        duration_seconds=0.01,
        cpu_seconds=0.002,
        peak_memory_bytes=9 << 20,
        checks_planned=1,
        checks_run=1,
        checks_passed=1,
        scorer_version=scenario.scoring.version,
        evidence=scenario.scoring.fingerprint,
    )
    envelope = run_record(result, run=number, scenario=scenario).to_dict()
    return RunChange(state="done", score=1.0, passed=True, envelope=envelope, ended_cursor=number + 1)


async def _read(url: str, sizes: tuple[int, ...], count: int) -> dict[str, list[float]]:
    from harena.sdk.http import open_http

    taken: dict[str, list[float]] = defaultdict(list)
    operations = await open_http(url)
    try:
        for number in range(WARM_UP + count):
            for size in sizes:
                for place, after in (("first", 0), ("middle", size // 2), ("last", max(0, size - PAGE))):
                    began = time.perf_counter()
                    page = await operations.benchmark_job_results_page(f"job_{size}", after=after, limit=PAGE)
                    seconds = time.perf_counter() - began
                    if [run["scenario_id"] for run in page["runs"]] != _expected(after, size):
                        raise RuntimeError(f"the {place} page of {size} runs is another one: {page}")
                    if number >= WARM_UP:
                        taken[f"{place} page of {size} runs"].append(seconds)
    finally:
        await operations.close()
    return taken


def _expected(after: int, size: int) -> list[str]:
    return [f"scenario-{number}" for number in range(after, min(size, after + PAGE))]


def render(results: dict[str, Any]) -> list[str]:
    """One row for each page, with its multiple of the first page of the smallest job in the same store."""
    lines = [
        f"Pages of {results['page']} results over HTTP from `harena serve`, {results['count']} rounds, every page once "
        "per round. The jobs' results were written into the store as a node writes them.",
        "",
        "| | p50 ms | p90 ms | p99 ms | p50 x first page of the smaller job |",
        "|---|---|---|---|---|",
    ]
    smallest = min(results["runs"])
    for label, row in results["rows"].items():
        base = results["rows"][f"{label.partition(',')[0]}, first page of {smallest} runs"]["p50"]
        lines.append(
            f"| {label} | {row['p50'] * 1e3:.1f} | {row['p90'] * 1e3:.1f} | {row['p99'] * 1e3:.1f} "
            f"| {row['p50'] / base:.2f} |"
        )
    if results["absent"]:
        lines.append(f"\nPostgreSQL did not run: {results['absent']}.")
    return lines
