"""Queries over benchmark jobs, their runs and their events."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

from sqlalchemy import Connection, Text, cast, delete, func, insert, or_, select, update

from harena.core.errors import PlatformError
from harena.core.idempotency import IdempotencyKey
from harena.core.job_store import (
    LEASE_LOST,
    Batch,
    EndedRun,
    JobChanges,
    JobCounts,
    JobEvent,
    LastEvent,
    NewBenchmarkJob,
    OpenRun,
    RunChange,
    StoredBenchmarkJob,
)
from harena.core.leases import Owner
from harena.core.pages import PAGE_BYTES, PageRoom, PageRows, encoded_bytes
from harena.core.webhook_store import NewDelivery
from harena.store.database import Database
from harena.store.deletion import delete_some
from harena.store.idempotency import answer_to, claim, forget_answers
from harena.store.pages import read_page
from harena.store.records import OWNER_COLUMNS, Row, owner_columns, owner_of, record_of, row_of
from harena.store.references import hold_versions
from harena.store.rows import insert_rows, put_rows, update_rows
from harena.store.run_metadata import COLUMNS, put_aside, put_back
from harena.store.tables import (
    BEING_DELETED,
    COUNTS,
    benchmark_jobs,
    calibrations,
    events,
    job_requests,
    run_metadata,
    runs,
    webhook_deliveries,
)
from harena.store.webhook_deliveries import make_due

WHICH = ("scenario_id", "attempt")
DELETED_AT_A_TIME = 100
"""jobs"""


class JobStore:
    """Implements `JobStorePort` over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert_job(
        self,
        job: NewBenchmarkJob,
        job_runs: Sequence[OpenRun] = (),
        *,
        request: bytes | None = None,
        delivery: NewDelivery | None = None,
        key: IdempotencyKey | None = None,
    ) -> str:
        """Store a job, its runs, its request and its delivery in one transaction, and give the id of the job that
        stands for its key. Raises ValidationError, NotFoundError."""
        row = {**row_of(job), **owner_columns(job.owner)}
        del row["owner"]

        def accept(connection: Connection) -> str:
            if key is not None:
                standing = claim(connection, job.workspace, key.noun, key, job.id)
                if standing != job.id:
                    return standing
            connection.execute(insert(benchmark_jobs), row)
            insert_rows(connection, runs, [row_of(run) for run in job_runs], fixed={"job_id": job.id})
            if request is not None:
                connection.execute(insert(job_requests), {"job_id": job.id, "request": request})
            if delivery is not None:
                posted = {"job_id": job.id, "workspace": job.workspace, **row_of(delivery)}
                connection.execute(insert(webhook_deliveries), posted)
            hold_versions(connection, job.workspace, job.lineage)
            return job.id

        return await self._database.run(accept)

    async def find_answer(self, workspace: str, key: IdempotencyKey) -> str | None:
        """Look the key's job up; None = there is none. Raises ValidationError for a key that came with another
        request."""
        return await self._database.read(lambda connection: answer_to(connection, workspace, key.noun, key))

    async def find_request(self, job_id: str) -> bytes | None:
        """Read what another process needs to go on with the job."""
        statement = select(job_requests.c.request).where(job_requests.c.job_id == job_id)
        request: bytes | None = await self._database.read(lambda connection: connection.scalar(statement))
        return request

    async def update_job(self, job_id: str, changes: JobChanges, *, while_in: Collection[str]) -> bool:
        """Change the job's row if its state is one of `while_in`; with its end, its webhook delivery becomes due."""
        statement = update(benchmark_jobs).where(
            benchmark_jobs.c.id == job_id, benchmark_jobs.c.state.in_(list(while_in))
        )
        async with self._database.transaction() as connection:
            moved = (await connection.execute(statement.values(_changed(changes)))).rowcount == 1
            if moved and changes.ended_at:
                await connection.run_sync(make_due, job_id, changes.ended_at)
            return moved

    async def claim_job(
        self, job_id: str, owner: Owner, *, epoch: int, while_in: Collection[str], beat: int | None = None
    ) -> bool:
        """Write a new owner and the next epoch into the row, if nobody else has since `epoch` and `beat` were read."""
        statement = update(benchmark_jobs).where(
            benchmark_jobs.c.id == job_id,
            benchmark_jobs.c.lease_epoch == epoch,
            benchmark_jobs.c.state.in_(list(while_in)),
        )
        if beat is not None:
            statement = statement.where(benchmark_jobs.c.lease_beat == beat)
        values = {**owner_columns(owner), "lease_epoch": epoch + 1, "lease_beat": 0}
        async with self._database.transaction() as connection:
            return (await connection.execute(statement.values(values))).rowcount == 1

    async def beat(self, job_id: str, *, epoch: int, active_seconds: float) -> bool:
        """Raise the lease's beat, if its epoch is still this one."""
        return await self._database.run(partial(_hold, job_id, epoch, {"active_seconds": active_seconds}))

    async def look(self, job_ids: Sequence[str]) -> dict[str, tuple[bool, int]]:
        """Read which jobs are to be cancelled, and the epochs of their leases."""
        seen = select(benchmark_jobs.c.id, benchmark_jobs.c.cancel_requested, benchmark_jobs.c.lease_epoch)
        rows = await self._rows(seen.where(benchmark_jobs.c.id.in_(list(job_ids))))
        return {row["id"]: (row["cancel_requested"], row["lease_epoch"]) for row in rows}

    async def write(self, batch: Batch) -> None:
        """Write the batch in one transaction; a run that has ended stays as it is."""
        await self._database.run(partial(_write, batch))

    async def find_job(self, workspace: str, id_or_name: str) -> StoredBenchmarkJob | None:
        """Find a job of the workspace by its id, else the newest of that name."""
        is_id = benchmark_jobs.c.id == id_or_name
        statement = (
            select(benchmark_jobs)
            .where(benchmark_jobs.c.workspace == workspace, or_(is_id, benchmark_jobs.c.name == id_or_name))
            .order_by(is_id.desc(), benchmark_jobs.c.sequence.desc())
            .limit(1)
        )
        jobs = await self._jobs(statement)
        return jobs[0] if jobs else None

    async def read_job(self, job_id: str) -> StoredBenchmarkJob | None:
        """Read a job by its id, of whichever workspace."""
        jobs = await self._jobs(select(benchmark_jobs).where(benchmark_jobs.c.id == job_id))
        return jobs[0] if jobs else None

    async def list_jobs(
        self, workspace: str, *, name: str | None = None, before: int | None = None, limit: int = 1000
    ) -> PageRows[StoredBenchmarkJob]:
        """Read one page of the workspace's jobs, newest first."""
        statement = select(benchmark_jobs).where(benchmark_jobs.c.workspace == workspace)
        if name is not None:
            statement = statement.where(benchmark_jobs.c.name == name)
        if before is not None:
            statement = statement.where(benchmark_jobs.c.sequence < before)
        newest_first = statement.order_by(benchmark_jobs.c.sequence.desc())
        page = await self._database.read(lambda connection: read_page(connection, newest_first, limit))
        return page.mapped(_job)

    async def count_jobs(self, workspace: str, *, states: Collection[str]) -> int:
        """Count the workspace's jobs in these states."""
        counted = select(func.count()).where(
            benchmark_jobs.c.workspace == workspace, benchmark_jobs.c.state.in_(list(states))
        )
        return await self._database.read(lambda connection: int(connection.scalar(counted) or 0))

    async def count_open_runs(self, workspace: str, *, states: Collection[str]) -> int:
        """Sum what the jobs' own rows say of runs that have not ended; no run's row is read."""
        ended = benchmark_jobs.c.runs_done + benchmark_jobs.c.runs_cancelled
        counted = select(func.sum(benchmark_jobs.c.total - ended)).where(
            benchmark_jobs.c.workspace == workspace, benchmark_jobs.c.state.in_(list(states))
        )
        return await self._database.read(lambda connection: int(connection.scalar(counted) or 0))

    async def list_unfinished(self, *, states: Collection[str]) -> list[StoredBenchmarkJob]:
        """Read the durable jobs in these states, oldest first."""
        unfinished = select(benchmark_jobs).where(
            benchmark_jobs.c.state.in_(list(states)), benchmark_jobs.c.durable.is_(True)
        )
        return await self._jobs(unfinished.order_by(benchmark_jobs.c.sequence))

    async def list_runs(self, job_id: str) -> list[EndedRun]:
        """Read the runs that have ended, in order of their numbers, with their scenarios' metadata put back into the
        envelopes."""
        ended = runs.c.score.is_not(None) | runs.c.passed.is_not(None)
        columns = (runs.c[name] for name in ("number", "envelope", "ended_cursor", "metadata_digest"))
        statement = select(*columns).where(runs.c.job_id == job_id, ended).order_by(runs.c.number)

        def read(connection: Connection) -> list[EndedRun]:
            rows = _read(statement, connection)
            put_back(connection, job_id, rows)
            return [record_of(EndedRun, row) for row in rows]

        return await self._database.read(read, whole=True)

    async def open_runs(self, job_id: str, *, after: int = -1, limit: int | None = None) -> list[OpenRun]:
        """Read the rows of runs that have not ended."""
        columns = (runs.c[each.name] for each in fields(OpenRun))
        statement = select(*columns).where(
            runs.c.job_id == job_id, runs.c.number > after, runs.c.ended_cursor.is_(None)
        )
        rows = await self._rows(statement.order_by(runs.c.number).limit(limit), whole=True)
        return [record_of(OpenRun, row) for row in rows]

    async def stored_runs(self, job_id: str, *, after: int = -1, limit: int) -> list[range]:
        """Read only the numbers of the stored runs."""
        numbers = select(runs.c.number).where(runs.c.job_id == job_id, runs.c.number > after)
        statement = numbers.order_by(runs.c.number).limit(limit)
        return await self._database.read(lambda connection: as_ranges(connection.scalars(statement)), whole=True)

    async def page_runs(
        self, job_id: str, *, after: int, limit: int, most_bytes: int = PAGE_BYTES, metadata: bool = True
    ) -> list[EndedRun]:
        """Read a page of ended runs; sizes are looked at before the envelopes are read."""
        text = cast(runs.c.envelope, Text).label("envelope")  # its size is known before it is read
        statement = (
            select(runs.c.ended_cursor, runs.c.number, text, *(runs.c[name] for name in COLUMNS))
            .where(runs.c.job_id == job_id, runs.c.ended_cursor > after)
            .order_by(runs.c.ended_cursor)
            .limit(limit)
        )

        def read(connection: Connection) -> list[EndedRun]:
            rows: list[Row] = []
            room = PageRoom(most_bytes)
            with connection.execute(statement) as found:
                for row in map(dict, found.mappings()):
                    size = encoded_bytes(row["envelope"]) + (row.pop("metadata_bytes") or 0) * metadata
                    if not room.takes(size):
                        break
                    rows.append({**row, "envelope": json.loads(row["envelope"])})
            if metadata:
                put_back(connection, job_id, rows)
            else:
                for row in rows:
                    del row["metadata_digest"]
            return [record_of(EndedRun, row) for row in rows]

        return await self._database.read(read)

    async def last_event(self, job_id: str) -> LastEvent | None:
        """Read the newest event's cursor and time; None = there is none."""
        newest = select(events.c.cursor, events.c.at).where(events.c.job_id == job_id)
        rows = await self._rows(newest.order_by(events.c.cursor.desc()).limit(1))
        return record_of(LastEvent, rows[0]) if rows else None

    async def events_after(self, job_id: str, cursor: int, *, limit: int = 1000) -> PageRows[JobEvent]:
        """Read one page of a job's events, oldest first."""
        statement = (
            select(events.c.cursor, events.c.at, events.c.kind, events.c.body)
            .where(events.c.job_id == job_id, events.c.cursor > cursor)
            .order_by(events.c.cursor)
        )
        page = await self._database.read(lambda connection: read_page(connection, statement, limit))
        return page.mapped(partial(record_of, JobEvent))

    async def delete_job(self, job_id: str, *, while_in: Collection[str]) -> bool:
        """Hide the job in one transaction, then remove its rows some at a time; whether there was one in these
        states."""
        deleted = await self._begin_deletion([job_id], while_in)
        await self._clear(deleted)
        return bool(deleted)

    async def delete_ended_before(self, moment: str, *, while_in: Collection[str]) -> int:
        """Delete the jobs that ended before `moment`, some at a time; how many."""
        old = select(benchmark_jobs.c.id).where(
            benchmark_jobs.c.ended_at < moment,
            benchmark_jobs.c.state.in_(list(while_in)),
            benchmark_jobs.c.workspace != BEING_DELETED,
        )
        count = 0
        while rows := await self._rows(old.limit(DELETED_AT_A_TIME)):
            deleted = await self._begin_deletion([row["id"] for row in rows], while_in)
            await self._clear(deleted)
            count += len(deleted)
        return count

    async def clear_deleted(self) -> None:
        """Remove the rows of jobs whose deletion was begun, here or by a process that has died."""
        left = select(benchmark_jobs.c.id).where(benchmark_jobs.c.workspace == BEING_DELETED)
        while rows := await self._rows(left.limit(DELETED_AT_A_TIME)):
            await self._clear([row["id"] for row in rows])

    async def _begin_deletion(self, job_ids: Sequence[str], while_in: Collection[str]) -> list[str]:
        """Take jobs that are in these states away from their workspaces; which they were."""
        of_state = benchmark_jobs.c.id.in_(job_ids) & benchmark_jobs.c.state.in_(list(while_in))
        gone = update(benchmark_jobs).where(of_state, benchmark_jobs.c.workspace != BEING_DELETED)
        # the lease as well: who still writes, though the job has ended, would leave rows behind
        fenced = {"durable": False, "lease_epoch": benchmark_jobs.c.lease_epoch + 1}
        taken = gone.values(workspace=BEING_DELETED, **fenced).returning(benchmark_jobs.c.id)
        async with self._database.transaction() as connection:
            deleted = list(await connection.scalars(taken))
            for table in (job_requests, webhook_deliveries):
                await connection.execute(delete(table).where(table.c.job_id.in_(deleted)))
            # a calibration of a stored version stays with that; of others nothing else would be left
            unnamed = calibrations.c.job_id.in_(deleted) & calibrations.c.name.is_(None)
            await connection.execute(delete(calibrations).where(unnamed))
            await forget_answers(connection, deleted)
        return deleted

    async def _clear(self, job_ids: Sequence[str]) -> None:
        """Remove jobs whose deletion has begun, a few rows in each transaction, so that no writer waits for long."""
        for job_id in job_ids:
            while await self._database.run(partial(_delete_some, job_id)):
                pass

    async def _jobs(self, statement: Any) -> list[StoredBenchmarkJob]:
        return [_job(row) for row in await self._rows(statement)]

    async def _rows(self, statement: Any, *, whole: bool = False) -> list[Row]:
        return await self._database.read(partial(_read, statement), whole=whole)


