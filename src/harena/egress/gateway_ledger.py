"""The requests of one sandbox's gateways: what is told of them, and how many there may be in a minute."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from harena.core.records.gateways import MOST_LOGGED, GatewayEntry, GatewayLog

MOST_METHOD, MOST_PATH, MOST_REASON = 20, 500, 500
"""characters that are kept"""
_SECONDS = 60.0


@dataclass(slots=True)
class Exchange:
    """One request while it is served."""

    at: float
    gateway: str
    method: str = ""
    path: str = ""
    status: int = 0
    forwarded: bool = False
    reason: str = ""
    sent_bytes: int = 0
    received_bytes: int = 0
    noted: bool = False
    """it is in the log"""


class GatewayLedger:
    """Keeps the newest requests. Used from one event loop."""

    def __init__(self, time: Callable[[], float]) -> None:
        """`time`: seconds since the epoch."""
        self._time = time
        self._entries: deque[GatewayEntry] = deque(maxlen=MOST_LOGGED)
        self._number = 0

    def began(self, gateway: str) -> Exchange:
        """A request; it is in the log when `ended` has been called."""
        return Exchange(self._time(), gateway)

    def ended(self, exchange: Exchange, clean: Callable[[str], str]) -> None:
        """Note it. `clean` takes the token and the credential out of a text."""
        self._number += 1
        self._entries.append(
            GatewayEntry(
                number=self._number,
                at=exchange.at,
                gateway=exchange.gateway,
                method=exchange.method[:MOST_METHOD],
                path=clean(exchange.path)[:MOST_PATH],
                status=exchange.status,
                forwarded=exchange.forwarded,
                reason=clean(exchange.reason)[:MOST_REASON],
                sent_bytes=exchange.sent_bytes,
                received_bytes=exchange.received_bytes,
            )
        )

    def log(self, *, after: int = 0, limit: int = 100) -> GatewayLog:
        """The entries behind a number."""
        found = [entry for entry in self._entries if entry.number > after][:limit]
        return GatewayLog(entries=found, next_after=found[-1].number if found else after)


class RequestRate:
    """Limits requests in a minute, and how many of them may come at once."""

    def __init__(self, per_minute: int, time: Callable[[], float]) -> None:
        """`time` never goes back."""
        self._step = _SECONDS / per_minute
        self._time = time
        self._free_at = 0.0

    def wait_seconds(self) -> float:
        """Take one request; 0 = it may go on. Else it was not taken, and may be after so many seconds."""
        now = self._time()
        begin = max(self._free_at, now - _SECONDS)
        if begin + self._step > now + self._step / 1e6:
            return begin + self._step - now
        self._free_at = begin + self._step
        return 0.0
