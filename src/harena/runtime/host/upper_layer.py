"""What a sandbox of an image has written, as descriptors that outlive the sandbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable


class UpperLayer:
    """Implements `harena.core.ports.UpperLayer`. Init has sent the descriptors: who reads them checks what they are."""

    def __init__(self, image: str, close: Callable[[int], Awaitable[None]]) -> None:
        """`close` closes a descriptor where that takes as long as it takes."""
        self.image = image
        self.folder = self.users = -1
        self._close = close

    async def close(self) -> None:
        """See `harena.core.ports.UpperLayer`."""
        descriptors = self.folder, self.users
        self.folder = self.users = -1
        for descriptor in descriptors:
            if descriptor >= 0:
                await self._close(descriptor)
