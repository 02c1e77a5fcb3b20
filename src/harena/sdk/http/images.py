"""The part of `Operations` that is about images, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

from harena.core.errors import ValidationError
from harena.core.images import image_id, parse_reference
from harena.core.operations import images as table
from harena.core.records.images import Image, ImagePull, ImagePullEvent
from harena.sdk.http.events import followed
from harena.sdk.http.from_table import FromTable


class HttpImages(FromTable):
    """Used from one event loop."""

    async def wait_image_pull(self, pull: str) -> ImagePull:
        """Wait until the pull is over, also past a server that goes away for a while."""
        return await self.wait_ended(table.GET_PULL, pull, lambda found: found.state.is_over)

    async def image_pull_events(self, pull: str, *, after: int = 0) -> AsyncIterator[ImagePullEvent]:
        """Follow the server's event stream from the first event after `after` to the pull's end."""
        where = partial(self.place, table.EVENTS, pull=pull)
        async with aclosing(followed(self._connection, ImagePullEvent, where, after)) as events:
            async for event in events:
                yield event

    async def import_image(self, reference: str, tree: AsyncIterable[bytes]) -> Image:
        """Upload an archive as it is read, and keep it as the image `reference`. Raises ValidationError for a bad
        reference."""
        return await self.send_bytes(table.IMPORT, {"reference": str(parse_reference(reference)), "tree": tree})

    async def reachable(self, noun: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """A reference with a slash cannot be in a path: its id stands there."""
        if noun == table.NOUN and "/" in given.get("image", ""):
            try:
                given = {**given, "image": image_id(parse_reference(given["image"]))}
            except ValidationError:  # it names no image, and so none is found by it
                given = {**given, "image": "nothing"}
        return await super().reachable(noun, given)
