"""Limit on the bytes that a workspace stores in the database, over all tables.

A measurement reads every row of the workspace, so it is cached for a time that grows with its duration: at most one
part in MEASURE_PART of the time is spent on measuring. Whatever is accepted meanwhile is added to it, whether or not a
row comes of it. Before a refusal the cache is valid for a shorter time (REFUSED_PART), and after a deletion nothing is
refused by an earlier measurement. Results of runs under way are seen by the next measurement.

Measurements of workspaces that keep much take long, and those of others do not wait for them: one slow, one quick and
one first measurement may be under way at a time.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, auto

from harena.core.clock import Clock
from harena.core.errors import LimitExceededError
from harena.core.node_stores import Measures
from harena.core.workspace import LimitsOf

MEASURE_PART = 20
"""a measurement is used for so many times as long as it took"""
REFUSED_PART = 3
"""this number where the measurement would refuse a request"""
DELETED_PART = 1
"""this number where, in addition, something was deleted since; the request waits until then"""
SLOW_SECONDS = 1.0
"""a workspace whose last measurement took longer waits for others of that kind only"""
MOST_KNOWN = 10_000
"""workspaces whose measures are remembered"""


class StoredRoom:
    """How many bytes each workspace may still store, on one node. Used from one event loop."""

    def __init__(self, limits_of: LimitsOf | None, measures: Callable[[], Awaitable[Measures]], clock: Clock) -> None:
        """`limits_of`: what a workspace may use; None = everything."""
        self._limits_of = limits_of
        self._measures = measures
        self._clock = clock
        self._known: OrderedDict[str, _Measurement] = OrderedDict()
        self._measuring = {lane: asyncio.Lock() for lane in _Lane}
        """one measurement of a kind at a time, of whatever workspace: more would take all threads of the store"""

    async def check(self, workspace: str, more: int = 0) -> None:
        """Something of `more` bytes is about to be kept. Raises LimitExceededError where there is no room for it."""
        if self._limits_of is None:
            return
        most = (await self._limits_of(workspace)).stored_bytes
        known = await self._measured(workspace)
        if known.bytes + more > most:  # as far as is known: something may be gone, or never have been kept
            if known.deleted:  # what was deleted has made room: measured anew, as soon as the pace allows it
                await self._clock.sleep(known.at + known.seconds - self._clock.now())
            known = await self._measured(workspace, refused=True)
        if known.bytes + more > most:
            raise LimitExceededError(
                f"this workspace keeps {known.bytes} bytes in the store and may keep {most} (stored_bytes): delete "
                "jobs that have ended, and scenarios, scoring contracts and definitions that nobody needs any more",
                reason="STORED_BYTES",
            )
        known.bytes += more

    def deleted(self, workspace: str) -> None:
        """Something of the workspace was deleted: the cached measurement is too high."""
        if (known := self._known.get(workspace)) is not None:
            known.deleted = True

    async def _measured(self, workspace: str, *, refused: bool = False) -> _Measurement:
        known = self._believed(workspace, refused)
        if known is None:
            async with self._measuring[_lane(self._known.get(workspace))]:
                known = self._believed(workspace, refused)  # another request may have measured meanwhile
                if known is None:
                    old = self._known.get(workspace)
                    before = 0 if old is None else old.bytes
                    if old is not None:
                        old.deleted = False
                    began = self._clock.now()
                    size = await (await self._measures()).measured(workspace)
                    ended = self._clock.now()
                    size += 0 if old is None else old.bytes - before  # accepted meanwhile, and perhaps not yet kept
                    known = self._known[workspace] = _Measurement(
                        size, ended, ended - began, deleted=old is not None and old.deleted
                    )
        self._known.move_to_end(workspace)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return known

    def _believed(self, workspace: str, refused: bool) -> _Measurement | None:
        known = self._known.get(workspace)
        if known is None:
            return None
        part = (DELETED_PART if known.deleted else REFUSED_PART) if refused else MEASURE_PART
        return known if self._clock.now() < known.at + part * known.seconds else None


@dataclass(slots=True)
class _Measurement:
    bytes: int
    at: float
    """when it had been measured"""
    seconds: float
    """how long the measurement took"""
    deleted: bool = False
    """something was deleted since it began to be measured, or after"""


class _Lane(Enum):
    """What is known of how long a measurement will take."""

    NOTHING = auto()
    QUICK = auto()
    SLOW = auto()


def _lane(known: _Measurement | None) -> _Lane:
    if known is None:
        return _Lane.NOTHING
    return _Lane.SLOW if known.seconds > SLOW_SECONDS else _Lane.QUICK
