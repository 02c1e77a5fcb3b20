"""Where a node's runtime gets the roots of images: the store of images, opened when one is first asked for."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from harena.core.clock import Clock
from harena.core.records.images import ImageRoot
from harena.core.threads import NODE

if TYPE_CHECKING:
    from harena.image_store.images import Images


class NodeImages:
    """Implements `ImageSource`. Used from one event loop."""

    def __init__(self, place: Path, clock: Clock, *, for_server: bool) -> None:
        """`place` and `for_server`: as `Images` has them."""
        self._place = place
        self._clock = clock
        self._for_server = for_server
        self._images: Images | None = None

    def store(self) -> Images:
        """The store itself."""
        if self._images is None:
            from harena.image_store.images import Images

            self._images = Images(self._place, self._clock, for_server=self._for_server)
        return self._images

    async def root_of(self, workspace: str, reference: str) -> ImageRoot:
        """See `ImageSource`."""
        if self._images is None:
            await NODE.run(_load)
        return await self.store().root_of(workspace, reference)

    def hold(self, digest: str) -> AbstractContextManager[None]:
        """See `ImageSource`."""
        return self.store().hold(digest)

    async def close(self) -> None:
        """End what pulls images."""
        if self._images is not None:
            await self._images.close()


def _load() -> None:
    import harena.image_store.images  # noqa: F401
