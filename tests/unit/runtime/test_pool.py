"""The pool: follows demand, gives each sandbox away once, never a dead one, and lets idle ones go."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from harena.core.errors import PlatformError
from harena.runtime.host import pool as pools
from harena.runtime.host.pool import Budget, Pool, Repeats


class MadeSandbox:
    """What the pool needs of one."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.alive = True
        self.discarded = False

    def still_lives(self) -> bool:
        return self.alive

    def discard(self) -> None:
        self.alive = False
        self.discarded = True


class Maker:
    """Makes them, at once or when it is told to."""

    def __init__(self) -> None:
        self.made: list[MadeSandbox] = []
        self.under_way = 0
        self.gate: asyncio.Event | None = None
        self.failures = 0

    async def __call__(self) -> Any:
        self.under_way += 1
        try:
            if self.gate is not None:
                await self.gate.wait()
            if self.failures:
                self.failures -= 1
                raise PlatformError("cannot", step="test")
            sandbox = MadeSandbox(len(self.made))
            self.made.append(sandbox)
            return sandbox
        finally:
            self.under_way -= 1

    def waiting(self, given: list[Any]) -> list[MadeSandbox]:
        """Made, alive and not given away."""
        return [sandbox for sandbox in self.made if sandbox.alive and sandbox not in given]


async def settle() -> None:
    """Let everything run that can run."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_it_follows_demand() -> None:
    """Nothing is made before somebody asks; then as many are ready as were asked for lately, up to the limit."""
    make = Maker()
    pool = Pool(make, 4)
    await settle()
    assert make.made == []
    given: list[Any] = [await pool.claim()]
    await settle()
    assert len(make.waiting(given)) == 1
    given += [await pool.claim() for _ in range(10)]
    await settle()
    assert len(make.waiting(given)) == 4
    pool.close()


async def test_nobody_gets_what_another_has() -> None:
    """Each is given away once, whoever asks at the same time."""
    make = Maker()
    pool = Pool(make, 8)
    given = [await pool.claim() for _ in range(5)]
    given += await asyncio.gather(*(pool.claim() for _ in range(30)))
    assert len({id(sandbox) for sandbox in given}) == 35
    assert all(cast(MadeSandbox, sandbox).alive for sandbox in given)
    pool.close()


async def test_nothing_is_made_beside_a_first_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """While half of those that are wanted are ready, more are made a moment after a claim; with fewer, at once."""
    monkeypatch.setattr(pools, "_AFTER_CLAIM_SECONDS", 60.0)
    make = Maker()
    pool = Pool(make, 4)
    given: list[Any] = [await pool.claim() for _ in range(4)]
    await settle()
    made = len(make.made)
    given += [await pool.claim(), await pool.claim()]
    await settle()
    assert len(make.made) == made
    given.append(await pool.claim())
    await settle()
    assert len(make.waiting(given)) == 4
    pool.close()


async def test_what_is_made_later_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The moment after a claim comes, unless the pool was closed meanwhile."""
    monkeypatch.setattr(pools, "_AFTER_CLAIM_SECONDS", 0.0)
    make = Maker()
    pool = Pool(make, 4)
    given: list[Any] = [await pool.claim() for _ in range(4)]
    await settle()
    given.append(await pool.claim())
    assert len(make.waiting(given)) == 3
    await settle()
    assert len(make.waiting(given)) == 4
    made = len(make.made)
    given.append(await pool.claim())
    pool.close()
    await settle()
    assert len(make.made) == made


async def test_dead_ones_are_not_given_away() -> None:
    """One that has ended while it waited is passed over, to the last of them."""
    make = Maker()
    pool = Pool(make, 4)
    given = [await pool.claim() for _ in range(4)]
    await settle()
    dead = make.waiting(given)
    assert dead
    for sandbox in dead:
        sandbox.alive = False
    fresh = cast(MadeSandbox, await pool.claim())
    assert fresh.alive
    assert fresh not in dead
    pool.close()


async def test_those_who_wait_come_first() -> None:
    """Nothing is made ahead while somebody waits for a sandbox."""
    make = Maker()
    make.gate = asyncio.Event()
    pool = Pool(make, 8)
    waiting = [asyncio.ensure_future(pool.claim()) for _ in range(6)]
    await settle()
    assert make.under_way == 6
    make.gate.set()
    await asyncio.gather(*waiting)
    pool.close()
    await settle()


async def test_failures() -> None:
    """Who asks gets the error; a failure while filling is nobody's, and the next one is tried again."""
    make = Maker()
    make.failures = 1
    pool = Pool(make, 4)
    with pytest.raises(PlatformError):
        await pool.claim()
    make.failures = 1  # the filling's own
    await settle()
    given: list[Any] = [await pool.claim(), await pool.claim()]
    await settle()
    assert make.waiting(given)
    pool.close()


