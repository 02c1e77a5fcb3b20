"""What is answered about jobs, from rows of the store; shapes as documented in `harena.jobs.models`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from harena.jobs.lifecycle import JobState

if TYPE_CHECKING:
    from harena.core.job_store import Row
    from harena.jobs.summary import Summing


def job_answer(row: Row, *, now: datetime, webhook: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A job and its progress, all from its own row, and the delivery of its webhook."""
    from harena.jobs.summary import progress

    plain = (
        *("id", "name", "state", "created_at", "started_at", "ended_at", "blueprint", "config", "error"),
        "definition",
    )
    return {
        **{name: row[name] for name in plain},
        **_made_of(row["lineage"]),
        "duration_seconds": duration_seconds(row, now=now),
        "cursor": row["last_cursor"],
        "progress": progress(row, ended=JobState(row["state"]).is_terminal),
        "webhook": webhook,
    }


def _made_of(stored: Mapping[str, Any] | None) -> dict[str, Any]:
    """Stored versions and left out rows are stored together, and told apart."""
    lineage = dict(stored or {})
    left_out = lineage.pop("left_out", None)
    return {"lineage": lineage if lineage.get("scenarios") or lineage.get("contracts") else None, "left_out": left_out}


def results_answer(row: Row, runs: Sequence[Row], *, now: datetime) -> dict[str, Any]:
    """All results that there are, and their summary."""
    from harena.jobs.summary import Summing

    summing, answers = Summing(), [run_answer(run) for run in runs]
    for answer in answers:
        summing.add(answer)
    return {**summary_answer(row, summing, now=now), "runs": answers}


def summary_answer(row: Row, summing: Summing, *, now: datetime) -> dict[str, Any]:
    """What the runs that were added up come to."""
    return {
        "job_id": row["id"],
        "name": row["name"],
        "state": row["state"],
        "error": row["error"],
        "summary": summing.summary(total=row["total"], duration_seconds=duration_seconds(row, now=now)),
    }


def run_answer(run: Row) -> dict[str, Any]:
    """A result, and which run of the job it is."""
    return {"run": run["number"], **run["envelope"]}


def page_answer(row: Row, runs: Sequence[Row], *, after: int) -> dict[str, Any]:
    """Some results, and the cursor that asks for what follows."""
    return {
        "job_id": row["id"],
        "state": row["state"],
        "runs": [run_answer(run) for run in runs],
        "cursor": runs[-1]["ended_cursor"] if runs else after,
    }


def event_answer(job_id: str, event: Row) -> dict[str, Any]:
    """An event."""
    told = {name: event[name] for name in ("cursor", "at", "kind")}
    return {**event["body"], **told, "job_id": job_id}


def duration_seconds(row: Row, *, now: datetime) -> float:
    """How long the job has taken: as its owner counted, else by the times of day that are known."""
    if row["duration_seconds"] is not None:
        return float(row["duration_seconds"])
    if row["started_at"] is None:
        return 0.0
    ended = datetime.fromisoformat(row["ended_at"]) if row["ended_at"] else now
    return max(0.0, (ended - datetime.fromisoformat(row["started_at"])).total_seconds())
