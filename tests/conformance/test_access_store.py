"""API keys in every database that harena ships queries for, and the files of earlier versions."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest

from harena.core.access import NewKey, StoredKey
from harena.core.errors import PlatformError
from harena.store.access import AccessStore, set_aside
from harena.store.benchmark_jobs import JobStore
from harena.store.database import Database
from harena.store.workspaces import WorkspaceStore
from harena.testing.conformance_job_store import job

OF_EARLIER_VERSIONS = """
CREATE TABLE api_keys (
    id TEXT NOT NULL, name TEXT NOT NULL, workspace TEXT NOT NULL, scopes TEXT NOT NULL, hash TEXT NOT NULL,
    created_at TEXT NOT NULL, revoked_at TEXT, PRIMARY KEY (id)
);
CREATE TABLE owned_jobs (
    sequence INTEGER NOT NULL, job_id TEXT NOT NULL, workspace TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (sequence), UNIQUE (job_id)
);
INSERT INTO api_keys VALUES ('one', 'ci', 'team-a', 'read,write', 'h1', '2030-01-01', NULL);
INSERT INTO api_keys VALUES ('two', 'old', 'team-b', 'read', 'h2', '2030-01-02', '2030-01-03');
INSERT INTO owned_jobs VALUES (1, 'job_1', 'team-a', 'n'), (2, 'job_gone', 'team-a', 'n');
"""


def key(key_id: str, workspace: str = "w", at: str = "2030-01-01") -> NewKey:
    """A key to store."""
    return NewKey(id=key_id, name="n", workspace=workspace, scopes=("read", "write"), hash="h", created_at=at)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file as earlier versions left it."""
    path = tmp_path / "access.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(OF_EARLIER_VERSIONS)
    return path


async def test_keys(database: Database) -> None:
    """Found, listed by workspace in the order of their making, revoked once."""
    store = AccessStore(database)
    assert not await store.has_keys()
    for new in (key("b", at="2030-01-02"), key("a"), key("c", "other")):
        await store.insert_key(new)
    assert await store.has_keys()
    assert [found.id for found in await store.list_keys("w")] == ["a", "b"]
    assert [found.id for found in await store.list_keys()] == ["a", "c", "b"]
    assert await store.find_key("none") is None
    assert [await store.revoke_key("a", at) for at in ("t1", "t2")] == [True, False]
    found = await store.find_key("a")
    assert found == StoredKey(**asdict(key("a")), revoked_at="t1")
    assert "hash" not in repr(found)
    with pytest.raises(PlatformError):
        await store.insert_key(key("a"))


async def test_a_file_of_an_earlier_version_is_taken_over(database: Database, old: Path) -> None:
    """Its keys are there, its jobs belong to their workspaces, and it is out of the way."""
    store, jobs = AccessStore(database), JobStore(database)
    await jobs.insert_job(job("job_1"), [])
    await jobs.insert_job(job("job_2"), [])
    assert await store.take_over(old) == ["team-a", "team-b"]
    assert [(found.id, found.scopes, found.hash, found.revoked_at) for found in await store.list_keys()] == [
        ("one", ("read", "write"), "h1", None),
        ("two", ("read",), "h2", "2030-01-03"),
    ]
    assert [found.id for found in await jobs.list_jobs("team-a")] == ["job_1"]
    assert [found.id for found in await jobs.list_jobs("default")] == ["job_2"]
    set_aside(old)
    assert not old.exists()
    assert await store.take_over(old) == []
    set_aside(old)


async def test_taking_over_is_gone_on_with_after_a_crash(database: Database, old: Path) -> None:
    """The content was committed, the file not renamed: what has changed since stays."""
    store = AccessStore(database)
    await store.take_over(old)
    await store.revoke_key("one", "later")
    await store.take_over(old)
    assert len(await store.list_keys()) == 2
    found = await store.find_key("one")
    assert found is not None
    assert found.revoked_at == "later"


async def test_limits_of_workspaces(database: Database) -> None:
    """Set one by one, taken back with None; every workspace that has anything is listed."""
    workspaces = WorkspaceStore(database)
    assert await workspaces.list() == []
    assert await workspaces.limits("a") == {}
    await workspaces.set_limits("a", {"sandboxes": 5, "requests_per_second": 0.5, "request_bytes": 2**40})
    await workspaces.set_limits("a", {"sandboxes": None, "runs": 0})
    assert await workspaces.limits("a") == {"requests_per_second": 0.5, "request_bytes": 2**40, "runs": 0}
    assert await workspaces.limits("b") == {}
    await AccessStore(database).insert_key(key("k", "keyed"))
    await JobStore(database).insert_job(job("job_1", workspace="busy"), [])
    await workspaces.set_limits("empty", {})
    assert [(name, len(limits)) for name, limits in await workspaces.list()] == [
        ("a", 3),
        ("busy", 0),
        ("empty", 0),
        ("keyed", 0),
    ]


async def test_a_file_that_cannot_be_read_is_named(database: Database, tmp_path: Path) -> None:
    """And nothing is taken from it; one without tables holds nothing."""
    path = tmp_path / "access.db"
    path.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    with pytest.raises(PlatformError, match=r"access\.db holds the API keys.*Move it away"):
        await AccessStore(database).take_over(path)
    path.write_bytes(b"")
    assert await AccessStore(database).take_over(path) == []
