"""Decides which of several jobs on one node may start the next run: only values and decisions, no I/O.

A node executes so many runs at once, all jobs together. A free slot goes to the waiting workspace that has the fewest
runs under way; among equals to the one whose last turn was longest ago. Within a workspace it goes to the job of the
highest priority, then to the one with the fewest runs under way, then to the one whose last turn was longest ago. So
workspaces share the node evenly, however many jobs each has and whatever their priorities; and so do equal jobs of one
workspace, whatever their sizes: a late small job does not wait for an early large one to end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harena.core.records.sandboxes import Limits
from harena.core.workspace import DEFAULT_WORKSPACE

_USUAL_LIMITS = Limits()


@dataclass(eq=False, slots=True)
class WorkspaceShare:
    """One workspace's part in the slots, all its jobs together."""

    order: int = 0
    """its place in the order of arrival"""
    most: int | None = None
    """runs that it may have under way; None = as many as there are slots"""
    running: int = 0
    turn: int = 0
    """the number of the last slot that it was given"""

    @property
    def has_room(self) -> bool:
        """It may have one more run under way."""
        return self.most is None or self.running < self.most


@dataclass(eq=False, slots=True)
class JobShare:
    """One job's part in the slots."""

    workspace_share: WorkspaceShare
    priority: int
    order: int
    """its place in the order of arrival"""
    wake: Callable[[], object]
    """called when it may be its turn"""
    running: int = 0
    waiting: bool = False
    turn: int = 0
    """the number of the last slot that it was given, or that anybody had been given when it came"""
    limit_bytes: int = 0
    """memory that one of its runs may take"""

    def allow(self, limits: Limits) -> None:
        """Its next runs have these limits."""
        self.limit_bytes = sys.maxsize if limits.memory_bytes is None else limits.memory_bytes


def next_share(shares: Iterable[JobShare], free: int) -> JobShare | None:
    """Whose turn it is, with `free` slots free; None = nobody's."""
    waiting = [share for share in shares if share.waiting and share.workspace_share.has_room]
    return min(waiting, key=_rank) if free > 0 and waiting else None


def _rank(share: JobShare) -> tuple[int, ...]:
    workspace_share = share.workspace_share
    of_workspace = (workspace_share.running, workspace_share.turn, workspace_share.order)
    return (*of_workspace, -share.priority, share.running, share.turn, share.order)


class Slots:
    """The slots of one node. Used from one event loop."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.free = capacity
        """slots in which nothing runs; below 0 while more run than there may be"""
        self.on_want: Callable[[], object] | None = None
        """called when a job wants a slot"""
        self._shares: list[JobShare] = []
        self._workspace_shares: dict[str, WorkspaceShare] = {}
        """kept when a workspace's jobs have ended: else each new one of many small jobs would come first"""
        self._arrived = 0
        self._given = 0

    @property
    def running(self) -> int:
        """Slots in which something runs."""
        return self.capacity - self.free

    @property
    def wanted(self) -> bool:
        """A job waits for a slot that its workspace may have."""
        return any(share.waiting and share.workspace_share.has_room for share in self._shares)

    @property
    def largest_limit_bytes(self) -> int:
        """Memory that one of the runs that are under way or wait may take."""
        return max((share.limit_bytes for share in self._shares if share.running or share.waiting), default=0)

    def resize(self, capacity: int) -> None:
        """Set the number of slots. Where more runs than that are under way, they end as they would."""
        if capacity != self.capacity:
            self.free += capacity - self.capacity
            self.capacity = capacity
            self._wake_next()

    def join(
        self,
        *,
        priority: int,
        wake: Callable[[], object],
        workspace: str = DEFAULT_WORKSPACE,
        limits: Limits = _USUAL_LIMITS,
    ) -> JobShare:
        """A job that will want slots, for runs with these limits."""
        self._arrived += 1
        share = JobShare(self._workspace_share(workspace), priority, self._arrived, wake, turn=self._given)
        share.allow(limits)
        self._shares.append(share)
        return share

    def allow(self, workspace: str, most: int | None) -> None:
        """Set how many runs a workspace may have under way (None = as many as there are slots). Where it has more
        already, they end as they would."""
        workspace_share = self._workspace_share(workspace)
        if workspace_share.most != most:
            workspace_share.most = most
            self._wake_next()

    def acquire(self, share: JobShare) -> bool:
        """Take a slot, if it is this job's turn. If it is not, the job is woken when its turn may have come."""
        share.waiting = True
        if self.on_want is not None:
            self.on_want()
        turn = next_share(self._shares, self.free)
        if turn is share:
            share.waiting = False
            self._count(share, 1)
            self._given += 1
            share.turn = share.workspace_share.turn = self._given
            self._wake_next()  # more than one slot may have become free at once, and only one job was woken
            return True
        if turn is not None:
            turn.wake()
        return False

    def release(self, share: JobShare) -> None:
        """One of its runs has ended."""
        self._count(share, -1)
        self._wake_next()

    def pass_on(self, share: JobShare) -> None:
        """Give up a job's wait for a slot: it has nothing to run now."""
        if share.waiting:
            share.waiting = False
            self._wake_next()

    def leave(self, share: JobShare) -> None:
        """It will want nothing any more; its runs have ended."""
        if share in self._shares:
            self._shares.remove(share)
            self._wake_next()

    def _workspace_share(self, workspace: str) -> WorkspaceShare:
        return self._workspace_shares.setdefault(workspace, WorkspaceShare(order=len(self._workspace_shares)))

    def _count(self, share: JobShare, more: int) -> None:
        share.running += more
        share.workspace_share.running += more
        self.free -= more

    def _wake_next(self) -> None:
        turn = next_share(self._shares, self.free)
        if turn is not None:
            turn.wake()
