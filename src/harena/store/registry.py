"""Queries over the objects that training refers to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    Text,
    and_,
    cast,
    delete,
    func,
    or_,
    select,
    update,
)

from harena.core.file_trees import BLOCK_BYTES
from harena.core.pages import PageRows
from harena.core.registry import MODELS, NewObject, ObjectKind, ObjectVersion
from harena.core.training_jobs import OPEN_STATES
from harena.store.database import Database, insert_new
from harena.store.pages import read_page
from harena.store.records import record_of, row_of
from harena.store.references import become_writer, chunks
from harena.store.tables import objects, training_jobs
from harena.store.workspaces import organization_of

KEPT = "kept"
"""kind of the rows that keep the files of deleted versions for jobs: no list shows them, and no name finds them"""


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

    async def find(
        self, workspace: str, kind: ObjectKind, name: str, version: str, *, published: bool = False
    ) -> ObjectVersion | None:
        """Find a version's row; None = there is none."""
        rows = await self._rows(select(objects).where(*_of(workspace, kind, name, version, published=published)))
        return rows[0] if rows else None

    async def versions(self, workspace: str, kind: ObjectKind, name: str, *, published: bool = False) -> list[str]:
        """Read the versions of a name alone, newest first."""
        these = _of(workspace, kind, name, published=published)
        newest_first = select(objects.c.version).where(*these).order_by(objects.c.sequence.desc())
        return await self._database.read(lambda connection: list(connection.scalars(newest_first)))

    async def usage(self, workspace: str) -> tuple[int, int]:
        """Count the workspace's versions, and sum their bytes with a block for each file and folder."""
        taken = objects.c.bytes + BLOCK_BYTES * (objects.c.files + objects.c.folders)
        mine = select(func.count(), func.coalesce(func.sum(taken), 0)).where(objects.c.workspace == workspace)
        count, size = await self._database.read(lambda connection: connection.execute(mine).one())
        return int(count), int(size)

    async def remove(self, workspace: str, kind: ObjectKind, name: str, version: str) -> tuple[str, ...]:
        """Remove a version unless training jobs of the workspace that have not ended refer to it; gives those jobs.
        What jobs of others refer to is kept for their workspaces."""
        this = _of(workspace, kind, name, version)
        before = await self._looked_at(workspace, kind, name, version)

        def removed(connection: Connection) -> tuple[str, ...]:
            users = _users(connection, workspace, kind, name, version, before)
            if not users.own:
                _keep(connection, users.others, connection.execute(select(objects).where(*this)).mappings().first())
                connection.execute(delete(objects).where(*this))
            return users.own

        return await self._database.run(removed)

    async def release(self, workspace: str | None = None) -> Sequence[str]:
        """Remove the rows that keep files for jobs that have ended, of one workspace or of all; gives the digests."""
        kept = select(objects.c.sequence, objects.c.workspace, objects.c.digest).where(
            objects.c.kind == KEPT, *(() if workspace is None else (objects.c.workspace == workspace,))
        )
        if await self._database.read(lambda connection: connection.execute(kept).first()) is None:
            return ()

        def released(connection: Connection) -> list[str]:
            connection.execute(become_writer(objects))
            _alone(connection, "that are kept")
            gone = [row for row in connection.execute(kept).all() if not _has_users(connection, *row[1:])]
            for row in gone:
                connection.execute(delete(objects).where(objects.c.sequence == row.sequence))
            return sorted({row.digest for row in gone})

        return await self._database.run(released)

    async def publish(self, workspace: str, kind: ObjectKind, name: str, version: str) -> ObjectVersion | None:
        """Show a version to the workspace's organisation and to no other one, and give its row; None = it may not be,
        or is not there."""
        this = _of(workspace, kind, name, version)

        def published(connection: Connection) -> ObjectVersion | None:
            # the lock comes before the look at the organisation: see `harena.store.references`
            connection.execute(become_writer(objects))
            connection.execute(select(objects.c.sequence).where(*this).with_for_update())
            organization = str(connection.scalar(select(organization_of(workspace))))
            _alone(connection, f"of {organization}")
            of_name = (objects.c.organization == organization, objects.c.name == name)
            of_others = (*of_name, objects.c.kind.in_(_one_namespace(kind)), objects.c.workspace != workspace)
            if connection.scalar(select(func.count()).where(*of_others)):
                return None
            connection.execute(update(objects).where(*this).values(organization=organization))
            row = connection.execute(select(objects).where(*this)).mappings().first()
            return None if row is None else record_of(ObjectVersion, row)

        return await self._database.run(published)

    async def withdraw(self, workspace: str, kind: ObjectKind, name: str, version: str) -> None:
        """Show a version to its own workspace alone."""
        statement = update(objects).where(*_of(workspace, kind, name, version)).values(organization=None)
        await self._database.run(lambda connection: connection.execute(statement))

    async def organization(self, workspace: str) -> str:
        """Read the organisation that a workspace belongs to."""
        query = select(organization_of(workspace))
        return str(await self._database.read(lambda connection: connection.scalar(query)))

    async def has_tree(self, digest: str) -> bool:
        """Tell whether an object of any workspace has these files."""
        found = select(objects.c.sequence).where(objects.c.digest == digest)
        return await self._database.read(lambda connection: connection.scalar(found) is not None)

    async def page(
        self,
        workspace: str,
        *,
        kind: ObjectKind | None,
        name: str | None,
        before: int | None,
        limit: int,
        published: bool = False,
    ) -> PageRows[ObjectVersion]:
        """Read one page of the objects of a workspace, or of its organisation, newest first."""
        statement = select(objects).where(*_of(workspace, kind, name, published=published))
        if before is not None:
            statement = statement.where(objects.c.sequence < before)
        newest_first = statement.order_by(objects.c.sequence.desc())
        page = await self._database.read(lambda connection: read_page(connection, newest_first, limit))
        return page.mapped(lambda row: ObjectVersion(**row))

    async def _looked_at(self, workspace: str, kind: str, name: str, version: str) -> _LookedAt:
        """The jobs that may use a version, looked for beside those who write: what jobs refer to can be long."""

        def looked_at(connection: Connection) -> _LookedAt:
            about = connection.execute(_about(workspace, kind, name, version)).first() or (None, None)
            # one statement: a job that ends and is queued again in between is not left out
            may_use = and_(*_may_use(workspace, name, about[1])).label("may_use")
            found = connection.execute(_open_jobs().add_columns(may_use)).all()
            return _LookedAt((about[0], about[1]), frozenset(job.id for job in found if not job.may_use))

        return await self._database.read(looked_at, whole=True)  # others have jobs, too

    async def _rows(self, statement: Any) -> list[ObjectVersion]:
        return await self._database.read(
            lambda connection: [record_of(ObjectVersion, row) for row in connection.execute(statement).mappings()]
        )


