"""Queries over benchmark jobs, their runs and their events. Rows go in and come out as plain dicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, case, delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from harena.core.errors import PlatformError
from harena.core.job_store import LEASE_LOST, Batch, Row
from harena.store.database import Database
from harena.store.tables import benchmark_jobs, events, job_requests, runs

ENDED_COLUMNS = ("score", "passed", "envelope", "ended_cursor")
DELETED_AT_A_TIME = 100
INSERTED_AT_A_TIME = 1000

_UPDATE_RUN = (
    update(runs)
    .where(
        runs.c.job_id == bindparam("key_job_id"),
        runs.c.number == bindparam("key_number"),
        runs.c.ended_cursor.is_(None),
    )
    .values({name: bindparam(f"new_{name}") for name in ("state", "failures", *ENDED_COLUMNS)})
)


class JobStore:
    """Implements `JobStorePort` over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert_job(
        self, job: Mapping[str, Any], job_runs: Sequence[Mapping[str, Any]], *, request: bytes | None = None
    ) -> None:
        """See JobStorePort."""
        async with self._database.transaction() as connection:
            await connection.execute(insert(benchmark_jobs), dict(job))
            # a piece at a time: the loop has others to serve while a hundred thousand runs are accepted
            for first in range(0, len(job_runs), INSERTED_AT_A_TIME):
                piece = job_runs[first : first + INSERTED_AT_A_TIME]
                await connection.execute(insert(runs), [{"job_id": job["id"], **run} for run in piece])
            if request is not None:
                await connection.execute(insert(job_requests), {"job_id": job["id"], "request": request})

    async def find_request(self, job_id: str) -> bytes | None:
        """See JobStorePort."""
        statement = select(job_requests.c.request).where(job_requests.c.job_id == job_id)
        async with self._database.transaction() as connection:
            request: bytes | None = await connection.scalar(statement)
        return request

    async def update_job(self, job_id: str, values: Mapping[str, Any], *, while_in: Collection[str]) -> bool:
        """See JobStorePort."""
        statement = update(benchmark_jobs).where(
            benchmark_jobs.c.id == job_id, benchmark_jobs.c.state.in_(list(while_in))
        )
        async with self._database.transaction() as connection:
            return (await connection.execute(statement.values(dict(values)))).rowcount == 1

    async def claim_job(self, job_id: str, owner: Mapping[str, Any], *, epoch: int, while_in: Collection[str]) -> bool:
        """See JobStorePort."""
        statement = update(benchmark_jobs).where(
            benchmark_jobs.c.id == job_id,
            benchmark_jobs.c.lease_epoch == epoch,
            benchmark_jobs.c.state.in_(list(while_in)),
        )
        values = {**owner, "lease_epoch": epoch + 1, "lease_beat": 0}
        async with self._database.transaction() as connection:
            return (await connection.execute(statement.values(values))).rowcount == 1

    async def beat(self, job_id: str, *, epoch: int, active_seconds: float) -> bool:
        """See JobStorePort."""
        async with self._database.transaction() as connection:
            return await _hold(connection, job_id, epoch, {"active_seconds": active_seconds})

    async def look(self, job_ids: Sequence[str]) -> dict[str, tuple[bool, int]]:
        """See JobStorePort."""
        seen = select(benchmark_jobs.c.id, benchmark_jobs.c.cancel_requested, benchmark_jobs.c.lease_epoch)
        rows = await self._rows(seen.where(benchmark_jobs.c.id.in_(list(job_ids))))
        return {row["id"]: (row["cancel_requested"], row["lease_epoch"]) for row in rows}

    async def write(self, batch: Batch) -> None:
        """See JobStorePort."""
        async with self._database.transaction() as connection:
            # first: it takes the lock on the job, so nobody takes the job over while the rest is written
            if batch.epoch is not None:
                if not await _hold(connection, batch.job_id, batch.epoch, batch.job):
                    raise PlatformError(
                        f"another process has taken over {batch.job_id}: what was not yet written is run again there",
                        step="store",
                        reason=LEASE_LOST,
                    )
            elif batch.job:
                await connection.execute(
                    update(benchmark_jobs).where(benchmark_jobs.c.id == batch.job_id).values(batch.job)
                )
            if batch.runs:
                rows = [_run_parameters(batch.job_id, number, run) for number, run in batch.runs.items()]
                await connection.execute(_UPDATE_RUN, rows)
            if batch.events:
                await connection.execute(insert(events), [{"job_id": batch.job_id, **row} for row in batch.events])

    async def find_job(self, id_or_name: str) -> Row | None:
        """See JobStorePort."""
        is_id = benchmark_jobs.c.id == id_or_name
        statement = (
            select(benchmark_jobs)
            .where(or_(is_id, benchmark_jobs.c.name == id_or_name))
            .order_by(is_id.desc(), benchmark_jobs.c.sequence.desc())
            .limit(1)
        )
        async with self._database.transaction() as connection:
            row = (await connection.execute(statement)).mappings().first()
        return dict(row) if row else None

    async def list_jobs(self, *, limit: int = 1000) -> list[Row]:
        """See JobStorePort."""
        return await self._rows(select(benchmark_jobs).order_by(benchmark_jobs.c.sequence.desc()).limit(limit))

    async def list_unfinished(self, *, states: Collection[str]) -> list[Row]:
        """See JobStorePort."""
        unfinished = select(benchmark_jobs).where(
            benchmark_jobs.c.state.in_(list(states)), benchmark_jobs.c.durable.is_(True)
        )
        return await self._rows(unfinished.order_by(benchmark_jobs.c.sequence))

    async def count_runs(self, job_ids: Sequence[str]) -> dict[str, dict[str, int]]:
        """See JobStorePort."""
        statement = (
            select(
                runs.c.job_id,
                runs.c.state,
                func.count(),
                func.count(runs.c.score),
                func.count(case((runs.c.passed, 1))),
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
                of_job["passed"] = of_job.get("passed", 0) + passed
        return counts

    async def list_runs(self, job_id: str) -> list[Row]:
        """See JobStorePort."""
        ended = runs.c.score.is_not(None) | runs.c.passed.is_not(None)
        statement = select(runs.c.number, runs.c.state, runs.c.envelope).where(runs.c.job_id == job_id, ended)
        return await self._rows(statement.order_by(runs.c.number))

    async def open_runs(self, job_id: str) -> list[Row]:
        """See JobStorePort."""
        statement = select(runs.c.number, runs.c.scenario_id, runs.c.attempt, runs.c.state, runs.c.failures).where(
            runs.c.job_id == job_id, runs.c.ended_cursor.is_(None)
        )
        return await self._rows(statement.order_by(runs.c.number))

    async def page_runs(self, job_id: str, *, after: int, limit: int) -> list[Row]:
        """See JobStorePort."""
        statement = (
            select(runs.c.ended_cursor, runs.c.envelope)
            .where(runs.c.job_id == job_id, runs.c.ended_cursor > after)
            .order_by(runs.c.ended_cursor)
            .limit(limit)
        )
        return await self._rows(statement)

    async def last_event(self, job_id: str) -> Row | None:
        """See JobStorePort."""
        newest = select(events.c.cursor, events.c.at).where(events.c.job_id == job_id)
        rows = await self._rows(newest.order_by(events.c.cursor.desc()).limit(1))
        return rows[0] if rows else None

    async def events_after(self, job_id: str, cursor: int, *, limit: int = 1000) -> list[Row]:
        """See JobStorePort."""
        statement = (
            select(events.c.cursor, events.c.at, events.c.kind, events.c.body)
            .where(events.c.job_id == job_id, events.c.cursor > cursor)
            .order_by(events.c.cursor)
            .limit(limit)
        )
        return await self._rows(statement)

    async def delete_job(self, job_id: str, *, while_in: Collection[str]) -> bool:
        """See JobStorePort."""
        async with self._database.transaction() as connection:
            return await _delete(connection, [job_id], while_in) == 1

    async def delete_ended_before(self, moment: str, *, while_in: Collection[str]) -> int:
        """See JobStorePort."""
        old = select(benchmark_jobs.c.id).where(
            benchmark_jobs.c.ended_at < moment, benchmark_jobs.c.state.in_(list(while_in))
        )
        deleted = 0
        while True:  # a few jobs per transaction: a long one would keep writers waiting
            async with self._database.transaction() as connection:
                job_ids = list(await connection.scalars(old.limit(DELETED_AT_A_TIME)))
                if not job_ids:
                    return deleted
                deleted += await _delete(connection, job_ids, while_in)

    async def _rows(self, statement: Any) -> list[Row]:
        async with self._database.transaction() as connection:
            return [dict(row) for row in (await connection.execute(statement)).mappings()]


async def _hold(connection: AsyncConnection, job_id: str, epoch: int, values: Mapping[str, Any]) -> bool:
    """Write as the holder of this lease; False = it is not held any more. Every write is a beat."""
    statement = update(benchmark_jobs).where(benchmark_jobs.c.id == job_id, benchmark_jobs.c.lease_epoch == epoch)
    beat = {**values, "lease_beat": benchmark_jobs.c.lease_beat + 1}
    return (await connection.execute(statement.values(beat))).rowcount == 1


def _run_parameters(job_id: str, number: int, run: Mapping[str, Any]) -> Row:
    return {
        "key_job_id": job_id,
        "key_number": number,
        "new_state": run["state"],
        "new_failures": run.get("failures", 0),
        **{f"new_{name}": run.get(name) for name in ENDED_COLUMNS},
    }


async def _delete(connection: AsyncConnection, job_ids: Sequence[str], while_in: Collection[str]) -> int:
    gone = delete(benchmark_jobs).where(benchmark_jobs.c.id.in_(job_ids), benchmark_jobs.c.state.in_(list(while_in)))
    deleted = list(await connection.scalars(gone.returning(benchmark_jobs.c.id)))
    for table in (runs, events, job_requests):
        await connection.execute(delete(table).where(table.c.job_id.in_(deleted)))
    return len(deleted)
