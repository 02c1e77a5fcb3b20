"""Workspaces that share a node: whose runs run, and how many jobs each may have."""

from __future__ import annotations

import asyncio
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stored_jobs import StoredJobs
from test_benchmark_jobs import Named, NoSandboxes, Recipes, Scorer, load

from harena.core.clock import SystemClock
from harena.core.errors import LimitExceededError, PlatformError
from harena.core.garbage import collection_paused
from harena.core.idempotency import IdempotencyKey
from harena.core.node_config import NodeConfig
from harena.core.results import RunResult
from harena.core.workspace import WorkspaceLimits


class Gated(Scorer):
    """Runs under way wait until they are let go, one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.under_way: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.gate = asyncio.Semaphore(0)
        self.moved = asyncio.Event()
        self.errors: list[BaseException] = []

    async def __call__(self, scenario: Any, **more: Any) -> RunResult:
        mine = more["base_spec"].image
        self.under_way[mine] += 1
        self.most[mine] = max(self.most[mine], self.under_way[mine])
        self.moved.set()
        try:
            await self.gate.acquire()
        except BaseException as error:
            self.errors.append(error)  # whose traceback has the frames of those who have called
            raise
        finally:
            self.under_way[mine] -= 1
            self.moved.set()
        return await super().__call__(scenario, **more)

    async def until(self, **under_way: int) -> None:
        """So many are under way."""
        async with asyncio.timeout(20):
            while +self.under_way != Counter(under_way):
                self.moved.clear()
                await self.moved.wait()


class RecipeOfWorkspace(Recipes):
    """Each workspace's blueprint has an image of its name."""

    def find(self, workspace: str, name_or_id: str) -> Any:
        return replace(super().find("default", "env"), image=workspace)


class Limits:
    """What workspaces may use, as it is now."""

    def __init__(self, **limits: WorkspaceLimits) -> None:
        self.limits = limits

    async def of(self, workspace: str) -> WorkspaceLimits:
        return self.limits.get(workspace, WorkspaceLimits())


@asynccontextmanager
async def shared(
    path: Path,
    scorer: Scorer,
    limits: Limits,
    *,
    cores: int = 1,
    durable: bool = False,
    read: Callable[[Sequence[str]], Sequence[Named]] = load,
) -> AsyncIterator[StoredJobs]:
    """A node with four slots for each core."""
    jobs = StoredJobs(
        NodeConfig(store_place=path / "harena.db", limits_of=limits.of, durable_jobs=durable),
        NoSandboxes(),
        RecipeOfWorkspace(),
        SystemClock(),
        score=scorer,
        load=read,  # type: ignore[arg-type]
        cores=cores,
    )
    try:
        yield jobs
    finally:
        await jobs.close()


def asked(runs: int, **config: Any) -> dict[str, Any]:
    """A job of that many runs."""
    return {"name": "n", "scenarios": ["pass"] * runs, "config": {"concurrency": 100, **config}, "blueprint_id": "env"}


async def test_a_late_workspace_gets_half_whatever_the_others_priority(tmp_path: Path) -> None:
    """As soon as runs end; and all runs of both end."""
    scorer = Gated()
    async with shared(tmp_path, scorer, Limits()) as jobs:
        early = [await jobs.create("early", asked(10, priority=100)) for _ in range(3)]
        await scorer.until(early=4)
        late = await jobs.create("late", asked(10, priority=-100))
        for _ in range(2):
            scorer.gate.release()
        await scorer.until(early=2, late=2)
        for _ in range(100):
            scorer.gate.release()
        assert (await jobs.wait("late", late["id"]))["summary"]["passed"] == 10
        for job in early:
            assert (await jobs.wait("early", job["id"]))["summary"]["passed"] == 10


async def test_runs_of_a_workspace_are_bounded_all_its_jobs_together(tmp_path: Path) -> None:
    """The rest of the slots is for others; a bound that is changed is followed while jobs run."""
    scorer, limits = Gated(), Limits(small=WorkspaceLimits(runs=1))
    async with shared(tmp_path, scorer, limits) as jobs:
        for _ in range(2):
            await jobs.create("small", asked(5))
        await jobs.create("large", asked(2))
        await scorer.until(small=1, large=2)
        limits.limits["small"] = WorkspaceLimits(runs=2)
        await scorer.until(small=2, large=2)
        for _ in range(100):
            scorer.gate.release()
        for job in (await jobs.list("small"))["benchmark_jobs"]:
            assert (await jobs.wait("small", job["id"]))["summary"]["passed"] == 5
    assert scorer.most["small"] == 2


