"""/v1/scores: one scenario scored now, without a job."""

from __future__ import annotations

from fastapi import APIRouter

from harena.core.results import RunResult
from harena.jobs.models import ScoreRequest
from harena.server.answers import JsonAnswer
from harena.server.bodies import JsonRoute
from harena.server.routes.dependencies import State, Writer

router = APIRouter(prefix="/v1/scores", tags=["scores"], route_class=JsonRoute)


@router.post("", response_model=RunResult)
async def score(asked: ScoreRequest, caller: Writer, state: State) -> JsonAnswer:
    """Run one candidate in a fresh sandbox, and score it: the answer is its envelope. Nothing is stored."""
    state.check_not_draining()
    return JsonAnswer(await state.operations.in_workspace(caller.workspace).score(dict(asked)))
