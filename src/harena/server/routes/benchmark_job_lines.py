"""POST /v1/benchmark_jobs of lines: see `harena.server.uploads`."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from harena.core.errors import ValidationError
from harena.core.idempotency import IdempotencyKey
from harena.core.records.benchmark_jobs import BenchmarkJob
from harena.core.spool import spool_folder
from harena.core.threads import UPLOADS
from harena.server.answers import JsonAnswer
from harena.server.bodies import content_type
from harena.server.bounds import OnceHeader
from harena.server.routes.dependencies import State, Writer
from harena.server.strict_json import LINES
from harena.server.uploads import Upload


class LinesRoute(APIRoute):
    """For bodies of lines; all others go on to the next route of the same path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match only requests whose body is said to be JSON lines."""
        if scope["type"] != "http" or content_type(Request(scope)) != LINES:
            return Match.NONE, {}
        return super().matches(scope)


router = APIRouter(prefix="/v1/benchmark_jobs", tags=["benchmark jobs"], route_class=LinesRoute)


@router.post("", status_code=201, include_in_schema=False)
async def create_of_lines(
    request: Request, caller: Writer, state: State, idempotency_key: OnceHeader = None
) -> JsonAnswer:
    """Documented with the route for bodies of JSON."""
    state.check_not_draining()
    limits = await state.quotas.limits_of(caller.workspace)
    disk, memory = (room.share(caller.workspace) for room in (state.request_disk, state.request_memory))
    upload = Upload(await UPLOADS.run(spool_folder, "harena-upload-"), disk, memory, limits)
    taken = False
    try:
        await upload.read(request.stream())
        key = None if idempotency_key is None else IdempotencyKey.of(idempotency_key, upload.fingerprint)

        async def made() -> BenchmarkJob:
            nonlocal taken
            taken = True  # it goes on where the asker disconnects, and needs its files until it is done
            try:
                jobs = state.operations.in_workspace(caller.workspace)
                return await jobs.create_benchmark_job(upload.request(), key=key)
            except ValidationError as error:
                raise ValidationError(upload.without_folder(str(error)), reason=error.reason) from error
            finally:
                await upload.close()

        job = await state.idempotency.once(caller.workspace, "benchmark_jobs", key, made, known=None)
        return JsonAnswer(job, status_code=201)
    finally:
        if not taken:
            await upload.close()
