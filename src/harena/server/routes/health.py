"""/healthz and /metrics: for those who watch the server."""

from __future__ import annotations

from fastapi import Response

from harena.core.operations import server as table
from harena.core.records.sandboxes import SandboxStatus
from harena.core.records.server import ServerHealth
from harena.server.answers import JsonAnswer
from harena.server.metrics import CONTENT_TYPE, sees_the_whole
from harena.server.routes.dependencies import Reader, State
from harena.server.table_routes import TableRoutes

routes = TableRoutes(table.ON_HEALTH)


@routes.by_hand(table.HEALTH, responses={503: {"model": ServerHealth}})
async def healthz(state: State) -> JsonAnswer:
    """Whether requests are taken: 200, or 503 once the server is about to stop. Needs no key."""
    if state.draining.is_set():
        return JsonAnswer(ServerHealth(status="draining", version=state.version), status_code=503)
    return JsonAnswer(ServerHealth(status="ok", version=state.version))


@routes.by_hand(table.METRICS)
async def metrics(caller: Reader, state: State) -> Response:
    """What is counted, as Prometheus reads it: of the caller's workspace; of the whole server for its operator, who
    shows an admin key of the default workspace, or asks a server without keys."""
    workspace = None if sees_the_whole(caller) else caller.workspace
    if workspace is None:
        running = [*state.operations.all_sandboxes(statuses=[SandboxStatus.RUNNING])]
    else:
        async with state.sandboxes.listing(workspace):
            running = await state.sandboxes.list(
                workspace, tags=(), statuses=[SandboxStatus.RUNNING], include_terminal=False
            )
    return Response(state.metrics.page(sandboxes_running=len(running), workspace=workspace), media_type=CONTENT_TYPE)
