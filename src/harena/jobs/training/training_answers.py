"""What is answered about training jobs, from rows of the store: records of `harena.core.records.training_jobs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harena.core.records.training_jobs import (
    CapabilityReference,
    TrainingEvent,
    TrainingJob,
    TrainingLog,
    TrainingLogsPage,
    TrainingMetrics,
    TrainingProgress,
)
from harena.core.training_jobs import Metrics, TrainingEventKind, TrainingState, merge_metrics

if TYPE_CHECKING:
    from harena.core.job_store import Row
    from harena.core.pages import PageRows


def training_answer(row: Row) -> TrainingJob:
    """A job."""
    request: Mapping[str, Any] = row["request"]
    capability = request.get("capability_ref")
    return TrainingJob(
        id=row["id"],
        name=row["name"],
        state=row["state"],
        trainer_type=row["trainer_type"],
        algorithm=(request.get("config") or {}).get("algorithm"),
        backend=request.get("backend"),
        model=request.get("model"),
        project_ref=request.get("project_ref"),
        run_ref=request.get("run_ref"),
        capability_ref=None if capability is None else CapabilityReference.from_dict(capability),
        tags=request.get("tags"),
        config=request.get("config"),
        resolved=[_without_place(ref) for ref in row["resolved"]] if row["durable"] else row["resolved"],
        plan=row["plan"],
        progress=TrainingProgress(step=row["step"], steps=row["steps"]),
        metrics=row["metrics"],
        artifacts=row["artifacts"],
        error=row["error"],
        attempt=row["attempt"],
        restarts=row["restarts"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        cancel_requested_at=row["cancel_requested_at"],
        cursor=row["last_cursor"],
    )


def _without_place(ref: Mapping[str, Any]) -> dict[str, Any]:
    """What was referred to, as it is told to whoever asks a server: not where its files lie."""
    return {**ref, "path": None}


def training_event_answer(job_id: str, event: Row) -> TrainingEvent:
    """An event."""
    body: Mapping[str, Any] = event["body"]
    return TrainingEvent(
        cursor=event["cursor"],
        at=event["at"],
        kind=event["kind"],
        job_id=job_id,
        level=event["level"],
        message=event["message"],
        metrics=body.get("metrics", {}),
        data=body.get("data", {}),
        artifacts=body.get("artifacts", {}),
        error=body.get("error"),
    )


def ended_event(state: TrainingState, error: str | None) -> dict[str, Any]:
    """{kind, level, message, body} of a job's end."""
    said = f"the job has {'been ' if state is TrainingState.CANCELLED else ''}{state}"
    return {
        "kind": TrainingEventKind.JOB_ENDED,
        "level": "info" if error is None else "error",
        "message": said if error is None else f"{said}: {error}",
        "body": {"data": {"state": state}} if error is None else {"data": {"state": state}, "error": error},
    }


def logs_answer(events: Sequence[Row], *, after: int) -> TrainingLogsPage:
    """A page of what was said."""
    items = [
        TrainingLog(
            cursor=event["cursor"],
            at=event["at"],
            kind=event["kind"],
            level=event["level"],
            message=event["message"],
            data=event["body"].get("data", {}),
        )
        for event in events
    ]
    return TrainingLogsPage(items=items, cursor=items[-1].cursor if items else after)


def metrics_answer(events: PageRows[dict[str, Any]], *, after: int) -> TrainingMetrics:
    """What a page of events tells."""
    metrics: Metrics = {}
    anew = False
    for event in events:
        body = event["body"]
        if event["kind"] == TrainingEventKind.JOB_QUEUED and body.get("data", {}).get("from") == "scratch":
            metrics.clear()
            anew = True
        merge_metrics(metrics, body.get("metrics", {}))
    cursor = events[-1]["cursor"] if events else after
    return TrainingMetrics(metrics=metrics, cursor=cursor, more=events.more, anew=anew)
