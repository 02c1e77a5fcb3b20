"""When a request that was refused is sent again: a decision on values, no I/O.

A request over the rate of its key was not looked at, and is sent again whatever it asks for. What else names a time to
come back is sent again only where twice is the same as once. A workspace that has too many sandboxes or jobs is not
waited for: only its user knows whether any will end.
"""

from __future__ import annotations

from collections.abc import Mapping

from harena.core.errors import HarenaError, LimitExceededError

MOST_SECONDS = 60.0
"""longest time that one request waits in total"""
FIRST_SECONDS = 0.05
"""the least pause, doubled with each try: many that wait at once must not fill the time with asking"""

_IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE"})


def is_idempotent(method: str, headers: Mapping[str, str]) -> bool:
    """Sent twice, the request does what it does once."""
    return method in _IDEMPOTENT or "idempotency-key" in headers


def pause_seconds(error: HarenaError, *, idempotent: bool, tries: int, waited: float) -> float | None:
    """How long to wait before sending it again, after `tries` that took `waited` seconds of pauses; None = do not."""
    if error.retry_delay is None:
        return None
    if isinstance(error, LimitExceededError):
        if error.reason not in ("REQUEST_RATE", "BUSY"):
            return None
    elif not idempotent:
        return None
    pause = max(error.retry_delay.total_seconds(), FIRST_SECONDS * 2 ** (tries - 1))
    return pause if waited + pause <= MOST_SECONDS else None
