"""Metadata of scenarios is stored once for each job; results that are there keep theirs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A table, and what refers to it."""
    op.create_table(
        "run_metadata",
        sa.Column("job_id", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.add_column("runs", sa.Column("metadata_digest", sa.Text))
    op.add_column("runs", sa.Column("metadata_bytes", sa.Integer))
