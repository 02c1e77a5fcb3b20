"""What is answered about jobs, from rows of the store; as records of `harena.core.records.benchmark_jobs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from harena.core.records.benchmark_jobs import (
    BenchmarkEvent,
    BenchmarkJob,
    BenchmarkResults,
    BenchmarkRun,
    DefinitionReference,
    JobLineage,
    JobSummary,
    LeftOutRows,
    ResultsPage,
    WebhookDelivery,
)
from harena.jobs.lifecycle import JobState

if TYPE_CHECKING:
    from harena.core.job_store import EndedRun, JobEvent, Row
    from harena.jobs.summary import Summing


def job_answer(row: Row, *, now: datetime, webhook: WebhookDelivery | None = None) -> BenchmarkJob:
    """A job and its progress, all from its own row, and the delivery of its webhook."""
    from harena.jobs.summary import progress

    lineage, left_out = _made_of(row["lineage"])
    return BenchmarkJob(
        id=row["id"],
        name=row["name"],
        state=row["state"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        blueprint=row["blueprint"],
        config=row["config"],
        error=row["error"],
        definition=DefinitionReference.from_dict(row["definition"]) if row["definition"] else None,
        lineage=lineage,
        left_out=left_out,
        duration_seconds=duration_seconds(row, now=now),
        cursor=row["last_cursor"],
        progress=progress(row, ended=JobState(row["state"]).is_terminal),
        webhook=webhook,
    )


def _made_of(stored: Mapping[str, Any] | None) -> tuple[JobLineage | None, LeftOutRows | None]:
    """Stored versions and left out rows are stored together, and told apart."""
    held = dict(stored or {})
    left_out = held.pop("left_out", None)
    return (
        JobLineage.from_dict(held) if held.get("scenarios") or held.get("contracts") else None,
        LeftOutRows.from_dict(left_out) if left_out else None,
    )


def results_answer(row: Row, runs: Sequence[EndedRun], *, now: datetime) -> BenchmarkResults:
    """All results that there are, and their summary."""
    from harena.jobs.summary import Summing

    summing, answers = Summing(), [run_answer(run) for run in runs]
    for answer in answers:
        summing.add(answer)
    told = summary_answer(row, summing, now=now)
    return BenchmarkResults(
        job_id=told.job_id, name=told.name, state=told.state, error=told.error, summary=told.summary, runs=answers
    )


def summary_answer(row: Row, summing: Summing, *, now: datetime) -> JobSummary:
    """What the runs that were added up come to."""
    return JobSummary(
        job_id=row["id"],
        name=row["name"],
        state=row["state"],
        error=row["error"],
        summary=summing.summary(
            total=row["total"], duration_seconds=duration_seconds(row, now=now), cancelled=row["runs_cancelled"]
        ),
    )


def run_answer(run: EndedRun) -> BenchmarkRun:
    """A result, and which run of the job it is."""
    return BenchmarkRun.from_dict({**run.envelope, "run": run.number})


def page_answer(row: Row, runs: Sequence[EndedRun], *, after: int) -> ResultsPage:
    """Some results, and the cursor that asks for what follows."""
    return ResultsPage(
        job_id=row["id"],
        state=row["state"],
        runs=[run_answer(run) for run in runs],
        cursor=runs[-1].ended_cursor or after if runs else after,
    )


def event_answer(job_id: str, event: JobEvent) -> BenchmarkEvent:
    """An event."""
    told = {name: getattr(event, name) for name in ("cursor", "at", "kind")}
    return BenchmarkEvent.from_dict({**event.body, **told, "job_id": job_id})


def duration_seconds(row: Row, *, now: datetime) -> float:
    """How long the job has taken: as its owner counted, else by the times of day that are known."""
    if row["duration_seconds"] is not None:
        return float(row["duration_seconds"])
    if row["started_at"] is None:
        return 0.0
    ended = datetime.fromisoformat(row["ended_at"]) if row["ended_at"] else now
    return max(0.0, (ended - datetime.fromisoformat(row["started_at"])).total_seconds())
