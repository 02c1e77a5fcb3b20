"""How long jobs are kept, and clocks that are set meanwhile."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.jobs.benchmark.retention import DRIFT_SECONDS, EXPIRE_SECONDS, Retention
from harena.testing.clock import FakeClock

DAY = 86400.0


async def test_jobs_that_ended_long_enough_ago_are_due_now_and_then() -> None:
    """Not at the first look: a machine that has just started may not know the time yet."""
    clock = FakeClock(auto_jump=False)
    retention = Retention(clock, 7 * DAY)
    assert retention.due() is None
    await clock.advance(EXPIRE_SECONDS - 1)
    assert retention.due() is None
    await clock.advance(1)
    assert retention.due() == clock.utcnow() - timedelta(days=7)
    assert retention.due() is None
    await clock.advance(EXPIRE_SECONDS)
    assert retention.due() == clock.utcnow() - timedelta(days=7)


@given(
    by_seconds=st.floats(DRIFT_SECONDS + 1, 1e9) | st.floats(-1e9, -DRIFT_SECONDS - 1),
    when=st.floats(0, EXPIRE_SECONDS),
    slewed=st.floats(-DRIFT_SECONDS + 1, DRIFT_SECONDS - 1),
)
async def test_a_clock_that_is_set_deletes_nothing(by_seconds: float, when: float, slewed: float) -> None:
    """There is time to set it right; then, and where it was right all the time but for a little, the rule goes on."""
    clock = FakeClock(auto_jump=False)
    retention = Retention(clock, DAY)
    retention.due()
    await clock.advance(when)
    clock.set_wall_clock(by_seconds=by_seconds)
    await clock.advance(EXPIRE_SECONDS - when + 1)
    assert retention.due() is None
    clock.set_wall_clock(by_seconds=-by_seconds)
    await clock.advance(EXPIRE_SECONDS + 1)
    assert retention.due() is None
    clock.set_wall_clock(by_seconds=slewed)
    await clock.advance(EXPIRE_SECONDS + 1)
    assert retention.due() == clock.utcnow() - timedelta(days=1)


@pytest.mark.parametrize("keep_seconds", [0.0, 1e9])
async def test_any_length_will_do(keep_seconds: float) -> None:
    """From no time at all to decades."""
    clock = FakeClock(auto_jump=False)
    retention = Retention(clock, keep_seconds)
    retention.due()
    await clock.advance(EXPIRE_SECONDS)
    assert retention.due() == clock.utcnow() - timedelta(seconds=keep_seconds)
