"""Every limit can be set for one workspace; servers that share the store count requests together."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Limits that have no column of their own are in one."""
    op.add_column("workspaces", sa.Column("others", sa.JSON, nullable=True))
    op.create_table(
        "spent_requests",
        sa.Column("who", sa.Text, primary_key=True),
        sa.Column("server", sa.Text, primary_key=True),
        sa.Column("taken", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sqlite_with_rowid=False,
    )
