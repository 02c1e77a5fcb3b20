"""For how long a client retries a server that does not answer: jobs outlive their server, and so may waiting."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 15.0
"""each pause is twice the one before, up to this"""
MOST_AWAY_SECONDS = 600.0
"""longest sum of pauses without any answer; after it the error is raised"""


@dataclass(slots=True)
class Pauses:
    """The pauses between one answer and the next."""

    away_seconds: float = 0.0
    """sum of the pauses since the last answer"""
    next_seconds: float = FIRST_PAUSE_SECONDS
    """length of the next pause"""

    @property
    def are_over(self) -> bool:
        """The server has been away for too long."""
        return self.away_seconds >= MOST_AWAY_SECONDS

    def step(self) -> float:
        """Length of the pause that begins now, in seconds."""
        pause = self.next_seconds
        self.away_seconds += pause
        self.next_seconds = min(2 * pause, LONGEST_PAUSE_SECONDS)
        return pause

    def reset(self) -> None:
        """The server has answered."""
        self.away_seconds, self.next_seconds = 0.0, FIRST_PAUSE_SECONDS
