"""Queries over the catalogue: scenarios and scoring contracts by name and version, and calibrations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, Text, and_, cast, delete, exists, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from harena.core.catalog import (
    CatalogKind,
    EntryMetadata,
    EntryVersion,
    NewCalibration,
    NewEntry,
    StoredCalibration,
    StoredReport,
)
from harena.core.errors import PlatformError
from harena.core.pages import PageRows
from harena.store.database import Database, insert_new
from harena.store.pages import read_page
from harena.store.records import Made, record_of, row_of
from harena.store.references import DELETED, become_writer, chunks
from harena.store.rows import to_json
from harena.store.sealing import seal, unseal
from harena.store.tables import benchmark_jobs, calibrations, catalog, catalog_contents

_DELETED = DELETED
"""the time of archiving, too"""
MOST_DELETED = 10_000
"""names of one workspace and kind of which no version is left, and of which each keeps a row for its number"""
_FLOOR = ""
"""the name of the row whose version is the highest of all names that are not remembered any more: where there is one, a
name that is new begins behind it, since it may be one of these"""
ARCHIVED_AT_A_TIME = 1000
"""versions, in one transaction"""
CALIBRATIONS_DELETED_AT_A_TIME = 20
"""in one transaction"""
TRIES = 10
"""number of attempts when several writers add a version to the same name at the same moment"""


class CatalogStore:
    """Implements `CatalogStorePort` over one database."""

    def __init__(self, database: Database, *, most_deleted: int = MOST_DELETED) -> None:
        """`most_deleted`: names of which it is remembered how far they had counted when they were deleted."""
        self._database = database
        self._most_deleted = most_deleted

    async def add(self, entry: NewEntry, content: bytes) -> tuple[EntryVersion, bool]:
        """Store a new version, or find the equal one that is there. All versions of the name are looked at before,
        beside those who write: there can be many, and nobody else may write while this one does."""
        for left in reversed(range(TRIES)):
            seen = await self._database.read(partial(_look, entry))
            try:
                return await self._database.run(partial(_add, entry, content, seen))
            except PlatformError as error:
                # somebody else took this version's number, or stored the same content: look again
                if not left or not isinstance(error.__cause__, IntegrityError):
                    raise
        raise AssertionError("the last try returns or raises")

    async def find(self, workspace: str, kind: CatalogKind, name: str, version: int | None) -> EntryVersion | None:
        """Find this version, or the newest that is neither archived nor deleted."""
        wanted = catalog.c.archived_at.is_(None) if version is None else catalog.c.version == version
        statement = (
            select(catalog)
            .where(*_of(workspace, kind), catalog.c.name == name, wanted, catalog.c.digest != _DELETED)
            .order_by(catalog.c.version.desc())
            .limit(1)
        )
        entries = await self._records(EntryVersion, statement)
        return entries[0] if entries else None

    async def page(
        self,
        workspace: str,
        kind: CatalogKind,
        *,
        name: str | None = None,
        prefix: str = "",
        metadata: EntryMetadata,
        archived: bool = False,
        before: int | None = None,
        limit: int,
    ) -> PageRows[EntryVersion]:
        """Read one page of entries, newest first; deleted ones are left out."""
        statement = select(catalog).where(*_of(workspace, kind), catalog.c.digest != _DELETED)
        if not archived:
            statement = statement.where(catalog.c.archived_at.is_(None))
        if name is not None:
            statement = statement.where(catalog.c.name == name)
        elif not archived:
            statement = statement.where(~_is_followed(workspace, kind))
        if prefix:
            # not LIKE: to SQLite's, large and small letters are the same
            statement = statement.where(func.substr(catalog.c.name, 1, len(prefix)) == prefix)
        for key, value in metadata.items():
            statement = statement.where(catalog.c.metadata[key].as_string() == value)
        if before is not None:
            statement = statement.where(catalog.c.sequence < before)
        newest_first = statement.order_by(catalog.c.sequence.desc())
        page = await self._database.read(lambda connection: read_page(connection, newest_first, limit))
        return page.mapped(partial(record_of, EntryVersion))

    async def content(self, workspace: str, digest: str) -> bytes | None:
        """Read the content of this digest in the workspace; None = there is none."""
        statement = select(catalog_contents.c.content).where(*_content_key(workspace, digest))
        content: bytes | None = await self._database.read(lambda connection: connection.scalar(statement))
        return content

    async def archive(self, workspace: str, kind: CatalogKind, name: str, version: int | None, at: str) -> int:
        """Archive one version or all of them, some rows in each transaction, so that no other writer waits for long;
        how many."""
        column = catalog.c.version
        there = (*_of(workspace, kind), catalog.c.name == name, catalog.c.archived_at.is_(None))
        newest = select(func.max(column)).where(*there)
        last = version if version is not None else await self._database.read(lambda one: one.scalar(newest))
        if last is None:
            return 0
        wanted = (*there, column == last if version is not None else column <= last)
        some = select(column).where(*wanted).order_by(column).limit(ARCHIVED_AT_A_TIME)
        statement = update(catalog).where(*wanted, column.in_(some)).values(archived_at=at)
        count = 0
        while archived := await self._database.run(lambda one: one.execute(statement).rowcount):
            count += archived
        return count

    async def remove(
        self, workspace: str, kind: CatalogKind, name: str, version: int, *, while_in: Collection[str]
    ) -> list[str] | None:
        """Delete one version unless jobs in these states refer to it: gives those jobs, or None where there is no such
        version."""
        of_name = (*_of(workspace, kind), catalog.c.name == name)
        this = (*of_name, catalog.c.version == version)
        jobs = benchmark_jobs.c
        reference = f"{name}@{version}"
        open_jobs = select(jobs.id).where(jobs.workspace == workspace, jobs.state.in_(list(while_in)))
        may_refer = cast(jobs.lineage, Text).contains(f'"{reference}"', autoescape=True)

        def looked_at(connection: Connection) -> frozenset[str]:
            """Jobs that cannot refer to it, ever: what they refer to can be long, and others write meanwhile."""
            found = connection.execute(open_jobs.add_columns(may_refer.label("may_refer"))).all()
            return frozenset(job.id for job in found if not job.may_refer)

        cannot = await self._database.read(looked_at, whole=True)

        def removed(connection: Connection) -> list[str] | None:
            _alone(connection, workspace)
            # the lock comes before the look at the jobs: see `harena.store.references`
            found = select(catalog.c.digest).where(*this, catalog.c.digest != _DELETED).with_for_update()
            if (digest := connection.scalar(found)) is None:
                return None
            users = [
                job.id
                for some in chunks(frozenset(connection.scalars(open_jobs)) - cannot)
                for job in connection.execute(select(jobs.id, jobs.lineage).where(jobs.id.in_(some), may_refer))
                if _refers(job.lineage, kind, reference)
            ]
            if users:
                return users
            newest = select(func.max(catalog.c.version)).where(*of_name)
            # the newest one stays as a number that is taken, and those before it that had stayed for this go
            emptied = {"digest": _DELETED, "metadata": {}, "described": {}, "archived_at": _DELETED}
            connection.execute(update(catalog).where(*this).values(emptied))
            gone = delete(catalog).where(*of_name, catalog.c.digest == _DELETED)
            connection.execute(gone.where(catalog.c.version < newest.scalar_subquery()))
            _forget_oldest(connection, workspace, kind, self._most_deleted)
            others = exists().where(catalog.c.workspace == workspace, catalog.c.digest == digest)
            connection.execute(delete(catalog_contents).where(*_content_key(workspace, digest), ~others))
            return []

        found = await self._database.run(removed)
        if found == [] and kind == "scenarios":
            of_version = (calibrations.c.name == name, calibrations.c.version == version)
            await self._delete_calibrations(and_(calibrations.c.workspace == workspace, *of_version))
        return found

    async def clear_deleted(self) -> None:
        """Remove the calibrations that belong to no version any more."""
        its_version = exists().where(
            catalog.c.workspace == calibrations.c.workspace,
            catalog.c.kind == "scenarios",
            catalog.c.name == calibrations.c.name,
            catalog.c.version == calibrations.c.version,
            catalog.c.digest != _DELETED,
        )
        await self._delete_calibrations(and_(calibrations.c.name.is_not(None), ~its_version))

    async def _delete_calibrations(self, which: ColumnElement[bool]) -> None:
        """A few in each transaction, so that no writer waits for long: a report has up to some MiB."""
        some = select(calibrations.c.sequence).where(which).order_by(calibrations.c.sequence)
        statement = delete(calibrations).where(calibrations.c.sequence.in_(some.limit(CALIBRATIONS_DELETED_AT_A_TIME)))
        while await self._database.run(lambda one: one.execute(statement).rowcount):
            pass

    def sealed(self, text: str) -> str:
        """Encrypt a user's secret. Raises ValidationError where there is no key for it, PlatformError."""
        return seal(text)

    def opened(self, text: str) -> str:
        """Decrypt a user's secret; one that another key has sealed stays sealed."""
        return unseal(text)

    async def add_calibration(self, calibration: NewCalibration) -> None:
        """Store a calibration; one of this job that is there stays."""
        row = row_of(calibration)
        await self._database.run(lambda connection: connection.execute(insert_new(connection, calibrations), row))

    async def find_calibration(self, workspace: str, job_id: str) -> StoredCalibration | None:
        """Find the workspace's calibration with this job; None = there is none."""
        found = select(calibrations).where(calibrations.c.workspace == workspace, calibrations.c.job_id == job_id)
        calibration = await self._records(StoredCalibration, found)
        return calibration[0] if calibration else None

    async def calibrations_of(
        self, workspace: str, name: str, version: int, *, limit: int = 100
    ) -> list[StoredCalibration]:
        """Read the calibrations of a version of scenarios, newest first."""
        found = select(calibrations).where(
            calibrations.c.workspace == workspace, calibrations.c.name == name, calibrations.c.version == version
        )
        return await self._records(StoredCalibration, found.order_by(calibrations.c.sequence.desc()).limit(limit))

    async def report_calibration(self, job_id: str, report: StoredReport) -> None:
        """Store the report of a calibration that has none yet."""
        statement = update(calibrations).where(calibrations.c.job_id == job_id, calibrations.c.report.is_(None))
        await self._database.run(lambda connection: connection.execute(statement.values(report=dict(report))))

    async def _records(self, kind: Callable[..., Made], statement: Any) -> list[Made]:
        return await self._database.read(
            lambda connection: [record_of(kind, row) for row in connection.execute(statement).mappings()]
        )


