"""/v1/benchmark_jobs: many scenarios, each run and scored in its own sandbox; answers as in `harena.jobs.models`."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from harena.core.errors import HarenaError, NotFoundError, ValidationError
from harena.core.problems import to_problem
from harena.server import shapes
from harena.server.answers import JsonAnswer, StreamAnswer, begun
from harena.server.routes.asking import Reader, State, Writer
from harena.server.routes.sandboxes import MOST_WAIT_SECONDS, first_of
from harena.server.state import ServerState

router = APIRouter(prefix="/v1/benchmark_jobs", tags=["benchmark jobs"])

SILENCE_SECONDS = 15.0
"""after which a comment says that the connection still stands"""
MOST_CURSOR = (1 << 63) - 1
"""what the store can count to"""
_EVENTS = "text/event-stream"


@router.post("", status_code=201, response_model=shapes.Whole)
async def create(
    asked: shapes.JobAsked,
    request: Request,
    caller: Writer,
    state: State,
    idempotency_key: Annotated[str | None, Header()] = None,
) -> JsonAnswer:
    """Check everything, then start a job. Nothing has been started where the answer is a problem."""
    state.check_not_draining()

    async def made() -> Mapping[str, Any]:
        job = await _create(state, asked)
        await state.store.note_job(job["id"], caller.workspace, job["name"])
        return job

    job = await state.idempotency.once(caller.workspace, "benchmark_jobs", idempotency_key, await request.body(), made)
    return JsonAnswer(job, status_code=201)


@router.get("", response_model=shapes.JobsAnswer)
async def list_jobs(
    caller: Reader,
    state: State,
    name: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    cursor: Annotated[int | None, Query(ge=0, le=MOST_CURSOR)] = None,
) -> JsonAnswer:
    """Those of your workspace, newest first."""
    found = await state.store.list_jobs(caller.workspace, name=name, before=cursor, limit=limit + 1)
    page = found[:limit]
    jobs = []
    for _, job_id in page:
        with suppress(NotFoundError):  # the store of jobs was moved away
            jobs.append(await state.operations.get_benchmark_job(job_id))
    return JsonAnswer({"benchmark_jobs": jobs, "next_cursor": page[-1][0] if len(found) > limit else None})


@router.get("/{job}", response_model=shapes.Whole)
async def get(
    job: str,
    caller: Reader,
    state: State,
    wait_seconds: Annotated[float, Query(ge=0, le=MOST_WAIT_SECONDS)] = 0.0,
) -> JsonAnswer:
    """A job by its id or name (the newest of that name); with `wait_seconds` when it has ended, or after that time."""
    job_id = await _find(state, caller.workspace, job)
    if wait_seconds > 0:
        await first_of(state, state.operations.wait_benchmark_job(job_id), wait_seconds)
    return JsonAnswer(await state.operations.get_benchmark_job(job_id))


@router.get("/{job}/results", response_model=shapes.Whole)
async def results(job: str, caller: Reader, state: State) -> JsonAnswer:
    """The results so far."""
    return JsonAnswer(await state.operations.benchmark_job_results(await _find(state, caller.workspace, job)))


@router.get("/{job}/results/page", response_model=shapes.Whole)
async def results_page(
    job: str,
    caller: Reader,
    state: State,
    after: Annotated[int, Query(ge=0, le=MOST_CURSOR)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> JsonAnswer:
    """Results in the order in which runs ended, from the first after cursor `after`."""
    job_id = await _find(state, caller.workspace, job)
    return JsonAnswer(await state.operations.benchmark_job_results_page(job_id, after=after, limit=limit))


@router.delete("/{job}", status_code=204)
async def delete(job: str, caller: Writer, state: State) -> Response:
    """Delete a job that has ended, with its results."""
    await state.operations.delete_benchmark_job(await _find(state, caller.workspace, job))
    return Response(status_code=204)


@router.post("/{job}/cancel", response_model=shapes.Whole)
async def cancel(job: str, caller: Writer, state: State) -> JsonAnswer:
    """Stop the job's running sandboxes and end it; no effect on a job that has ended."""
    return JsonAnswer(await state.operations.cancel_benchmark_job(await _find(state, caller.workspace, job)))


