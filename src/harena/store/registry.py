"""Queries over the objects that training refers to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, select

from harena.core.registry import ObjectKind, Row
from harena.store.database import Database, insert_new
from harena.store.tables import objects


class RegistryStore:
    """Implements `RegistryStorePort` over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, row: Mapping[str, Any]) -> Row:
        """See RegistryStorePort."""
        async with self._database.transaction() as connection:
            await connection.execute(insert_new(connection, objects).values(**row))
            there = select(objects).where(*_of(row["workspace"], row["kind"], row["name"], row["version"]))
            return dict((await connection.execute(there)).mappings().one())

    async def find(self, workspace: str, kind: ObjectKind, name: str, version: str) -> Row | None:
        """See RegistryStorePort."""
        rows = await self._rows(select(objects).where(*_of(workspace, kind, name, version)))
        return rows[0] if rows else None

    async def versions(self, workspace: str, kind: ObjectKind, name: str) -> list[Row]:
        """See RegistryStorePort."""
        return await self._rows(select(objects).where(*_of(workspace, kind, name)).order_by(objects.c.sequence.desc()))

    async def page(
        self, workspace: str, *, kind: ObjectKind | None, name: str | None, before: int | None, limit: int
    ) -> list[Row]:
        """See RegistryStorePort."""
        statement = select(objects).where(*_of(workspace, kind, name))
        if before is not None:
            statement = statement.where(objects.c.sequence < before)
        return await self._rows(statement.order_by(objects.c.sequence.desc()).limit(limit))

    async def _rows(self, statement: Any) -> list[Row]:
        async with self._database.transaction() as connection:
            return [dict(row) for row in (await connection.execute(statement)).mappings()]


def _of(workspace: str, kind: str | None, name: str | None, version: str | None = None) -> list[ColumnElement[bool]]:
    wanted = {"workspace": workspace, "kind": kind, "name": name, "version": version}
    return [objects.c[column] == value for column, value in wanted.items() if value is not None]