async def test_close() -> None:
    """Those that are ready are let go, those under way as soon as they are there; a given one is left alone."""
    make = Maker()
    pool = Pool(make, 4)
    given: list[Any] = [await pool.claim() for _ in range(3)]
    await settle()
    make.gate = asyncio.Event()
    given += [await pool.claim() for _ in range(3)]  # fewer than half are ready: more are made at once
    await settle()
    under_way = make.under_way
    pool.close()
    make.gate.set()
    await settle()
    assert under_way > 0
    assert make.waiting(given) == []
    assert [sandbox.discarded for sandbox in given] == [False] * 6


async def test_idle_ones_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """When nobody has asked for a while, nothing is kept ready; the next one who asks is served all the same."""
    make = Maker()
    pool = Pool(make, 4)
    given: list[Any] = [await pool.claim() for _ in range(4)]
    await settle()
    assert len(make.waiting(given)) == 4
    now = asyncio.get_running_loop().time()
    methods = {"time": lambda _: now + 60, "call_later": lambda *_: None, "call_soon": lambda *_: None}
    later = type("LaterLoop", (), methods)
    monkeypatch.setattr(pool, "_loop", later())
    pool._drop_idle()
    assert make.waiting(given) == []
    given.append(await pool.claim())
    assert given[-1].alive
    pool.close()


async def test_a_cancelled_claim_takes_nothing_with_it() -> None:
    """Who gives up while a sandbox is made for him does not block the others."""
    make = Maker()
    make.gate = asyncio.Event()
    pool = Pool(make, 4)
    impatient = asyncio.ensure_future(pool.claim())
    await settle()
    impatient.cancel()
    await settle()
    make.gate.set()
    assert cast(MadeSandbox, await pool.claim()).alive
    await settle()
    assert len(pool._ready) > 0
    assert pools._WINDOW_SECONDS > 0
    pool.close()


async def test_pools_of_many_limits_share_a_budget() -> None:
    """However many pools there are, so many are ready together, and those that keep none are dropped."""
    make, budget = Maker(), Budget(4)
    pools_, dropped = [], []
    given: list[Any] = []
    for number in range(30):
        pools_.append(Pool(make, 4, [budget], lambda number=number: dropped.append(number)))  # type: ignore[misc]
        given += [await pools_[-1].claim(), await pools_[-1].claim()]
        await settle()
        assert len(make.waiting(given)) <= 4
    assert len(make.waiting(given)) == 4
    assert len(set(dropped)) >= 26
    for pool in pools_:
        pool.close()


async def test_the_pool_used_last_longest_ago_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is not in demand gives up all; it is dropped with its last, and a claim brings it back."""
    monkeypatch.setattr(pools, "_WINDOW_SECONDS", -1.0)
    monkeypatch.setattr(Pool, "_count_wanted", lambda _: 2)
    dropped: list[str] = []
    budget, makers = Budget(4), [Maker(), Maker(), Maker()]
    first, second, third = (
        Pool(make, 4, [budget], lambda name=name: dropped.append(name))  # type: ignore[misc]
        for make, name in zip(makers, "abc", strict=True)
    )
    given: list[Any] = []
    for pool in (first, second, third):
        given.append(await pool.claim())
        await settle()
    assert [len(make.waiting(given)) for make in makers] == [0, 2, 2]
    assert dropped == ["a"]
    given.append(await first.claim())
    await settle()
    assert [len(make.waiting(given)) for make in makers] == [2, 0, 2]
    assert dropped == ["a", "b"]
    for pool in (first, second, third):
        pool.close()


async def test_pools_in_demand_share_alike() -> None:
    """Two that are claimed from in turn end nothing of each other's once both have their part."""
    budget, makers = Budget(4), [Maker(), Maker()]
    both = [Pool(make, 4, [budget]) for make in makers]
    given: list[Any] = []
    for pool in both:
        given += [await pool.claim() for _ in range(4)]
        await settle()
    assert [len(make.waiting(given)) for make in makers] == [2, 2]
    discarded = sum(sandbox.discarded for make in makers for sandbox in make.made)
    for _ in range(6):
        for pool in both:
            given.append(await pool.claim())
            pool._fill()
            await settle()
    assert sum(sandbox.discarded for make in makers for sandbox in make.made) == discarded
    for pool in both:
        pool.close()


def test_limits_are_repeated_within_the_idle_time() -> None:
    """The second claim, unless it comes late or after too many others."""
    repeats = Repeats()
    assert [repeats.note("a", 0.0), repeats.note("a", 1.0), repeats.note("b", 1.0)] == [False, True, False]
    assert not repeats.note("a", 2.0 + pools._IDLE_SECONDS)
    for number in range(1000):
        assert not repeats.note(number, 40.0)
    assert len(repeats._claimed) == pools._MOST_REMEMBERED
    assert not repeats.note("a", 40.0)
