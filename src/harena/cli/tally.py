"""What the events of a benchmark job add up to: a model that events go into, and that says what there is to show.

Pure: it reads no clock. Its time is that of the events; `idle_seconds`, where it is asked for, is how long the last one
ago is by the clock of whoever shows it. Each event costs about a microsecond, and memory does not grow with the job.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

RECENT_SECONDS = 30
"""over which the present throughput is counted"""
SLOWEST = 3


@dataclass(slots=True)
class Tally:
    """The state of one job. Events must come in order, and each once."""

    mixes: bool = False
    """right answers run beside cheats, so that the share that passes says nothing"""
    total: int = 0
    at_a_time: int = 0
    """runs that the host allows at one time"""
    done: int = 0
    passed: int = 0
    scored: int = 0
    infra: int = 0
    """the platform lost them"""
    invalid: int = 0
    """their scoring contract could not be applied"""
    cancelled: int = 0
    retries: int = 0
    state: str = "queued"
    trouble: str = ""
    """why it stands still; empty = it does not"""
    slowest: list[tuple[float, str]] = field(default_factory=list)
    """(seconds, scenario) of ended runs, longest last"""
    seconds: float = 0.0
    """from the job's start to the last event"""
    _began: float | None = None
    _seen_from: float = 0.0
    """seconds at the first event that was seen"""
    _running: dict[int, tuple[float, str]] = field(default_factory=dict)
    """run -> (when it was started, scenario), in the order of their starts"""
    _unseen: int = 0
    """runs that were under way before the first event that was seen"""
    _recent: deque[list[int]] = field(default_factory=deque)
    """[second, runs that ended in it], oldest first"""

    @classmethod
    def of(cls, job: Mapping[str, Any], *, seen: bool = False) -> Tally:
        """For a job as the sdk answers it: before its first event, or, `seen`, after the event of its `cursor`."""
        progress, tally = job["progress"], cls(total=job["progress"]["total"])
        if seen:
            tally.state = job["state"]
            tally.done, tally.cancelled = progress["done"], progress["cancelled"]
            tally.passed, tally.scored = progress["passed"], progress["passed"] + progress["failed"]
            tally.infra, tally.invalid = progress["infra"], progress["invalid"]
            tally.at_a_time, tally._unseen = progress["effective_concurrency"], progress["running"]
            if job["started_at"]:
                tally._began = _seconds(job["started_at"])
                tally.seconds = tally._seen_from = job["duration_seconds"]
        return tally

    @property
    def ended(self) -> int:
        """Runs that are over, also those that were cancelled."""
        return self.done + self.cancelled

    @property
    def running(self) -> int:
        """Runs that are under way."""
        return self._unseen + len(self._running)

    def add(self, event: Mapping[str, Any]) -> bool:
        """Count one event; whether a run has ended with it."""
        at = _seconds(event["at"])
        if self._began is None:
            self._began = at
        self.seconds = max(self.seconds, at - self._began)  # a time of day may jump back
        kind = event["kind"]
        if kind == "run_started":
            self._running[event["run"]] = (self.seconds, event["scenario_id"])
        elif kind == "run_finished":
            self._finish(event)
        elif kind == "run_cancelled":
            self._leave(event["run"])
            self.cancelled += 1
        elif kind in ("run_retried", "run_requeued"):
            self._leave(event["run"])
            self.retries += kind == "run_retried"
        else:
            self._move(kind, event)
        return kind in ("run_finished", "run_cancelled")

    def rate(self, idle_seconds: float = 0.0) -> float:
        """Runs that end in a second, of late."""
        now = self.seconds + idle_seconds
        since = max(self._seen_from, now - RECENT_SECONDS)
        ended = sum(count for second, count in self._recent if second >= since)
        return ended / max(1.0, now - since)

    def mean_rate(self) -> float:
        """Runs that ended in a second, since the job began."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    def remaining_seconds(self, idle_seconds: float = 0.0) -> float | None:
        """How long the rest takes at the present rate; None = that cannot be said."""
        rate = self.rate(idle_seconds)
        return (self.total - self.ended) / rate if rate > 0 and self.state == "running" and not self.trouble else None

    def longest_running(self, idle_seconds: float = 0.0) -> list[tuple[float, str]]:
        """(seconds so far, scenario) of the runs that are under way the longest, longest first."""
        now = self.seconds + idle_seconds
        return [(now - since, name) for since, name in islice(self._running.values(), SLOWEST)]

    def _finish(self, event: Mapping[str, Any]) -> None:
        self._leave(event["run"])
        self.done += 1
        self.passed += bool(event["passed"])
        if event["score"] is not None:
            self.scored += 1
        elif event["validity"] == "invalid":
            self.invalid += 1
        else:
            self.infra += 1
        took = event["duration_seconds"]
        if len(self.slowest) < SLOWEST or took > self.slowest[0][0]:
            insort(self.slowest, (took, event["scenario_id"]))
            del self.slowest[:-SLOWEST]
        second = int(self.seconds)
        if self._recent and self._recent[-1][0] == second:
            self._recent[-1][1] += 1
            return
        self._recent.append([second, 1])
        while self._recent[0][0] < second - RECENT_SECONDS:
            self._recent.popleft()

    def _leave(self, run: int) -> None:
        if self._running.pop(run, None) is None and self._unseen:
            self._unseen -= 1

    def _move(self, kind: str, event: Mapping[str, Any]) -> None:
        if kind == "job_started":
            self.state, self.total, self.at_a_time = "running", event["total"], event["effective_concurrency"]
        elif kind == "job_paused":
            self.trouble = f"paused: {event['error']}"
        elif kind == "job_released":
            self.trouble = "its server has let go of it: waiting for the next one"
        elif kind in ("job_continued", "job_resumed"):
            self.state, self.trouble = "running", ""
        elif kind == "job_ended":
            self.state, self.trouble = event["state"], ""
            self._running.clear()
            self._unseen = 0


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
