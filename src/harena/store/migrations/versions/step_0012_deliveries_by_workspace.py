"""Deliveries of webhooks say whose they are, so that workspaces take turns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Each delivery is its job's workspace's, and is found by it."""
    op.add_column("webhook_deliveries", sa.Column("workspace", sa.Text, nullable=False, server_default="default"))
    deliveries = sa.table("webhook_deliveries", sa.column("job_id", sa.Text), sa.column("workspace", sa.Text))
    jobs = sa.table("benchmark_jobs", sa.column("id", sa.Text), sa.column("workspace", sa.Text))
    whose = sa.select(jobs.c.workspace).where(jobs.c.id == deliveries.c.job_id).scalar_subquery()
    op.execute(sa.update(deliveries).values(workspace=sa.func.coalesce(whose, "default")))
    op.drop_index("webhook_deliveries_by_due", "webhook_deliveries")
    columns = ["state", "durable", "workspace", "due_at"]
    op.create_index("webhook_deliveries_by_turn", "webhook_deliveries", columns)
