"""What a workspace keeps in the database is measured over every table, also those that are made after this test."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import JSON, Boolean, Column, Float, Integer, LargeBinary, Table, TypeDecorator, insert

from harena.store import stored_bytes
from harena.store.database import Database
from harena.store.stored_bytes import OF_THE_SERVER, ROW_BYTES, StoredBytes
from harena.store.tables import metadata

LONG = 100_000
COUNTED = [table for table in metadata.sorted_tables if table.name not in OF_THE_SERVER]


def value(column: Column[Any], workspace: str) -> Any:
    """As long as the column takes it."""
    kind: Any = column.type.impl if isinstance(column.type, TypeDecorator) else column.type
    if column.name == "workspace":
        return workspace
    if column.name in ("id", "job_id"):
        return f"job of {workspace}"
    if isinstance(kind, Boolean | Integer | Float):
        return 1
    if isinstance(kind, LargeBinary):
        return b"x" * LONG
    return {"x": "x" * LONG} if isinstance(kind, JSON) else "x" * LONG


async def filled(database: Database, table: Table, workspace: str) -> int:
    """One row with a long value in each column that takes one; how many those are."""
    columns = [column for column in table.columns if column.autoincrement is not True]
    row = {column.name: value(column, workspace) for column in columns}
    async with database.transaction() as connection:
        await connection.execute(insert(table), row)
    return sum(isinstance(given, str | bytes | dict) and len(str(given)) > 1000 for given in row.values())


@pytest.mark.parametrize("table", COUNTED, ids=lambda table: table.name)
async def test_every_table_of_the_store_counts_for_its_workspace(database: Database, table: Table) -> None:
    """Each of its texts, documents and contents; a table that says nobody's has to be named as the server's."""
    measures = StoredBytes(database)
    if "job_id" in table.columns:
        for workspace in ("mine", "others"):
            await filled(database, metadata.tables["training_jobs"], workspace)
    before = {workspace: await measures.measured(workspace) for workspace in ("mine", "others")}
    long_values = await filled(database, table, "mine")
    grown = await measures.measured("mine") - before["mine"]
    assert ROW_BYTES + long_values * LONG <= grown <= ROW_BYTES + 1000 + long_values * LONG * 3 // 2
    assert await measures.measured("others") == before["others"]


async def test_contents_are_measured_without_being_read(database: Database) -> None:
    """SQLite knows the length of what is no text; a cast would load all of it."""
    table = metadata.tables["catalog_contents"]
    asked = await database.run(
        lambda connection: str(stored_bytes._size(connection, table.c.content).compile(dialect=connection.dialect))
    )
    assert asked in ("length(catalog_contents.content)", "pg_column_size(catalog_contents.content)")


def test_tables_of_the_server_are_there() -> None:
    """And none of them says whose a row is, but for keys, which an operator makes and nobody deletes."""
    assert OF_THE_SERVER.keys() <= metadata.tables.keys()
    for name in OF_THE_SERVER.keys() - {"api_keys"}:
        assert not {"workspace", "job_id"}.intersection(metadata.tables[name].columns.keys())
