"""Which jobs are so old that they are deleted: those that ended `keep_seconds` ago, by the time of day.

It is the one rule here that needs a time of day, because it lasts longer than any process. A clock that was set must
not delete what people keep: nothing is deleted at a process's first look, nor at a look before which the time of day
has not moved as the monotonic clock has. From one look to the next are EXPIRE_SECONDS, in which it can be set right.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from harena.core.clock import Clock

EXPIRE_SECONDS = 600.0
"""how often a server's node looks for jobs that are too old"""
DRIFT_SECONDS = 60.0
"""by which two honest clocks may differ from one look to the next"""


class Retention:
    """What one node knows of it."""

    def __init__(self, clock: Clock, keep_seconds: float) -> None:
        self._clock = clock
        self._keep = timedelta(seconds=keep_seconds)
        self._looked: tuple[float, datetime] | None = None

    def due(self) -> datetime | None:
        """Jobs that ended before this moment are to be deleted now; None = none are. To be asked now and then."""
        now, today = self._clock.now(), self._clock.utcnow()
        if self._looked is None:
            self._looked = now, today
            return None
        looked_at, looked_on = self._looked
        if now - looked_at < EXPIRE_SECONDS:
            return None
        self._looked = now, today
        set_by = (today - looked_on).total_seconds() - (now - looked_at)
        return None if abs(set_by) > DRIFT_SECONDS else today - self._keep
