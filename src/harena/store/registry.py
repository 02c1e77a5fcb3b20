"""Queries over the objects that training refers to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, select

from harena.core.file_trees import BLOCK_BYTES
from harena.core.pages import PageRows
from harena.core.registry import NewObject, ObjectKind, ObjectVersion
from harena.core.training_jobs import OPEN_STATES
from harena.store.database import Database, insert_new
from harena.store.pages import read_page
from harena.store.records import record_of, row_of
from harena.store.references import become_writer
from harena.store.tables import objects, training_jobs


class RegistryStore:
    """Implements `RegistryStorePort` over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, new: NewObject) -> ObjectVersion:
        """Store a version, or find the one that is there, and give its row."""

        def added(connection: Connection) -> ObjectVersion:
            connection.execute(insert_new(connection, objects).values(**row_of(new)))
            there = select(objects).where(*_of(new.workspace, new.kind, new.name, new.version))
            return record_of(ObjectVersion, connection.execute(there).mappings().one())

        return await self._database.run(added)

    async def find(self, workspace: str, kind: ObjectKind, name: str, version: str) -> ObjectVersion | None:
        """Find a version's row; None = there is none."""
        rows = await self._rows(select(objects).where(*_of(workspace, kind, name, version)))
        return rows[0] if rows else None

    async def versions(self, workspace: str, kind: ObjectKind, name: str) -> list[str]:
        """Read the versions of a name alone, newest first."""
        newest_first = select(objects.c.version).where(*_of(workspace, kind, name)).order_by(objects.c.sequence.desc())
        return await self._database.read(lambda connection: list(connection.scalars(newest_first)))

    async def usage(self, workspace: str) -> tuple[int, int]:
        """Count the workspace's versions, and sum their bytes with a block for each file and folder."""
        taken = objects.c.bytes + BLOCK_BYTES * (objects.c.files + objects.c.folders)
        mine = select(func.count(), func.coalesce(func.sum(taken), 0)).where(objects.c.workspace == workspace)
        count, size = await self._database.read(lambda connection: connection.execute(mine).one())
        return int(count), int(size)

    async def remove(self, workspace: str, kind: ObjectKind, name: str, version: str) -> list[str]:
        """Remove a version unless training jobs that have not ended refer to it; gives the ids of those jobs."""
        jobs, this = training_jobs.c, _of(workspace, kind, name, version)
        standing = select(jobs.id, jobs.resolved).where(jobs.workspace == workspace, jobs.state.in_(OPEN_STATES))

        def removed(connection: Connection) -> list[str]:
            # the lock comes before the look at the jobs: see `harena.store.references`
            connection.execute(become_writer(objects))
            connection.execute(select(objects.c.sequence).where(*this).with_for_update())
            found = connection.execute(standing).all()
            users = [job.id for job in found if any(_is(ref, kind, name, version) for ref in job.resolved)]
            if not users:
                connection.execute(delete(objects).where(*this))
            return users

        return await self._database.run(removed)

    async def has_tree(self, digest: str) -> bool:
        """Tell whether an object of any workspace has these files."""
        found = select(objects.c.sequence).where(objects.c.digest == digest)
        return await self._database.read(lambda connection: connection.scalar(found) is not None)

    async def page(
        self, workspace: str, *, kind: ObjectKind | None, name: str | None, before: int | None, limit: int
    ) -> PageRows[ObjectVersion]:
        """Read one page of the workspace's objects, newest first."""
        statement = select(objects).where(*_of(workspace, kind, name))
        if before is not None:
            statement = statement.where(objects.c.sequence < before)
        newest_first = statement.order_by(objects.c.sequence.desc())
        page = await self._database.read(lambda connection: read_page(connection, newest_first, limit))
        return page.mapped(lambda row: ObjectVersion(**row))

    async def _rows(self, statement: Any) -> list[ObjectVersion]:
        return await self._database.read(
            lambda connection: [record_of(ObjectVersion, row) for row in connection.execute(statement).mappings()]
        )


def _is(ref: Mapping[str, Any], kind: str, name: str, version: str) -> bool:
    return (ref.get("kind"), ref.get("name"), ref.get("version")) == (kind, name, version)


def _of(workspace: str, kind: str | None, name: str | None, version: str | None = None) -> list[ColumnElement[bool]]:
    wanted = {"workspace": workspace, "kind": kind, "name": name, "version": version}
    return [objects.c[column] == value for column, value in wanted.items() if value is not None]
