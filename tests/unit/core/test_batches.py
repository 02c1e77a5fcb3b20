"""Batches: everything, in order, as much at a time as there is."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from harena.core.batches import Batches


async def numbers(count: int, *, fails: bool = False) -> AsyncIterator[int]:
    for number in range(count):
        yield number
    if fails:
        raise OSError("broke off")


async def test_what_is_there_comes_at_once_and_in_order() -> None:
    """Never more than asked for, nothing twice and nothing lost."""
    batches = Batches(numbers(25), most=10)
    seen = []
    while (batch := await batches.next()) is not None:
        seen.append(batch)
    assert seen == [list(range(10)), list(range(10, 20)), list(range(20, 25))]
    assert await batches.next() is None


async def test_a_failure_comes_after_what_came_before_it() -> None:
    """Its reader has everything that there was."""
    batches = Batches(numbers(3, fails=True))
    assert await batches.next() == [0, 1, 2]
    with pytest.raises(OSError, match="broke off"):
        await batches.next()


async def test_one_item_is_not_held_back_for_others() -> None:
    """And a reader that was cancelled while it waited has lost nothing."""
    queue: asyncio.Queue[int] = asyncio.Queue()

    async def forever() -> AsyncIterator[int]:
        while True:
            yield await queue.get()

    batches = Batches(forever())
    waiting = asyncio.ensure_future(batches.next())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    await queue.put(1)
    assert await batches.next() == [1]
    await batches.close()


async def test_closing_closes_the_iterator() -> None:
    """Also in the middle, and more than once."""
    closed = []

    async def watched() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.append(True)

    batches = Batches(watched(), most=5)
    await batches.next()
    await batches.close()
    await batches.close()
    assert closed == [True]
