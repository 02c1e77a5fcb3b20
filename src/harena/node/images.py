"""Where a node's runtime gets the roots of images: one store of images for each workspace, opened when it is asked for.

Workspaces share no store: what is in one is found by digests that whoever writes an image chooses, so in a common store
an image could be made of what another workspace has pulled.
"""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from harena.core.threads import NODE
from harena.core.workspace import checked_workspace

if TYPE_CHECKING:
    from harena.core.clock import Clock
    from harena.core.records.images import ImageRoot
    from harena.image_store.images import Images
    from harena.image_store.turns import ImageTurns


_log = logging.getLogger("harena.node")


class NodeImages:
    """Implements `ImageSource`. Used from one event loop."""

    def __init__(self, place: Path, clock: Clock, *, for_server: bool) -> None:
        """`place`: where the stores are, a directory for each workspace; `for_server`: as `Images` has it."""
        self._place = place
        self._clock = clock
        self._for_server = for_server
        self._stores: dict[str, Images] = {}
        self._turns: ImageTurns | None = None

    def store(self, workspace: str) -> Images:
        """The store of a workspace."""
        found = self._stores.get(workspace)
        if found is None:
            from harena.image_store.images import Images
            from harena.image_store.turns import ImageTurns

            self._turns = self._turns or ImageTurns()
            place = self._place / checked_workspace(workspace)
            found = Images(place, self._clock, for_server=self._for_server, turns=self._turns)
            self._stores[workspace] = found
        return found

    async def root_of(self, workspace: str, reference: str) -> ImageRoot:
        """Find an image's root in the workspace's store, which is loaded first if need be."""
        if not self._stores:
            await NODE.run(_load)
        return await self.store(workspace).root_of(workspace, reference)

    def hold(self, workspace: str, digest: str) -> AbstractContextManager[None]:
        """Keep an image of the workspace's store from being collected for as long as the context is open."""
        return self.store(workspace).hold(workspace, digest)

    async def remove_left(self) -> None:
        """Remove what killed processes have left in the making in the stores of all workspaces: whose workspace asks
        for no image any more would keep it."""
        for place in await NODE.run(_folders_in, self._place):
            await NODE.run(_remove_left, place, self._clock.utcnow().timestamp())

    def abandon(self) -> None:
        """In a forked child: let go of the parent's stores, without ending what pulls images."""
        self._stores.clear()
        self._turns = None

    async def close(self) -> None:
        """End what pulls images."""
        for store in self._stores.values():
            await store.close()


def _folders_in(place: Path) -> list[Path]:
    return [folder for folder in place.iterdir() if folder.is_dir()] if place.is_dir() else []


def _remove_left(place: Path, now: float) -> None:
    from harena.image_store.store import ImageStore

    try:
        ImageStore(place).remove_left(now)
    except OSError as error:  # of this store; whoever opens it is told
        _log.warning("what was left in %s cannot be removed: %s", place, error)


def _load() -> None:
    import harena.image_store.images  # noqa: F401
