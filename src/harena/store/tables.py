"""The tables. States, kinds and verdicts are text here: what they may be is said by the rooms that own them.

benchmark_jobs   one row per job; `sequence` is the order of acceptance
job_requests     what another process needs to go on with a job; only of jobs that outlive their process
runs             one row per scenario and attempt; `envelope` is the whole result as JSON once the run has ended
events           what happened to a job, numbered 1, 2, ... within it

How a database gets these tables is said by `migrations`; a test compares the two.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Dialect,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    false,
)

metadata = MetaData()


class AnyText(TypeDecorator[str]):
    """Text that may hold what databases refuse (NUL, lone surrogates): those become the replacement character."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """The text as it can be written."""
        if value is None:
            return None
        return str(value).replace("\x00", "\ufffd").encode(errors="replace").decode()


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
    Column("error", AnyText),
    # who runs it: a process is known by its pid, its start time and the boot that both belong to
    Column("owner_pid", Integer, nullable=False),
    Column("owner_started", Text, nullable=False),
    Column("owner_boot", Text, nullable=False),
    Column("cancel_requested", Boolean, nullable=False, default=False),
    # whether it outlives its process, and is taken over by another
    Column("durable", Boolean, nullable=False, server_default=false()),
    # the lease: an epoch for each owner, and a beat that grows while the owner lives
    Column("lease_epoch", Integer, nullable=False, server_default="1"),
    Column("lease_beat", Integer, nullable=False, server_default="0"),
    # seconds that it has been run, over all its owners
    Column("active_seconds", Float, nullable=False, server_default="0"),
)

job_requests = Table(
    "job_requests",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("request", LargeBinary, nullable=False),
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
    Column("envelope", JSON(none_as_null=True)),
    Column("failures", Integer, nullable=False, server_default="0"),
    # the cursor of the event that told of its end: the order of results
    Column("ended_cursor", Integer),
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
Index("runs_once_per_attempt", runs.c.job_id, runs.c.scenario_id, runs.c.attempt, unique=True)
Index("runs_by_end", runs.c.job_id, runs.c.ended_cursor, unique=True)
