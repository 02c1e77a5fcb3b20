"""The part of `Operations` that is about images, for one workspace of a node."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING

from harena.node.answered import InWorkspace

if TYPE_CHECKING:
    from harena.core.images import ArchiveFormat
    from harena.core.records.images import CollectedImages, Image, ImagePull, ImagePullEvent, ImagesPage
    from harena.image_store.images import Images


class ImageOperations(InWorkspace):
    """Images. Used from one event loop."""

    @property
    def _images(self) -> Images:
        return self._parts.images(self.workspace)

    async def pull_image(self, reference: str, *, refresh: bool = True) -> ImagePull:
        """Begin to pull an image for the workspace."""
        return await self._images.pull(self.workspace, reference, refresh=refresh)

    async def get_image_pull(self, pull: str) -> ImagePull:
        """Look a pull up by its id."""
        return await self._images.get_pull(self.workspace, pull)

    async def wait_image_pull(self, pull: str) -> ImagePull:
        """Wait until a pull is over."""
        return await self._images.wait_pull(self.workspace, pull)

    async def cancel_image_pull(self, pull: str) -> ImagePull:
        """Cancel a pull."""
        return await self._images.cancel_pull(self.workspace, pull)

    def image_pull_events(self, pull: str, *, after: int = 0) -> AsyncIterator[ImagePullEvent]:
        """Follow a pull to its end."""
        return self._images.events(self.workspace, pull, after)

    async def list_images(self, *, limit: int = 100, cursor: int | None = None) -> ImagesPage:
        """Read one page of the workspace's images."""
        return await self._images.page(self.workspace, limit=limit, cursor=cursor)

    async def get_image(self, image: str) -> Image:
        """Find an image by its name, id or digest."""
        return await self._images.get(self.workspace, image)

    async def remove_image(self, image: str) -> None:
        """Forget an image's name in the workspace."""
        await self._images.remove(self.workspace, image)

    async def collect_images(self, *, unused_seconds: int | None = None) -> CollectedImages:
        """Collect images and layers that nothing needs."""
        return await self._images.collect(self.workspace, unused_seconds)

    async def import_image(self, reference: str, tree: AsyncIterable[bytes]) -> Image:
        """Receive an archive as the workspace's image `reference`."""
        return await self._images.import_(self.workspace, reference, tree)

    def export_image(self, image: str, *, form: ArchiveFormat = "oci") -> AsyncIterator[bytes]:
        """Write an image as an archive, piece by piece."""
        return self._images.export(self.workspace, image, form)
