"""Clients' leases, and clocks that jump."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from server_world import World

from harena.core.errors import NotFoundError
from harena.core.models import SandboxSpec
from harena.core.records.sandboxes import SandboxStatus
from harena.sdk.http.connection import Connection
from harena.sdk.http.lease import ClientLease
from harena.server.leases import Leases
from harena.testing.clock import FakeClock, FakeTimer

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


class LateClock(FakeClock):
    """Of a process that gets hardly any processor time: each deadline is met five seconds late."""

    def call_later(self, seconds: float, callback: Callable[[], object]) -> FakeTimer:
        return super().call_later(seconds + 5.0, callback)


async def test_a_server_that_is_slow_ends_no_lease_early() -> None:
    """Renewals wait in their sockets while it is; it ends nevertheless if none comes."""
    clock = LateClock(auto_jump=False)
    leases = Leases(clock)
    lease = leases.open("w", SECONDS, most=1)
    await clock.advance(2.5 * SECONDS)
    assert leases.renew("w", lease.id) is lease
    await clock.advance(2.5 * SECONDS)
    assert leases.find("w", lease.id) is lease
    await clock.advance(SECONDS)
    with pytest.raises(NotFoundError):
        leases.find("w", lease.id)
    await leases.settled()


async def test_no_lease_ends_while_a_sandbox_is_made_under_it() -> None:
    """Whoever was given the sandbox has the lease's whole length to use it, or to renew."""
    clock = FakeClock(auto_jump=False)
    leases = Leases(clock)
    lease = leases.open("w", SECONDS, most=1)
    with leases.making(lease):
        with leases.making(lease):
            await clock.advance(5.5 * SECONDS)
        await clock.advance(5.5 * SECONDS)
    await clock.advance(SECONDS - 1)
    assert leases.find("w", lease.id) is lease
    await clock.advance(1.1)
    with pytest.raises(NotFoundError):
        leases.find("w", lease.id)
    await leases.settled()


async def test_a_sandbox_that_was_long_in_the_making_is_there_for_its_client(here: World) -> None:
    """Its lease had no renewal meanwhile. Nor is it ended, and another one made."""
    clock = here.state.clock
    assert isinstance(clock, FakeClock)
    client = here.client()
    began, goes_on, made = asyncio.Event(), asyncio.Event(), []
    create = here.runtime.create

    async def slow(*given: Any, **more: Any) -> Any:
        began.set()
        made.append(given)
        await goes_on.wait()
        return await create(*given, **more)

    here.runtime.create = slow  # type: ignore[method-assign]
    asked = asyncio.ensure_future(client.create_sandbox(SandboxSpec()))
    await began.wait()
    await clock.advance(3 * SECONDS)
    goes_on.set()
    sandbox = await asked
    assert (await sandbox.refresh()).status is SandboxStatus.RUNNING
    assert len(made) == 1
    await client.close()


class SlowServer(Connection):
    """Each answer takes twelve seconds."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__("http://127.0.0.1:1", clock=clock)
        self.asked: list[float] = []

    async def json(self, method: str, path: str, **_: Any) -> Any:
        self.asked.append(self._clock.now())
        await self._clock.sleep(12.0)
        return {"id": "lease_1"}


async def test_a_client_renews_as_often_where_the_server_is_slow_to_answer() -> None:
    """From one question to the next, not from an answer."""
    clock = FakeClock(auto_jump=False)
    server = SlowServer(clock)
    lease = ClientLease(server, clock, seconds=SECONDS)
    opening = asyncio.ensure_future(lease.id())
    await clock.advance(12.0)
    await opening
    await clock.advance(60.0)
    assert server.asked == [0.0, 27.0, 42.0, 57.0, 72.0]
    closing = asyncio.ensure_future(lease.close())
    await clock.advance(12.0)
    await closing


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
