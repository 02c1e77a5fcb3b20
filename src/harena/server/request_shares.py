"""Backpressure: how much memory and disk of the server the requests of each workspace may take at one time.

A request reserves its share before any of its body is read: its Content-Length, and the most that so many bytes can
become when they are parsed as JSON. Where its workspace has no room left, the request waits for earlier requests of the
same workspace; other workspaces are not delayed. Bodies without a length are counted as they arrive and are refused
where there is no room for more, because two half-read bodies that wait for each other would be a deadlock. Bodies that
are written to the disk are counted in the same way, whatever their length. Used from one event loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import timedelta
from weakref import WeakValueDictionary

from harena.core.errors import LimitExceededError, ValidationError
from harena.core.outside_json import MOST_VALUES
from harena.server.bodies import VALUE_BYTES

LEAST_BYTES_OF_A_VALUE = 2
"""a digit and a comma"""
MOST_WAITING = 10_000
"""requests of one workspace"""
RETRY_SECONDS = 1.0


def needed_bytes(body_bytes: int, *, values: bool = True) -> int:
    """Memory for a body of this length; `values`: it is JSON, read as a whole."""
    return body_bytes + values * VALUE_BYTES * min(body_bytes // LEAST_BYTES_OF_A_VALUE + 1, MOST_VALUES)


def needed_for_more(there: int, more: int) -> int:
    """Memory for `more` bytes of a body of JSON of which `there` have come, and have their room."""
    return needed_bytes(there + more) - (needed_bytes(there) if there else 0) if more else 0


class Share:
    """What one request has taken; `release` gives it back."""

    def __init__(self, room: _WorkspaceShare) -> None:
        self._room = room
        self._bytes = 0

    async def take(self, needed: int, most: int) -> None:
        """Wait for room, in the order in which requests came. Raises LimitExceededError, and ValidationError where
        there can never be as much."""
        room = self._room
        if needed > most:
            raise room.too_small(needed, most)
        if room.waiting or room.taken + needed > most:
            if len(room.waiting) >= MOST_WAITING:
                raise room.full(most)
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            room.waiting.append((needed, most, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    room.taken -= needed
                elif (waiter := (needed, most, turn)) in room.waiting:  # `admit` may have dropped it
                    room.waiting.remove(waiter)
                room.admit()
                raise
        else:
            room.taken += needed
        self._bytes += needed

    async def hold(self, body_bytes: int, most: int) -> None:
        """Room for a body that is held whole, where it was not taken before. Raises as `take`."""
        if self._bytes < body_bytes:
            await self.take(body_bytes - self._bytes, most)

    def has_room(self, needed: int, most: int) -> bool:
        """Whether `grow` would take as much."""
        return self._room.taken + needed <= most

    def shrink(self, freed: int) -> None:
        """Let others have a part of it."""
        self._room.taken -= freed
        self._bytes -= freed
        self._room.admit()

    def grow(self, needed: int, most: int) -> None:
        """Take more at once. Raises LimitExceededError, and ValidationError where there can never be as much."""
        if self._bytes + needed > most:
            raise self._room.too_small(self._bytes + needed, most)
        if self._room.taken + needed > most:
            raise self._room.full(most)
        self._room.taken += needed
        self._bytes += needed

    def release(self) -> None:
        """Let others have it."""
        self._room.taken -= self._bytes
        self._bytes = 0
        self._room.admit()


class _WorkspaceShares:
    """What the workspaces' requests have taken of one thing."""

    def __init__(self, what: str, limit: str) -> None:
        self._what = what
        self._limit = limit
        self._rooms: WeakValueDictionary[str, _WorkspaceShare] = WeakValueDictionary()
        """a room lives as long as a share of it: also one of which nothing is taken yet must stay the only one"""

    def share(self, workspace: str) -> Share:
        """One request's, of nothing yet."""
        return Share(self._rooms.setdefault(workspace, _WorkspaceShare(self._what, self._limit)))


class RequestMemory(_WorkspaceShares):
    """Memory for bodies that are held whole, and for what they are read into."""

    def __init__(self) -> None:
        super().__init__("memory", "request_memory_bytes")


class RequestDisk(_WorkspaceShares):
    """Disk for bodies that go into files as they come."""

    def __init__(self) -> None:
        super().__init__("disk", "request_disk_bytes")


class _WorkspaceShare:
    """What the requests of one workspace have taken of a limit, and those that wait for it."""

    def __init__(self, what: str, limit: str) -> None:
        self.what = what
        self.limit = limit
        self.taken = 0
        self.waiting: deque[tuple[int, int, asyncio.Future[None]]] = deque()

    def admit(self) -> None:
        """Let those requests go on that are next and have room."""
        while self.waiting:
            needed, most, turn = self.waiting[0]
            if turn.done():  # cancelled in this turn of the loop: it takes nothing
                self.waiting.popleft()
                continue
            if self.taken + needed > most:
                return
            self.waiting.popleft()
            self.taken += needed
            turn.set_result(None)

    def too_small(self, needed: int, most: int) -> ValidationError:
        """What is raised where there can never be room."""
        return ValidationError(
            f"this request takes {needed} bytes of the server's {self.what} or more, and the requests of its workspace "
            f"may take {most} together ({self.limit}): send less at one time",
            reason="TOO_LARGE",
        )

    def full(self, most: int) -> LimitExceededError:
        """What is raised where there is no room."""
        return LimitExceededError(
            f"the requests of this workspace that are under way take the {most} bytes of {self.what} that they may "
            f"({self.limit}): ask again in a moment",
            reason="BUSY",
            retry_delay=timedelta(seconds=RETRY_SECONDS),
        )
