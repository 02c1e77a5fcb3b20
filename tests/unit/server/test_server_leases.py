"""Clients' leases, and clocks that jump."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    lease = leases.open("w", SECONDS)
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
