"""/v1/snapshots: files of sandboxes as they were at one time."""

from __future__ import annotations

from harena.core.operations import snapshots as table
from harena.server.table_routes import TableRoutes

routes = TableRoutes(table.OPERATIONS)
