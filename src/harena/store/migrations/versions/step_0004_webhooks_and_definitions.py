"""Webhooks, and which definition a job was made of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A table, and two columns that jobs of before leave empty."""
    op.add_column("benchmark_jobs", sa.Column("definition", sa.JSON))
    op.add_column("benchmark_jobs", sa.Column("delivery_id", sa.Text))
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("job_id", sa.Text, nullable=False, unique=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("receiver", sa.Text, nullable=False),
        sa.Column("secret", sa.Text),
        sa.Column("durable", sa.Boolean, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
        sa.Column("due_at", sa.Text),
        sa.Column("ended_at", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("body", sa.Text),
    )
    op.create_index("webhook_deliveries_by_due", "webhook_deliveries", ["state", "due_at"])
