"""Jobs belong to a workspace; API keys, what workspaces may use, and idempotency keys are in the database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What is there belongs to the default workspace, until a server says whose it is (see `store.access_file`)."""
    op.add_column("benchmark_jobs", sa.Column("workspace", sa.Text, nullable=False, server_default="default"))
    op.drop_index("ix_benchmark_jobs_name", "benchmark_jobs")
    op.create_index("benchmark_jobs_by_workspace", "benchmark_jobs", ["workspace", "sequence"])
    op.create_index("benchmark_jobs_by_name", "benchmark_jobs", ["workspace", "name", "sequence"])
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("revoked_at", sa.Text),
    )
    op.create_index("api_keys_by_workspace", "api_keys", ["workspace"])
    op.create_table(
        "workspaces",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("requests_per_second", sa.Float),
        sa.Column("request_burst", sa.Integer),
        sa.Column("request_bytes", sa.BigInteger),
        sa.Column("sandboxes", sa.Integer),
        sa.Column("open_jobs", sa.Integer),
        sa.Column("runs", sa.Integer),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("route", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("answer_id", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("idempotency_keys_by_answer", "idempotency_keys", ["answer_id"])
