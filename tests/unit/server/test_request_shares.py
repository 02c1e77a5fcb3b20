"""Memory that the requests of one workspace take at one time."""

from __future__ import annotations

import asyncio

import pytest

from harena.core.errors import LimitExceededError, ValidationError
from harena.server.request_shares import RequestDisk, RequestMemory, needed_bytes


async def test_requests_wait_for_those_of_their_own_workspace() -> None:
    """In their order; who gives up takes no room, and another workspace does not wait."""
    memory = RequestMemory()
    first, second, third, other = (memory.share(name) for name in ("a", "a", "a", "b"))
    await first.take(8, 10)
    waiting = [asyncio.ensure_future(share.take(size, 10)) for share, size in ((second, 9), (third, 2))]
    await asyncio.sleep(0)
    await other.take(10, 10)
    assert [task.done() for task in waiting] == [False, False], "who came later does not pass by"
    waiting[0].cancel()
    await asyncio.gather(waiting[0], return_exceptions=True)
    await waiting[1]
    with pytest.raises(LimitExceededError) as refused:
        first.grow(1, 10)
    assert refused.value.reason == "BUSY"
    for share in (first, second, third):
        share.release()
    await second.take(10, 10)


@pytest.mark.parametrize("cancelled_first", [True, False])
async def test_who_gives_up_in_the_moment_of_a_release_leaves_no_room_taken(cancelled_first: bool) -> None:
    """The one behind it goes on, and all of the room is there again at the end."""
    memory = RequestMemory()
    first, second, third = (memory.share("a") for _ in range(3))
    await first.take(8, 10)
    leaving, staying = (asyncio.ensure_future(share.take(8, 10)) for share in (second, third))
    await asyncio.sleep(0)
    for step in (leaving.cancel, first.release) if cancelled_first else (first.release, leaving.cancel):
        step()
    (left,) = await asyncio.gather(leaving, return_exceptions=True)
    assert isinstance(left, asyncio.CancelledError)
    await asyncio.wait_for(staying, 5)
    third.release()
    first.grow(10, 10)


async def test_what_never_fits_is_refused() -> None:
    """A body, with what it may become."""
    share = RequestMemory().share("a")
    with pytest.raises(ValidationError, match="request_memory_bytes"):
        await share.take(11, 10)
    assert needed_bytes(1000) > 50_000
    assert needed_bytes(1000, values=False) == 1000


async def test_a_share_of_which_nothing_is_taken_yet_counts_with_later_ones() -> None:
    """Whatever other workspaces have come meanwhile."""
    disk = RequestDisk()
    early = disk.share("a")
    disk.share("b").grow(1, 10)
    disk.share("c")
    late = disk.share("a")
    late.grow(6, 10)
    with pytest.raises(LimitExceededError, match="request_disk_bytes"):
        early.grow(6, 10)
