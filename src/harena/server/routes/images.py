"""/v1/images and /v1/image_pulls: what sandboxes can have as their root."""

from __future__ import annotations

from harena.core.operations import images as table
from harena.server.answers import StreamAnswer, begin_stream
from harena.server.bounds import Id
from harena.server.event_streams import EVENTS, After, LastEventId, send_events
from harena.server.routes.dependencies import Reader, State
from harena.server.table_routes import TableRoutes

routes = TableRoutes(table.OPERATIONS)


@routes.by_hand(table.EVENTS)
async def events(
    pull: Id, caller: Reader, state: State, after: After = 0, last_event_id: LastEventId = None
) -> StreamAnswer:
    """Server-sent events from the first after cursor `after` (or Last-Event-ID) to the pull's end, as those of
    benchmark jobs."""
    images = state.operations.in_workspace(caller.workspace)
    pull_id = (await images.get_image_pull(pull)).id
    found = images.image_pull_events(pull_id, after=last_event_id if last_event_id is not None else after)
    return await begin_stream(send_events(state, found), EVENTS)
