"""Queries over training jobs and their events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, func, insert, or_, select, update

from harena.core.errors import PlatformError
from harena.core.idempotency import IdempotencyKey
from harena.core.job_store import LEASE_LOST
from harena.core.leases import Owner
from harena.core.pages import PageRows
from harena.core.training_jobs import TrainingState
from harena.core.training_store import (
    NewTrainingEvent,
    NewTrainingJob,
    StoredTrainingEvent,
    StoredTrainingJob,
    TrainingChanges,
    TrainingJobHolder,
    TrainingRetry,
)
from harena.store.database import Database
from harena.store.deletion import delete_some
from harena.store.idempotency import answer_to, claim, forget_answers
from harena.store.pages import read_page
from harena.store.records import LEASE_COLUMNS, Made, Row, owner_columns, record_of, record_with_lease, row_of
from harena.store.references import hold_objects
from harena.store.rows import insert_rows
from harena.store.tables import BEING_DELETED, training_events, training_jobs

ROUTE = "training_jobs"
"""the noun under which idempotency keys are kept"""
HOLDER_COLUMNS = ("id", "workspace", "state", "durable", "cancel_requested_at", *LEASE_COLUMNS)
"""what is looked at again and again: who runs a job, if anybody; requests and plans are large"""
_jobs, _events = training_jobs.c, training_events.c


class TrainingStore:
    """Implements `TrainingStorePort` over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert_job(
        self, job: NewTrainingJob, events: Sequence[NewTrainingEvent], *, key: IdempotencyKey | None = None
    ) -> str:
        """Store a job and its first events in one transaction, and give the id of the job that stands for its key.
        Raises ValidationError, NotFoundError."""
        row = {**row_of(job), **owner_columns(job.owner), "metrics": {}, "artifacts": {}, "last_cursor": len(events)}
        del row["owner"]

        def accept(connection: Connection) -> str:
            standing = claim(connection, job.workspace, ROUTE, key, job.id)
            if standing == job.id:
                connection.execute(insert(training_jobs), row)
                insert_rows(connection, training_events, _numbered(events, 1), fixed={"job_id": job.id})
                hold_objects(connection, job.workspace, job.resolved)
            return standing

        return await self._database.run(accept)

    async def find_answer(self, workspace: str, key: IdempotencyKey) -> str | None:
        """Look the key's job up; None = there is none. Raises ValidationError for a key that came with another
        request."""
        return await self._database.read(lambda connection: answer_to(connection, workspace, ROUTE, key))

    async def write(
        self,
        job_id: str,
        changes: TrainingChanges,
        events: Sequence[NewTrainingEvent] = (),
        *,
        epoch: int | None = None,
        while_in: Collection[str] | None = None,
    ) -> bool:
        """Change a job and append events in one transaction. Raises PlatformError (LEASE_LOST) where the lease has
        another epoch."""
        return await self._database.run(partial(_write, job_id, _changed(changes), events, epoch, while_in))

    async def reopen(
        self, job_id: str, retry: TrainingRetry, events: Sequence[NewTrainingEvent], *, while_in: Collection[str]
    ) -> bool:
        """Queue an ended job again, with a new owner and attempt, if its objects are still there. Raises
        NotFoundError."""
        values = {
            "state": TrainingState.QUEUED,
            **dict.fromkeys(("started_at", "ended_at", "error", "cancel_requested_at")),
            "attempt": retry.attempt,
            "crashes": 0,
            "durable": retry.durable,
            **owner_columns(retry.owner),
        }
        if retry.from_scratch:
            values |= {"step": 0, "steps": None, "metrics": {}, "artifacts": {}}

        def queue(connection: Connection) -> bool:
            if not _write(job_id, values, events, None, while_in, connection):
                return False
            needed = connection.execute(select(_jobs.workspace, _jobs.resolved).where(_jobs.id == job_id)).one()
            hold_objects(connection, needed.workspace, needed.resolved, since="since the job was accepted")
            return True

        return await self._database.run(queue)

    async def claim(
        self, job_id: str, owner: Owner, *, epoch: int, while_in: Collection[str], beat: int | None = None
    ) -> bool:
        """Write a new owner and the next epoch into the row, if nobody else has since `epoch` and `beat` were read."""
        statement = update(training_jobs).where(
            _jobs.id == job_id, _jobs.lease_epoch == epoch, _jobs.state.in_(list(while_in))
        )
        if beat is not None:
            statement = statement.where(_jobs.lease_beat == beat)
        values = {**owner_columns(owner), "lease_epoch": epoch + 1, "lease_beat": 0}
        return await self._database.run(lambda connection: connection.execute(statement.values(values)).rowcount == 1)

    async def look(self, job_ids: Sequence[str]) -> dict[str, tuple[bool, int]]:
        """Read which jobs are to be cancelled, and the epochs of their leases."""
        seen = select(_jobs.id, _jobs.cancel_requested_at, _jobs.lease_epoch).where(_jobs.id.in_(list(job_ids)))
        found = await self._database.read(lambda connection: connection.execute(seen).all())
        return {row.id: (row.cancel_requested_at is not None, row.lease_epoch) for row in found}

    async def find_job(self, workspace: str, id_or_name: str) -> StoredTrainingJob | None:
        """Find a job of the workspace by its id, else the newest of that name."""
        is_id = _jobs.id == id_or_name
        statement = select(training_jobs).where(_jobs.workspace == workspace, or_(is_id, _jobs.name == id_or_name))
        newest = statement.order_by(is_id.desc(), _jobs.sequence.desc()).limit(1)
        jobs = await self._read_jobs(StoredTrainingJob, newest)
        return jobs[0] if jobs else None

    async def read_job(self, job_id: str) -> StoredTrainingJob | None:
        """Read a job by its id, of whichever workspace; one that is being deleted is not there."""
        standing = select(training_jobs).where(_jobs.id == job_id, _jobs.workspace != BEING_DELETED)
        jobs = await self._read_jobs(StoredTrainingJob, standing)
        return jobs[0] if jobs else None

    async def list_jobs(
        self,
        workspace: str,
        *,
        name: str | None = None,
        state: str | None = None,
        trainer_type: str | None = None,
        before: int | None = None,
        limit: int,
    ) -> PageRows[StoredTrainingJob]:
        """Read one page of the workspace's jobs, newest first."""
        statement = select(training_jobs).where(_jobs.workspace == workspace)
        for column, value in ((_jobs.name, name), (_jobs.state, state), (_jobs.trainer_type, trainer_type)):
            if value is not None:
                statement = statement.where(column == value)
        if before is not None:
            statement = statement.where(_jobs.sequence < before)
        newest_first = statement.order_by(_jobs.sequence.desc())
        page = await self._database.read(lambda connection: read_page(connection, newest_first, limit))
        return page.mapped(partial(record_with_lease, StoredTrainingJob))

    async def count_jobs(self, workspace: str, *, states: Collection[str]) -> int:
        """Count the workspace's jobs in these states."""
        counted = select(func.count()).where(_jobs.workspace == workspace, _jobs.state.in_(list(states)))
        return await self._database.read(lambda connection: int(connection.scalar(counted) or 0))

    async def open_jobs(self, *, states: Collection[str]) -> list[TrainingJobHolder]:
        """Read who holds the jobs in these states, oldest first."""
        statement = select(*(_jobs[name] for name in HOLDER_COLUMNS)).where(_jobs.state.in_(list(states)))
        return await self._read_jobs(TrainingJobHolder, statement.order_by(_jobs.sequence))

    async def events_after(
        self, job_id: str, cursor: int, *, limit: int = 1000, kinds: Collection[str] | None = None, told: bool = False
    ) -> PageRows[StoredTrainingEvent]:
        """Read one page of a job's events, oldest first."""
        columns = (_events[name] for name in ("cursor", "at", "kind", "level", "message", "body"))
        statement = select(*columns).where(_events.job_id == job_id, _events.cursor > cursor)
        if kinds is not None:
            statement = statement.where(_events.kind.in_(list(kinds)))
        if told:
            statement = statement.where(_events.message.is_not(None))
        oldest_first = statement.order_by(_events.cursor)
        page = await self._database.read(lambda connection: read_page(connection, oldest_first, limit))
        return page.mapped(partial(record_of, StoredTrainingEvent))

    async def delete_job(self, job_id: str, *, while_in: Collection[str]) -> bool:
        """Hide the job and end its lease in one transaction, then remove its events some at a time; whether there was
        one in these states."""
        of_state = (_jobs.id == job_id, _jobs.state.in_(list(while_in)), _jobs.workspace != BEING_DELETED)
        # the lease as well: who still writes, though the job has ended, would leave events behind
        fenced = {"workspace": BEING_DELETED, "durable": False, "lease_epoch": _jobs.lease_epoch + 1}
        async with self._database.transaction() as connection:
            if (await connection.execute(update(training_jobs).where(*of_state).values(fenced))).rowcount != 1:
                return False
            await forget_answers(connection, [job_id])
        await self._clear(job_id)
        return True

    async def clear_deleted(self) -> None:
        """Remove the rows of jobs whose deletion was begun, here or by a process that has died."""
        left = select(_jobs.id).where(_jobs.workspace == BEING_DELETED)
        for job_id in await self._database.read(lambda connection: list(connection.scalars(left))):
            await self._clear(job_id)

    async def _clear(self, job_id: str) -> None:
        """Remove a job whose deletion has begun, some events in each transaction, so that no writer waits for long."""
        while await self._database.run(partial(_delete_some, job_id)):
            pass

    async def _read_jobs(self, kind: Callable[..., Made], statement: Any) -> list[Made]:
        return await self._database.read(
            lambda connection: [record_with_lease(kind, row) for row in connection.execute(statement).mappings()]
        )


