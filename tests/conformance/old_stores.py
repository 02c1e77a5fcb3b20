"""Databases as earlier versions of harena left them: the tables word for word, and a little in them.

Frozen: nothing here follows the tables of today. `{serial}`, `{bytes}`, `{rowid}` and `{request}` are what SQLite and
PostgreSQL write differently.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

from sqlalchemy import create_engine

VERSIONS = ("0001", "0002")

REQUEST = zlib.compress(
    json.dumps(
        {"scenarios": ["pass"] * 4, "candidates": None, "format": None, "grader": None, "blueprint": "bp_1"}
    ).encode(),
    level=1,
)
"""of the job that has not ended, for the loader of the tests"""

_TABLES = {
    "0001": """
CREATE TABLE benchmark_jobs (
    sequence {serial}, id TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL, created_at TEXT NOT NULL,
    started_at TEXT, ended_at TEXT, duration_seconds FLOAT, blueprint TEXT NOT NULL, config JSON NOT NULL,
    effective_concurrency INTEGER NOT NULL, total INTEGER NOT NULL, error TEXT, owner_pid INTEGER NOT NULL,
    owner_started TEXT NOT NULL, owner_boot TEXT NOT NULL, cancel_requested BOOLEAN NOT NULL,
    PRIMARY KEY (sequence), UNIQUE (id)
);
CREATE TABLE events (
    job_id TEXT NOT NULL, cursor INTEGER NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL, body JSON NOT NULL,
    PRIMARY KEY (job_id, cursor)
) {rowid};
CREATE TABLE runs (
    job_id TEXT NOT NULL, number INTEGER NOT NULL, scenario_id TEXT NOT NULL, attempt INTEGER NOT NULL,
    state TEXT NOT NULL, score FLOAT, passed BOOLEAN, envelope JSON,
    PRIMARY KEY (job_id, number)
) {rowid};
CREATE INDEX ix_benchmark_jobs_name ON benchmark_jobs (name);
CREATE INDEX benchmark_jobs_by_state ON benchmark_jobs (state);
""",
    "0002": """
ALTER TABLE benchmark_jobs ADD COLUMN durable BOOLEAN DEFAULT {false} NOT NULL;
ALTER TABLE benchmark_jobs ADD COLUMN lease_epoch INTEGER DEFAULT '1' NOT NULL;
ALTER TABLE benchmark_jobs ADD COLUMN lease_beat INTEGER DEFAULT '0' NOT NULL;
ALTER TABLE benchmark_jobs ADD COLUMN active_seconds FLOAT DEFAULT '0' NOT NULL;
CREATE TABLE job_requests (job_id TEXT NOT NULL, request {bytes} NOT NULL, PRIMARY KEY (job_id));
ALTER TABLE runs ADD COLUMN failures INTEGER DEFAULT '0' NOT NULL;
ALTER TABLE runs ADD COLUMN ended_cursor INTEGER;
CREATE UNIQUE INDEX runs_once_per_attempt ON runs (job_id, scenario_id, attempt);
CREATE UNIQUE INDEX runs_by_end ON runs (job_id, ended_cursor);
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
INSERT INTO alembic_version VALUES ('0002');
""",
}
_OLD = """
INSERT INTO benchmark_jobs (id, name, state, created_at, blueprint, config, effective_concurrency, total, owner_pid,
    owner_started, owner_boot, cancel_requested)
    VALUES ('job_1', 'old', 'interrupted', '2030-01-01T00:00:00+00:00', 'default', '{{"concurrency": 8}}', 8, 3, 1, '2',
    'b', FALSE);
INSERT INTO runs (job_id, number, scenario_id, attempt, state, score, passed, envelope) VALUES
    ('job_1', 0, 's0', 1, 'done', 1.0, TRUE, '{{"score": 1.0}}'),
    ('job_1', 1, 's1', 1, 'running', NULL, NULL, 'null'),
    ('job_1', 2, 's2', 1, 'cancelled', NULL, FALSE, '{{"score": null}}');
INSERT INTO events VALUES ('job_1', 1, 't', 'job_started', '{{}}');
"""
_ROWS = {
    "0001": _OLD,
    "0002": _OLD
    + """
UPDATE runs SET ended_cursor = number + 1 WHERE passed IS NOT NULL;
INSERT INTO benchmark_jobs (id, name, state, created_at, started_at, blueprint, config, effective_concurrency, total,
    owner_pid, owner_started, owner_boot, cancel_requested, durable, lease_epoch, lease_beat, active_seconds)
    VALUES ('job_2', 'open', 'running', '2030-01-02T00:00:00+00:00', '2030-01-02T00:00:00+00:00', 'env',
    '{{"concurrency": 2, "retry_attempts": 1}}', 2, 4, 1, '', 'b', FALSE, TRUE, 3, 7, 12.5);
INSERT INTO job_requests VALUES ('job_2', {request});
INSERT INTO runs (job_id, number, scenario_id, attempt, state, score, passed, envelope, failures, ended_cursor) VALUES
    ('job_2', 0, 's0', 1, 'done', 0.5, FALSE, '{{"scenario_id": "s0", "attempt": 1, "score": 0.5, "passed": false,
        "validity": "valid", "trust": "separate", "reason": "partial", "detail": "", "duration_seconds": 0.25,
        "cpu_seconds": 0.0, "peak_memory_bytes": 0, "checks_planned": 2, "checks_run": 2, "checks_passed": 1,
        "scorer_version": "tests-1", "evidence": "", "platform_retries": 0, "rescore": null, "metadata": {{}},
        "honeypot": false, "problem": "p", "expected": null, "verdict_right": null}}', 0, 3),
    ('job_2', 1, 's1', 1, 'running', NULL, NULL, NULL, 1, NULL),
    ('job_2', 2, 's2', 1, 'queued', NULL, NULL, NULL, 0, NULL),
    ('job_2', 3, 's3', 1, 'queued', NULL, NULL, NULL, 0, NULL);
INSERT INTO events VALUES ('job_2', 1, 't', 'job_started', '{{}}'), ('job_2', 2, 't', 'run_started', '{{}}'),
    ('job_2', 3, 't', 'run_finished', '{{}}');
""",
}
_SQLITE = {
    "serial": "INTEGER NOT NULL",
    "bytes": "BLOB",
    "rowid": "WITHOUT ROWID",
    "false": "0",
    "request": f"X'{REQUEST.hex()}'",
}
_POSTGRES = {
    "serial": "SERIAL",
    "bytes": "BYTEA",
    "rowid": "",
    "false": "false",
    "request": f"'\\x{REQUEST.hex()}'::bytea",
}


def _statements(version: str, words: dict[str, str]) -> str:
    tables = [_TABLES[step] for step in VERSIONS if step <= version]
    return "".join([*tables, _ROWS[version]]).format(**words)


def make(place: Path | str, version: str) -> None:
    """A file, or what is in an empty PostgreSQL, of that version."""
    if isinstance(place, Path):
        with closing(sqlite3.connect(place)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(_statements(version, _SQLITE) + f"PRAGMA user_version={int(version)};")
        return
    engine = create_engine(place.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.exec_driver_sql(_statements(version, _POSTGRES))
    engine.dispose()
