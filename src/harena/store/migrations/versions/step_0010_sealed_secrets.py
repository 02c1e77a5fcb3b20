"""Secrets of webhooks are sealed; those that are stored as they were given are sealed now."""

from __future__ import annotations

import json
import zlib

import sqlalchemy as sa
from alembic import op

from harena.core.sealed_text import is_sealed
from harena.store.sealing import seal

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """No column changes: what is in two does."""
    table = sa.table("webhook_deliveries", sa.column("id", sa.Text), sa.column("secret", sa.Text))
    connection = op.get_bind()
    for row in connection.execute(sa.select(table.c.id, table.c.secret).where(table.c.secret.is_not(None))).all():
        if not is_sealed(row.secret):
            connection.execute(sa.update(table).where(table.c.id == row.id).values(secret=seal(row.secret)))
    _seal_definitions(connection)


def _seal_definitions(connection: sa.Connection) -> None:
    """Encrypt secrets in stored job definitions: compressed JSON that contains the webhook's secret."""
    named = sa.table("catalog", *(sa.column(name, sa.Text) for name in ("workspace", "kind", "digest")))
    held = sa.table(
        "catalog_contents",
        *(sa.column("workspace", sa.Text), sa.column("digest", sa.Text), sa.column("content", sa.LargeBinary)),
    )
    same = (named.c.workspace == held.c.workspace) & (named.c.digest == held.c.digest)
    wanted = sa.select(held).join(named, same).where(named.c.kind == "benchmark_job_defs")
    for row in connection.execute(wanted).all():
        content = json.loads(zlib.decompress(row.content))
        webhook = content["request"].get("webhook") or {}
        if (secret := webhook.get("secret")) is None or is_sealed(secret):
            continue
        webhook["secret"] = seal(secret)
        it = (held.c.workspace == row.workspace) & (held.c.digest == row.digest)
        packed = zlib.compress(json.dumps(content).encode(), level=1)
        connection.execute(sa.update(held).where(it).values(content=packed))
