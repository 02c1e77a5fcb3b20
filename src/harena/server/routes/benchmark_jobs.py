"""/v1/benchmark_jobs: many scenarios, each run and scored in its own sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from harena.core.idempotency import IdempotencyKey
from harena.core.parameters import MOST_CURSOR
from harena.core.ports import Operations
from harena.core.records.benchmark_jobs import (
    BenchmarkJob,
    BenchmarkJobsPage,
    BenchmarkResults,
    JobSummary,
    ResultsPage,
)
from harena.server import shapes
from harena.server.answers import JsonAnswer, StreamAnswer, begun
from harena.server.bodies import LINES, JsonRoute
from harena.server.bounds import MOST_LINES_BYTES, Id, OptionalWord
from harena.server.event_streams import EVENT_SCHEMA, EVENTS, LastEventId, sent
from harena.server.routes.dependencies import Once, Reader, State, Writer
from harena.server.routes.given_files import with_files
from harena.server.waiting import MOST_WAIT_SECONDS, found_after
from harena.server.whole_results import whole_results

router = APIRouter(prefix="/v1/benchmark_jobs", tags=["benchmark jobs"], route_class=JsonRoute)

_LINES_TOLD = "A `JobLinesBody`, then one scenario to a line."
_OR_LINES = {
    "requestBody": {
        "content": {
            LINES: {
                "schema": {
                    "type": "string",
                    "maxLength": MOST_LINES_BYTES,
                    "description": _LINES_TOLD,
                }
            }
        }
    }
}


@router.post("", status_code=201, response_model=BenchmarkJob, openapi_extra=_OR_LINES)
async def create(
    asked: shapes.JobBody,
    caller: Writer,
    state: State,
    key: Once,
) -> JsonAnswer:
    """Check everything, then start a job. Nothing has been started where the answer is a problem.

    Many scenarios are sent as lines (application/x-ndjson): first the job without them, then one to a line.
    """
    state.check_not_draining()

    async def made() -> Mapping[str, Any]:
        return (await _create(state.operations.in_workspace(caller.workspace), asked, key)).to_dict()

    job = await state.idempotency.once(caller.workspace, "benchmark_jobs", key, made, stored=True)
    return JsonAnswer(job, status_code=201)


@router.get("", response_model=BenchmarkJobsPage)
async def list_jobs(
    caller: Reader,
    state: State,
    name: OptionalWord = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    cursor: Annotated[int | None, Query(ge=0, le=MOST_CURSOR)] = None,
) -> JsonAnswer:
    """Benchmark jobs of your workspace, newest first."""
    jobs = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await jobs.list_benchmark_jobs(name=name, before=cursor, limit=limit))


@router.get("/{job}", response_model=BenchmarkJob)
async def get(
    job: Id,
    caller: Reader,
    state: State,
    wait_seconds: Annotated[float, Query(ge=0, le=MOST_WAIT_SECONDS)] = 0.0,
) -> JsonAnswer:
    """A job by its id or name (the newest of that name); with `wait_seconds` when it has ended, or after that time."""
    jobs = state.operations.in_workspace(caller.workspace)

    async def ended(job_id: str) -> None:  # and not `wait_benchmark_job`, which reads all results
        cursor = (await jobs.get_benchmark_job(job_id)).cursor
        async for _ in jobs.benchmark_job_events(job_id, after=cursor):
            pass

    return JsonAnswer(await found_after(state, jobs.get_benchmark_job, ended, job, wait_seconds))


@router.get("/{job}/results", response_model=BenchmarkResults)
async def results(job: Id, caller: Reader, state: State) -> StreamAnswer:
    """The results so far, the runs in the order in which they ended; made while they are sent."""
    return await begun(whole_results(state.operations.in_workspace(caller.workspace), job), "application/json")


@router.get("/{job}/results/page", response_model=ResultsPage)
async def results_page(
    job: Id,
    caller: Reader,
    state: State,
    after: Annotated[int, Query(ge=0, le=MOST_CURSOR)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> JsonAnswer:
    """Results in the order in which runs ended, from the first after cursor `after`."""
    jobs = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await jobs.benchmark_job_results_page(job, after=after, limit=limit))


@router.get("/{job}/summary", response_model=JobSummary)
async def summary(job: Id, caller: Reader, state: State) -> JsonAnswer:
    """The results so far without the runs themselves."""
    return JsonAnswer(await state.operations.in_workspace(caller.workspace).benchmark_job_summary(job))


@router.delete("/{job}", status_code=204)
async def delete(job: Id, caller: Writer, state: State) -> Response:
    """Delete a job that has ended, with its results."""
    await state.operations.in_workspace(caller.workspace).delete_benchmark_job(job)
    return Response(status_code=204)


@router.post("/{job}/cancel", response_model=BenchmarkJob)
async def cancel(job: Id, caller: Writer, state: State) -> JsonAnswer:
    """Stop the job's running sandboxes and end it; no effect on a job that has ended."""
    return JsonAnswer(await state.operations.in_workspace(caller.workspace).cancel_benchmark_job(job))


@router.get(
    "/{job}/events",
    status_code=200,
    response_class=StreamAnswer,
    responses={200: {"content": {EVENTS: {"schema": EVENT_SCHEMA}}}},
)
async def events(
    job: Id,
    caller: Reader,
    state: State,
    after: Annotated[int, Query(ge=0, le=MOST_CURSOR)] = 0,
    last_event_id: LastEventId = None,
) -> StreamAnswer:
    """Server-sent events from the first after cursor `after` (or Last-Event-ID) to the job's end.

    Each has its cursor as `id` and its kind as `event`. The last one is `end`; a stream without it broke off, and is
    asked for again from the last cursor.
    """
    jobs = state.operations.in_workspace(caller.workspace)
    job_id = (await jobs.get_benchmark_job(job)).id
    found = jobs.benchmark_job_events(job_id, after=last_event_id if last_event_id is not None else after)
    return await begun(sent(state, found), EVENTS)


async def _create(jobs: Operations, asked: shapes.JobBody, key: IdempotencyKey | None) -> BenchmarkJob:
    request: dict[str, Any] = {name: getattr(asked, name) for name in ("name", "blueprint_id", "format", "grader")}
    request["config"] = asked.config.model_dump(exclude_unset=True)
    request["webhook"] = asked.webhook and asked.webhook.model_dump()
    async with with_files({**request, "scenarios": asked.scenarios, "candidates": asked.candidates}) as asking:
        return await jobs.create_benchmark_job(asking, key=key)
