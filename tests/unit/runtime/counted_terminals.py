"""Shares of terminals that tell when the last one is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from harena.runtime.host.shares import Shares


class Counted(Shares):
    """So many terminals, and the moment in which none is taken any more."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.all_gone = asyncio.Event()

    def give_back(self, holder: Hashable) -> None:
        """See `Shares`."""
        super().give_back(holder)
        if not self._owners:
            self.all_gone.set()
