"""What each workspace may use, and how fast each key may ask. Used from one event loop.

What the store said about a workspace is believed for KNOWN_SECONDS, and for longer while the store is away.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from datetime import timedelta
from typing import Any, Protocol

from harena.core.clock import Clock
from harena.core.errors import LimitExceededError, PlatformError
from harena.core.workspace import OwnLimits, WorkspaceLimits
from harena.server.identity import Caller
from harena.server.shared_rates import SYNC_SECONDS, SharedRates
from harena.server.token_bucket import TokenBucket

KNOWN_SECONDS = 2.0
MOST_KNOWN = 10_000


class LimitSource(Protocol):
    """Where a workspace's own limits are kept."""

    async def limits(self, workspace: str) -> OwnLimits:
        """Limits of a workspace that differ from the defaults. Raises PlatformError."""


class Quotas:
    """What each workspace of one server may use, and how many requests it may still send."""

    def __init__(
        self,
        defaults: WorkspaceLimits,
        source: LimitSource | None,
        clock: Clock,
        *,
        shared: SharedRates | None = None,
    ) -> None:
        """`defaults` is what a workspace may use for which `source` (None = there is none) says nothing else. `shared`:
        where other servers tell what they have let in; None = there is no other."""
        self._shared = shared
        self._defaults = defaults
        self._source = source
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, WorkspaceLimits]] = OrderedDict()
        """workspace -> (until when it is believed, its limits)"""
        self._rates: OrderedDict[str, float] = OrderedDict()
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()
        """by key; of those that were used last"""

    async def limits_of(self, workspace: str) -> WorkspaceLimits:
        """Find the workspace's limits: its own where it has some, else the server's; read anew after a short time."""
        if self._source is None:
            return self._defaults
        now = self._clock.now()
        until, limits = self._known.get(workspace, (0.0, None))
        if limits is None or until <= now:
            try:
                own: dict[str, Any] = dict(await self._source.limits(workspace))
            except PlatformError:
                if limits is None:
                    raise
            else:
                limits = replace(self._defaults, **own)
            _remember(self._known, workspace, (now + KNOWN_SECONDS, limits))
        return limits

    async def admit(self, caller: Caller) -> WorkspaceLimits:
        """One request of this caller's; what its workspace may use. Raises LimitExceededError."""
        limits = await self.limits_of(caller.workspace)
        now = self._clock.now()
        name = caller.key_id or f"workspace {caller.workspace}"
        bucket = self._buckets.get(name) or TokenBucket(limits.request_burst, now)
        _remember(self._buckets, name, bucket)
        wait = bucket.take(now, rate=limits.requests_per_second, burst=limits.request_burst)
        if self._shared is not None:
            _remember(self._rates, name, limits.requests_per_second)
            self._shared.note_request(name, let_in=not wait)
        if wait:
            raise LimitExceededError(
                f"this API key may send {limits.requests_per_second:g} requests a second, and {limits.request_burst} "
                f"at once: ask again in {wait:.3g} seconds",
                reason="REQUEST_RATE",
                retry_delay=timedelta(seconds=wait),
            )
        return limits

    def spent_elsewhere(self, name: str, requests: int, seconds: float) -> None:
        """Subtract what other servers took from the bucket. What was refilled since, but for the last second, is not
        owed any more."""
        bucket = self._buckets.get(name)
        if bucket is not None:
            refilled = self._rates.get(name, 0.0) * max(0.0, seconds - SYNC_SECONDS)
            bucket.tokens -= max(0.0, requests - refilled)


def _remember(entries: OrderedDict[str, Any], name: str, entry: Any) -> None:
    """Insert an entry as the newest; the oldest is forgotten where there are too many."""
    entries[name] = entry
    entries.move_to_end(name)
    if len(entries) > MOST_KNOWN:
        entries.popitem(last=False)
