"""What one sandbox has reached and what it was refused: the newest entries, and sums of all."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from harena.core.clock import SystemClock
from harena.core.network_policy import MOST_NAME, NetworkPolicy
from harena.core.records.network import MOST_LOGGED, NetworkEntry, NetworkLog

_MOST_REASON = 500

_CLOCK = SystemClock()


def time_of_day() -> float:
    """Seconds since the epoch, as logs have them."""
    return _CLOCK.utcnow().timestamp()


@dataclass(slots=True)
class Line:
    """An entry that may still change."""

    number: int
    at: float
    way: str
    host: str
    port: int
    allowed: bool
    reason: str = ""
    sent_bytes: int = 0
    received_bytes: int = 0
    times: int = 1


class Ledger:
    """The lines of one sandbox; bounded, whatever it does."""

    def __init__(self, most: int = MOST_LOGGED) -> None:
        self._most = most
        self._lines: OrderedDict[int, Line] = OrderedDict()
        self._refusals: dict[tuple[str, str, int, str], Line] = {}
        self._last = 0
        self._connections = 0
        self._refused = 0
        self._sent_bytes = 0
        self._received_bytes = 0

    def began(self, way: str, host: str, port: int) -> Line:
        """A connection that is allowed."""
        self._connections += 1
        return self._add(way, host, port, True, "")

    def refused(self, way: str, host: str, port: int, reason: str) -> None:
        """Something was refused; equal refusals are one line, which becomes the newest one."""
        self._refused += 1
        key = (way, host[:MOST_NAME], port, reason[:_MOST_REASON])
        known = self._refusals.pop(key, None)
        if known is not None:
            self._lines.pop(known.number, None)
        line = self._add(*key[:3], False, key[3])
        line.times = 1 if known is None else known.times + 1
        self._refusals[key] = line

    def count(self, line: Line, sent: int = 0, received: int = 0) -> None:
        """Bytes have passed."""
        line.sent_bytes += sent
        line.received_bytes += received
        self._sent_bytes += sent
        self._received_bytes += received

    def page(self, policy: NetworkPolicy, after: int, limit: int) -> NetworkLog:
        """Some of it, from the line behind number `after` on."""
        found = [line for number, line in self._lines.items() if number > after][:limit]
        return NetworkLog(
            policy=policy.to_json(),
            entries=[
                NetworkEntry(
                    number=line.number, at=line.at, way=line.way, host=line.host, port=line.port, allowed=line.allowed,
                    reason=line.reason, sent_bytes=line.sent_bytes, received_bytes=line.received_bytes,
                    times=line.times,
                )
                for line in found
            ],
            next_after=found[-1].number if found else after,
            sent_bytes=self._sent_bytes,
            received_bytes=self._received_bytes,
            connections=self._connections,
            refused=self._refused,
        )  # fmt: skip

    def _add(self, way: str, host: str, port: int, allowed: bool, reason: str) -> Line:
        self._last += 1
        line = Line(self._last, time_of_day(), way, host[:MOST_NAME], port, allowed, reason[:_MOST_REASON])
        self._lines[line.number] = line
        while len(self._lines) > self._most:
            _, oldest = self._lines.popitem(last=False)
            self._refusals.pop((oldest.way, oldest.host, oldest.port, oldest.reason), None)
        return line
