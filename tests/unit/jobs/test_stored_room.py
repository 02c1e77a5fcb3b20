"""Measures of what workspaces keep: how many there are at one time, and what is believed between them."""

from __future__ import annotations

import asyncio

import pytest

from harena.core.errors import LimitExceededError
from harena.core.workspace import WorkspaceLimits
from harena.jobs.stored_bytes import MEASURE_PART, REFUSED_PART, StoredRoom
from harena.testing import FakeClock

MOST = 1000


class Store:
    """Takes some seconds for each measure."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.bytes = 0
        self.seconds = 10.0
        self.measures = 0
        self.under_way = 0
        self.most_under_way = 0

    async def measured(self, workspace: str) -> int:
        """See `Measures`."""
        self.measures += 1
        self.under_way += 1
        self.most_under_way = max(self.under_way, self.most_under_way)
        await asyncio.sleep(0)
        if self.under_way == 1:
            await self.clock.advance(self.seconds)
        self.under_way -= 1
        return self.bytes

    def room(self) -> StoredRoom:
        """For workspaces that may keep MOST bytes."""

        async def limits_of(workspace: str) -> WorkspaceLimits:
            return WorkspaceLimits(stored_bytes=MOST)

        async def opened() -> Store:
            return self

        return StoredRoom(limits_of, opened, self.clock)


async def test_one_measure_at_a_time_whoever_asks() -> None:
    """Those of many workspaces would take all threads of the store."""
    store = Store()
    room = store.room()
    await asyncio.gather(*(room.check(workspace) for workspace in "abcdabcd"))
    assert (store.measures, store.most_under_way) == (4, 1)


async def test_a_quick_measure_waits_for_no_slow_one() -> None:
    """A workspace that keeps much, or keeps asking at its limit, holds up nobody else who creates something."""
    slow_has_begun, slow_goes_on = asyncio.Event(), asyncio.Event()

    class Uneven(Store):
        async def measured(self, workspace: str) -> int:
            if workspace == "small":
                return 0
            self.measures += 1
            if self.measures > 1:
                slow_has_begun.set()
                await slow_goes_on.wait()
            await self.clock.advance(100.0)
            return 0

    store = Uneven()
    room = store.room()
    for workspace in ("large", "small"):
        await room.check(workspace)
    await store.clock.advance(MEASURE_PART * 100.0)
    large = asyncio.create_task(room.check("large"))
    await slow_has_begun.wait()
    await room.check("small")
    assert not large.done()
    slow_goes_on.set()
    await large


async def test_a_refusal_measures_anew_at_a_pace() -> None:
    """What was added and never kept, or is gone meanwhile, refuses nothing for long; measures stay few."""
    store = Store()
    room = store.room()
    store.bytes = 900
    for _ in range(10):
        await room.check("a", 10)  # of which nothing is kept: it is there already
    assert store.measures == 1
    with pytest.raises(LimitExceededError):
        await room.check("a", 10)
    assert store.measures == 1, "it has been measured a moment ago"
    await store.clock.advance(REFUSED_PART * store.seconds)
    await room.check("a", 10)
    assert store.measures == 2
    store.bytes = MOST
    await store.clock.advance(REFUSED_PART * store.seconds)
    with pytest.raises(LimitExceededError, match="keeps 1000 bytes"):
        await room.check("a", 200)
    with pytest.raises(LimitExceededError):
        await room.check("a", 200)
    assert store.measures == 3


async def test_a_deletion_makes_room_at_once() -> None:
    """Nothing is refused by a measure from before it; the measure keeps its pace, and the request waits for it."""
    store = Store()
    room = store.room()
    store.bytes = MOST
    with pytest.raises(LimitExceededError):
        await room.check("a", 10)
    measures, ended = store.measures, store.clock.now()
    store.bytes = 0
    room.deleted("a")
    room.deleted("nobody")
    await room.check("a", 10)
    assert (store.measures, store.clock.now()) == (measures + 1, ended + 2 * store.seconds)
    store.bytes = MOST
    with pytest.raises(LimitExceededError):
        await room.check("a", MOST)
    assert store.measures == measures + 1, "nothing was deleted since"
