"""What there are few of in this process, shared among workspaces so that none can take them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable


class Shares:
    """So many of one kind at one time. A workspace has no more than are left for others (the dynamic thresholds of
    shared buffers): one alone gets a half, a second one beside it a quarter. Used from one event loop."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._owners: dict[Hashable, str] = {}
        self._counts: Counter[str] = Counter()

    def take(self, holder: Hashable, workspace: str) -> bool:
        """Whether the workspace may have one more, which is known as `holder` until `give_back`."""
        if self._counts[workspace] >= self.most - len(self._owners):
            return False
        self._owners[holder] = workspace
        self._counts[workspace] += 1
        return True

    def give_back(self, holder: Hashable) -> None:
        """It is gone; also one that was never taken."""
        workspace = self._owners.pop(holder, None)
        if workspace is not None:
            self._counts[workspace] -= 1
            if not self._counts[workspace]:
                del self._counts[workspace]

    def count_of(self, workspace: str) -> int:
        """How many it has."""
        return self._counts[workspace]
