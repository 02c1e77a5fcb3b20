"""Clients' leases, and clocks that jump."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from server_world import World

from harena.core.errors import NotFoundError
from harena.server.leases import Leases
from harena.testing.clock import FakeClock

SECONDS = 60.0
wall_clock_jumps = st.floats(-1e9, 1e9)


@given(
    renewals=st.lists(
        st.tuples(st.floats(0, SECONDS - 1), wall_clock_jumps, st.floats(0, SECONDS - 1), wall_clock_jumps), max_size=8
    )
)
async def test_the_time_of_day_ends_no_lease_and_keeps_none(renewals: list[tuple[float, float, float, float]]) -> None:
    """Set forward or back at any moment: a lease that is renewed in time lasts, one that is not is over in time."""
    clock = FakeClock(auto_jump=False)
    leases = Leases(clock)
    lease = leases.open("w", SECONDS, most=1)
    for pause, jump, more, other_jump in renewals:
        await clock.advance(pause)
        clock.set_wall_clock(by_seconds=jump)
        assert leases.find("w", lease.id) is lease
        leases.renew("w", lease.id)
        clock.set_wall_clock(by_seconds=other_jump)
        await clock.advance(more)
        assert leases.find("w", lease.id) is lease
        leases.renew("w", lease.id)
    clock.set_wall_clock(by_seconds=-1e6)
    await clock.advance(SECONDS + 0.1)
    with pytest.raises(NotFoundError):
        leases.find("w", lease.id)
    await leases.settled()


async def test_a_workspace_has_so_many_leases(here: World, http: aiohttp.ClientSession) -> None:
    """More are refused; one that is closed or over makes room, once."""
    clock, quotas = here.state.clock, here.state.quotas
    assert isinstance(clock, FakeClock)
    quotas._defaults = replace(quotas._defaults, leases=2)

    async def opened() -> tuple[int, dict[str, Any]]:
        async with http.post("/v1/leases", json={"seconds": SECONDS}) as answer:
            return answer.status, await answer.json(content_type=None)

    first, second, third = [await opened() for _ in range(3)]
    assert [status for status, _ in (first, second, third)] == [201, 201, 429]
    assert (third[1]["reason"], "(leases)" in third[1]["detail"]) == ("LEASES", True)
    assert here.state.leases.open("other", SECONDS, most=1), "another workspace has its own"
    async with http.delete(f"/v1/leases/{first[1]['id']}") as answer:
        assert answer.status == 204
    assert [(await opened())[0] for _ in range(2)] == [201, 429]
    await clock.advance(SECONDS + 0.1)
    await here.state.leases.settled()
    assert [(await opened())[0] for _ in range(3)] == [201, 201, 429]
