"""/v1/image_builds: images that are built from Dockerfiles."""

from __future__ import annotations

from harena.core.operations import image_builds as table
from harena.server.answers import StreamAnswer, begin_stream
from harena.server.bounds import Id
from harena.server.event_streams import EVENTS, After, LastEventId, send_events
from harena.server.routes.dependencies import Reader, State
from harena.server.table_routes import TableRoutes

routes = TableRoutes(table.OPERATIONS)


@routes.by_hand(table.EVENTS)
async def events(
    build: Id, caller: Reader, state: State, after: After = 0, last_event_id: LastEventId = None
) -> StreamAnswer:
    """Server-sent events from the first after cursor `after` (or Last-Event-ID) to the build's end, as those of
    benchmark jobs; with `output`, what a command has said."""
    builds = state.operations.in_workspace(caller.workspace)
    build_id = (await builds.get_image_build(build)).id
    found = builds.image_build_events(build_id, after=last_event_id if last_event_id is not None else after)
    return await begin_stream(send_events(state, found), EVENTS)
