"""How much one answer of this wire holds: it has no cursors, so what harena's own lists give in pages comes at once."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence

from harena.core.records.record import Record
from harena.core.training_jobs import EVAL_STEPS, STEPS, Metrics, axis_of
from harena.faces.dreadnode.records import HostedLog

MOST_JOBS = 10_000
"""jobs that are looked through for one page of them, the newest"""
MOST_VALUES = 1_000_000
"""values of all metrics of a job together"""


def json_bytes(record: Record) -> int:
    """The size of a record as JSON. Not for the event loop."""
    return len(json.dumps(record.to_dict(), separators=(",", ":")))


class NewestLogs:
    """The newest messages of a job, as many as one answer holds."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._kept: deque[tuple[HostedLog, int]] = deque()
        self._bytes = 0

    def add(self, newer: Sequence[HostedLog]) -> None:
        """These follow; the oldest go where there is no room for all, and the newest stays. Not for the event loop."""
        for log in newer:
            size = json_bytes(log)
            self._kept.append((log, size))
            self._bytes += size
            while len(self._kept) > 1 and (len(self._kept) > self._most or self._bytes > self._most_bytes):
                self._bytes -= self._kept.popleft()[1]

    def items(self) -> list[HostedLog]:
        """What is kept, oldest first."""
        return [log for log, _ in self._kept]


def leave_newest(metrics: Metrics, most: int) -> None:
    """Take the older half of the steps off each axis, in place, until there are no more than so many values."""
    while sum(len(values) for values in metrics.values() if isinstance(values, list)) > most:
        for axis in (STEPS, EVAL_STEPS):
            steps = metrics.get(axis)
            older = (len(steps) + 1) // 2 if isinstance(steps, list) else 0
            for name, values in metrics.items():
                if isinstance(values, list) and axis_of(name) == axis:
                    del values[:older]
