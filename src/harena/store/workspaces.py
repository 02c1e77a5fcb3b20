"""What workspaces may use, where that is not what all may, and the organisation that each belongs to. Every method is
one transaction and raises PlatformError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, func, select, union, update

from harena.core.workspace import DEFAULT_ORGANIZATION, LIMITS, LIMITS_WITH_COLUMNS, LimitChanges, OwnLimits
from harena.store.database import Database, insert_new
from harena.store.tables import BEING_DELETED, api_keys, benchmark_jobs, workspaces


class WorkspaceStore:
    """One row for each workspace that something was set for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def limits(self, workspace: str) -> OwnLimits:
        """Limits that were set for the workspace, by name."""
        async with self._database.transaction() as connection:
            found = await connection.execute(select(workspaces).where(workspaces.c.name == workspace))
            row = found.mappings().first()
        return _set(row or {})

    async def set_limits(self, workspace: str, limits: LimitChanges) -> None:
        """Set these, and leave the others as they are; None = what all may use."""
        async with self._database.transaction() as connection:
            await connection.execute(insert_new(connection, workspaces), {"name": workspace})
            mine = workspaces.c.name == workspace
            others = dict(await connection.scalar(select(workspaces.c.others).where(mine)) or {})
            others |= {name: value for name, value in limits.items() if name not in LIMITS_WITH_COLUMNS}
            columns: dict[str, Any] = {name: value for name, value in limits.items() if name in LIMITS_WITH_COLUMNS}
            columns["others"] = {name: value for name, value in others.items() if value is not None} or None
            await connection.execute(update(workspaces).where(mine).values(columns))

    async def set_organization(self, workspace: str, organization: str) -> None:
        """Let the workspace belong to an organisation. What it has published stays where it was published."""
        async with self._database.transaction() as connection:
            await connection.execute(insert_new(connection, workspaces), {"name": workspace})
            mine = workspaces.c.name == workspace
            await connection.execute(update(workspaces).where(mine).values(organization=organization))

    async def organizations(self) -> dict[str, str]:
        """Workspace -> its organisation, of those that were put into one."""
        query = select(workspaces.c.name, workspaces.c.organization).where(workspaces.c.organization.is_not(None))
        async with self._database.transaction() as connection:
            rows = (await connection.execute(query)).all()
        return {row.name: row.organization for row in rows}

    async def list(self) -> list[tuple[str, OwnLimits]]:
        """(name, what was set for it) of every workspace that has a key, a job or a limit, by name."""
        owners = select(benchmark_jobs.c.workspace).where(benchmark_jobs.c.workspace != BEING_DELETED)
        names = union(select(workspaces.c.name), select(api_keys.c.workspace), owners)
        async with self._database.transaction() as connection:
            rows = (await connection.execute(select(workspaces))).mappings().all()
            known = {row["name"]: _set(row) for row in rows}
            return [(name, known.get(name, {})) for name in sorted(await connection.scalars(names))]


def organization_of(workspace: str) -> ColumnElement[str]:
    """The organisation that a workspace belongs to, within a statement."""
    found = select(workspaces.c.organization).where(workspaces.c.name == workspace).scalar_subquery()
    return func.coalesce(found, DEFAULT_ORGANIZATION)


def _set(row: Mapping[Any, Any]) -> OwnLimits:
    others = {name: value for name, value in (row.get("others") or {}).items() if name in LIMITS}
    return {name: row[name] for name in LIMITS_WITH_COLUMNS if row.get(name) is not None} | others