def _refers(lineage: Mapping[str, Any] | None, kind: CatalogKind, reference: str) -> bool:
    """Whether a job needs this version to be gone on with; of a definition it has all that it needs."""
    if lineage is None:
        return False
    if kind == "scenarios":
        return bool(lineage.get("scenarios") == reference)
    return kind == "scoring_contracts" and reference in lineage.get("contracts", ())


def _of(workspace: str, kind: str) -> tuple[ColumnElement[bool], ...]:
    return catalog.c.workspace == workspace, catalog.c.kind == kind


def _content_key(workspace: str, digest: str) -> tuple[ColumnElement[bool], ...]:
    return catalog_contents.c.workspace == workspace, catalog_contents.c.digest == digest


def _is_followed(workspace: str, kind: str) -> ColumnElement[bool]:
    """There is a later version of the same name that is not archived."""
    later = catalog.alias("later")
    return exists().where(
        and_(
            later.c.workspace == workspace,
            later.c.kind == kind,
            later.c.name == catalog.c.name,
            later.c.version > catalog.c.version,
            later.c.archived_at.is_(None),
        )
    )


def _forget_oldest(connection: Connection, workspace: str, kind: str, most: int) -> None:
    """Remember of the names that were deleted first only how far any of them had counted."""
    emptied = (*_of(workspace, kind), catalog.c.digest == _DELETED, catalog.c.name != _FLOOR)
    kept = select(catalog.c.sequence).where(*emptied).order_by(catalog.c.sequence.desc()).offset(most).limit(1)
    if (newest_too_many := connection.scalar(kept)) is None:
        return
    forgotten = delete(catalog).where(*emptied, catalog.c.sequence <= newest_too_many).returning(catalog.c.version)
    highest = max(connection.scalars(forgotten))
    of_floor = (*_of(workspace, kind), catalog.c.name == _FLOOR)
    before = connection.scalar(select(catalog.c.version).where(*of_floor))
    if before is None:
        row = {"workspace": workspace, "kind": kind, "name": _FLOOR, "version": highest, "digest": _DELETED}
        row |= {"metadata": {}, "described": {}, "created_at": _DELETED, "archived_at": _DELETED}
        connection.execute(insert(catalog), row)
    elif before < highest:
        connection.execute(update(catalog).where(*of_floor).values(version=highest))


