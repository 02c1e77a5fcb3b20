"""What there are few of in this process, shared among workspaces so that none can take them all."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Hashable


class Shares:
    """A number of one kind of thing that may be in use at one time. A workspace has no more than are left for others
    (the dynamic thresholds of shared buffers): one alone gets a half, a second one beside it a quarter. Used from any
    thread."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._renew()
        self._owners: dict[Hashable, str] = {}
        self._counts: Counter[str] = Counter()
        os.register_at_fork(after_in_child=self._renew)  # a thread that a forked child does not have may hold it

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def take(self, holder: Hashable, workspace: str) -> bool:
        """Whether the workspace may have one more, which is known as `holder` until `give_back`."""
        with self._lock:
            if self._counts[workspace] >= self.most - len(self._owners):
                return False
            self._owners[holder] = workspace
            self._counts[workspace] += 1
            return True

    def give_back(self, holder: Hashable) -> None:
        """It is gone; also one that was never taken."""
        with self._lock:
            workspace = self._owners.pop(holder, None)
            if workspace is not None:
                self._counts[workspace] -= 1
                if not self._counts[workspace]:
                    del self._counts[workspace]

    def count_of(self, workspace: str) -> int:
        """How many it has."""
        return self._counts[workspace]
