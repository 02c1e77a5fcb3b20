"""/v1/training_jobs: models that learn; requests as in `harena.training.requests.request`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from harena.core.records.training_jobs import (
    TrainingArtifacts,
    TrainingJob,
    TrainingJobsPage,
    TrainingLogsPage,
    TrainingMetrics,
)
from harena.core.training_jobs import TrainingState
from harena.core.training_sources import check_no_paths
from harena.scoring.bounds import AtMost
from harena.server.answers import JsonAnswer, StreamAnswer, begun
from harena.server.bodies import JsonRoute
from harena.server.bounds import Id, OptionalWord
from harena.server.event_streams import EVENT_SCHEMA, EVENTS, MOST_CURSOR, LastEventId, sent
from harena.server.routes.dependencies import Once, Reader, State, Writer
from harena.server.routes.sandboxes import MOST_WAIT_SECONDS, found_after
from harena.server.training_shapes import TRAINING_REQUEST, RetryBody

router = APIRouter(prefix="/v1/training_jobs", tags=["training jobs"], route_class=JsonRoute)

TrainingBody = Annotated[dict[str, Any], AtMost(100)]
"""see `harena.training.requests.request`"""
Cursor = Annotated[int, Query(ge=0, le=MOST_CURSOR)]


@router.post("", status_code=201, response_model=TrainingJob, openapi_extra=TRAINING_REQUEST)
async def create(asked: TrainingBody, caller: Writer, state: State, key: Once) -> JsonAnswer:
    """Check everything, then accept a job; it begins when it is its turn. Nothing is stored where the answer is a
    problem, which lists every mistake."""
    state.check_not_draining()
    check_no_paths(asked)

    async def made() -> Mapping[str, Any]:
        jobs = state.operations.in_workspace(caller.workspace)
        return (await jobs.create_training_job(asked, key=key)).to_dict()

    job = await state.idempotency.once(caller.workspace, "training_jobs", key, made, stored=True)
    return JsonAnswer(job, status_code=201)


@router.get("", response_model=TrainingJobsPage)
async def list_jobs(
    caller: Reader,
    state: State,
    name: OptionalWord = None,
    status: Annotated[TrainingState | None, Query(alias="state")] = None,
    trainer_type: OptionalWord = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    cursor: Annotated[int | None, Query(ge=0, le=MOST_CURSOR)] = None,
) -> JsonAnswer:
    """Training jobs of your workspace, newest first."""
    jobs = state.operations.in_workspace(caller.workspace)
    found = await jobs.list_training_jobs(
        name=name, state=status, trainer_type=trainer_type, before=cursor, limit=limit
    )
    return JsonAnswer(found)


@router.get("/{job}", response_model=TrainingJob)
async def get(
    job: Id,
    caller: Reader,
    state: State,
    wait_seconds: Annotated[float, Query(ge=0, le=MOST_WAIT_SECONDS)] = 0.0,
) -> JsonAnswer:
    """A job by its id or name (the newest of that name); with `wait_seconds` when it has ended, or after that time."""
    jobs = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await found_after(state, jobs.get_training_job, jobs.wait_training_job, job, wait_seconds))


@router.delete("/{job}", status_code=204)
async def delete(job: Id, caller: Writer, state: State) -> Response:
    """Delete a job that has ended, with all that it wrote."""
    await state.operations.in_workspace(caller.workspace).delete_training_job(job)
    return Response(status_code=204)


@router.post("/{job}/cancel", response_model=TrainingJob)
async def cancel(job: Id, caller: Writer, state: State) -> JsonAnswer:
    """End the job, its worker and its sandboxes; what it had stays. No effect on a job that has ended."""
    return JsonAnswer(await state.operations.in_workspace(caller.workspace).cancel_training_job(job))


@router.post("/{job}/retry", response_model=TrainingJob)
async def retry(job: Id, asked: RetryBody, caller: Writer, state: State) -> JsonAnswer:
    """Queue a job that has ended once more."""
    state.check_not_draining()
    jobs = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await jobs.retry_training_job(job, start=asked.start))


@router.get(
    "/{job}/events",
    status_code=200,
    response_class=StreamAnswer,
    responses={200: {"content": {EVENTS: {"schema": EVENT_SCHEMA}}}},
)
async def events(
    job: Id, caller: Reader, state: State, after: Cursor = 0, last_event_id: LastEventId = None
) -> StreamAnswer:
    """Server-sent events from the first after cursor `after` (or Last-Event-ID) to the job's end, as those of benchmark
    jobs."""
    jobs = state.operations.in_workspace(caller.workspace)
    job_id = (await jobs.get_training_job(job)).id
    found = jobs.training_job_events(job_id, after=last_event_id if last_event_id is not None else after)
    return await begun(sent(state, found), EVENTS)


@router.get("/{job}/logs", response_model=TrainingLogsPage)
async def logs(
    job: Id,
    caller: Reader,
    state: State,
    after: Cursor = 0,
    limit: Annotated[int, Query(ge=1, le=5000)] = 1000,
) -> JsonAnswer:
    """What was said to people, from the first message after cursor `after`."""
    jobs = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await jobs.training_job_logs(job, after=after, limit=limit))


@router.get("/{job}/metrics", response_model=TrainingMetrics)
async def metrics(job: Id, caller: Reader, state: State, after: Cursor = 0) -> JsonAnswer:
    """What was measured since cursor `after`: arrays along their axes, and scalars."""
    jobs = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await jobs.training_job_metrics(job, after=after))


@router.get("/{job}/artifacts", response_model=TrainingArtifacts)
async def artifacts(job: Id, caller: Reader, state: State) -> JsonAnswer:
    """What the job's present try has written so far."""
    return JsonAnswer(await state.operations.in_workspace(caller.workspace).training_job_artifacts(job))


@router.get(
    "/{job}/artifacts/file",
    status_code=200,
    response_class=StreamAnswer,
    responses={200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}},
)
async def file(job: Id, path: Annotated[str, Query(max_length=4096)], caller: Reader, state: State) -> StreamAnswer:
    """The content of one of its files."""
    found = state.operations.in_workspace(caller.workspace).training_job_file(job, path)
    return await begun(_pieces(found), "application/octet-stream")


async def _pieces(found: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    async for piece in found:
        yield piece
