"""Queries over secrets. What is sealed says whose secret it is, so that no row can stand in for another one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from harena.core.errors import PlatformError
from harena.core.sealed_text import is_sealed
from harena.core.secrets import KeptSecret, NewSecret, OpenSecret
from harena.core.settings import SECRET_KEY
from harena.store.database import Database, insert_new
from harena.store.references import become_writer
from harena.store.sealing import seal, unseal
from harena.store.tables import secrets

_SHOWN = (secrets.c.name, secrets.c.hosts, secrets.c.created_at, secrets.c.updated_at)


class SecretStore:
    """Implements `SecretStorePort` over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def set(self, new: NewSecret, *, most: int) -> KeptSecret | None:
        """Seal a secret and store it in place of the one of its name; None = the workspace has `most` others."""

        def done(connection: Connection) -> KeptSecret | None:
            connection.execute(become_writer(secrets))
            values = {"sealed": _seal(new), "hosts": [*new.hosts], "updated_at": new.at}
            there = _is(new.workspace, new.name)
            change = update(secrets).where(*there).values(**values)
            if not connection.execute(change).rowcount:
                mine = select(func.count()).select_from(secrets).where(secrets.c.workspace == new.workspace)
                if int(connection.scalar(mine) or 0) >= most:
                    return None
                row = {"workspace": new.workspace, "name": new.name, "created_at": new.at, **values}
                if not connection.execute(insert_new(connection, secrets).values(**row)).rowcount:
                    connection.execute(change)  # another process was first
            return _read_secret(connection.execute(select(*_SHOWN).where(*there)).mappings().one())

        return await self._database.run(done)

    async def find(self, workspace: str, name: str) -> KeptSecret | None:
        """Read what is shown of a secret; its value stays sealed."""
        statement = select(*_SHOWN).where(*_is(workspace, name))

        def found(connection: Connection) -> KeptSecret | None:
            row = connection.execute(statement).mappings().first()
            return None if row is None else _read_secret(row)

        return await self._database.read(found)

    async def page(self, workspace: str, *, after: str, limit: int) -> list[KeptSecret]:
        """Read what is shown of the secrets behind this name, and of one more than `limit`."""
        behind = select(*_SHOWN).where(secrets.c.workspace == workspace, secrets.c.name > after)
        statement = behind.order_by(secrets.c.name).limit(limit + 1)
        return await self._database.read(
            lambda connection: [_read_secret(row) for row in connection.execute(statement).mappings()]
        )

    async def remove(self, workspace: str, name: str) -> bool:
        """Delete a secret's row; whether there was one."""
        statement = delete(secrets).where(*_is(workspace, name))
        return await self._database.run(lambda connection: connection.execute(statement).rowcount == 1)

    async def open(self, workspace: str, name: str) -> OpenSecret | None:
        """Unseal a secret's value. Raises PlatformError where it was sealed with another key, or for another name or
        workspace."""
        statement = select(secrets.c.sealed).where(*_is(workspace, name))

        def opened(connection: Connection) -> OpenSecret | None:
            sealed = connection.scalar(statement)
            return None if sealed is None else _unseal(sealed, workspace, name)

        return await self._database.read(opened)


def _is(workspace: str, name: str) -> tuple[ColumnElement[bool], ...]:
    return secrets.c.workspace == workspace, secrets.c.name == name


def _read_secret(row: Mapping[Any, Any]) -> KeptSecret:
    return KeptSecret(
        name=row["name"], hosts=tuple(row["hosts"]), created_at=row["created_at"], updated_at=row["updated_at"]
    )


def _seal(new: NewSecret) -> str:
    return seal(json.dumps([new.workspace, new.name, new.hosts, new.value]))


def _unseal(sealed: str, workspace: str, name: str) -> OpenSecret:
    opened = unseal(sealed) if is_sealed(sealed) else sealed
    if is_sealed(sealed) and not is_sealed(opened):
        whose, called, hosts, value = json.loads(opened)
        if (whose, called) == (workspace, name):
            return OpenSecret(name=name, value=value, hosts=tuple(hosts))
    raise PlatformError(
        f"the secret {name} cannot be opened: it was sealed with another key, or for another secret. Set it again, or "
        f"give this process the key that sealed it ({SECRET_KEY.name})",
        step="open secret",
    )
