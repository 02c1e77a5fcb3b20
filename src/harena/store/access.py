"""Who may use a server, and whose jobs are whose: a small SQLite file of its own beside the store.

api_keys     one row per key; of the key itself only a hash
owned_jobs   the workspace that each benchmark job belongs to; `sequence` is the order of acceptance

Not covered: PostgreSQL and migrations; the tables are made where they are missing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Column, Integer, MetaData, Table, Text, func, insert, or_, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from harena.core.errors import PlatformError

BUSY_SECONDS = 30.0
"""how long a write waits for another process's write"""

_metadata = MetaData()

_api_keys = Table(
    "api_keys",
    _metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("workspace", Text, nullable=False, index=True),
    Column("scopes", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("revoked_at", Text),
)
_owned_jobs = Table(
    "owned_jobs",
    _metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("job_id", Text, nullable=False, unique=True),
    Column("workspace", Text, nullable=False, index=True),
    Column("name", Text, nullable=False),
)


class AccessStore:
    """Keys and owners in one file. Every method is one transaction and raises PlatformError."""

    def __init__(self, path: Path, engine: AsyncEngine) -> None:
        self._path = path
        self._engine = engine

    @classmethod
    async def open(cls, path: Path) -> AccessStore:
        """Open the file, for its owner's eyes only, and make what is missing."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
        except OSError as error:
            message = f"cannot open {path}: {error}. Set HARENA_HOME to a directory that you can write to."
            raise PlatformError(message, step="store") from error
        engine = create_async_engine(
            URL.create("sqlite+aiosqlite", database=str(path)), connect_args={"timeout": BUSY_SECONDS}
        )
        store = cls(path, engine)
        async with store._transaction() as connection:
            await connection.run_sync(_metadata.create_all)
        return store

    async def insert_key(self, key: Mapping[str, Any]) -> None:
        """{id, name, workspace, scopes, hash, created_at}"""
        async with self._transaction() as connection:
            await connection.execute(insert(_api_keys), dict(key))

    async def find_key(self, key_id: str) -> dict[str, Any] | None:
        """The row, also of a revoked key."""
        async with self._transaction() as connection:
            row = (await connection.execute(select(_api_keys).where(_api_keys.c.id == key_id))).mappings().first()
        return None if row is None else dict(row)

    async def list_keys(self, workspace: str | None = None) -> list[dict[str, Any]]:
        """All keys, or those of a workspace, oldest first, revoked ones too."""
        query = select(_api_keys).order_by(_api_keys.c.created_at, _api_keys.c.id)
        if workspace is not None:
            query = query.where(_api_keys.c.workspace == workspace)
        async with self._transaction() as connection:
            return [dict(row) for row in (await connection.execute(query)).mappings()]

    async def revoke_key(self, key_id: str, at: str) -> bool:
        """Whether there was such a key that had not been revoked before."""
        statement = update(_api_keys).where(_api_keys.c.id == key_id, _api_keys.c.revoked_at.is_(None))
        async with self._transaction() as connection:
            return (await connection.execute(statement.values(revoked_at=at))).rowcount == 1

    async def has_keys(self) -> bool:
        """Whether a key was ever made: a server whose keys were all revoked is not open to everybody again."""
        async with self._transaction() as connection:
            return bool(await connection.scalar(select(func.count()).select_from(_api_keys)))

    async def note_job(self, job_id: str, workspace: str, name: str) -> None:
        """The job belongs to this workspace."""
        async with self._transaction() as connection:
            await connection.execute(insert(_owned_jobs), {"job_id": job_id, "workspace": workspace, "name": name})

    async def find_job(self, workspace: str, job_id_or_name: str) -> str | None:
        """The id of the workspace's job, or of its newest job of that name."""
        jobs = _owned_jobs.c
        query = (
            select(jobs.job_id)
            .where(jobs.workspace == workspace, or_(jobs.job_id == job_id_or_name, jobs.name == job_id_or_name))
            .order_by((jobs.job_id == job_id_or_name).desc(), jobs.sequence.desc())
            .limit(1)
        )
        async with self._transaction() as connection:
            found: str | None = await connection.scalar(query)
        return found

    async def list_jobs(
        self, workspace: str, *, name: str | None, before: int | None, limit: int
    ) -> list[tuple[int, str]]:
        """(sequence, id) of the workspace's jobs, newest first, those before a sequence only."""
        jobs = _owned_jobs.c
        query = select(jobs.sequence, jobs.job_id).where(jobs.workspace == workspace)
        if name is not None:
            query = query.where(jobs.name == name)
        if before is not None:
            query = query.where(jobs.sequence < before)
        async with self._transaction() as connection:
            rows = await connection.execute(query.order_by(jobs.sequence.desc()).limit(limit))
            return [(row.sequence, row.job_id) for row in rows]

    async def close(self) -> None:
        """Close every connection."""
        await self._engine.dispose()

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncConnection]:
        try:
            async with self._engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise PlatformError(f"the database {self._path} failed: {error.orig}", step="store") from error
