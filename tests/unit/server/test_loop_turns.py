"""However many requests of a workspace have work in the event loop, one slice of it is done at each of its turns."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

from harena.core.batches import SLICE, Batches
from harena.core.threads import work_for
from harena.server.loop_turns import LoopTurns

TURNS = 10


async def test_workspaces_have_one_slice_each_at_a_turn_of_the_loop() -> None:
    """One with a single request has as many as one with twenty."""
    turns, passes, done = LoopTurns(), 0, dict[str, Counter[int]]()
    loop, over = asyncio.get_running_loop(), False

    def count() -> None:
        nonlocal passes
        passes += 1
        if not over:
            loop.call_soon(count)

    async def work(workspace: str) -> None:
        work_for.set(workspace)
        for _ in range(TURNS):
            await turns.next()
            done.setdefault(workspace, Counter())[passes] += 1

    loop.call_soon(count)
    ended = dict[str, int]()
    many = [asyncio.create_task(work("many")) for _ in range(20)]
    one = asyncio.create_task(work("one"))
    await one
    ended["one"] = passes
    await asyncio.gather(*many)
    ended["many"], over = passes, True
    assert {workspace: max(each.values()) for workspace, each in done.items()} == {"many": 1, "one": 1}
    assert done["many"].total() == 20 * TURNS
    assert 4 * ended["one"] < ended["many"]


async def test_a_request_that_ends_gives_its_turn_to_the_next() -> None:
    """And nothing is left of those that waited."""
    turns = LoopTurns()
    waiting = [asyncio.create_task(turns.next()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert [each.cancelled() for each in waiting] == [False, True, False]
    assert turns._waiting == {}


async def test_items_that_come_without_a_pause_are_read_in_slices() -> None:
    """A turn is asked for after each of them."""
    asked: list[int] = []
    given = 0

    async def items() -> AsyncIterator[int]:
        nonlocal given
        for number in range(3 * SLICE + 1):
            given += 1
            yield number

    async def turn() -> None:
        asked.append(given)
        await asyncio.sleep(0)

    batches, found = Batches(items(), turn=turn), list[int]()
    while (batch := await batches.next()) is not None:
        found += batch
    await batches.close()
    assert found == list(range(3 * SLICE + 1))
    assert asked == [SLICE, 2 * SLICE, 3 * SLICE]
