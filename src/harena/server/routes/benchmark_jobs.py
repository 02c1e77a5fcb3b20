"""/v1/benchmark_jobs: many scenarios, each run and scored in its own sandbox; /v1/scores: one, without a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harena.core.operations import benchmark_jobs as table
from harena.jobs.models import ScoreRequest
from harena.server import shapes
from harena.server.answers import StreamAnswer, begin_stream
from harena.server.bounds import MOST_LINES_BYTES, Id
from harena.server.event_streams import EVENTS, After, LastEventId, send_events
from harena.server.routes.dependencies import Reader, State
from harena.server.strict_json import LINES
from harena.server.table_routes import JsonBody, TableRoutes
from harena.server.whole_results import whole_results

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


def _request(asked: shapes.JobBody) -> Mapping[str, Any]:
    fields = ("name", "blueprint_id", "format", "grader", "scenarios", "candidates")
    request: dict[str, Any] = {name: getattr(asked, name) for name in fields}
    request["config"] = asked.config.model_dump(exclude_unset=True)
    request["webhook"] = asked.webhook and asked.webhook.model_dump()
    return request


routes = TableRoutes(
    table.OPERATIONS,
    {table.CREATE: JsonBody(shapes.JobBody, _request, documented=_OR_LINES), table.SCORE: JsonBody(ScoreRequest)},
)


@routes.by_hand(table.RESULTS)
async def results(job: Id, caller: Reader, state: State) -> StreamAnswer:
    """The results so far, the runs in the order in which they ended; made while they are sent."""
    jobs = state.operations.in_workspace(caller.workspace)
    return await begin_stream(whole_results(jobs, job), table.RESULTS.media_type)


@routes.by_hand(table.EVENTS)
async def events(
    job: Id,
    caller: Reader,
    state: State,
    after: After = 0,
    last_event_id: LastEventId = None,
) -> StreamAnswer:
    """Server-sent events from the first after cursor `after` (or Last-Event-ID) to the job's end.

    Each has its cursor as `id` and its kind as `event`. The last one is `end`; a stream without it broke off, and is
    asked for again from the last cursor.
    """
    jobs = state.operations.in_workspace(caller.workspace)
    job_id = (await jobs.get_benchmark_job(job)).id
    found = jobs.benchmark_job_events(job_id, after=last_event_id if last_event_id is not None else after)
    return await begin_stream(send_events(state, found), EVENTS)
