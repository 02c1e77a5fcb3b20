"""A token bucket as a value: the caller passes the time."""

from __future__ import annotations

from dataclasses import dataclass

_ALMOST = 1e-9
"""what sums of fractions may be wrong by"""


@dataclass(slots=True)
class TokenBucket:
    """Holds `burst` tokens at most and gets `rate` a second. Each request takes one: so in any `t` seconds there are at
    most `burst + rate * t` requests."""

    tokens: float
    at: float
    """when there were so many"""

    def take(self, now: float, *, rate: float, burst: float) -> float:
        """0.0 where a token was taken; else the seconds after which there will be one, and none was taken."""
        self.tokens = min(burst, self.tokens + max(0.0, now - self.at) * rate)
        self.at = max(self.at, now)
        if self.tokens >= 1 - _ALMOST:
            self.tokens = max(0.0, self.tokens - 1)
            return 0.0
        return (1 - self.tokens) / rate