@router.get(
    "/{job}/events",
    status_code=200,
    response_class=StreamAnswer,
    responses={200: {"content": {_EVENTS: {"schema": {"type": "string"}}}}},
)
async def events(
    job: str,
    caller: Reader,
    state: State,
    after: Annotated[int, Query(ge=0, le=MOST_CURSOR)] = 0,
    last_event_id: Annotated[int | None, Header(ge=0, le=MOST_CURSOR)] = None,
) -> StreamAnswer:
    """Server-sent events from the first after cursor `after` (or Last-Event-ID) to the job's end.

    Each has its cursor as `id` and its kind as `event`. The last one is `end`; a stream without it broke off, and is
    asked for again from the last cursor.
    """
    job_id = await _find(state, caller.workspace, job)
    found = state.operations.benchmark_job_events(job_id, after=last_event_id if last_event_id is not None else after)
    return await begun(_sent(state, found), _EVENTS)


async def _sent(state: ServerState, found: AsyncIterator[Mapping[str, Any]]) -> AsyncGenerator[bytes, None]:
    draining = asyncio.ensure_future(state.draining.wait())
    coming: asyncio.Future[Mapping[str, Any] | None] | None = None
    try:
        yield b": events\n\n"  # whoever asks learns at once that there is such a job
        while not draining.done():
            coming = coming or asyncio.ensure_future(_next(found))
            waits: list[asyncio.Future[Any]] = [coming, draining]
            await asyncio.wait(waits, timeout=SILENCE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                yield b": still here\n\n"
                continue
            event, coming = coming.result(), None
            if event is None:
                yield _event("end", {})
                return
            yield _event(event["kind"], event, event["cursor"])
    except HarenaError as error:
        yield _event("problem", to_problem(error))
    finally:
        draining.cancel()
        if coming is not None:
            coming.cancel()
            await asyncio.wait([coming])
        close = getattr(found, "aclose", None)
        if close is not None:
            await close()


async def _next(found: AsyncIterator[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    return await anext(found, None)


def _event(kind: str, content: Mapping[str, Any], cursor: int | None = None) -> bytes:
    number = "" if cursor is None else f"id: {cursor}\n"
    return f"{number}event: {kind}\ndata: {json.dumps(content)}\n\n".encode()


async def _find(state: ServerState, workspace: str, job: str) -> str:
    job_id = await state.store.find_job(workspace, job)
    if job_id is None:
        raise NotFoundError(f"no benchmark job has the id or name {job!r}; `harena benchmark ls` shows what there is")
    return job_id


async def _create(state: ServerState, asked: shapes.JobAsked) -> Mapping[str, Any]:
    request = asked.model_dump(include={"name", "blueprint_id", "format", "grader"})
    request["config"] = asked.config.model_dump(exclude_unset=True)
    # files are read as files are, so that a mistake is told with its line; gone when everything has been read
    with tempfile.TemporaryDirectory(prefix="harena-scenarios-") as folder:
        for field in ("scenarios", "candidates"):
            given = getattr(asked, field)
            request[field] = await _written(folder, field, given) if isinstance(given, shapes.ScenarioFile) else given
        try:
            return await state.operations.create_benchmark_job(request)
        except ValidationError as error:
            text = str(error)
            for field in ("scenarios", "candidates"):
                text = text.replace(f"{folder}/{field}/", "")
            raise ValidationError(text, reason=error.reason) from error


async def _written(folder: str, field: str, given: shapes.ScenarioFile) -> Path:
    name = PurePosixPath(given.file_name).name
    if not name or name in (".", "..") or "\0" in name or len(name.encode("utf-8", "replace")) > 255:
        raise ValidationError(f"{field}.file_name {given.file_name!r}: give the name of a file, as a.yaml")
    path = Path(folder) / field / name
    path.parent.mkdir()
    await asyncio.to_thread(path.write_text, given.text, encoding="utf-8")
    return path
