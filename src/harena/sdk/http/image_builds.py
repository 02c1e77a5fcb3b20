"""The part of `Operations` that is about builds of images, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial

from harena.core.operations import image_builds as table
from harena.core.records.image_builds import ImageBuild, ImageBuildEvent
from harena.sdk.http.events import followed
from harena.sdk.http.from_table import FromTable


class HttpImageBuilds(FromTable):
    """Used from one event loop."""

    async def wait_image_build(self, build: str) -> ImageBuild:
        """Wait until the build is over, also past a server that goes away for a while."""
        return await self.wait_ended(table.GET, build, lambda found: found.state.is_over)

    async def image_build_events(self, build: str, *, after: int = 0) -> AsyncIterator[ImageBuildEvent]:
        """Follow the server's event stream from the first event after `after` to the build's end."""
        where = partial(self.place, table.EVENTS, build=build)
        async with aclosing(followed(self._connection, ImageBuildEvent, where, after)) as events:
            async for event in events:
                yield event
