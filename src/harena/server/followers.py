"""How many requests of a workspace may wait for jobs, or follow their events, at one time.

Each holds some hundred events, and looks at the store where the job runs elsewhere: what all of them take together has
a bound because their number has one. Used from one event loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from harena.core.errors import LimitExceededError
from harena.core.threads import work_for

MOST_FOLLOWERS = 2000
"""most such requests of one workspace"""
RETRY_SECONDS = 1.0


class Followers:
    """Counts such requests of one server, workspace by workspace."""

    def __init__(self, most: int = MOST_FOLLOWERS) -> None:
        self.most = most
        self._counts: Counter[str] = Counter()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one more request of the present workspace while the context lasts. Raises LimitExceededError."""
        workspace = work_for.get()
        if self._counts[workspace] >= self.most:
            raise LimitExceededError(
                f"{self.most} requests of this workspace wait for jobs or follow their events: end some, or ask again "
                "in a moment",
                reason="BUSY",
                retry_delay=timedelta(seconds=RETRY_SECONDS),
            )
        self._counts[workspace] += 1
        try:
            yield
        finally:
            self._counts[workspace] -= 1
            if not self._counts[workspace]:
                del self._counts[workspace]
