"""How many bytes of the database are a workspace's: the sum over every table that says whose its rows are.

A table counts by its columns: by its `workspace`, or by whose the job of its `job_id` is. A new table counts
without a word here; one of which no column says whose it is, or whose rows no workspace can delete, has to be named,
with the reason. What stays of a deleted version of the catalogue, its number, does not count: nobody can delete it, and
how many of these stay is bounded by the catalogue's store.
"""

from __future__ import annotations

import sqlite3
from functools import reduce
from operator import add
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    LargeBinary,
    Select,
    Table,
    Text,
    TypeDecorator,
    cast,
    func,
    select,
    union_all,
)

from harena.store.database import Database
from harena.store.references import DELETED
from harena.store.tables import benchmark_jobs, catalog, metadata, training_jobs

ROW_BYTES = 100
"""size of a row beside its texts"""
OCTET_LENGTH_SINCE = (3, 43, 0)
"""version of SQLite"""
OF_THE_SERVER = {
    "workspaces": "what an operator sets: one row for each workspace",
    "api_keys": "what an operator makes: one row for each key, also of revoked ones",
    "spent_requests": "one row for each key and server, forgotten after a while",
}
"""tables whose rows no workspace makes or can delete -> why there are few"""


class StoredBytes:
    """Measures over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def measured(self, workspace: str) -> int:
        """Bytes of everything that is the workspace's. Looks at each row of it. Raises PlatformError."""

        def measure(connection: Connection) -> int:
            tables = [table for table in metadata.sorted_tables if table.name not in OF_THE_SERVER]
            return sum(int(connection.scalar(_bytes_of(connection, table, workspace)) or 0) for table in tables)

        return await self._database.run(measure)


def _bytes_of(connection: Connection, table: Table, workspace: str) -> Select[Any]:
    sizes = [func.coalesce(_size(connection, column), 0) for column in table.columns if _is_long(column)]
    counted = select(func.sum(reduce(add, sizes)) + func.count() * ROW_BYTES).where(_is_of(table, workspace))
    return counted.where(catalog.c.digest != DELETED) if table is catalog else counted


def _is_of(table: Table, workspace: str) -> ColumnElement[bool]:
    """Raises KeyError for a table of which no column says whose its rows are."""
    if "job_id" not in table.columns or _is_found_by_workspace(table):
        return table.columns["workspace"] == workspace
    jobs = (select(jobs.c.id).where(jobs.c.workspace == workspace) for jobs in (benchmark_jobs, training_jobs))
    return table.columns["job_id"].in_(union_all(*jobs))


def _is_found_by_workspace(table: Table) -> bool:
    """An index begins with it: rows of others are not looked at."""
    indexed = [table.primary_key.columns.values(), *(index.columns.values() for index in table.indexes)]
    return any(columns and columns[0].name == "workspace" for columns in indexed)


def _is_long(column: Any) -> bool:
    """Its values have no bound of the database's own."""
    return isinstance(_kind(column), Text | JSON | LargeBinary)


def _kind(column: Any) -> Any:
    return column.type.impl if isinstance(column.type, TypeDecorator) else column.type


def _size(connection: Connection, column: Any) -> ColumnElement[int]:
    if connection.dialect.name == "sqlite":
        if isinstance(_kind(column), LargeBinary):
            return func.length(column)  # is told without reading the value
        if sqlite3.sqlite_version_info >= OCTET_LENGTH_SINCE:
            return func.octet_length(column)  # likewise
        return func.length(cast(column, LargeBinary))  # reads it; `length` would, too, and count characters
    return func.pg_column_size(column)  # as it lies on the disk, without unpacking it
