"""Decides which training job begins next on one node, and which gives its place to another workspace. No I/O.

A free place goes to the workspace that has the fewest jobs running; among equals to the one whose last turn was longest
ago. Within a workspace those that ran before come first, then those that were accepted earlier.

Where all places are taken, and a workspace waits that has fewer of them, a job gives way whose turn is over: at the
first checkpoint after `TURN_SECONDS`, or, where it saves none, after `LATEST_SECONDS`. It goes on from its newest
checkpoint when it is its turn again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harena.core.training_jobs import TrainingState

if TYPE_CHECKING:
    from harena.core.training_store import TrainingJobHolder

TURN_SECONDS = 600.0
LATEST_SECONDS = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTurn:
    """One job that runs here."""

    job_id: str
    workspace: str
    seconds: float
    """since it began here"""
    saved_at: float | None
    """when its newest checkpoint was saved, in the same seconds; None = none was"""


class TrainingTurns:
    """Remembers whose turn was when."""

    def __init__(self, *, turn_seconds: float = TURN_SECONDS, latest_seconds: float = LATEST_SECONDS) -> None:
        self._turn_seconds = turn_seconds
        self._latest_seconds = latest_seconds
        self._given = 0
        self._last: dict[str, int] = {}
        """workspace -> number of the last place that it was given"""

    def begun(self, workspace: str) -> None:
        """It was given a place."""
        self._given += 1
        self._last[workspace] = self._given

    def next_job(self, waiting: Sequence[TrainingJobHolder], running: Iterable[str]) -> TrainingJobHolder:
        """The job that begins next. `waiting`: one job or more, the oldest first; `running`: the workspace of
        each job that runs."""
        counts = Counter(running)
        return min(
            waiting,
            key=lambda job: (
                counts[job.workspace],
                self._last.get(job.workspace, 0),
                job.state == TrainingState.QUEUED,
            ),
        )

    def gives_way(self, running: Collection[RunningTurn], waiting: Collection[str]) -> str | None:
        """The job that ends its turn now, where all places are taken and jobs of these workspaces wait; None = none."""
        counts = Counter(turn.workspace for turn in running)
        fewest = min((counts[workspace] for workspace in waiting), default=None)
        if fewest is None:
            return None
        over = [turn for turn in running if counts[turn.workspace] > fewest and self._is_over(turn)]
        return max(over, key=lambda turn: (counts[turn.workspace], turn.seconds)).job_id if over else None

    def _is_over(self, turn: RunningTurn) -> bool:
        saved = turn.saved_at is not None and turn.saved_at >= self._turn_seconds
        return saved or turn.seconds >= self._latest_seconds
