"""How much of the server's memory the requests of each workspace may take at one time. Used from one event loop.

A request takes its share before anything of its body is read: the bytes that it says that it has, and what as many
bytes can become once they are read as JSON. Where the workspace has no room, the request waits for those that came
before it, and nobody else does. Bodies that do not say their length are counted as they come, and are refused where
there is no room for more: what waited in their middle could wait for each other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import timedelta

from harena.core.errors import LimitExceededError, ValidationError
from harena.server.bodies import MOST_VALUES, VALUE_BYTES

LEAST_BYTES_OF_A_VALUE = 2
"""a digit and a comma"""
MOST_WAITING = 10_000
"""requests of one workspace"""
RETRY_SECONDS = 1.0


def needed_bytes(body_bytes: int, *, values: bool = True) -> int:
    """Memory for a body of this length; `values`: it is JSON, read as a whole."""
    return body_bytes + values * VALUE_BYTES * min(body_bytes // LEAST_BYTES_OF_A_VALUE + 1, MOST_VALUES)


class Share:
    """What one request has taken; `release` gives it back."""

    def __init__(self, room: _Room) -> None:
        self._room = room
        self._bytes = 0

    async def take(self, needed: int, most: int) -> None:
        """Wait for room, in the order in which requests came. Raises LimitExceededError, and ValidationError where
        there can never be as much."""
        room = self._room
        if needed > most:
            raise ValidationError(
                f"this request may take {needed} bytes of the server's memory, and the requests of its workspace may "
                f"take {most} together (request_memory_bytes): send less at one time",
                reason="TOO_LARGE",
            )
        if room.waiting or room.taken + needed > most:
            if len(room.waiting) >= MOST_WAITING:
                raise _full(most)
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            room.waiting.append((needed, most, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    room.taken -= needed
                else:
                    room.waiting.remove((needed, most, turn))
                room.admit()
                raise
        else:
            room.taken += needed
        self._bytes += needed

    def grow(self, needed: int, most: int) -> None:
        """Take more at once. Raises LimitExceededError."""
        if self._room.taken + needed > most:
            raise _full(most)
        self._room.taken += needed
        self._bytes += needed

    def release(self) -> None:
        """Let others have it."""
        self._room.taken -= self._bytes
        self._bytes = 0
        self._room.admit()


class RequestMemory:
    """What the workspaces' requests have taken."""

    def __init__(self) -> None:
        self._rooms: dict[str, _Room] = {}

    def share(self, workspace: str) -> Share:
        """One request's, of nothing yet."""
        if workspace not in self._rooms:
            self._rooms = {name: room for name, room in self._rooms.items() if room.taken or room.waiting}
        return Share(self._rooms.setdefault(workspace, _Room()))


class _Room:
    """One workspace's."""

    def __init__(self) -> None:
        self.taken = 0
        self.waiting: deque[tuple[int, int, asyncio.Future[None]]] = deque()

    def admit(self) -> None:
        """Whoever is next and has room goes on."""
        while self.waiting:
            needed, most, turn = self.waiting[0]
            if self.taken + needed > most:
                return
            self.waiting.popleft()
            self.taken += needed
            turn.set_result(None)


def _full(most: int) -> LimitExceededError:
    return LimitExceededError(
        f"the requests of this workspace that are under way take the {most} bytes of memory that they may "
        "(request_memory_bytes): ask again in a moment",
        reason="BUSY",
        retry_delay=timedelta(seconds=RETRY_SECONDS),
    )
