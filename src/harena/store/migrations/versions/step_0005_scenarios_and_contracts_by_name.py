"""Scenarios and scoring contracts by name and version, their calibrations, and which of them a job runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Three tables, and a column that earlier jobs have empty."""
    op.create_table(
        "catalog",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("metadata", sa.JSON, nullable=False),
        sa.Column("described", sa.JSON, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("archived_at", sa.Text),
    )
    op.create_index("catalog_once_per_version", "catalog", ["workspace", "kind", "name", "version"], unique=True)
    op.create_table(
        "catalog_contents",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "calibrations",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("job_id", sa.Text, nullable=False, unique=True),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("name", sa.Text),
        sa.Column("version", sa.Integer),
        sa.Column("gold_runs", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("sources", sa.LargeBinary),
        sa.Column("report", sa.JSON),
    )
    op.create_index("calibrations_by_version", "calibrations", ["workspace", "name", "version"])
    op.add_column("benchmark_jobs", sa.Column("lineage", sa.JSON))