def _changed(changes: TrainingChanges) -> Row:
    """The columns that a write sets."""
    values = {name: value for name, value in row_of(changes).items() if value is not None and name != "released"}
    return values | {"owner_started": ""} if changes.released else values


def _write(
    job_id: str,
    values: Row,
    events: Sequence[NewTrainingEvent],
    epoch: int | None,
    while_in: Collection[str] | None,
    connection: Connection,
) -> bool:
    # first: it takes the lock on the job, so nobody else numbers events, or takes the job over, meanwhile
    statement = update(training_jobs).where(_jobs.id == job_id, _jobs.workspace != BEING_DELETED)
    changed = {**values, "last_cursor": _jobs.last_cursor + len(events)}
    if while_in is not None:
        statement = statement.where(_jobs.state.in_(list(while_in)))
    if epoch is not None:
        statement = statement.where(_jobs.lease_epoch == epoch)
        changed["lease_beat"] = _jobs.lease_beat + 1
    if connection.execute(statement.values(changed)).rowcount != 1:
        if epoch is not None and connection.scalar(select(_jobs.lease_epoch).where(_jobs.id == job_id)) != epoch:
            raise PlatformError(f"another process has taken over {job_id}", step="store", reason=LEASE_LOST)
        return False
    if events:
        newest = connection.scalar(select(_jobs.last_cursor).where(_jobs.id == job_id)) or 0
        rows = _numbered(events, newest - len(events) + 1)
        insert_rows(connection, training_events, rows, fixed={"job_id": job_id})
    return True


_delete_some = partial(delete_some, training_jobs, ((training_events, "cursor"),))


def _numbered(events: Sequence[NewTrainingEvent], first: int) -> list[Row]:
    return [{"cursor": cursor, **row_of(event)} for cursor, event in enumerate(events, first)]
