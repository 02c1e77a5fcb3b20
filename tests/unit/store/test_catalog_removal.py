"""Versions of the catalogue that are deleted: what goes with them, and what keeps them."""

from __future__ import annotations

from typing import Any

import pytest

from harena.core.catalog import CatalogKind
from harena.store.benchmark_jobs import JobStore
from harena.store.catalog import CatalogStore
from harena.store.database import Database
from harena.store.stored_bytes import StoredBytes
from harena.testing.conformance_job_store import job, queued

OPEN = ("queued", "running")


def entry(kind: str, digest: str = "d1") -> dict[str, Any]:
    whose = {"workspace": "default", "kind": kind, "name": "a", "digest": digest}
    return {**whose, "metadata": {}, "described": {"problems": 1}, "created_at": "t"}


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
    catalog = CatalogStore(database)
    for whose in ({"name": "a"}, {"name": "b"}, {"workspace": "other"}, {"workspace": "other", "name": "b"}):
        await catalog.add({**entry(kind), **whose}, b"content")
    await store.insert_job(job("job_1", lineage=lineage), queued(1))
    await store.insert_job(job("job_2", lineage=None), queued(1))
    await store.insert_job(job("job_3", workspace="other", lineage=lineage), queued(1))
    assert await catalog.remove("default", kind, "a", 1, while_in=OPEN) == ["job_1"]
    assert await catalog.find("default", kind, "a", 1) is not None
    await store.update_job("job_1", {"state": "completed"}, while_in=OPEN)
    assert await catalog.remove("default", kind, "a", 1, while_in=OPEN) == []
    assert await catalog.remove("default", kind, "a", 1, while_in=OPEN) is None
    kept = await store.read_job("job_1")
    assert kept is not None
    assert kept["lineage"] == lineage


async def test_content_goes_with_the_last_version_that_has_it(database: Database) -> None:
    """Also of another kind; what stays of the newest version's number is small."""
    catalog, measures = CatalogStore(database), StoredBytes(database)
    for kind in ("scenarios", "scoring_contracts"):
        await catalog.add(entry(kind), b"x" * 10_000)
    await catalog.add(entry("scenarios", "d2"), b"y" * 10_000)
    assert await catalog.remove("default", "scenarios", "a", 1, while_in=OPEN) == []
    assert await catalog.content("default", "d1") is not None
    assert await catalog.remove("default", "scenarios", "a", 2, while_in=OPEN) == []
    assert await catalog.remove("default", "scoring_contracts", "a", 1, while_in=OPEN) == []
    assert [await catalog.content("default", digest) for digest in ("d1", "d2")] == [None, None]
    assert await measures.measured("default") < 500
    assert (await catalog.add(entry("scenarios"), b"x"))[0]["version"] == 3
