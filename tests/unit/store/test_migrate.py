"""Databases of earlier versions become this version's, in place."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

from harena.core.errors import PlatformError
from harena.core.job_store import Batch, JobCounts, RunChange
from harena.store import migrations
from harena.store.benchmark_jobs import JobStore
from harena.store.database import Database
from harena.store.migrate import KNOWN, NEWEST, bring_to, version_of
from harena.store.tables import metadata

OF_HARENA_0_1 = """
CREATE TABLE benchmark_jobs (
    sequence INTEGER NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL, created_at TEXT NOT NULL,
    started_at TEXT, ended_at TEXT, duration_seconds FLOAT, blueprint TEXT NOT NULL, config JSON NOT NULL,
    effective_concurrency INTEGER NOT NULL, total INTEGER NOT NULL, error TEXT, owner_pid INTEGER NOT NULL,
    owner_started TEXT NOT NULL, owner_boot TEXT NOT NULL, cancel_requested BOOLEAN NOT NULL,
    PRIMARY KEY (sequence), UNIQUE (id)
);
CREATE TABLE events (
    job_id TEXT NOT NULL, cursor INTEGER NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL, body JSON NOT NULL,
    PRIMARY KEY (job_id, cursor)
) WITHOUT ROWID;
CREATE TABLE runs (
    job_id TEXT NOT NULL, number INTEGER NOT NULL, scenario_id TEXT NOT NULL, attempt INTEGER NOT NULL,
    state TEXT NOT NULL, score FLOAT, passed BOOLEAN, envelope JSON,
    PRIMARY KEY (job_id, number)
) WITHOUT ROWID;
CREATE INDEX ix_benchmark_jobs_name ON benchmark_jobs (name);
CREATE INDEX benchmark_jobs_by_state ON benchmark_jobs (state);
INSERT INTO benchmark_jobs VALUES (
    1, 'job_1', 'old', 'interrupted', '2030-01-01T00:00:00+00:00', NULL, NULL, NULL, 'default', '{"concurrency": 8}',
    8, 3, NULL, 1, '2', 'b', 0
);
INSERT INTO runs VALUES ('job_1', 0, 's0', 1, 'done', 1.0, 1, '{"score": 1.0}');
INSERT INTO runs VALUES ('job_1', 1, 's1', 1, 'running', NULL, NULL, 'null');
INSERT INTO runs VALUES ('job_1', 2, 's2', 1, 'cancelled', NULL, 0, '{"score": null}');
INSERT INTO events VALUES ('job_1', 1, 't', 'job_started', '{}');
PRAGMA user_version=1;
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database as harena 0.1 left it."""
    path = tmp_path / "harena.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(OF_HARENA_0_1)
    return path


async def test_a_database_of_harena_0_1_keeps_everything(old: Path) -> None:
    """Jobs, results, events and their order are there, and the job can be written to."""
    database = await Database.open(old)
    store = JobStore(database)
    row = await store.find_job("default", "old")
    assert row is not None
    assert (row.config, row.durable, row.lease_epoch) == ({"concurrency": 8}, False, 1)
    assert [run.envelope for run in await store.page_runs("job_1", after=0, limit=9)] == [
        {"score": 1.0},
        {"score": None},
    ]
    assert [(run.number, run.state, run.failures) for run in await store.open_runs("job_1")] == [(1, "running", 0)]
    await store.write(Batch("job_1", runs={1: RunChange(state="done", score=0.5, passed=False, ended_cursor=9)}))
    assert await store.open_runs("job_1") == []
    assert len(await store.events_after("job_1", 0)) == 1
    assert (row.counts, row.last_cursor) == (JobCounts(running=1, done=1, cancelled=1, scored=1, passed=1), 1)
    await database.close()


async def test_every_road_leads_to_the_same_tables(old: Path, tmp_path: Path) -> None:
    """A database of harena 0.1, one that took every step from nothing, a new one, which takes none, and the tables that
    queries are written against agree: columns with their defaults, keys and indexes, and the record of the version."""
    new, stepped = tmp_path / "new.db", tmp_path / "stepped.db"
    engine = create_engine(f"sqlite:///{stepped}")
    with engine.begin() as connection:
        for version in KNOWN:
            bring_to(connection, version)
    engine.dispose()
    for path in (old, new):
        await (await Database.open(path)).close()
    written = create_engine("sqlite://")
    metadata.create_all(written)
    expected = schema(written)
    written.dispose()
    records = []
    for path in (old, stepped, new):
        engine = create_engine(f"sqlite:///{path}")
        found = schema(engine)
        records.append(found.pop("alembic_version"))
        assert found == expected
        with engine.connect() as connection:
            assert version_of(connection) == NEWEST
        engine.dispose()
    assert records[0] == records[1] == records[2]


async def test_a_new_database_takes_no_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tables are made as they are, without alembic, which takes longer to load than they take to make."""
    for name in [name for name in sys.modules if name.split(".")[0] == "alembic"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "alembic", None)
    await (await Database.open(tmp_path / "harena.db")).close()


def schema(engine: object) -> dict[str, object]:
    """Columns, keys and indexes, by table."""
    seen = inspect(engine)
    return {
        table: (
            sorted(
                (column["name"], str(column["type"]), column["nullable"], str(column["default"]))
                for column in seen.get_columns(table)
            ),
            seen.get_pk_constraint(table)["constrained_columns"],
            sorted(unique["column_names"] for unique in seen.get_unique_constraints(table)),
            sorted((index["name"], index["column_names"], index["unique"]) for index in seen.get_indexes(table)),
        )
        for table in seen.get_table_names()
    }


async def test_a_step_that_fails_leaves_the_old_database(old: Path) -> None:
    """Half a migration is none: the next start finds what was there."""
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("CREATE TABLE job_requests (in_the_way TEXT)")
    with pytest.raises(PlatformError, match="job_requests already exists"):
        await Database.open(old)
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        columns = [row[1] for row in connection.execute("PRAGMA table_info(benchmark_jobs)")]
        assert "durable" not in columns
        connection.execute("DROP TABLE job_requests")
    await (await Database.open(old)).close()


async def test_a_database_of_a_newer_harena_is_refused(tmp_path: Path) -> None:
    """It is not guessed at, also where only its record of versions says so."""
    path = tmp_path / "harena.db"
    await (await Database.open(path)).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("PRAGMA user_version=0")
        connection.commit()
    with pytest.raises(PlatformError, match="schema version 9999 is newer"):
        await Database.open(path)


def test_every_step_is_known() -> None:
    """The list of versions is the list of files, in order, and the newest is its last."""
    versions = Path(migrations.__file__).parent / "versions"
    steps = sorted(path.stem.split("_")[1] for path in versions.glob("step_*.py"))
    assert steps == sorted(KNOWN)
    assert steps[-1] == NEWEST
