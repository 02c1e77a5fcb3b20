"""The part of `Operations` that is about images, for one workspace of a node."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING

from harena.core.records.image_builds import ImageBuild, ImageBuildEvent
from harena.core.records.images import CollectedImages, Image, ImagePull, ImagePullEvent, ImagesPage

if TYPE_CHECKING:
    from harena.core.images import ArchiveFormat
    from harena.image_store.images import Images
    from harena.node.parts import NodeParts


class ImageOperations:
    """Images. Used from one event loop."""

    workspace: str
    _parts: NodeParts

    @property
    def _images(self) -> Images:
        return self._parts.images(self.workspace)

    async def pull_image(self, reference: str, *, refresh: bool = True) -> ImagePull:
        """See `Operations`."""
        return await self._images.pull(self.workspace, reference, refresh=refresh)

    async def get_image_pull(self, pull: str) -> ImagePull:
        """See `Operations`."""
        return await self._images.get_pull(self.workspace, pull)

    async def wait_image_pull(self, pull: str) -> ImagePull:
        """See `Operations`."""
        return await self._images.wait_pull(self.workspace, pull)

    async def cancel_image_pull(self, pull: str) -> ImagePull:
        """See `Operations`."""
        return await self._images.cancel_pull(self.workspace, pull)

    def image_pull_events(self, pull: str, *, after: int = 0) -> AsyncIterator[ImagePullEvent]:
        """See `Operations`."""
        return self._images.events(self.workspace, pull, after)

    async def list_images(self, *, limit: int = 100, cursor: int | None = None) -> ImagesPage:
        """See `Operations`."""
        return await self._images.page(self.workspace, limit=limit, cursor=cursor)

    async def get_image(self, image: str) -> Image:
        """See `Operations`."""
        return await self._images.get(self.workspace, image)

    async def remove_image(self, image: str) -> None:
        """See `Operations`."""
        await self._images.remove(self.workspace, image)

    async def collect_images(self, *, unused_seconds: int | None = None) -> CollectedImages:
        """See `Operations`."""
        return await self._images.collect(self.workspace, unused_seconds)

    async def import_image(self, reference: str, tree: AsyncIterable[bytes]) -> Image:
        """See `Operations`."""
        return await self._images.import_(self.workspace, reference, tree)

    async def build_image(self, tree: AsyncIterable[bytes]) -> ImageBuild:
        """See `Operations`."""
        return await self._parts.image_builds().begin(self.workspace, tree)

    async def get_image_build(self, build: str) -> ImageBuild:
        """See `Operations`."""
        return await self._parts.image_builds().get(self.workspace, build)

    async def wait_image_build(self, build: str) -> ImageBuild:
        """See `Operations`."""
        return await self._parts.image_builds().wait(self.workspace, build)

    async def cancel_image_build(self, build: str) -> ImageBuild:
        """See `Operations`."""
        return await self._parts.image_builds().cancel(self.workspace, build)

    def image_build_events(self, build: str, *, after: int = 0) -> AsyncIterator[ImageBuildEvent]:
        """See `Operations`."""
        return self._parts.image_builds().events(self.workspace, build, after)

    def export_image(self, image: str, *, form: ArchiveFormat = "oci") -> AsyncIterator[bytes]:
        """See `Operations`."""
        return self._images.export(self.workspace, image, form)
