"""Jobs, runs and events of processes that run them themselves: the tables of harena 0.1."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Three tables."""
    op.create_table(
        "benchmark_jobs",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("started_at", sa.Text),
        sa.Column("ended_at", sa.Text),
        sa.Column("duration_seconds", sa.Float),
        sa.Column("blueprint", sa.Text, nullable=False),
        sa.Column("config", sa.JSON, nullable=False),
        sa.Column("effective_concurrency", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("owner_pid", sa.Integer, nullable=False),
        sa.Column("owner_started", sa.Text, nullable=False),
        sa.Column("owner_boot", sa.Text, nullable=False),
        sa.Column("cancel_requested", sa.Boolean, nullable=False),
    )
    op.create_index("ix_benchmark_jobs_name", "benchmark_jobs", ["name"])
    op.create_index("benchmark_jobs_by_state", "benchmark_jobs", ["state"])
    op.create_table(
        "runs",
        sa.Column("job_id", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("scenario_id", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("score", sa.Float),
        sa.Column("passed", sa.Boolean),
        sa.Column("envelope", sa.JSON),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "events",
        sa.Column("job_id", sa.Text, primary_key=True),
        sa.Column("cursor", sa.Integer, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sqlite_with_rowid=False,
    )