def _one_namespace(kind: ObjectKind) -> tuple[ObjectKind, ...]:
    """The kinds whose names must not mean different things: a job's model is a model or a checkpoint."""
    return MODELS if kind in MODELS else (kind,)


def _alone(connection: Connection, which: str) -> None:
    """Wait until nobody else publishes objects to an organisation (`which` they are), or keeps some and forgets them:
    of two who publish versions of one name, one must see the other's. SQLite has one writer at a time."""
    if connection.dialect.name == "postgresql":
        key = func.hashtextextended(f"harena objects {which}", 0)
        connection.execute(select(func.pg_advisory_xact_lock(key)))


def _keep(connection: Connection, workspaces: Iterable[str], row: RowMapping | None) -> None:
    """Have these workspaces keep the files of a version that is being deleted, until their jobs have ended."""
    if row is None or not workspaces:
        return
    _alone(connection, "that are kept")
    kept = {**row, "kind": KEPT, "version": row["digest"], "described": {}, "organization": None}
    del kept["sequence"]
    for workspace in workspaces:
        connection.execute(insert_new(connection, objects).values({**kept, "workspace": workspace}))


def _has_users(connection: Connection, workspace: str, digest: str) -> bool:
    """Whether jobs of a workspace that have not ended refer to these files."""
    told = cast(training_jobs.c.resolved, Text).contains(f'"{digest}"', autoescape=True)
    using = _open_jobs().where(training_jobs.c.workspace == workspace, told)
    return connection.execute(using.limit(1)).first() is not None


