"""API keys in the database, and the files in which earlier versions kept them.

Every method is one transaction and raises PlatformError.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import func, insert, select, tuple_, update

from harena.core.access import NewKey, StoredKey
from harena.core.errors import PlatformError
from harena.core.pages import PageRows
from harena.core.threads import NODE
from harena.core.workspace import DEFAULT_WORKSPACE
from harena.store.database import Database, insert_new
from harena.store.pages import read_page
from harena.store.records import record_of, row_of
from harena.store.tables import api_keys, benchmark_jobs

TAKEN_OVER = ".taken-over"
"""what is added to the name of a file whose content is in the database"""


class AccessStore:
    """Who may use a server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert_key(self, key: NewKey) -> None:
        """Store a key. Its id must be new."""
        row = {**row_of(key), "scopes": ",".join(key.scopes)}
        async with self._database.transaction() as connection:
            await connection.execute(insert(api_keys), row)

    async def find_key(self, key_id: str) -> StoredKey | None:
        """The key with this id, also a revoked one."""
        return (await self.find_keys([key_id])).get(key_id)

    async def find_keys(self, ids: Collection[str]) -> dict[str, StoredKey]:
        """The keys that there are with these ids, by id, revoked ones too."""
        query = select(api_keys).where(api_keys.c.id.in_(ids))
        found = await self._database.read(
            lambda connection: [_key(row) for row in connection.execute(query).mappings()]
        )
        return {key.id: key for key in found}

    async def list_keys(self, workspace: str | None = None) -> list[StoredKey]:
        """All keys, or those of a workspace, oldest first, revoked ones too."""
        query = select(api_keys).order_by(api_keys.c.created_at, api_keys.c.id)
        if workspace is not None:
            query = query.where(api_keys.c.workspace == workspace)
        return await self._database.read(lambda connection: [_key(row) for row in connection.execute(query).mappings()])

    async def page_of_keys(self, workspace: str, *, after: tuple[str, str] | None, limit: int) -> PageRows[StoredKey]:
        """Keys of a workspace, oldest first, revoked ones too: those behind `after` (created_at, id), bounded by
        `limit` and by the bytes of a page."""
        query = select(api_keys).where(api_keys.c.workspace == workspace).order_by(api_keys.c.created_at, api_keys.c.id)
        if after is not None:
            query = query.where(tuple_(api_keys.c.created_at, api_keys.c.id) > tuple_(*after))
        page = await self._database.read(lambda connection: read_page(connection, query, limit))
        return page.mapped(_key)

    async def revoke_key(self, key_id: str, at: str) -> bool:
        """Whether there was such a key that had not been revoked before."""
        statement = update(api_keys).where(api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None))
        async with self._database.transaction() as connection:
            return (await connection.execute(statement.values(revoked_at=at))).rowcount == 1

    async def has_keys(self) -> bool:
        """Whether a key was ever made: a server whose keys were all revoked is not open to everybody again."""
        async with self._database.transaction() as connection:
            return bool(await connection.scalar(select(func.count()).select_from(api_keys)))

    async def take_over(self, path: Path) -> list[str]:
        """Write what an earlier version kept in a file of its own into the database: its keys go on working, and its
        jobs belong to their workspaces again. The workspaces that it knew; no file, nothing to do. `set_aside` is next.
        """
        if not path.exists():
            return []
        try:
            keys, owners = await NODE.run(_read, path)
        except (sqlite3.Error, OSError) as error:
            message = (
                f"{path} holds the API keys of an earlier version and cannot be read: {error}. Move it away to go on "
                "without those keys"
            )
            raise PlatformError(message, step="take over keys") from error
        async with self._database.transaction() as connection:
            if keys:  # a key that is there was taken over before, by a process that did not live to rename the file
                await connection.execute(insert_new(connection, api_keys), keys)
            for job_id, workspace in owners:
                theirs = (benchmark_jobs.c.id == job_id) & (benchmark_jobs.c.workspace == DEFAULT_WORKSPACE)
                await connection.execute(update(benchmark_jobs).where(theirs).values(workspace=workspace))
        return sorted({key["workspace"] for key in keys} | {workspace for _, workspace in owners})


def _key(row: Mapping[Any, Any]) -> StoredKey:
    return record_of(StoredKey, {**row, "scopes": tuple(row["scopes"].split(","))})


def set_aside(path: Path) -> None:
    """Rename a file that was taken over, where it is there. Raises PlatformError."""
    try:
        path.rename(path.with_name(path.name + TAKEN_OVER))
    except FileNotFoundError:
        return  # there was none, or another process has done the same at the same time
    except OSError as error:
        raise PlatformError(f"{path} cannot be renamed: {error}", step="take over keys") from error


def _read(path: Path) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """The keys, and (job id, workspace) of the jobs."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        tables = {row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        keys, owners = [], []
        if "api_keys" in tables:
            columns = ", ".join(column.name for column in api_keys.columns)
            keys = [dict(row) for row in connection.execute(f"SELECT {columns} FROM api_keys")]  # noqa: S608 - ours
        if "owned_jobs" in tables:
            owners = [(row["job_id"], row["workspace"]) for row in connection.execute("SELECT * FROM owned_jobs")]
    return keys, owners
