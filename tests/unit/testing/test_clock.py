from __future__ import annotations

import asyncio
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.clock import GRACE_SECONDS, STOPPED_SECONDS, Clock, Pacer, SystemClock
from harena.testing import FakeClock


async def test_time_jumps_when_nothing_else_can_run() -> None:
    """An hour of sleep takes no real time and moves both clocks by an hour."""
    clock = FakeClock()
    before = clock.utcnow()
    await clock.sleep(3600)
    assert clock.now() == 3600
    assert (clock.utcnow() - before).total_seconds() == 3600


async def test_deadlines_fire_in_order() -> None:
    """Sleepers wake in order of time, equal ones in the order in which they went to sleep."""
    clock = FakeClock()
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.now()))

    await asyncio.gather(sleeper("late", 5), sleeper("a", 2), sleeper("b", 2), sleeper("now", 0))
    assert woken == [("now", 0), ("a", 2), ("b", 2), ("late", 5)]


async def test_time_stands_still_while_something_runs() -> None:
    """A deadline does not fire before a chain of ready tasks has run to its end."""
    clock = FakeClock()
    steps = 0

    async def busy() -> float:
        nonlocal steps
        for _ in range(500):
            await asyncio.sleep(0)
            steps += 1
        return clock.now()

    _, ended_at = await asyncio.gather(clock.sleep(1), busy())
    assert (steps, ended_at, clock.now()) == (500, 0, 1)


async def test_cancelled_sleep_and_timer_leave_nothing() -> None:
    """A cancelled sleeper and a cancelled timer are not waited for."""
    clock = FakeClock(auto_jump=False)
    called: list[int] = []
    timer = clock.call_later(1, lambda: called.append(1))
    sleeper = asyncio.ensure_future(clock.sleep(2))
    await asyncio.sleep(0)
    assert clock.pending == 2
    timer.cancel()
    timer.cancel()
    sleeper.cancel()
    await asyncio.gather(sleeper, return_exceptions=True)
    assert clock.pending == 0
    await clock.advance(10)
    assert called == []


async def test_advance_runs_what_is_due_and_what_follows() -> None:
    """advance() fires each deadline on the way, those that come from earlier ones included, and stops at its target."""
    clock = FakeClock(auto_jump=False)
    beats: list[float] = []

    async def heart() -> None:
        while True:
            await clock.sleep(1)
            beats.append(clock.now())

    task = asyncio.ensure_future(heart())
    await clock.advance(3.5)
    assert (beats, clock.now()) == ([1, 2, 3], 3.5)
    task.cancel()


async def test_manual_clock_does_not_jump() -> None:
    """Without auto_jump a deadline waits for advance()."""
    clock = FakeClock(auto_jump=False)
    sleeper = asyncio.ensure_future(clock.sleep(1))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not sleeper.done()
    await clock.advance(1)
    assert sleeper.done()


async def test_system_clock() -> None:
    """The real clock moves forward, is in UTC, and its timers call back and can be cancelled."""
    clock: Clock = SystemClock()
    called = asyncio.Event()
    clock.call_later(0, lambda: 1 / 0).cancel()
    clock.call_later(-1, called.set)
    before = clock.now()
    await asyncio.wait_for(called.wait(), timeout=10)
    await clock.sleep(-1)
    assert clock.now() >= before
    offset = clock.utcnow().utcoffset()
    assert offset is not None
    assert offset.total_seconds() == 0


async def test_a_pacer_pauses_until_it_is_stopped() -> None:
    """Pauses take their time; stopping cuts the one that lasts short, and every one that follows."""
    clock = FakeClock(auto_jump=False)
    pacer = Pacer(clock)
    looks: list[float] = []

    async def look() -> None:
        while await pacer.pause(2.0):
            looks.append(clock.now())

    looking = asyncio.create_task(look())
    await clock.advance(5.0)
    assert looks == [2.0, 4.0]
    pacer.stop()
    await looking
    assert not await pacer.pause(100.0)
    assert (clock.now(), clock.pending) == (5.0, 0)


def wake_up_later(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """As if this process, or the whole machine, had been stopped for so long."""
    loop = asyncio.get_running_loop()
    before = loop.time
    patch.setattr(loop, "time", lambda: before() + seconds)


async def turns() -> None:
    """Of the loop: what is due has run then."""
    for _ in range(3):
        await asyncio.sleep(0)


@pytest.mark.parametrize("stopped_seconds", [1000.0, 1e7])
async def test_whoever_was_stopped_hears_what_happened_before_a_deadline_counts(
    stopped_seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would have met the deadline lies in a socket: it can cancel the timer."""
    told: list[str] = []
    timer = SystemClock().call_later(60, lambda: told.append("too late"))
    here, there = socket.socketpair()
    loop, heard = asyncio.get_running_loop(), asyncio.Event()

    def renew() -> None:
        loop.remove_reader(here)
        told.append("renewed")
        timer.cancel()
        heard.set()

    loop.add_reader(here, renew)
    with here, there:
        wake_up_later(monkeypatch, stopped_seconds)
        there.send(b"x")
        await heard.wait()
        wake_up_later(monkeypatch, 10 * GRACE_SECONDS)
        await turns()
    assert told == ["renewed"]


async def test_a_deadline_is_not_lost_by_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing comes it counts after the grace, once; one that is met in time counts at once."""
    told: list[str] = []
    clock = SystemClock()
    clock.call_later(60, lambda: told.append("late"))
    wake_up_later(monkeypatch, 60 + STOPPED_SECONDS / 2)
    await turns()
    assert told == ["late"]
    clock.call_later(60, lambda: told.append("later"))
    wake_up_later(monkeypatch, 60 + 2 * STOPPED_SECONDS)
    await turns()
    assert told == ["late"]
    wake_up_later(monkeypatch, GRACE_SECONDS)
    await turns()
    assert told == ["late", "later"]
    wake_up_later(monkeypatch, 1000)
    await turns()
    assert told == ["late", "later"]


@given(steps=st.lists(st.tuples(st.floats(0, 100), st.floats(-1e9, 1e9)), max_size=10))
async def test_the_fake_wall_clock_can_be_set_without_time_passing(steps: list[tuple[float, float]]) -> None:
    """Both clocks move by what passes; only one by what it is set by."""
    clock, passed, start = FakeClock(), 0.0, FakeClock().utcnow()
    total = 0.0
    for seconds, by in steps:
        await clock.sleep(seconds)
        clock.set_wall_clock(by_seconds=by)
        passed, total = passed + seconds, total + seconds + by
    assert clock.now() == pytest.approx(passed)
    assert (clock.utcnow() - start).total_seconds() == pytest.approx(total, abs=1e-3)