def _alone(connection: Connection, workspace: str) -> None:
    """Wait until no other transaction adds or removes versions of this workspace. Content is shared by digest: one who
    adds a version of it and one who removes the last other version must see each other."""
    if connection.dialect.name == "postgresql":
        key = func.hashtextextended(f"harena catalog of {workspace}", 0)
        connection.execute(select(func.pg_advisory_xact_lock(key)))
    else:
        connection.execute(become_writer(catalog))


@dataclass(frozen=True, slots=True)
class _KnownVersions:
    """What was there of a name before a version of it is added."""

    newest: int
    """its last version; 0 = it has none"""
    same: int | None
    """the last version that is what is to be added"""


def _look(entry: NewEntry, connection: Connection) -> _KnownVersions:
    newest = connection.scalar(select(func.max(catalog.c.version)).where(*_of_name(entry)))
    same = select(func.max(catalog.c.version)).where(*_same(entry))
    return _KnownVersions(newest or 0, connection.scalar(same))


def _of_name(entry: NewEntry) -> tuple[ColumnElement[bool], ...]:
    return (*_of(entry.workspace, entry.kind), catalog.c.name == entry.name)


def _same(entry: NewEntry) -> tuple[ColumnElement[bool], ...]:
    """Metadata is compared as text, of which no object is made: as it lies there, in the order of its names; earlier
    versions of harena kept it in the order in which it was given."""
    written = {to_json(entry.metadata), to_json(_in_order(entry.metadata))}
    is_alike = cast(catalog.c.metadata, Text).in_(sorted(written))
    return (*_of_name(entry), catalog.c.digest == entry.digest, catalog.c.archived_at.is_(None), is_alike)


