"""Folders of published objects take room on a disk and are counted; those of objects that are there are not known."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A column."""
    op.add_column("objects", sa.Column("folders", sa.Integer, nullable=False, server_default="0"))
