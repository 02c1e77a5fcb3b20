"""What a sandbox has written, as descriptors that outlive the sandbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable


class UpperLayer:
    """Implements `harena.core.ports.UpperLayer`. Init has sent the descriptors: who reads them checks what they are."""

    def __init__(self, image: str, close: Callable[[int], Awaitable[None]]) -> None:
        """`close` closes a descriptor where that takes as long as it takes."""
        self.image = image
        self.folder = self.users = -1
        self.below: list[int] = []
        self.places: dict[str, int] = {}
        self._close = close
        self.is_closed = False

    def take_folder(self) -> int:
        """The descriptor of the folder, which is the caller's from now on."""
        folder, self.folder = self.folder, -1
        return folder

    async def close(self) -> None:
        """Close the layer's descriptors."""
        self.is_closed = True
        descriptors = self.folder, self.users, *self.below, *self.places.values()
        self.folder = self.users = -1
        self.below, self.places = [], {}
        for descriptor in descriptors:
            if descriptor >= 0:
                await self._close(descriptor)
