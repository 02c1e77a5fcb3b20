"""Queries over worlds and their jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, func, insert, or_, select, update

from harena.core.pages import PageRows
from harena.core.world_store import NewWorld, NewWorldJob, StoredWorld, StoredWorldJob
from harena.store.database import Database
from harena.store.pages import read_page
from harena.store.records import record_of, row_of
from harena.store.references import become_writer
from harena.store.tables import world_jobs, world_manifests


class WorldStore:
    """Implements `WorldStorePort` over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_world(self, new: NewWorld, *, most: int) -> bool:
        """Store a world, unless the workspace has `most` others."""
        mine = select(func.count()).select_from(world_manifests).where(world_manifests.c.workspace == new.workspace)

        def added(connection: Connection) -> bool:
            connection.execute(become_writer(world_manifests))
            if int(connection.scalar(mine) or 0) >= most:
                return False
            connection.execute(insert(world_manifests).values(**row_of(new)))
            return True

        return await self._database.run(added)

    async def find_world(self, workspace: str, name_or_id: str) -> StoredWorld | None:
        """Read the world with this id, or the newest of this name."""
        its = or_(world_manifests.c.id == name_or_id, world_manifests.c.name == name_or_id)
        found = select(world_manifests).where(world_manifests.c.workspace == workspace, its)
        by_id_first = found.order_by(world_manifests.c.id != name_or_id, world_manifests.c.sequence.desc()).limit(1)

        def read(connection: Connection) -> StoredWorld | None:
            row = connection.execute(by_id_first).mappings().first()
            return None if row is None else record_of(StoredWorld, row)

        return await self._database.read(read)

    async def worlds(
        self, workspace: str, *, name: str | None, before: int | None, limit: int
    ) -> PageRows[StoredWorld]:
        """Read one page of the workspace's worlds, newest first."""
        mine = select(world_manifests).where(world_manifests.c.workspace == workspace)
        if name is not None:
            mine = mine.where(world_manifests.c.name == name)
        page = await self._page(mine, world_manifests.c.sequence, before, limit)
        return page.mapped(lambda row: StoredWorld(**row))

    async def remove_world(self, workspace: str, world: str) -> None:
        """Delete a world's row."""
        one = delete(world_manifests).where(world_manifests.c.workspace == workspace, world_manifests.c.id == world)
        await self._database.run(lambda connection: connection.execute(one))

    async def add_job(self, new: NewWorldJob, *, most_open: int, open_states: Sequence[str]) -> bool:
        """Store a job, unless the workspace has `most_open` others that have not ended."""
        standing = select(func.count()).select_from(world_jobs)
        standing = standing.where(world_jobs.c.workspace == new.workspace, world_jobs.c.state.in_(open_states))

        def added(connection: Connection) -> bool:
            connection.execute(become_writer(world_jobs))
            if int(connection.scalar(standing) or 0) >= most_open:
                return False
            connection.execute(insert(world_jobs).values(**row_of(new), played=0, reached=0, rows=0))
            return True

        return await self._database.run(added)

    async def find_job(self, workspace: str, job: str) -> StoredWorldJob | None:
        """Read a job's row."""
        one = select(world_jobs).where(*_job(workspace, job))

        def read(connection: Connection) -> StoredWorldJob | None:
            row = connection.execute(one).mappings().first()
            return None if row is None else record_of(StoredWorldJob, row)

        return await self._database.read(read)

    async def jobs(
        self, workspace: str, *, world: str | None, before: int | None, limit: int
    ) -> PageRows[StoredWorldJob]:
        """Read one page of the workspace's jobs, newest first."""
        mine = select(world_jobs).where(world_jobs.c.workspace == workspace)
        if world is not None:
            mine = mine.where(world_jobs.c.world == world)
        page = await self._page(mine, world_jobs.c.sequence, before, limit)
        return page.mapped(lambda row: StoredWorldJob(**row))

    async def jobs_in(self, states: Sequence[str]) -> list[StoredWorldJob]:
        """Read every job in one of these states, the oldest first."""
        found = select(world_jobs).where(world_jobs.c.state.in_(states)).order_by(world_jobs.c.sequence)
        return await self._database.read(
            lambda connection: [record_of(StoredWorldJob, row) for row in connection.execute(found).mappings()]
        )

    async def write_job(self, job: str, changes: Mapping[str, Any], *, while_in: Sequence[str]) -> bool:
        """Change columns of a job that is in one of these states."""
        change = update(world_jobs).where(world_jobs.c.id == job, world_jobs.c.state.in_(while_in)).values(**changes)
        return await self._database.run(lambda connection: connection.execute(change).rowcount == 1)

    async def remove_job(self, workspace: str, job: str, *, while_in: Sequence[str]) -> bool:
        """Delete the row of a job that is in one of these states."""
        one = delete(world_jobs).where(*_job(workspace, job), world_jobs.c.state.in_(while_in))
        return await self._database.run(lambda connection: connection.execute(one).rowcount == 1)

    async def _page(
        self, mine: Select[Any], sequence: ColumnElement[int], before: int | None, limit: int
    ) -> PageRows[dict[str, Any]]:
        if before is not None:
            mine = mine.where(sequence < before)
        newest_first = mine.order_by(sequence.desc())
        return await self._database.read(lambda connection: read_page(connection, newest_first, limit))


def _job(workspace: str, job: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return world_jobs.c.workspace == workspace, world_jobs.c.id == job
