"""Objects that training refers to, by kind, name and version."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One table."""
    op.create_table(
        "objects",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("files", sa.Integer, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("described", sa.JSON, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
    )
    op.create_index("objects_once_per_version", "objects", ["workspace", "kind", "name", "version"], unique=True)
