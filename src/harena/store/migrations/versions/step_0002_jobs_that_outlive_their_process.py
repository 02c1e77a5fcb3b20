"""Leases, requests, counted failures, and results in the order in which they ended."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Columns with defaults, so that no table is written anew; what has ended keeps the order of acceptance."""
    for column in (
        sa.Column("durable", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("lease_epoch", sa.Integer, nullable=False, server_default="1"),
        sa.Column("lease_beat", sa.Integer, nullable=False, server_default="0"),
        sa.Column("active_seconds", sa.Float, nullable=False, server_default="0"),
    ):
        op.add_column("benchmark_jobs", column)
    op.create_table(
        "job_requests",
        sa.Column("job_id", sa.Text, primary_key=True),
        sa.Column("request", sa.LargeBinary, nullable=False),
    )
    op.add_column("runs", sa.Column("failures", sa.Integer, nullable=False, server_default="0"))
    op.add_column("runs", sa.Column("ended_cursor", sa.Integer))
    op.execute("UPDATE runs SET ended_cursor = number + 1 WHERE state IN ('done', 'cancelled') AND passed IS NOT NULL")
    op.create_index("runs_once_per_attempt", "runs", ["job_id", "scenario_id", "attempt"], unique=True)
    op.create_index("runs_by_end", "runs", ["job_id", "ended_cursor"], unique=True)
