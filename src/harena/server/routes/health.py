"""/healthz and /metrics: for those who watch the server."""

from __future__ import annotations

from fastapi import APIRouter, Response

from harena.core.models import SandboxStatus
from harena.server import shapes
from harena.server.answers import JsonAnswer
from harena.server.metrics import CONTENT_TYPE
from harena.server.routes.asking import Reader, State

router = APIRouter(tags=["health"])


@router.get("/healthz", response_model=shapes.HealthAnswer, responses={503: {"model": shapes.HealthAnswer}})
async def healthz(state: State) -> JsonAnswer:
    """Whether requests are taken: 200, or 503 once the server is about to stop. Needs no key."""
    draining = state.draining.is_set()
    return JsonAnswer(
        {"status": "draining" if draining else "ok", "version": state.version}, status_code=503 if draining else 200
    )


@router.get("/metrics", response_class=Response)
async def metrics(caller: Reader, state: State) -> Response:
    """Everything that is counted, as Prometheus reads it."""
    running = await state.operations.list_sandboxes(statuses=[SandboxStatus.RUNNING])
    return Response(state.metrics.page(sandboxes_running=len(running)), media_type=CONTENT_TYPE)