@dataclass(frozen=True, slots=True)
class _Users:
    """Who refers to a version with jobs that have not ended."""

    own: tuple[str, ...]
    """jobs of its workspace"""
    others: tuple[str, ...]
    """workspaces with jobs that use it because it was shown to them, and that nobody else shows it"""


@dataclass(frozen=True, slots=True)
class _LookedAt:
    """What was found of jobs that have not ended, before anything was locked. What a job refers to never changes."""

    about: tuple[str | None, str | None]
    """organisation and digest of the version"""
    cannot_use: frozenset[str]
    """jobs that do not refer to it, ever"""


def _about(workspace: str, kind: str, name: str, version: str) -> Select[Any]:
    columns = (objects.c.organization, objects.c.digest)
    return select(*columns).where(*_of(workspace, kind, name, version))


def _open_jobs() -> Select[Any]:
    return select(training_jobs.c.id).where(training_jobs.c.state.in_(OPEN_STATES))


def _may_use(workspace: str, name: str, digest: str | None) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """What is true of each job that refers to a version."""
    told = cast(training_jobs.c.resolved, Text)
    # jobs that were accepted before it was withdrawn need its files, too, wherever it was shown
    theirs = told.contains(f'"{digest}"', autoescape=True)
    named = told.contains(f'"{name}"', autoescape=True)
    return named, or_(training_jobs.c.workspace == workspace, theirs)


def _users(connection: Connection, workspace: str, kind: str, name: str, version: str, before: _LookedAt) -> _Users:
    """The jobs that refer to a version, which nobody changes until the transaction ends. Nobody else writes meanwhile:
    of the jobs that were looked at before, those that cannot use it are not looked at again."""
    # the lock comes before the look at the jobs: see `harena.store.references`
    connection.execute(become_writer(objects))
    locked = _about(workspace, kind, name, version).with_for_update()
    organization, digest = connection.execute(locked).first() or (None, None)
    now = frozenset(connection.scalars(_open_jobs()))
    is_as_before = (organization, digest) == before.about
    looked_at = now - before.cannot_use if is_as_before else now
    jobs = training_jobs.c
    users = select(jobs.id, jobs.workspace, jobs.resolved).where(*_may_use(workspace, name, digest))
    standing = [job for some in chunks(looked_at) for job in connection.execute(users.where(jobs.id.in_(some)))]
    own, borrowed = [], list[tuple[str, set[str]]]()
    for job in standing:
        named = [ref for ref in job.resolved if _is(ref, kind, name, version)]
        if job.workspace == workspace and any(ref.get("organization") is None for ref in named):
            own.append(job.id)
        else:
            shown = {ref.get("organization") for ref in named if ref.get("digest") == digest} - {None}
            if shown:
                borrowed.append((job.workspace, shown))
    same = (objects.c[column] == value for column, value in _identity(kind, name, version, digest).items())
    of_others = select(objects.c.organization).where(*same, objects.c.workspace != workspace)
    theirs_now = {*connection.scalars(of_others)} if borrowed else set()
    return _Users(tuple(own), tuple(sorted({whose for whose, shown in borrowed if shown - theirs_now})))


def _identity(kind: str, name: str, version: str, digest: str | None) -> dict[str, str | None]:
    return {"kind": kind, "name": name, "version": version, "digest": digest}


def _is(ref: Mapping[str, Any], kind: str, name: str, version: str) -> bool:
    return (ref.get("kind"), ref.get("name"), ref.get("version")) == (kind, name, version)


def _of(
    workspace: str, kind: str | None, name: str | None, version: str | None = None, *, published: bool = False
) -> list[ColumnElement[bool]]:
    wanted = {"kind": kind, "name": name, "version": version}
    theirs = objects.c.organization == organization_of(workspace) if published else objects.c.workspace == workspace
    listed = [objects.c.kind != KEPT] if kind is None else []
    return [theirs, *listed, *(objects.c[column] == value for column, value in wanted.items() if value is not None)]
