"""What is answered about jobs, as records of `harena.core.records.benchmark_jobs`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from harena.core.job_lifecycle import JobState
from harena.core.records.benchmark_jobs import (
    BenchmarkEvent,
    BenchmarkJob,
    BenchmarkResults,
    BenchmarkRun,
    DefinitionReference,
    JobConfiguration,
    JobLineage,
    JobSummary,
    LeftOutRows,
    ResultsPage,
    WebhookDelivery,
)

if TYPE_CHECKING:
    from harena.core.job_store import EndedRun, JobEvent, StoredBenchmarkJob
    from harena.core.leases import StoredJson
    from harena.jobs.summary import Summing


def job_answer(job: StoredBenchmarkJob, *, now: datetime, webhook: WebhookDelivery | None = None) -> BenchmarkJob:
    """A job and its progress, all from its own job, and the delivery of its webhook."""
    from harena.jobs.summary import progress

    lineage, left_out = _made_of(job.lineage)
    return BenchmarkJob(
        id=job.id,
        name=job.name,
        state=job.state,
        created_at=job.created_at,
        started_at=job.started_at,
        ended_at=job.ended_at,
        blueprint=job.blueprint,
        config=JobConfiguration.from_dict(job.config),
        error=job.error,
        definition=DefinitionReference.from_dict(job.definition) if job.definition else None,
        lineage=lineage,
        left_out=left_out,
        duration_seconds=duration_seconds(job, now=now),
        cursor=job.last_cursor,
        progress=progress(
            job.counts,
            total=job.total,
            effective_concurrency=job.effective_concurrency,
            ended=JobState(job.state).is_terminal,
        ),
        webhook=webhook,
    )


def _made_of(stored: StoredJson | None) -> tuple[JobLineage | None, LeftOutRows | None]:
    """Stored versions and left out rows are stored together, and told apart."""
    held = dict(stored or {})
    left_out = held.pop("left_out", None)
    return (
        JobLineage.from_dict(held) if held.get("scenarios") or held.get("contracts") else None,
        LeftOutRows.from_dict(left_out) if left_out else None,
    )


def results_answer(job: StoredBenchmarkJob, runs: Sequence[EndedRun], *, now: datetime) -> BenchmarkResults:
    """All results that there are, and their summary."""
    from harena.jobs.summary import Summing

    summing, answers = Summing(), [run_answer(run) for run in runs]
    for answer in answers:
        summing.add(answer)
    told = summary_answer(job, summing, now=now)
    return BenchmarkResults(
        job_id=told.job_id, name=told.name, state=told.state, error=told.error, summary=told.summary, runs=answers
    )


def summary_answer(job: StoredBenchmarkJob, summing: Summing, *, now: datetime) -> JobSummary:
    """What the runs that were added up come to."""
    return JobSummary(
        job_id=job.id,
        name=job.name,
        state=job.state,
        error=job.error,
        summary=summing.summary(
            total=job.total, duration_seconds=duration_seconds(job, now=now), cancelled=job.counts.cancelled
        ),
    )


def run_answer(run: EndedRun) -> BenchmarkRun:
    """A result, and which run of the job it is."""
    return BenchmarkRun.from_dict({**run.envelope, "run": run.number})


def page_answer(job: StoredBenchmarkJob, runs: Sequence[EndedRun], *, after: int) -> ResultsPage:
    """Some results, and the cursor that asks for what follows."""
    return ResultsPage(
        job_id=job.id,
        state=job.state,
        runs=[run_answer(run) for run in runs],
        cursor=runs[-1].ended_cursor or after if runs else after,
    )


def event_answer(job_id: str, event: JobEvent) -> BenchmarkEvent:
    """An event."""
    told = {name: getattr(event, name) for name in ("cursor", "at", "kind")}
    return BenchmarkEvent.from_dict({**event.body, **told, "job_id": job_id})


def duration_seconds(job: StoredBenchmarkJob, *, now: datetime) -> float:
    """How long the job has taken: as its owner counted, else by the times of day that are known."""
    if job.duration_seconds is not None:
        return float(job.duration_seconds)
    if job.started_at is None:
        return 0.0
    ended = datetime.fromisoformat(job.ended_at) if job.ended_at else now
    return max(0.0, (ended - datetime.fromisoformat(job.started_at)).total_seconds())
