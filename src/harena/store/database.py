"""The embedded database: one SQLite file that several processes may use at the same time.

Write-ahead log with synchronous=NORMAL: what is committed survives the death of any process, kill -9 included; a power
cut may lose the last commits. Not covered: PostgreSQL and migrations.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from sqlalchemy import URL, event
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.schema import CreateIndex, CreateTable

from harena.core.errors import PlatformError
from harena.store.tables import SCHEMA_VERSION, metadata

BUSY_SECONDS = 30.0
"""how long a write waits for another process's write"""


class Database:
    """Connections to one database file."""

    def __init__(self, path: Path, engine: AsyncEngine) -> None:
        self.path = path
        self._engine = engine

    @classmethod
    async def open(cls, path: Path) -> Database:
        """Open the database, creating file and tables where they are missing. Raises PlatformError."""
        try:
            await asyncio.to_thread(_prepare, path)
        except (OSError, sqlite3.Error) as error:
            raise PlatformError(
                f"cannot open the database {path}: {error}. Set HARENA_HOME to a directory that you can write to.",
                step="store",
            ) from error
        engine = create_async_engine(
            URL.create("sqlite+aiosqlite", database=str(path)),
            connect_args={"timeout": BUSY_SECONDS},
            json_serializer=_to_json,
        )
        event.listen(engine.sync_engine, "connect", _configure)
        return cls(path, engine)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """One transaction: committed at the end of the block, rolled back on any exception. Raises PlatformError."""
        try:
            async with self._engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise PlatformError(f"the database {self.path} failed: {error.orig}", step="store") from error

    async def close(self) -> None:
        """Close every connection."""
        await self._engine.dispose()


def _to_json(value: Any) -> str:
    """JSON, with what JSON does not know (a scenario's own metadata may hold anything) as text: a value that cannot be
    written must not take the other results of its batch with it."""
    return json.dumps(value, default=str)


def _configure(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _prepare(path: Path) -> None:
    """Create what is missing. Under a file lock: SQLite itself does not wait when two processes switch a new file to
    its write-ahead log at the same moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(path.name + ".lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == SCHEMA_VERSION:
                return
            if version != 0:
                raise sqlite3.DatabaseError(
                    f"schema version {version} instead of {SCHEMA_VERSION} (move the file away to start anew)"
                )
            connection.execute("PRAGMA journal_mode=WAL")
            dialect = sqlite_dialect.dialect()
            with connection:
                for table in metadata.sorted_tables:
                    connection.execute(str(CreateTable(table, if_not_exists=True).compile(dialect=dialect)))
                    for index in table.indexes:
                        connection.execute(str(CreateIndex(index, if_not_exists=True).compile(dialect=dialect)))
                connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