async def test_open_jobs_of_a_workspace(tmp_path: Path) -> None:
    """As many as it may have, also when they come at once; other workspaces' do not count."""
    scorer, limits = Gated(), Limits(ours=WorkspaceLimits(open_jobs=2), none=WorkspaceLimits(open_jobs=0))
    async with shared(tmp_path, scorer, limits) as jobs:
        await jobs.create("theirs", asked(1))
        made = await asyncio.gather(*(jobs.create("ours", asked(1)) for _ in range(6)), return_exceptions=True)
        refused = [error for error in made if isinstance(error, LimitExceededError)]
        assert len(refused) >= 4
        assert refused[0].reason == "OPEN_JOBS"
        there_are = (await jobs.list("ours"))["benchmark_jobs"]
        assert len(there_are) == 6 - len(refused)
        while len(there_are) < 2:
            there_are.append(await jobs.create("ours", asked(1)))
        with pytest.raises(LimitExceededError, match="may have 2 benchmark jobs"):
            await jobs.create("ours", asked(1))
        with pytest.raises(LimitExceededError):
            await jobs.create("none", asked(1))
        await jobs.cancel("ours", there_are[0]["id"])
        key = IdempotencyKey.of("k", b"asked")
        last = await jobs.create("ours", asked(1), key=key)
        assert (await jobs.create("ours", asked(1), key=key))["id"] == last["id"], "what is there needs no room"


LONG = 1_000_000
"""size of one scenario"""


def long_ones(count: int) -> dict[str, Any]:
    """A job of that many scenarios of a megabyte."""
    return {"name": "n", "scenarios": ["x" * (LONG + number) for number in range(count)], "blueprint_id": "env"}


async def test_memory_of_open_jobs_of_a_workspace(tmp_path: Path) -> None:
    """As much as it may take, also of jobs that come at once; what has ended, or was not accepted, takes none."""
    scorer, limits = Gated(), Limits(ours=WorkspaceLimits(job_memory_bytes=3 * LONG + LONG // 2))
    async with shared(tmp_path, scorer, limits) as jobs:
        first = await jobs.create("ours", long_ones(2))
        with pytest.raises(
            LimitExceededError, match=r"\(job_memory_bytes\); they take 2\d{6}, .* wait for jobs"
        ) as refused:
            await jobs.create("ours", long_ones(2))
        assert refused.value.reason == "JOB_MEMORY"
        assert refused.value.retry_delay is not None
        made = await asyncio.gather(*(jobs.create("ours", long_ones(1)) for _ in range(4)), return_exceptions=True)
        assert sum(isinstance(error, LimitExceededError) for error in made) == 3
        await jobs.create("theirs", long_ones(8))
        await jobs.cancel("ours", first["id"])
        with pytest.raises(LimitExceededError, match=r"would take \d+: divide this one") as refused:
            await jobs.create("ours", long_ones(4))
        assert refused.value.retry_delay is None, "waiting is of no use"
        key = IdempotencyKey.of("k", b"asked")
        last = await jobs.create("ours", long_ones(2), key=key)
        limits.limits["ours"] = WorkspaceLimits(job_memory_bytes=0)
        assert (await jobs.create("ours", long_ones(2), key=key))["id"] == last["id"], "what is there needs no room"
        for _ in range(100):
            scorer.gate.release()
        for job in (await jobs.list("ours"))["benchmark_jobs"]:
            await jobs.wait("ours", job["id"])
        limits.limits["ours"] = WorkspaceLimits(job_memory_bytes=3 * LONG + LONG // 2)
        await jobs.create("ours", long_ones(3))


async def test_memory_of_jobs_that_were_taken_over(tmp_path: Path) -> None:
    """They go on, whatever the limit is now, and count."""
    limits = Limits()
    async with shared(tmp_path, Gated(), limits, durable=True) as jobs:
        job = await jobs.create("ours", long_ones(2))
    limits.limits["ours"] = WorkspaceLimits(job_memory_bytes=LONG + LONG // 2)
    async with shared(tmp_path, Gated(), limits, durable=True) as jobs:
        await jobs.start()
        with pytest.raises(LimitExceededError) as refused:
            await jobs.create("ours", long_ones(1))
        assert refused.value.reason == "JOB_MEMORY"
        await jobs.cancel("ours", job["id"])
        await jobs.create("ours", long_ones(1))


class Weak(list[Named]):
    """May be gone."""


@pytest.mark.parametrize("ends", ["completed", "cancelled", "unrecorded"])
async def test_scenarios_go_with_the_end_of_their_job(
    tmp_path: Path, ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any collection of garbage, also where the end could not be stored."""
    made: list[weakref.ref[Weak]] = []

    def read(source: Sequence[str]) -> Sequence[Named]:
        scenarios = Weak(load(source))
        made.append(weakref.ref(scenarios))
        return scenarios

    scorer = Gated()
    async with shared(tmp_path, scorer, Limits(), read=read) as jobs:
        with collection_paused():
            job = await jobs.create("ours", asked(3))
            await scorer.until(ours=3)
            owned = jobs._owned[job["id"]]
            if ends == "cancelled":
                await jobs.cancel("ours", job["id"])
            elif ends == "unrecorded":
                owned.store_failed(PlatformError("the disk is full", step="store"))
            for _ in range(3):
                scorer.gate.release()
            await owned.wait()
            await asyncio.sleep(0)
            assert len(scorer.errors) == (0 if ends == "completed" else 3)
            assert (owned.failure is not None) is (ends == "unrecorded")
            assert made[0]() is None
