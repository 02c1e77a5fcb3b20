"""Follows the events of a job to its end and reconnects by cursor, so that none is missed and none comes twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harena.core.errors import SandboxUnavailableError
from harena.core.reconnecting import Pauses

Event = Mapping[str, Any]

_FINAL = ("NODE_CLOSED", "CLOSED")
"""reasons of what will not come back: this process's own node has ended"""


@dataclass(slots=True)
class Follower:
    """Opens the events again, from the last one that it has seen, with pauses that grow while there is no news."""

    events: Callable[[int], Iterable[Event]]
    """the events after a cursor; raises SandboxUnavailableError where the connection breaks off"""
    cursor: int = 0
    """cursor of the last event that was seen"""
    on_lost: Callable[[str], None] = lambda text: None
    """told what is the matter, and "" when all is well again"""
    pause: Callable[[float], None] = time.sleep

    def __iter__(self) -> Iterator[Event]:
        """Raises SandboxUnavailableError when the server has been away for too long, and what else the events raise."""
        pauses = Pauses()
        while True:
            try:
                for event in self.events(self.cursor):
                    if event["cursor"] <= self.cursor:
                        continue
                    if pauses.away_seconds:
                        pauses.reset()
                        self.on_lost("")
                    self.cursor = event["cursor"]
                    yield event
                return
            except SandboxUnavailableError as error:
                if error.reason in _FINAL or pauses.are_over:
                    raise
                self.on_lost(f"{error}; asking again in {pauses.next_seconds:g} s")
            self.pause(pauses.step())
