"""Training jobs, and what happened to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two tables."""
    op.create_table(
        "training_jobs",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("workspace", "name", "state", "trainer_type")),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("started_at", sa.Text),
        sa.Column("ended_at", sa.Text),
        *(sa.Column(name, sa.JSON, nullable=False) for name in ("request", "resolved", "plan")),
        sa.Column("error", sa.Text),
        sa.Column("cancel_requested_at", sa.Text),
        sa.Column("step", sa.Integer, nullable=False, server_default="0"),
        sa.Column("steps", sa.Integer),
        sa.Column("metrics", sa.JSON, nullable=False),
        sa.Column("artifacts", sa.JSON, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
        *(
            sa.Column(name, sa.Integer, nullable=False, server_default="0")
            for name in ("restarts", "crashes", "last_cursor")
        ),
        sa.Column("owner_pid", sa.Integer, nullable=False),
        sa.Column("owner_started", sa.Text, nullable=False),
        sa.Column("owner_boot", sa.Text, nullable=False),
        sa.Column("durable", sa.Boolean, nullable=False),
        sa.Column("lease_epoch", sa.Integer, nullable=False, server_default="1"),
        sa.Column("lease_beat", sa.Integer, nullable=False, server_default="0"),
    )
    op.create_index("training_jobs_by_state", "training_jobs", ["state"])
    op.create_index("training_jobs_by_workspace", "training_jobs", ["workspace", "sequence"])
    op.create_index("training_jobs_by_name", "training_jobs", ["workspace", "name", "sequence"])
    op.create_table(
        "training_events",
        sa.Column("job_id", sa.Text, primary_key=True),
        sa.Column("cursor", sa.Integer, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("level", sa.Text, nullable=False),
        sa.Column("message", sa.Text),
        sa.Column("body", sa.JSON, nullable=False),
    )
