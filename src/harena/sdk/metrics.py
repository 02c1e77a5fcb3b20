"""Counters of a session: how many commands ran, and how they ended."""

from __future__ import annotations

import threading
from typing import TypedDict

from harena.core.models import ExecOutcome, ExecResult


class ExecStats(TypedDict):
    """What became of a sandbox's commands."""

    exec_count: int
    completed_ok: int
    completed_nonzero: int
    failures: int


class ExecCounter:
    """The commands of one sandbox. May be used from any thread."""

    __slots__ = ("_lock", "completed_nonzero", "completed_ok", "exec_count", "failures")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.exec_count = self.completed_ok = self.completed_nonzero = self.failures = 0

    def begun(self) -> None:
        """A command was asked for."""
        with self._lock:
            self.exec_count += 1

    def ended(self, result: ExecResult | None) -> None:
        """A command has ended; None = it could not be run to its end."""
        kind = kind_of_end(result)
        with self._lock:
            setattr(self, kind, getattr(self, kind) + 1)

    def as_dict(self) -> ExecStats:
        """The four counts."""
        with self._lock:
            return {
                "exec_count": self.exec_count,
                "completed_ok": self.completed_ok,
                "completed_nonzero": self.completed_nonzero,
                "failures": self.failures,
            }


def kind_of_end(result: ExecResult | None) -> str:
    """ "completed_ok", "completed_nonzero", or "failures" (time-outs, cancellations and the platform's failures)."""
    if result is None or result.outcome in (ExecOutcome.TIMEOUT, ExecOutcome.CANCELLED):
        return "failures"
    return "completed_ok" if result.returncode == 0 else "completed_nonzero"


class SessionMetrics:
    """The counts of a session, since its begin or the last reset. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clear()

    def sandbox_started(self, sandbox: int, seconds: float) -> None:
        """A sandbox of this session runs, `seconds` after it was asked for."""
        with self._lock:
            self._created += 1
            self._startups.append(seconds)
            self._execs.setdefault(sandbox, 0)

    def exec_begun(self, sandbox: int) -> None:
        """A command was asked for."""
        with self._lock:
            self._execs[sandbox] = self._execs.get(sandbox, 0) + 1

    def exec_ended(self, result: ExecResult | None) -> None:
        """A command has ended."""
        with self._lock:
            self._ends[kind_of_end(result)] += 1

    def is_empty(self) -> bool:
        """Nothing was counted."""
        with self._lock:
            return not self._created and not self._execs

    def reset(self) -> None:
        """Start counting anew."""
        with self._lock:
            self._clear()

    def as_dict(self) -> dict[str, float | int]:
        """The fourteen metrics. Durations in seconds; rates and averages are 0.0 where nothing was counted."""
        with self._lock:
            execs, startups = list(self._execs.values()), self._startups
            total = sum(execs)
            return {
                "cwsandbox/sandboxes_created": self._created,
                "cwsandbox/executions": total,
                "cwsandbox/exec_completed_ok": self._ends["completed_ok"],
                "cwsandbox/exec_completed_nonzero": self._ends["completed_nonzero"],
                "cwsandbox/exec_failures": self._ends["failures"],
                "cwsandbox/exec_completion_rate": self._ends["completed_ok"] / total if total else 0.0,
                "cwsandbox/exec_failure_rate": self._ends["failures"] / total if total else 0.0,
                "cwsandbox/startup_count": len(startups),
                "cwsandbox/avg_startup_seconds": sum(startups) / len(startups) if startups else 0.0,
                "cwsandbox/min_startup_seconds": min(startups, default=0.0),
                "cwsandbox/max_startup_seconds": max(startups, default=0.0),
                "cwsandbox/avg_execs_per_sandbox": total / len(execs) if execs else 0.0,
                "cwsandbox/min_execs_per_sandbox": min(execs, default=0),
                "cwsandbox/max_execs_per_sandbox": max(execs, default=0),
            }

    def _clear(self) -> None:
        self._created = 0
        self._startups: list[float] = []
        self._execs: dict[int, int] = {}
        self._ends = {"completed_ok": 0, "completed_nonzero": 0, "failures": 0}
