"""How many runs of a job are where: kept by the job's one writer, in the job's own row.

So a job's progress costs one row, however many runs it has. The counts are written in the transaction that moves the
runs and stores the events, and they are whole numbers, not differences: a batch that is written twice counts once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harena.core.job_store import JobCounts
from harena.core.results import RunResult, Validity


class RunCounts:
    """The counts of one job. Every run is counted where it is now, and once."""

    def __init__(self, stored: JobCounts, *, running: Iterable[int] = ()) -> None:
        """`stored`: the counts in the job's row. `running`: numbers of the runs that the store has as running."""
        self._counts = stored
        self._running = set(running)

    def started(self, number: int) -> None:
        """A queued run is under way."""
        self._running.add(number)

    def requeued(self, number: int) -> None:
        """A run is queued again; no effect on one that is queued."""
        self._running.discard(number)

    def cancelled(self, number: int) -> None:
        """A run that had not ended is not run any more."""
        self._running.discard(number)
        self.never_begun(1)

    def never_begun(self, runs: int) -> None:
        """Note that this many queued runs are not run any more; nothing more is known of them."""
        self._counts = replace(self._counts, cancelled=self._counts.cancelled + runs)

    def finished(self, number: int, result: RunResult) -> None:
        """A run has its result."""
        self._running.discard(number)
        counts = self._counts
        self._counts = replace(
            counts,
            done=counts.done + 1,
            scored=counts.scored + (result.score is not None),
            passed=counts.passed + bool(result.passed),
            invalid=counts.invalid + (result.score is None and result.validity is Validity.INVALID),
        )

    def counts(self) -> JobCounts:
        """The counts as they are now."""
        return replace(self._counts, running=len(self._running))
