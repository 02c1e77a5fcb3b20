"""What is answered about training jobs, from what is stored: records of `harena.core.records.training_jobs`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harena.core.records.objects import ResolvedReference
from harena.core.records.training_jobs import (
    CapabilityReference,
    PlannedTraining,
    TrainingEvent,
    TrainingJob,
    TrainingLog,
    TrainingLogsPage,
    TrainingMetrics,
    TrainingProgress,
)
from harena.core.records.training_plans import RLPlan, SFTPlan, plan_from_dict
from harena.core.training_jobs import Metrics, TrainingEventKind, TrainingState, merge_metrics
from harena.core.training_store import NewTrainingEvent

if TYPE_CHECKING:
    from harena.core.leases import StoredJson
    from harena.core.pages import PageRows
    from harena.core.training_store import StoredTrainingEvent, StoredTrainingJob


def training_answer(job: StoredTrainingJob) -> TrainingJob:
    """A job."""
    request = job.request
    capability = request.get("capability_ref")
    return TrainingJob(
        id=job.id,
        name=job.name,
        state=job.state,
        trainer_type=job.trainer_type,
        algorithm=(request.get("config") or {}).get("algorithm"),
        backend=request.get("backend"),
        model=request.get("model"),
        project_ref=request.get("project_ref"),
        run_ref=request.get("run_ref"),
        capability_ref=None if capability is None else CapabilityReference.from_dict(capability),
        tags=request.get("tags"),
        config=request.get("config"),
        resolved=[_read_reference(ref, keeps_path=not job.durable) for ref in job.resolved],
        plan=_plan(job.plan),
        progress=TrainingProgress(step=job.step, steps=job.steps),
        metrics=job.metrics,
        artifacts=job.artifacts,
        error=job.error,
        attempt=job.attempt,
        restarts=job.restarts,
        created_at=job.created_at,
        started_at=job.started_at,
        ended_at=job.ended_at,
        cancel_requested_at=job.cancel_requested_at,
        cursor=job.last_cursor,
    )


def _plan(stored: StoredJson) -> SFTPlan | RLPlan | None:
    try:
        return plan_from_dict(stored)
    except ValueError:  # a job of another version is listed all the same
        return None


def without_paths(planned: PlannedTraining) -> PlannedTraining:
    """What a job would do, for whoever asks a server: it is not told where its files lie."""
    return replace(planned, resolved=[replace(reference, path=None) for reference in planned.resolved])


def _read_reference(stored: StoredJson, *, keeps_path: bool) -> ResolvedReference:
    """What was referred to; whoever asks a server is not told where its files lie."""
    reference = ResolvedReference.from_dict(stored)
    return reference if keeps_path else replace(reference, path=None)


def training_event_answer(job_id: str, event: StoredTrainingEvent) -> TrainingEvent:
    """An event."""
    body = event.body
    return TrainingEvent(
        cursor=event.cursor,
        at=event.at,
        kind=event.kind,
        job_id=job_id,
        level=event.level,
        message=event.message,
        metrics=body.get("metrics", {}),
        data=body.get("data", {}),
        artifacts=body.get("artifacts", {}),
        error=body.get("error"),
    )


def ended_event(at: str, state: TrainingState, error: str | None) -> NewTrainingEvent:
    """A job's end."""
    said = f"the job has {'been ' if state is TrainingState.CANCELLED else ''}{state}"
    return NewTrainingEvent(
        at=at,
        kind=TrainingEventKind.JOB_ENDED,
        level="info" if error is None else "error",
        message=said if error is None else f"{said}: {error}",
        body={"data": {"state": state}} if error is None else {"data": {"state": state}, "error": error},
    )


def logs_answer(events: Sequence[StoredTrainingEvent], *, after: int) -> TrainingLogsPage:
    """A page of what was said."""
    items = [
        TrainingLog(
            cursor=event.cursor,
            at=event.at,
            kind=event.kind,
            level=event.level,
            message=event.message or "",
            data=event.body.get("data", {}),
        )
        for event in events
    ]
    return TrainingLogsPage(items=items, cursor=items[-1].cursor if items else after)


def metrics_answer(events: PageRows[StoredTrainingEvent], *, after: int) -> TrainingMetrics:
    """What a page of events tells."""
    metrics: Metrics = {}
    anew = False
    for event in events:
        body = event.body
        if event.kind == TrainingEventKind.JOB_QUEUED and body.get("data", {}).get("from") == "scratch":
            metrics.clear()
            anew = True
        merge_metrics(metrics, body.get("metrics", {}))
    cursor = events[-1].cursor if events else after
    return TrainingMetrics(metrics=metrics, cursor=cursor, more=events.more, anew=anew)