def _job(row: Row) -> StoredBenchmarkJob:
    """The job that a row holds."""
    counts = JobCounts(**{each.name: row[f"runs_{each.name}"] for each in fields(JobCounts)})
    apart = (*OWNER_COLUMNS, *COUNTS[:-1])
    columns = {name: value for name, value in row.items() if name not in apart}
    return StoredBenchmarkJob(**columns, owner=owner_of(row), counts=counts)


def _changed(changes: JobChanges) -> Row:
    """The columns that a write sets."""
    values = {name: value for name, value in row_of(changes).items() if value is not None}
    if values.pop("released", False):
        values["owner_started"] = ""
    if (counts := values.pop("counts", None)) is not None:
        values |= {f"runs_{name}": count for name, count in row_of(counts).items()}
    return values


def _read(statement: Any, connection: Connection) -> list[Row]:
    return [dict(row) for row in connection.execute(statement).mappings()]


def _write(batch: Batch, connection: Connection) -> None:
    changed = _changed(batch.job)
    # first: it takes the lock on the job, so nobody takes the job over while the rest is written
    if batch.epoch is not None:
        if not _hold(batch.job_id, batch.epoch, changed, connection):
            raise PlatformError(
                f"another process has taken over {batch.job_id}: what was not yet written is run again there",
                step="store",
                reason=LEASE_LOST,
            )
    elif changed:
        connection.execute(update(benchmark_jobs).where(benchmark_jobs.c.id == batch.job_id).values(changed))
    of_job = {"job_id": batch.job_id}
    rows = put_aside(connection, batch.job_id, [_as_written(number, run) for number, run in batch.runs.items()])
    whole = [row for row in rows if "scenario_id" in row]
    put_rows(connection, runs, whole, key="number", fixed=of_job, unless_set="ended_cursor", stay=WHICH)
    known = [row for row in rows if "scenario_id" not in row]
    update_rows(connection, runs, known, key="number", fixed=of_job, unless_set="ended_cursor")
    insert_rows(connection, events, [row_of(event) for event in batch.events], fixed=of_job)
    if batch.job.ended_at:
        make_due(connection, batch.job_id, batch.job.ended_at)


def _hold(job_id: str, epoch: int, values: Row, connection: Connection) -> bool:
    """Write as the holder of this lease; False = it is not held any more. Every write is a beat."""
    statement = update(benchmark_jobs).where(benchmark_jobs.c.id == job_id, benchmark_jobs.c.lease_epoch == epoch)
    beat = {**values, "lease_beat": benchmark_jobs.c.lease_beat + 1}
    return connection.execute(statement.values(beat)).rowcount == 1


def _as_written(number: int, run: RunChange) -> Row:
    row = {"number": number, **row_of(run), **dict.fromkeys(COLUMNS)}
    if run.scenario_id is None:
        for name in WHICH:
            del row[name]
    return row


def as_ranges(numbers: Iterable[int]) -> list[range]:
    """Numbers in ascending order as ranges.

    >>> as_ranges([0, 1, 2, 5, 7, 8])
    [range(0, 3), range(5, 6), range(7, 9)]
    """
    found: list[range] = []
    for number in numbers:
        if found and found[-1].stop == number:
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
    return found


_delete_some = partial(delete_some, benchmark_jobs, ((runs, "number"), (run_metadata, "digest"), (events, "cursor")))
