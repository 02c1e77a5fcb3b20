"""The part of `Operations` that is about builds of images, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import aclosing
from functools import partial

from harena.core.operations import image_builds as table
from harena.core.operations.sandboxes import OCTETS
from harena.core.records.image_builds import ImageBuild, ImageBuildEvent
from harena.sdk.http.calls import Calls, over_http
from harena.sdk.http.events import followed


class HttpImageBuilds(Calls):
    """Used from one event loop."""

    get_image_build = over_http(table.GET)
    cancel_image_build = over_http(table.CANCEL)

    async def build_image(self, tree: AsyncIterable[bytes]) -> ImageBuild:
        """Upload a build's archive as it is read, and start the build."""
        async with self._connection.request(
            table.BUILD.method, table.BUILD.path, body=tree, headers={"content-type": OCTETS}
        ) as response:
            answer = self._connection.parsed(await response.read())
        return self._connection.read(ImageBuild, answer)

    async def wait_image_build(self, build: str) -> ImageBuild:
        """Wait until the build is over, also past a server that goes away for a while."""
        return await self.ended(table.GET, build, lambda found: found.state.is_over)

    async def image_build_events(self, build: str, *, after: int = 0) -> AsyncIterator[ImageBuildEvent]:
        """Follow the server's event stream from the first event after `after` to the build's end."""
        where = partial(self.place, table.EVENTS, build=build)
        async with aclosing(followed(self._connection, ImageBuildEvent, where, after)) as events:
            async for event in events:
                yield event
