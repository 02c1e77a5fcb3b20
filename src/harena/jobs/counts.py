"""How many runs of a job are where: kept by the job's one writer, in the job's own row.

So a job's progress costs one row, however many runs it has. The counts are written in the transaction that moves the
runs and stores the events, and they are whole numbers, not differences: a batch that is written twice counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harena.core.results import RunResult, Validity

COUNT_COLUMNS = ("runs_running", "runs_done", "runs_cancelled", "runs_scored", "runs_passed", "runs_invalid")
"""columns of a job's row; runs that are in none of the first three are queued"""


class RunCounts:
    """The counts of one job. Every run is counted where it is now, and once."""

    def __init__(self, stored: Mapping[str, int], *, running: Iterable[int] = ()) -> None:
        """`stored`: the row of the job. `running`: numbers of the runs that the store has as running."""
        self._counts = {name: stored.get(name) or 0 for name in COUNT_COLUMNS}
        self._running = set(running)
        self._counts["runs_running"] = len(self._running)

    def started(self, number: int) -> None:
        """A queued run is under way."""
        self._running.add(number)

    def requeued(self, number: int) -> None:
        """A run is queued again; no effect on one that is queued."""
        self._running.discard(number)

    def cancelled(self, number: int) -> None:
        """A run that had not ended is not run any more."""
        self._running.discard(number)
        self._counts["runs_cancelled"] += 1

    def never_begun(self, runs: int) -> None:
        """So many queued runs are not run any more, and nothing more is known of them."""
        self._counts["runs_cancelled"] += runs

    def finished(self, number: int, result: RunResult) -> None:
        """A run has its result."""
        self._running.discard(number)
        self._counts["runs_done"] += 1
        self._counts["runs_scored"] += result.score is not None
        self._counts["runs_passed"] += bool(result.passed)
        self._counts["runs_invalid"] += result.score is None and result.validity is Validity.INVALID

    def columns(self) -> dict[str, int]:
        """The counts as columns of the job's row."""
        self._counts["runs_running"] = len(self._running)
        return dict(self._counts)
