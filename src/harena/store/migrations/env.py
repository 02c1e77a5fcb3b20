"""Run by alembic: the steps over the connection that `harena.store.migrate` has opened, in its transaction."""

from __future__ import annotations

from alembic import context

from harena.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
context.run_migrations()
