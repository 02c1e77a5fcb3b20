"""What every peer must be able to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from benchmarks.verdicts import Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a peer may know before the first program."""

    concurrency: int
    """how many programs the drive runs at one time"""
    memory_bytes: int
    """per program"""


class Peer(Protocol):
    """One way to run programs. Called from one event loop; `run` is called `concurrency` times at once."""

    async def start(self) -> None:
        """Get ready. Not measured."""

    async def run(self, program: str, stdin: bytes | None, timeout_seconds: float, memory_bytes: int) -> Ending:
        """Run one program to its end, including the clean-up that the caller would otherwise pay later. What the
        program does is in the Ending; an exception means that the peer itself failed."""

    async def close(self) -> None:
        """End everything that `start` and `run` left. Not measured."""
