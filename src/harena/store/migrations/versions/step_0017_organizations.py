"""Organisations of workspaces, and what is published to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two columns and an index."""
    op.add_column("workspaces", sa.Column("organization", sa.Text))
    op.add_column("objects", sa.Column("organization", sa.Text))
    published = ["organization", "kind", "name", "version"]
    op.create_index("objects_once_per_organization", "objects", published, unique=True)
