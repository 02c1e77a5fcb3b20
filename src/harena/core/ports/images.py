"""Images: what a runtime asks for a root, and what a node can do with them for one workspace."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated, Protocol

from harena.core.images import MOST_REFERENCE, MOST_UNUSED_SECONDS, ArchiveFormat
from harena.core.parameters import After, Bounds, Cursor, Id, Limit

if TYPE_CHECKING:
    from harena.core.records.images import (
        CollectedImages,
        Image,
        ImagePull,
        ImagePullEvent,
        ImageRoot,
        ImagesPage,
    )

Reference = Annotated[str, Bounds(max_length=MOST_REFERENCE)]
"""names an image, as Docker writes it"""


class ImageSource(Protocol):
    """Where a runtime gets the roots of sandboxes. Used from one event loop."""

    async def root_of(self, workspace: str, reference: str) -> ImageRoot:
        """The image that a workspace means by this reference; it is pulled where it is not here.

        Raises ValidationError (it is no reference), NotFoundError (its registry has no such image) and ImagePullError
        (it cannot be had, or is broken). A reference that is here is not asked for at its registry again."""

    def hold(self, workspace: str, digest: str) -> AbstractContextManager[None]:
        """While it is entered, no layer of this image of the workspace is removed. It takes no thread.

        Entering raises NotFoundError where the image has been removed since `root_of`; ask that again then."""


class ImageOperations(Protocol):
    """Images of one workspace. An image is named by its id, its reference, or the digest of its manifest."""

    async def pull_image(self, reference: Reference, *, refresh: bool = True) -> ImagePull:
        """Begin to pull an image, and answer at once. What is pulled already is joined. A tag is resolved once and then
        kept until it is pulled again; without `refresh`, an image that is here is not asked for at its registry.

        Raises ValidationError (it is no reference, or its registry is not allowed)."""

    async def get_image_pull(self, pull: Id) -> ImagePull:
        """A pull; with `wait_seconds` when it has ended, or after that time. It is forgotten an hour after its end.

        Raises NotFoundError."""

    async def wait_image_pull(self, pull: str) -> ImagePull:
        """Returns the pull when it has ended."""

    async def cancel_image_pull(self, pull: Id) -> ImagePull:
        """End a pull, unless other workspaces wait for it, too. No effect on one that has ended.

        Raises NotFoundError."""

    def image_pull_events(self, pull: Id, *, after: After = 0) -> AsyncIterator[ImagePullEvent]:
        """Changes of a pull with a growing `cursor`, from the first after `after` to its end. Of changes that followed
        each other quickly, the last one is told.

        Raises NotFoundError before the first one."""

    async def list_images(self, *, limit: Limit = 100, cursor: Cursor = None) -> ImagesPage:
        """Images of your workspace, by their references."""

    async def get_image(self, image: Id) -> Image:
        """An image.

        Raises NotFoundError."""

    async def remove_image(self, image: Id) -> None:
        """Forget an image of your workspace. Its layers are removed when no sandbox and no other image needs them.

        Raises NotFoundError."""

    async def collect_images(
        self, *, unused_seconds: Annotated[int | None, Bounds(ge=0, le=MOST_UNUSED_SECONDS)] = None
    ) -> CollectedImages:
        """Remove what no image needs any more, and the images that were not used for the longest time until the rest
        fits the node's budget; with `unused_seconds`, also each image of your workspace that was not used for so long.
        What a sandbox uses stays."""

    async def import_image(self, reference: Reference, tree: AsyncIterable[bytes]) -> Image:
        """Make an image of a tar stream: an OCI layout, what `docker save` writes, or a root file system.

        Raises ValidationError (it is broken), ImagePullError (there is no room)."""

    def export_image(self, image: Id, *, form: ArchiveFormat = "oci") -> AsyncIterator[bytes]:
        """An image as a tar stream: an OCI layout, or what `docker load` reads.

        Raises NotFoundError before the first piece."""
