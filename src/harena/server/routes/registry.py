"""/v1/objects: capabilities, tasks, data sets, models and checkpoints, by kind, name and version.

A version is named NAME@VERSION in paths, a bare NAME is the newest.
"""

from __future__ import annotations

from harena.core.operations import registry as table
from harena.server.table_routes import TableRoutes

routes = TableRoutes(table.OPERATIONS)
