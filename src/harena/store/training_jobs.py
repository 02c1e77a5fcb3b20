"""Queries over training jobs and their events. Rows go in and come out as plain dicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from harena.core.errors import PlatformError
from harena.core.idempotency import IdempotencyKey
from harena.core.job_store import LEASE_LOST, Row
from harena.core.pages import PageRows
from harena.store.database import Database
from harena.store.idempotency import answer_to, claim, forget_answers
from harena.store.pages import read_page
from harena.store.references import hold_objects
from harena.store.rows import insert_rows
from harena.store.tables import training_events, training_jobs

ROUTE = "training_jobs"
"""the noun under which idempotency keys are kept"""
LEASE_COLUMNS = (
    *("id", "workspace", "state", "durable", "cancel_requested_at"),
    *("owner_pid", "owner_started", "owner_boot", "lease_epoch", "lease_beat"),
)
"""what is looked at again and again: who runs a job, if anybody; requests and plans are large"""
_jobs, _events = training_jobs.c, training_events.c


class TrainingStore:
    """Implements `TrainingStorePort` over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert_job(
        self, job: Mapping[str, Any], events: Sequence[Mapping[str, Any]], *, key: IdempotencyKey | None = None
    ) -> str:
        """See TrainingStorePort."""
        job_id: str = job["id"]

        def accept(connection: Connection) -> str:
            standing = claim(connection, job["workspace"], ROUTE, key, job_id)
            if standing == job_id:
                connection.execute(insert(training_jobs), {**job, "last_cursor": len(events)})
                insert_rows(connection, training_events, _numbered(events, 1), fixed={"job_id": job_id})
                hold_objects(connection, job["workspace"], job["resolved"])
            return standing

        return await self._database.run(accept)

    async def find_answer(self, workspace: str, key: IdempotencyKey) -> str | None:
        """See TrainingStorePort."""
        return await self._database.read(lambda connection: answer_to(connection, workspace, ROUTE, key))

    async def write(
        self,
        job_id: str,
        values: Mapping[str, Any],
        events: Sequence[Mapping[str, Any]] = (),
        *,
        epoch: int | None = None,
        while_in: Collection[str] | None = None,
    ) -> bool:
        """See TrainingStorePort."""
        return await self._database.run(partial(_write, job_id, values, events, epoch, while_in))

    async def reopen(
        self,
        job_id: str,
        values: Mapping[str, Any],
        events: Sequence[Mapping[str, Any]],
        *,
        while_in: Collection[str],
    ) -> bool:
        """See TrainingStorePort."""

        def queue(connection: Connection) -> bool:
            if not _write(job_id, values, events, None, while_in, connection):
                return False
            needed = connection.execute(select(_jobs.workspace, _jobs.resolved).where(_jobs.id == job_id)).one()
            hold_objects(connection, needed.workspace, needed.resolved, since="since the job was accepted")
            return True

        return await self._database.run(queue)

    async def claim(
        self, job_id: str, owner: Mapping[str, Any], *, epoch: int, while_in: Collection[str], beat: int | None = None
    ) -> bool:
        """See TrainingStorePort."""
        statement = update(training_jobs).where(
            _jobs.id == job_id, _jobs.lease_epoch == epoch, _jobs.state.in_(list(while_in))
        )
        if beat is not None:
            statement = statement.where(_jobs.lease_beat == beat)
        values = {**owner, "lease_epoch": epoch + 1, "lease_beat": 0}
        return await self._database.run(lambda connection: connection.execute(statement.values(values)).rowcount == 1)

    async def look(self, job_ids: Sequence[str]) -> dict[str, tuple[bool, int]]:
        """See TrainingStorePort."""
        seen = select(_jobs.id, _jobs.cancel_requested_at, _jobs.lease_epoch).where(_jobs.id.in_(list(job_ids)))
        rows = await self._rows(seen)
        return {row["id"]: (row["cancel_requested_at"] is not None, row["lease_epoch"]) for row in rows}

    async def find_job(self, workspace: str, id_or_name: str) -> Row | None:
        """See TrainingStorePort."""
        is_id = _jobs.id == id_or_name
        statement = select(training_jobs).where(_jobs.workspace == workspace, or_(is_id, _jobs.name == id_or_name))
        rows = await self._rows(statement.order_by(is_id.desc(), _jobs.sequence.desc()).limit(1))
        return rows[0] if rows else None

    async def read_job(self, job_id: str) -> Row | None:
        """See TrainingStorePort."""
        rows = await self._rows(select(training_jobs).where(_jobs.id == job_id))
        return rows[0] if rows else None

    async def list_jobs(
        self, workspace: str, *, wanted: Mapping[str, str], before: int | None = None, limit: int
    ) -> PageRows[Row]:
        """See TrainingStorePort."""
        statement = select(training_jobs).where(_jobs.workspace == workspace)
        for column, value in wanted.items():
            statement = statement.where(_jobs[column] == value)
        if before is not None:
            statement = statement.where(_jobs.sequence < before)
        newest_first = statement.order_by(_jobs.sequence.desc())
        return await self._database.read(lambda connection: read_page(connection, newest_first, limit))

    async def count_jobs(self, workspace: str, *, states: Collection[str]) -> int:
        """See TrainingStorePort."""
        counted = select(func.count()).where(_jobs.workspace == workspace, _jobs.state.in_(list(states)))
        return await self._database.read(lambda connection: int(connection.scalar(counted) or 0))

    async def open_jobs(self, *, states: Collection[str]) -> list[Row]:
        """See TrainingStorePort."""
        statement = select(*(_jobs[name] for name in LEASE_COLUMNS)).where(_jobs.state.in_(list(states)))
        return await self._rows(statement.order_by(_jobs.sequence))

    async def events_after(
        self, job_id: str, cursor: int, *, limit: int = 1000, kinds: Collection[str] | None = None, told: bool = False
    ) -> PageRows[Row]:
        """See TrainingStorePort."""
        columns = (_events[name] for name in ("cursor", "at", "kind", "level", "message", "body"))
        statement = select(*columns).where(_events.job_id == job_id, _events.cursor > cursor)
        if kinds is not None:
            statement = statement.where(_events.kind.in_(list(kinds)))
        if told:
            statement = statement.where(_events.message.is_not(None))
        oldest_first = statement.order_by(_events.cursor)
        return await self._database.read(lambda connection: read_page(connection, oldest_first, limit))

    async def delete_job(self, job_id: str, *, while_in: Collection[str]) -> bool:
        """See TrainingStorePort."""
        async with self._database.transaction() as connection:
            gone = delete(training_jobs).where(_jobs.id == job_id, _jobs.state.in_(list(while_in)))
            if (await connection.execute(gone)).rowcount != 1:
                return False
            await connection.execute(delete(training_events).where(_events.job_id == job_id))
            await forget_answers(connection, [job_id])
            return True

    async def _rows(self, statement: Any) -> list[Row]:
        return await self._database.read(
            lambda connection: [dict(row) for row in connection.execute(statement).mappings()]
        )


def _write(
    job_id: str,
    values: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
    epoch: int | None,
    while_in: Collection[str] | None,
    connection: Connection,
) -> bool:
    # first: it takes the lock on the job, so nobody else numbers events, or takes the job over, meanwhile
    statement = update(training_jobs).where(_jobs.id == job_id)
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


def _numbered(events: Sequence[Mapping[str, Any]], first: int) -> list[Row]:
    return [{"cursor": cursor, **event} for cursor, event in enumerate(events, first)]
