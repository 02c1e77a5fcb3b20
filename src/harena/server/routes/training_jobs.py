"""/v1/training_jobs: models that learn; requests as in `harena.training.requests.request`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from harena.core.operations import training_jobs as table
from harena.core.training_sources import check_no_paths
from harena.scoring.bounds import AtMost
from harena.server.answers import JsonAnswer, StreamAnswer, begin_stream
from harena.server.bounds import Id
from harena.server.event_streams import EVENTS, After, LastEventId, send_events
from harena.server.routes.dependencies import Reader, State, Writer
from harena.server.table_routes import JsonBody, TableRoutes
from harena.server.training_shapes import TRAINING_REQUEST, RetryBody

TrainingBody = Annotated[dict[str, Any], AtMost(100)]
"""a request, which `harena.training.requests.request` checks"""


def _without_paths(asked: dict[str, Any]) -> Mapping[str, Any]:
    check_no_paths(asked)
    return asked


_REQUEST = JsonBody(TrainingBody, _without_paths, documented=TRAINING_REQUEST)
routes = TableRoutes(table.OPERATIONS, {table.CREATE: _REQUEST, table.PLAN: _REQUEST})


@routes.by_hand(table.RETRY)
async def retry(job: Id, asked: RetryBody, caller: Writer, state: State) -> JsonAnswer:
    """Queue a job that has ended once more."""
    state.check_not_draining()
    jobs = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await jobs.retry_training_job(job, start=asked.start))


@routes.by_hand(table.EVENTS)
async def events(
    job: Id, caller: Reader, state: State, after: After = 0, last_event_id: LastEventId = None
) -> StreamAnswer:
    """Server-sent events from the first after cursor `after` (or Last-Event-ID) to the job's end, as those of benchmark
    jobs."""
    jobs = state.operations.in_workspace(caller.workspace)
    job_id = (await jobs.get_training_job(job)).id
    found = jobs.training_job_events(job_id, after=last_event_id if last_event_id is not None else after)
    return await begin_stream(send_events(state, found), EVENTS)
