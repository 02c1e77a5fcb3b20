"""Reads results and events of a job page by page, over any transport, in memory that does not grow with the job."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harena.core.records.benchmark_jobs import BenchmarkJob, BenchmarkRun, ResultsPage
from harena.core.records.job_diff import ComparedJob, ComparedJobs, JobDiff
from harena.sdk.portal import in_thread
from harena.sdk.result_files import ResultFormat, result_file

if TYPE_CHECKING:
    from harena.core.job_diff import Attempts
    from harena.core.ports import Operations

PAGE = 1000
"""runs; the most that a server gives at one time"""
_WITH_SUMMARY = (ResultFormat.JSON, ResultFormat.PARQUET)


async def pages(operations: Operations, job: str, *, after: int = 0) -> AsyncGenerator[ResultsPage, None]:
    """The pages of results that there are now, at least one, in the order in which runs ended. Where `job` is a name,
    all pages are of the job that it meant for the first one."""
    page = await operations.benchmark_job_results_page(job, after=after, limit=PAGE)
    while True:
        yield page
        if len(page.runs) < PAGE:
            return
        page = await operations.benchmark_job_results_page(page.job_id, after=page.cursor, limit=PAGE)


class ScenarioOrder:
    """Brings runs back into the order in which they were accepted, which is that of their scenarios. They arrive in the
    order in which they ended: a run that is early is held back. Few are, because runs also begin in order."""

    def __init__(self) -> None:
        self._next = 0
        self._early: dict[int, BenchmarkRun] = {}

    def add(self, runs: Iterable[BenchmarkRun]) -> list[BenchmarkRun]:
        """Take more runs, and return those whose turn has come."""
        for run in runs:
            self._early[run.run] = run
        ready = []
        while self._next in self._early:
            ready.append(self._early.pop(self._next))
            self._next += 1
        return ready

    def rest(self) -> list[BenchmarkRun]:
        """The runs that are held back when no more come: each follows one that has not ended."""
        return [self._early[number] for number in sorted(self._early)]


async def save(operations: Operations, job: str, path: Path, form: ResultFormat) -> None:
    """Write the results that there are now to `path`, in the order of the scenarios: all of it or nothing. Raises
    NotFoundError, ValidationError."""
    async with in_thread(partial(result_file, path, form)) as writer:
        in_order = ScenarioOrder()
        async for page in pages(operations, job):
            job = page.job_id
            await asyncio.to_thread(writer.add, in_order.add(page.runs))
        await asyncio.to_thread(writer.add, in_order.rest())
        told = (await operations.benchmark_job_summary(job)).to_dict() if form in _WITH_SUMMARY else {}
        await asyncio.to_thread(writer.end, told)


async def compare(operations: Operations, a: str, b: str) -> JobDiff:
    """What changed from job `a` to job `b`."""
    from harena.core.job_diff import diff

    jobs = [await operations.get_benchmark_job(job) for job in (a, b)]
    of_a, of_b = [await _gathered(operations, job.id) for job in jobs]
    compared_a, compared_b = [ComparedJob(id=job.id, name=job.name, state=job.state) for job in jobs]
    found = await asyncio.to_thread(diff, ComparedJobs(a=compared_a, b=compared_b), of_a, of_b)
    named = zip(("a", "b"), jobs, strict=True)
    unended = [f"{side} has not ended: what it lacks may come" for side, job in named if _open(job)]
    return replace(found, warnings=[*unended, *found.warnings])


def _open(job: BenchmarkJob) -> bool:
    return job.state in ("queued", "running")


async def _gathered(operations: Operations, job: str) -> dict[str, Attempts]:
    from harena.core.job_diff import gather

    scenarios: dict[str, Attempts] = {}
    async for page in pages(operations, job):
        gather((run.to_dict() for run in page.runs), scenarios)
    return scenarios
