"""The part of `Operations` that is about images, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

from harena.core.errors import ValidationError
from harena.core.images import ArchiveFormat, image_id, parse_reference
from harena.core.operations import images as table
from harena.core.operations.sandboxes import OCTETS
from harena.core.records.images import Image, ImagePull, ImagePullEvent
from harena.sdk.http.calls import Calls, over_http
from harena.sdk.http.events import followed


class HttpImages(Calls):
    """Used from one event loop."""

    pull_image = over_http(table.PULL)
    get_image_pull = over_http(table.GET_PULL)
    cancel_image_pull = over_http(table.CANCEL)
    list_images = over_http(table.LIST)
    get_image = over_http(table.GET)
    remove_image = over_http(table.REMOVE)
    collect_images = over_http(table.COLLECT)

    async def wait_image_pull(self, pull: str) -> ImagePull:
        """Wait until the pull is over, also past a server that goes away for a while."""
        return await self.ended(table.GET_PULL, pull, lambda found: found.state.is_over)

    async def image_pull_events(self, pull: str, *, after: int = 0) -> AsyncIterator[ImagePullEvent]:
        """Follow the server's event stream from the first event after `after` to the pull's end."""
        where = partial(self.place, table.EVENTS, pull=pull)
        async with aclosing(followed(self._connection, ImagePullEvent, where, after)) as events:
            async for event in events:
                yield event

    async def import_image(self, reference: str, tree: AsyncIterable[bytes]) -> Image:
        """Upload an archive as it is read, and keep it as the image `reference`. Raises ValidationError for a bad
        reference."""
        query = {"reference": str(parse_reference(reference))}
        async with self._connection.request(
            table.IMPORT.method, table.IMPORT.path, query=query, body=tree, headers={"content-type": OCTETS}
        ) as response:
            answer = self._connection.parsed(await response.read())
        return self._connection.read(Image, answer)

    async def export_image(self, image: str, *, form: ArchiveFormat = "oci") -> AsyncGenerator[bytes, None]:
        """Download an image as an archive, piece by piece."""
        where = await self.place(table.EXPORT, image=image)
        async with self._connection.request(table.EXPORT.method, where, query={"form": form}) as response:
            async for piece in response.content.iter_any():
                yield piece

    async def reachable(self, noun: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """A reference with a slash cannot be in a path: its id stands there."""
        if noun == table.NOUN and "/" in given.get("image", ""):
            try:
                given = {**given, "image": image_id(parse_reference(given["image"]))}
            except ValidationError:  # it names no image, and so none is found by it
                given = {**given, "image": "nothing"}
        return await super().reachable(noun, given)
