"""Repeats told apart from failures, and how many nodes were lost under a run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Columns with defaults, so that no table is written anew."""
    for name in ("repeats", "interruptions"):
        op.add_column("runs", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
