"""Worlds, and jobs that make their trajectories."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two tables."""
    op.create_table(
        "world_manifests",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("manifest", sa.JSON, nullable=False),
        sa.Column("facts", sa.JSON, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
    )
    op.create_index("world_manifests_by_workspace", "world_manifests", ["workspace", "sequence"])
    op.create_table(
        "world_jobs",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("world", sa.Text, nullable=False),
        sa.Column("manifest", sa.JSON, nullable=False),
        sa.Column("trajectories", sa.JSON, nullable=False),
        sa.Column("dataset", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("played", sa.Integer, nullable=False),
        sa.Column("reached", sa.Integer, nullable=False),
        sa.Column("rows", sa.Integer, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("ended_at", sa.Text),
    )
    op.create_index("world_jobs_by_workspace", "world_jobs", ["workspace", "sequence"])
    op.create_index("world_jobs_by_state", "world_jobs", ["state"])
