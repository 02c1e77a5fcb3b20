"""Queries over benchmark jobs, their runs and their events. Rows go in and come out as plain dicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Integer, bindparam, func, insert, or_, select, update

from harena.store.database import Database
from harena.store.tables import benchmark_jobs, events, runs

Row = dict[str, Any]


@dataclass(slots=True)
class Batch:
    """What happened to one job since the last write. A run that changed twice is written once, with its last state."""

    job_id: str
    runs: dict[int, Row] = field(default_factory=dict)
    """run number -> {state, score, passed, envelope}"""
    events: list[Row] = field(default_factory=list)
    """{cursor, at, kind, body}"""
    job: Row = field(default_factory=dict)
    """columns of the job itself"""

    def __bool__(self) -> bool:
        return bool(self.runs or self.events or self.job)


_UPDATE_RUN = (
    update(runs)
    .where(runs.c.job_id == bindparam("key_job_id"), runs.c.number == bindparam("key_number"))
    .values({name: bindparam(f"new_{name}") for name in ("state", "score", "passed", "envelope")})
)


class JobStore:
    """Benchmark jobs in one database. Every method is one transaction; all raise PlatformError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert_job(self, job: Mapping[str, Any], job_runs: Sequence[Mapping[str, Any]]) -> None:
        """Accept a job with all its runs, {number, scenario_id, attempt, state} each: all of it or nothing."""
        async with self._database.transaction() as connection:
            await connection.execute(insert(benchmark_jobs), dict(job))
            if job_runs:
                await connection.execute(insert(runs), [{"job_id": job["id"], **run} for run in job_runs])

    async def update_job(self, job_id: str, values: Mapping[str, Any], *, while_in: Collection[str]) -> bool:
        """Set columns of a job whose state is one of `while_in`; whether it was."""
        statement = update(benchmark_jobs).where(
            benchmark_jobs.c.id == job_id, benchmark_jobs.c.state.in_(list(while_in))
        )
        async with self._database.transaction() as connection:
            return (await connection.execute(statement.values(dict(values)))).rowcount == 1

    async def cancel_requested(self, job_id: str) -> bool:
        """Whether somebody (another process) has asked for the job's cancellation."""
        statement = select(benchmark_jobs.c.cancel_requested).where(benchmark_jobs.c.id == job_id)
        async with self._database.transaction() as connection:
            return bool(await connection.scalar(statement))

    async def write(self, batch: Batch) -> None:
        """Record a batch."""
        async with self._database.transaction() as connection:
            if batch.runs:
                rows = [
                    {
                        "key_job_id": batch.job_id,
                        "key_number": number,
                        "new_state": run["state"],
                        "new_score": run.get("score"),
                        "new_passed": run.get("passed"),
                        "new_envelope": run.get("envelope"),
                    }
                    for number, run in batch.runs.items()
                ]
                await connection.execute(_UPDATE_RUN, rows)
            if batch.events:
                await connection.execute(insert(events), [{"job_id": batch.job_id, **row} for row in batch.events])
            if batch.job:
                await connection.execute(
                    update(benchmark_jobs).where(benchmark_jobs.c.id == batch.job_id).values(batch.job)
                )

    async def find_job(self, id_or_name: str) -> Row | None:
        """The job with this id, else the newest of this name."""
        statement = (
            select(benchmark_jobs)
            .where(or_(benchmark_jobs.c.id == id_or_name, benchmark_jobs.c.name == id_or_name))
            .order_by((benchmark_jobs.c.id == id_or_name).desc(), benchmark_jobs.c.sequence.desc())
            .limit(1)
        )
        async with self._database.transaction() as connection:
            row = (await connection.execute(statement)).mappings().first()
        return dict(row) if row else None

    async def list_jobs(self, *, limit: int = 1000) -> list[Row]:
        """All jobs, newest first."""
        statement = select(benchmark_jobs).order_by(benchmark_jobs.c.sequence.desc()).limit(limit)
        async with self._database.transaction() as connection:
            return [dict(row) for row in (await connection.execute(statement)).mappings()]

    async def count_runs(self, job_ids: Sequence[str]) -> dict[str, dict[str, int]]:
        """job id -> {<state>: runs, ..., passed: runs, scored: runs that are done and have a score}."""
        statement = (
            select(
                runs.c.job_id,
                runs.c.state,
                func.count(),
                func.count(runs.c.score),
                func.sum(runs.c.passed, type_=Integer),
            )
            .where(runs.c.job_id.in_(list(job_ids)))
            .group_by(runs.c.job_id, runs.c.state)
        )
        counts: dict[str, dict[str, int]] = {job_id: {} for job_id in job_ids}
        async with self._database.transaction() as connection:
            for job_id, state, total, scored, passed in await connection.execute(statement):
                of_job = counts[job_id]
                of_job[state] = total
                of_job["scored"] = of_job.get("scored", 0) + scored
                of_job["passed"] = of_job.get("passed", 0) + int(passed or 0)
        return counts

    async def list_runs(self, job_id: str) -> list[Row]:
        """The runs of a job that have an envelope, in order of acceptance."""
        statement = (
            select(runs.c.number, runs.c.state, runs.c.envelope)
            .where(runs.c.job_id == job_id, runs.c.score.is_not(None) | runs.c.passed.is_not(None))
            .order_by(runs.c.number)
        )
        async with self._database.transaction() as connection:
            return [dict(row) for row in (await connection.execute(statement)).mappings()]

    async def last_event_at(self, job_id: str) -> str | None:
        """When something last happened to a job; None = nothing yet."""
        statement = select(events.c.at).where(events.c.job_id == job_id).order_by(events.c.cursor.desc()).limit(1)
        async with self._database.transaction() as connection:
            at: str | None = await connection.scalar(statement)
        return at

    async def events_after(self, job_id: str, cursor: int, *, limit: int = 1000) -> list[Row]:
        """The events of a job that follow `cursor`, oldest first."""
        statement = (
            select(events.c.cursor, events.c.at, events.c.kind, events.c.body)
            .where(events.c.job_id == job_id, events.c.cursor > cursor)
            .order_by(events.c.cursor)
            .limit(limit)
        )
        async with self._database.transaction() as connection:
            return [dict(row) for row in (await connection.execute(statement)).mappings()]
