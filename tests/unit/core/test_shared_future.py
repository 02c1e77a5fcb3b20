"""A future that many tasks wait for: nobody's cancellation is another's, and who waits goes on in the next turn."""

from __future__ import annotations

import asyncio

import pytest

from harena.core.shared_future import SharedFuture


def made() -> SharedFuture[int]:
    """One of this loop."""
    return SharedFuture(loop=asyncio.get_running_loop())


async def test_all_get_the_result_in_their_order() -> None:
    """Also who comes when it is there."""
    shared, order = made(), []

    async def wait(name: str) -> int:
        result = await shared.wait()
        order.append(name)
        return result

    tasks = [asyncio.ensure_future(wait(name)) for name in "abc"]
    await asyncio.sleep(0)
    shared.set_result(7)
    assert await asyncio.gather(*tasks) == [7, 7, 7]
    assert order == ["a", "b", "c"]
    assert await shared.wait() == 7


async def test_who_waits_goes_on_in_the_next_turn() -> None:
    """Behind `asyncio.shield` it would be the one after it."""
    shared = made()
    task = asyncio.ensure_future(shared.wait())
    await asyncio.sleep(0)
    shared.set_result(7)
    await asyncio.sleep(0)
    assert task.done()


async def test_a_cancelled_task_cancels_nothing_else() -> None:
    """Neither the future nor the others, also if the result comes in the same turn."""
    shared = made()
    first, second = (asyncio.ensure_future(shared.wait()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    shared.set_result(7)
    assert await second == 7
    assert first.cancelled()
    third = made()
    alone = asyncio.ensure_future(third.wait())
    await asyncio.sleep(0)
    alone.cancel()
    await asyncio.wait([alone])
    assert not third.done()


async def test_failures_and_cancellations_reach_all() -> None:
    """As with any future."""
    failed, cancelled = made(), made()
    tasks = [asyncio.ensure_future(shared.wait()) for shared in (failed, failed, cancelled, cancelled)]
    await asyncio.sleep(0)
    failed.set_exception(ValueError("it"))
    cancelled.cancel()
    await asyncio.wait(tasks)
    for task in tasks[:2]:
        with pytest.raises(ValueError, match="it"):
            task.result()
    assert all(task.cancelled() for task in tasks[2:])


async def test_other_ways_to_wait_work() -> None:
    """It is a future: callbacks, `await` and `asyncio.wait`."""
    shared = made()
    waiting = asyncio.ensure_future(asyncio.wait([shared]))
    await asyncio.sleep(0)
    shared.set_result(7)
    assert await shared == 7
    assert (await waiting)[0] == {shared}
