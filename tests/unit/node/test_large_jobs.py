"""Jobs of very many runs: neither the loop nor the store's writer is held for longer than by a few thousand of them."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from test_benchmark_jobs import Scorer, opened
from test_durable_jobs import server

from harena.core.errors import LimitExceededError, PlatformError
from harena.core.job_store import STORE_UNAVAILABLE, Batch
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.core.workspace import WorkspaceLimits
from harena.jobs.benchmark import left_runs as reading
from harena.jobs.benchmark.left_runs import left_runs
from harena.jobs.worker import CANCELLED_AT_A_TIME, WRITTEN_AT_A_TIME
from harena.store.benchmark_jobs import JobStore
from harena.testing.conformance_job_store import begun, ended, job, queued

LINES_OF_A_RUN = 400
"""lines of Python that cancelling one run executes on the loop, generously"""


class LoopSteps:
    """Counts the lines of harena's code that the loop's thread executes between two of its turns."""

    def __init__(self) -> None:
        self.longest = 0
        self._now = 0

    def __enter__(self) -> LoopSteps:
        self._handle = asyncio.get_running_loop().call_soon(self._turn)
        sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        self._handle.cancel()

    def _turn(self) -> None:
        self._now = 0
        self._handle = asyncio.get_running_loop().call_soon(self._turn)

    def _called(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        return self._line if "harena" in frame.f_code.co_filename else None

    def _line(self, _frame: FrameType, _event: str, _argument: Any) -> Any:
        self._now += 1
        self.longest = max(self.longest, self._now)
        return self._line


async def test_a_job_of_a_million_runs_is_created_at_once(tmp_path: Path) -> None:
    """Its open runs are a range: no row and no object is made of one before it begins."""
    scorer = Scorer()
    async with server(tmp_path / "harena.db", scorer) as jobs:
        with LoopSteps() as steps:
            made = await jobs.create(
                HERE, {"name": "n", "scenarios": ["hang"] * 1000, "config": {"attempts": 1000, "concurrency": 2}}
            )
        await scorer.hanging.wait()
        assert made["progress"]["queued"] + made["progress"]["running"] == 1_000_000
        assert len(await (await jobs._store()).stored_runs(made["id"], limit=5000)) <= 1
    assert steps.longest < 20_000
    async with opened(tmp_path / "harena.db", Scorer()) as other:
        row = await (await other._store()).read_job(made["id"])
        assert row is not None
        left = await left_runs(await other._store(), row)
    assert left.never_begun_count + len(left.begun) == 1_000_000
    assert len(left.never_begun) == 1


async def test_a_cancelled_job_is_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop has a turn after each hundred runs, and no transaction holds more than some thousand."""
    sizes: list[int] = []
    write = JobStore.write

    async def measured(self: JobStore, batch: Batch) -> None:
        sizes.append(len(batch.runs))
        await write(self, batch)

    monkeypatch.setattr(JobStore, "write", measured)
    scorer, runs = Scorer(), 8000
    async with server(tmp_path / "harena.db", scorer) as jobs:
        made = await jobs.create(HERE, {"name": "n", "scenarios": ["hang"] * 8, "config": {"attempts": 1000}})
        await scorer.hanging.wait()
        with LoopSteps() as steps:
            await jobs.cancel(HERE, made["id"])
        summary = (await jobs.summary(HERE, made["id"]))["summary"]
        progress = (await jobs.get(HERE, made["id"]))["progress"]
    assert (summary["total"], summary["cancelled"], progress["cancelled"]) == (runs, runs, runs)
    assert max(sizes) <= 2 * WRITTEN_AT_A_TIME
    assert steps.longest < 2 * CANCELLED_AT_A_TIME * LINES_OF_A_RUN


async def test_a_cancellation_that_the_store_does_not_take_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the process is about to end and its store is away for a moment: the job does not end with runs open."""
    refused = False
    write = JobStore.write

    async def refusing(self: JobStore, batch: Batch) -> None:
        nonlocal refused
        task = asyncio.current_task()
        cancelled = any(run.state == "cancelled" for run in batch.runs.values())
        # of who cancels, and not what the writer's own task writes now and then
        if cancelled and not refused and task is not None and not task.get_name().startswith("writer of"):
            refused = True
            for owned in jobs._owned.values():
                owned.leave()
            raise PlatformError("connection lost", step="store", reason=STORE_UNAVAILABLE)
        await write(self, batch)

    monkeypatch.setattr(JobStore, "write", refusing)
    scorer, runs = Scorer(), 8000
    async with server(tmp_path / "harena.db", scorer) as jobs:
        made = await jobs.create(HERE, {"name": "n", "scenarios": ["hang"] * 8, "config": {"attempts": 1000}})
        await scorer.hanging.wait()
        ended = await jobs.cancel(HERE, made["id"])
        summary = (await jobs.summary(HERE, made["id"]))["summary"]
        released = [event["kind"] async for event in jobs.events(HERE, made["id"])].count("job_released")
    assert (ended["state"], ended["progress"]["cancelled"], summary["cancelled"]) == ("cancelled", runs, runs)
    assert released == 1


async def test_what_a_large_job_has_left_is_read_in_pieces(tmp_path: Path) -> None:
    """Ranges of what never began, also from a store of an earlier version, which has a row of each run."""
    total = 10 * reading.READ_AT_A_TIME
    async with opened(tmp_path / "harena.db", Scorer()) as jobs:
        store = await jobs._store()
        await store.insert_job(job("old", total=total), queued(total))
        await store.insert_job(job("new", total=total))
        results = {n: ended(n, 1.0, cursor=n + 1) for n in range(0, total, 2)}
        tried = {7: begun(7, state="queued", failures=1)}
        for job_id in ("old", "new"):
            await store.write(Batch(job_id, runs={**results, **tried}))
            row = await store.read_job(job_id)
            assert row is not None
            with LoopSteps() as steps:
                left = await left_runs(store, row)
            assert [run.number for run in left.begun] == [7]
            assert [n for part in left.never_begun for n in part] == [n for n in range(1, total, 2) if n != 7]
            assert steps.longest < 20 * reading.READ_AT_A_TIME


async def test_open_runs_of_a_workspace(tmp_path: Path) -> None:
    """As many as it may have, all its jobs together; the job that is too large leaves nothing."""
    limits = {"ours": WorkspaceLimits(open_runs=10)}

    async def limits_of(workspace: str) -> WorkspaceLimits:
        return limits.get(workspace, WorkspaceLimits())

    def asked(scenarios: int, **config: int) -> dict[str, Any]:
        return {"name": "n", "scenarios": ["hang"] * scenarios, "config": config}

    async with server(tmp_path / "harena.db", Scorer(), limits_of=limits_of) as jobs:
        with pytest.raises(LimitExceededError, match=r"may have 10 runs .* would have 12") as refused:
            await jobs.create("ours", asked(3, attempts=4))
        assert refused.value.reason == "OPEN_RUNS"
        made = await jobs.create("ours", asked(2, attempts=4))
        told = await asyncio.gather(*(jobs.create("ours", asked(2)) for _ in range(3)), return_exceptions=True)
        assert Counter(isinstance(answer, LimitExceededError) for answer in told)[False] <= 1
        assert len((await jobs.list("ours"))["benchmark_jobs"]) <= 2
        await jobs.create("theirs", asked(20))
        await jobs.cancel("ours", made["id"])
        await jobs.create("ours", asked(8))
        with pytest.raises(LimitExceededError):
            await jobs.create("ours", asked(3))