def _in_order(metadata: EntryMetadata) -> EntryMetadata:
    return dict(sorted(metadata.items()))


def _add(entry: NewEntry, content: bytes, seen: _KnownVersions, connection: Connection) -> tuple[EntryVersion, bool]:
    _alone(connection, entry.workspace)
    of_name = _of_name(entry)
    # first: whoever stores the same after this takes the same number, and one of the two looks again
    newest = connection.scalar(select(func.max(catalog.c.version)).where(*of_name))
    if newest is None:
        floor = (*_of(entry.workspace, entry.kind), catalog.c.name == _FLOOR)
        newest = connection.scalar(select(catalog.c.version).where(*floor))
    # others may have come, and what was seen may be gone or archived by now
    for known in (catalog.c.version > seen.newest, catalog.c.version == seen.same):
        same = select(catalog).where(*_same(entry), known).order_by(catalog.c.version.desc()).limit(1)
        if (row := connection.execute(same).mappings().first()) is not None:
            return record_of(EntryVersion, row), False
    kept = select(catalog_contents.c.digest).where(*_content_key(entry.workspace, entry.digest))
    if connection.scalar(kept) is None:
        stored = {"workspace": entry.workspace, "digest": entry.digest, "content": content}
        connection.execute(insert(catalog_contents), stored)
    values = {**row_of(entry), "metadata": _in_order(entry.metadata), "version": (newest or 0) + 1, "archived_at": None}
    connection.execute(insert(catalog), values)
    made = select(catalog).where(*of_name, catalog.c.version == values["version"])
    return record_of(EntryVersion, connection.execute(made).mappings().one()), True
