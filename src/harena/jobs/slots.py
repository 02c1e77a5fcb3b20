"""Who may start the next run, of several jobs on one node: values and decisions, no I/O.

A node executes so many runs at once, all jobs together. A free slot goes to the waiting job of the highest priority;
among equals to the one that has the fewest runs under way; among those to the one that came first. So equal jobs share
the node evenly, whatever their sizes, and a late small job does not wait for an early large one to end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Share:
    """One job's part in the slots."""

    priority: int
    order: int
    """its place in the order of arrival"""
    wake: Callable[[], object]
    """called when it may be its turn"""
    running: int = 0
    waiting: bool = False


def next_share(shares: Iterable[Share], free: int) -> Share | None:
    """Whose turn it is, with `free` slots free; None = nobody's."""
    waiting = [share for share in shares if share.waiting]
    if free <= 0 or not waiting:
        return None
    return min(waiting, key=lambda share: (-share.priority, share.running, share.order))


class Slots:
    """The slots of one node. Used from one event loop."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._shares: list[Share] = []
        self._arrived = 0

    @property
    def free(self) -> int:
        """Slots in which nothing runs."""
        return self.capacity - sum(share.running for share in self._shares)

    def join(self, *, priority: int, wake: Callable[[], object]) -> Share:
        """A job that will want slots."""
        self._arrived += 1
        share = Share(priority, self._arrived, wake)
        self._shares.append(share)
        return share

    def acquire(self, share: Share) -> bool:
        """A slot, if it is this job's turn; else it is woken when that may be so."""
        share.waiting = True
        turn = next_share(self._shares, self.free)
        if turn is share:
            share.waiting = False
            share.running += 1
            return True
        if turn is not None:
            turn.wake()
        return False

    def release(self, share: Share) -> None:
        """One of its runs has ended."""
        share.running -= 1
        self._wake_next()

    def pass_on(self, share: Share) -> None:
        """It has nothing to run now."""
        if share.waiting:
            share.waiting = False
            self._wake_next()

    def leave(self, share: Share) -> None:
        """It will want nothing any more."""
        if share in self._shares:
            self._shares.remove(share)
            self._wake_next()

    def _wake_next(self) -> None:
        turn = next_share(self._shares, self.free)
        if turn is not None:
            turn.wake()
