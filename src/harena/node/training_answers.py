"""What is answered about training jobs, from rows of the store.

    job      {id, name, state, trainer_type, algorithm, backend, model, project_ref, run_ref, capability_ref, tags,
             config, resolved, plan, progress: {step, steps}, metrics: the newest value of each, artifacts, error,
             attempt, restarts, created_at, started_at, ended_at, cancel_requested_at, cursor: of its newest event}
    event    {cursor, at, kind, job_id, level, message, metrics, data, artifacts, error}; kinds as in
             `harena.core.training_jobs`
    logs     {items: [{cursor, at, kind, level, message, data}], cursor}: the events that say something to people
    metrics  {metrics, cursor}: arrays along the axes `steps` and `eval/steps`, and scalars, of events up to `cursor`

Of a job of a server `path` in `resolved` is null.

Times of day are ISO 8601 in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harena.core.training_jobs import Metrics, TrainingEventKind, TrainingState, merge_metrics

if TYPE_CHECKING:
    from harena.core.job_store import Row

OF_ROW = (
    *(
        "id",
        "name",
        "state",
        "trainer_type",
        "resolved",
        "plan",
        "metrics",
        "artifacts",
        "error",
        "attempt",
        "restarts",
    ),
    *("created_at", "started_at", "ended_at", "cancel_requested_at"),
)
OF_REQUEST = ("backend", "model", "project_ref", "run_ref", "capability_ref", "tags", "config")


def training_answer(row: Row) -> dict[str, Any]:
    """A job."""
    request: Mapping[str, Any] = row["request"]
    return {
        **{name: row[name] for name in OF_ROW},
        "resolved": [_without_place(ref) for ref in row["resolved"]] if row["durable"] else row["resolved"],
        **{name: request.get(name) for name in OF_REQUEST},
        "algorithm": (request.get("config") or {}).get("algorithm"),
        "progress": {"step": row["step"], "steps": row["steps"]},
        "cursor": row["last_cursor"],
    }


def _without_place(ref: Mapping[str, Any]) -> dict[str, Any]:
    """What was referred to, as it is told to whoever asks a server: not where its files lie."""
    return {**ref, "path": None}


def training_event_answer(job_id: str, event: Row) -> dict[str, Any]:
    """An event."""
    told = {name: event[name] for name in ("cursor", "at", "kind", "level", "message")}
    return {"metrics": {}, "data": {}, "artifacts": {}, "error": None, **event["body"], **told, "job_id": job_id}


def ended_event(state: TrainingState, error: str | None) -> dict[str, Any]:
    """{kind, level, message, body} of a job's end."""
    said = f"the job has {'been ' if state is TrainingState.CANCELLED else ''}{state}"
    return {
        "kind": TrainingEventKind.JOB_ENDED,
        "level": "info" if error is None else "error",
        "message": said if error is None else f"{said}: {error}",
        "body": {"data": {"state": state}} if error is None else {"data": {"state": state}, "error": error},
    }


def logs_answer(events: Sequence[Row], *, after: int) -> dict[str, Any]:
    """A page of what was said."""
    items = [
        {
            **{name: event[name] for name in ("cursor", "at", "kind", "level", "message")},
            "data": event["body"].get("data", {}),
        }
        for event in events
    ]
    return {"items": items, "cursor": items[-1]["cursor"] if items else after}


def add_to_metrics(metrics: Metrics, events: Sequence[Row]) -> None:
    """Add what these events tell, in place."""
    for event in events:
        body = event["body"]
        if event["kind"] == TrainingEventKind.JOB_QUEUED and body.get("data", {}).get("from") == "scratch":
            metrics.clear()
        merge_metrics(metrics, body.get("metrics", {}))
