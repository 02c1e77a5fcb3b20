"""/v1/secrets: credentials that gateways send, and that nothing answers."""

from __future__ import annotations

from harena.core.operations import secrets as table
from harena.server import shapes
from harena.server.answers import JsonAnswer
from harena.server.routes.dependencies import Admin, State
from harena.server.table_routes import TableRoutes

routes = TableRoutes(table.OPERATIONS)


@routes.by_hand(table.SET, description=table.SET.description)
async def set_secret(asked: shapes.SecretBody, caller: Admin, state: State) -> JsonAnswer:
    """Store a secret of the caller's workspace under its name, in place of one that is there."""
    operations = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await operations.set_secret(asked.name, asked.value, hosts=asked.hosts))
