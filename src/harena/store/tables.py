"""The tables. States, kinds and verdicts are text here: what they may be is said by the rooms that own them.

benchmark_jobs   one row per job; `sequence` is the order of acceptance
runs             one row per scenario and attempt; `envelope` is the whole result as JSON once the run has ended
events           what happened to a job, numbered 1, 2, ... within it
"""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, Float, Index, Integer, MetaData, Table, Text

SCHEMA_VERSION = 1

metadata = MetaData()

benchmark_jobs = Table(
    "benchmark_jobs",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False, index=True),
    Column("state", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("started_at", Text),
    Column("ended_at", Text),
    Column("duration_seconds", Float),
    Column("blueprint", Text, nullable=False),
    Column("config", JSON, nullable=False),
    Column("effective_concurrency", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("error", Text),
    # who runs it: a process is known by its pid, its start time and the boot that both belong to
    Column("owner_pid", Integer, nullable=False),
    Column("owner_started", Text, nullable=False),
    Column("owner_boot", Text, nullable=False),
    Column("cancel_requested", Boolean, nullable=False, default=False),
)

runs = Table(
    "runs",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("scenario_id", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("score", Float),
    Column("passed", Boolean),
    Column("envelope", JSON),
    sqlite_with_rowid=False,
)

events = Table(
    "events",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("cursor", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("body", JSON, nullable=False),
    sqlite_with_rowid=False,
)

Index("benchmark_jobs_by_state", benchmark_jobs.c.state)
