"""Versions of the catalogue that are deleted: what goes with them, and what keeps them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event as engine_event
from sqlalchemy import func, select, update

from harena.core.catalog import CatalogKind, NewCalibration, NewEntry
from harena.core.job_store import JobChanges
from harena.store.benchmark_jobs import JobStore
from harena.store.catalog import CALIBRATIONS_DELETED_AT_A_TIME, CatalogStore
from harena.store.database import Database
from harena.store.references import DELETED
from harena.store.stored_bytes import StoredBytes
from harena.store.tables import calibrations, catalog
from harena.testing import conformance_catalog_store
from harena.testing.conformance_job_store import job, queued

OPEN = ("queued", "running")


def entry(
    kind: CatalogKind, digest: str = "d1", *, workspace: str = "default", name: str = "a", **metadata: str
) -> NewEntry:
    return conformance_catalog_store.entry(name, digest, workspace=workspace, kind=kind, **metadata)


@pytest.mark.parametrize(
    ("kind", "lineage"),
    [
        ("scenarios", {"scenarios": "a@1", "digest": "d1", "contracts": []}),
        ("scoring_contracts", {"scenarios": None, "digest": None, "contracts": ["b@1", "a@1"]}),
    ],
)
async def test_a_version_stays_while_an_open_job_refers_to_it(
    database: Database, store: JobStore, kind: CatalogKind, lineage: dict[str, Any]
) -> None:
    """The job could not be gone on with after a restart; once it has ended, it keeps the digest."""
    versions = CatalogStore(database)
    for workspace in ("default", "other"):
        for name in ("a", "b"):
            await versions.add(entry(kind, workspace=workspace, name=name), b"content")
    await store.insert_job(job("job_1", lineage=lineage), queued(1))
    await store.insert_job(job("job_2", lineage=None), queued(1))
    await store.insert_job(job("job_3", workspace="other", lineage=lineage), queued(1))
    assert await versions.remove("default", kind, "a", 1, while_in=OPEN) == ["job_1"]
    assert await versions.find("default", kind, "a", 1) is not None
    await store.update_job("job_1", JobChanges(state="completed"), while_in=OPEN)
    assert await versions.remove("default", kind, "a", 1, while_in=OPEN) == []
    assert await versions.remove("default", kind, "a", 1, while_in=OPEN) is None
    kept = await store.read_job("job_1")
    assert kept is not None
    assert kept.lineage == lineage


async def test_content_goes_with_the_last_version_that_has_it(database: Database) -> None:
    """Also of another kind; what stays of the newest version's number does not count, since nobody can delete it."""
    versions, measures = CatalogStore(database), StoredBytes(database)
    await versions.add(entry("scenarios"), b"x" * 10_000)
    await versions.add(entry("scoring_contracts"), b"x" * 10_000)
    await versions.add(entry("scenarios", "d2"), b"y" * 10_000)
    assert await versions.remove("default", "scenarios", "a", 1, while_in=OPEN) == []
    assert await versions.content("default", "d1") is not None
    assert await versions.remove("default", "scenarios", "a", 2, while_in=OPEN) == []
    assert await versions.remove("default", "scoring_contracts", "a", 1, while_in=OPEN) == []
    assert [await versions.content("default", digest) for digest in ("d1", "d2")] == [None, None]
    assert await measures.measured("default") == 0
    assert (await versions.add(entry("scenarios"), b"x"))[0].version == 3


async def test_numbers_of_deleted_names_stay_few(database: Database) -> None:
    """Those of the oldest names are forgotten, and yet no number of theirs is used again."""
    store = CatalogStore(database, most_deleted=3)
    for name in ("first", "first", *(f"n{number}" for number in range(8))):
        await store.add(entry("scenarios", f"d {name}", name=name, of=name), b"c")
        await store.add(entry("scenarios", f"d2 {name}", name=name), b"c")
    await store.add(entry("scoring_contracts", name="kept"), b"c")
    for name, version in [("first", 1), ("first", 2), *((f"n{n}", v) for n in range(8) for v in (1, 2))]:
        assert await store.remove("default", "scenarios", name, version, while_in=OPEN) == []
    async with database.transaction() as connection:
        names = list(await connection.scalars(select(catalog.c.name).order_by(catalog.c.sequence)))
    assert sorted(names) == ["", "kept", "n5", "n6", "n7"]
    assert await store.page("default", "scenarios", metadata={}, archived=True, limit=9) == []
    made = [(await store.add(entry("scenarios", name=name), b"c"))[0].version for name in ("first", "n7", "new")]
    assert made == [3, 3, 3]
    assert (await store.add(entry("scoring_contracts", name="other"), b"c"))[0].version == 1


async def calibrated(versions: CatalogStore, count: int) -> None:
    """Two versions of scenarios with so many calibrations each, and one calibration of no version."""
    for number in (1, 2):
        await versions.add(entry("scenarios", f"d{number}"), b"content")
    for number in range(2 * count):
        named = {"name": "a", "version": 1 + number % 2}
        await versions.add_calibration(calibration(f"job_{number}", **named))
    await versions.add_calibration(calibration("job_unnamed", name=None, version=None))


def calibration(job_id: str, *, name: str | None, version: int | None) -> NewCalibration:
    return NewCalibration(
        job_id=job_id, workspace="default", name=name, version=version, gold_runs=1, created_at="t", sources=None
    )


async def kept(database: Database) -> list[str]:
    statement = select(calibrations.c.version, func.count()).group_by(calibrations.c.version)
    return [f"{version}: {count}" for version, count in await database.read(lambda one: one.execute(statement).all())]


async def test_calibrations_go_a_few_at_a_time(database: Database) -> None:
    """No transaction deletes more: whoever writes waits for one of them at most, and reports are large."""
    versions, count = CatalogStore(database), 2 * CALIBRATIONS_DELETED_AT_A_TIME + 1
    await calibrated(versions, count)
    sizes: list[int] = []

    def note(_connection: object, cursor: Any, statement: str, *_: object) -> None:
        if statement.startswith("DELETE FROM calibrations"):
            sizes.append(cursor.rowcount)

    engine = database._in_threads
    assert engine is not None
    engine_event.listen(engine, "after_cursor_execute", note)
    assert await versions.remove("default", "scenarios", "a", 1, while_in=OPEN) == []
    assert (sum(sizes), max(sizes)) == (count, CALIBRATIONS_DELETED_AT_A_TIME)
    assert await kept(database) == ["None: 1", f"2: {count}"]


async def test_calibrations_that_a_death_has_left_are_removed(database: Database) -> None:
    """The version was deleted, and its calibrations were not: those of versions that there are stay."""
    versions = CatalogStore(database)
    await calibrated(versions, 3)
    gone = update(catalog).where(catalog.c.version == 1).values(digest=DELETED)
    await database.run(lambda one: one.execute(gone))
    await versions.clear_deleted()
    assert await kept(database) == ["None: 1", "2: 3"]
