"""What a job's results come to, read from the store a page at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from harena.core.records.benchmark_jobs import JobSummary
from harena.jobs.benchmark.job_answers import run_answer, summary_answer

if TYPE_CHECKING:
    from harena.core.job_store import EndedRun, JobStorePort, StoredBenchmarkJob

SUMMED_AT_A_TIME = 500
"""runs that are in memory while results are added up"""
OUTCOME = ("scenario_id", "score", "passed", "validity", "reason", "detail")


async def job_summary(store: JobStorePort, job: StoredBenchmarkJob, *, now: datetime) -> JobSummary:
    """The results so far without the runs themselves: a large job takes no more memory than a small one. Raises
    PlatformError."""
    from harena.jobs.summary import Summing

    summing = Summing()
    async for run in _ended_runs(store, job):
        summing.add(run_answer(run))
    return summary_answer(job, summing, now=now)


async def outcomes(store: JobStorePort, job: StoredBenchmarkJob) -> list[dict[str, Any]]:
    """What came out of each run that has a result, {scenario_id, score, passed, validity, reason, detail}, in order of
    acceptance. Raises PlatformError."""
    found = [(run.number, {name: run.envelope.get(name) for name in OUTCOME}) async for run in _ended_runs(store, job)]
    return [outcome for _, outcome in sorted(found, key=itemgetter(0))]


async def _ended_runs(store: JobStorePort, job: StoredBenchmarkJob) -> AsyncIterator[EndedRun]:
    cursor = 0
    while page := await store.page_runs(job.id, after=cursor, limit=SUMMED_AT_A_TIME, metadata=False):
        cursor = page[-1].ended_cursor or cursor
        for run in page:
            yield run
