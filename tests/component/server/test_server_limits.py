"""What a workspace may use of a server, and what is answered when it wants more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from server_world import World, world
from test_server_keys import ask, key_for

from harena.core.errors import LimitExceededError, PlatformError
from harena.core.models import SandboxSpec
from harena.core.workspace import WorkspaceLimits
from harena.sdk.http.operations import HttpOperations
from harena.server.identity import Caller
from harena.server.quotas import KNOWN_SECONDS, Quotas
from harena.testing import FakeClock
from harena.testing.conformance_operations import GOOD

HANGS = {**GOOD, "id": "hangs", "candidate": {"files": {"solution.py": "import time; time.sleep(3600)"}}}


class Given:
    """Limits of workspaces, as a store has them."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, float | int]] = {}
        self.away = False

    async def limits(self, workspace: str) -> dict[str, float | int]:
        if self.away:
            raise PlatformError("the store is away")
        return self.kept.get(workspace, {})


@pytest.fixture
def given() -> Given:
    """Nothing was set."""
    return Given()


@pytest_asyncio.fixture
async def keyed(tmp_path: Path, given: Given) -> AsyncIterator[World]:
    """A server that asks for keys, with these limits, and with a clock that stands still."""
    async with world(tmp_path, clock=FakeClock(auto_jump=False), keyed=True, limits=given) as made:
        yield made


async def statuses(world: World, token: str, count: int) -> list[int]:
    """Of that many requests."""
    return [(await ask(world, token, "GET", "/v1/sandboxes"))[0] for _ in range(count)]


def clock_of(world: World) -> FakeClock:
    clock = world.state.clock
    assert isinstance(clock, FakeClock)
    return clock


async def test_the_pace_of_a_key(keyed: World, given: Given) -> None:
    """After its burst each key is refused until its time has come; no other key is, and nothing has been done."""
    given.kept["ours"] = {"requests_per_second": 0.5, "request_burst": 3}
    first, second, other = await key_for(keyed, "ours"), await key_for(keyed, "ours"), await key_for(keyed, "theirs")
    assert await statuses(keyed, first, 5) == [200, 200, 200, 429, 429]
    status, problem = await ask(keyed, first, "POST", "/v1/sandboxes", {})
    assert (status, problem["code"], problem["reason"]) == (429, "limit_exceeded", "REQUEST_RATE")
    assert problem["retry_after_seconds"] == 2.0
    assert problem["request_id"]
    assert keyed.runtime.created == []
    assert await statuses(keyed, second, 1) + await statuses(keyed, other, 9) == [200] * 10
    assert (await ask(keyed, first, "GET", "/healthz"))[0] == 200
    await clock_of(keyed).advance(2.0)
    assert await statuses(keyed, first, 2) == [200, 429]


async def test_a_refusal_says_when_to_come_back(keyed: World, given: Given) -> None:
    """In a header too, in whole seconds."""
    given.kept["ours"] = {"requests_per_second": 0.25, "request_burst": 1}
    headers = {"authorization": f"Bearer {await key_for(keyed, 'ours')}"}
    async with aiohttp.ClientSession(keyed.url, headers=headers) as http:
        async with http.get("/v1/sandboxes"), http.get("/v1/sandboxes") as answer:
            assert (answer.status, answer.headers["retry-after"]) == (429, "4")
            assert answer.content_type == "application/problem+json"


async def test_the_sdk_comes_back_when_it_was_told_to(keyed: World, given: Given) -> None:
    """Its caller sees a slower server, and no error; a creation happens once."""
    given.kept["ours"] = {"requests_per_second": 1.0, "request_burst": 2}
    client = HttpOperations(keyed.url, api_key=await key_for(keyed, "ours"))
    client._connection._clock = moving = Moving(clock_of(keyed))  # type: ignore[assignment]
    sandbox = await client.create_sandbox(SandboxSpec())
    for _ in range(4):
        assert (await sandbox.refresh()).status == "running"
    assert len(keyed.runtime.created) == 1
    assert len(moving.pauses) >= 4
    assert sum(moving.pauses) == pytest.approx(4, abs=0.5)
    await client.close()


class Moving:
    """A clock that moves another one instead of waiting."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await self._clock.advance(seconds)


async def test_sandboxes_at_one_time(keyed: World, given: Given) -> None:
    """As many as were set, also when all are asked for at once; one that has ended makes room, whoever ended it."""
    given.kept["ours"] = {"sandboxes": 3}
    token = await key_for(keyed, "ours")
    client = HttpOperations(keyed.url, api_key=token)
    made = await asyncio.gather(*(client.create_sandbox(SandboxSpec()) for _ in range(5)), return_exceptions=True)
    refused = [error for error in made if isinstance(error, LimitExceededError)]
    living = [sandbox for sandbox in made if not isinstance(sandbox, BaseException)]
    assert (len(refused), len(living)) == (2, 3)
    assert refused[0].reason == "SANDBOXES"
    assert refused[0].retry_delay is not None
    assert "may have 3 sandboxes" in str(refused[0])
    status, problem = await ask(keyed, token, "POST", "/v1/sandboxes", {})
    assert (status, problem["code"]) == (429, "limit_exceeded")
    assert (await ask(keyed, await key_for(keyed, "theirs"), "POST", "/v1/sandboxes", {}))[0] == 201
    await keyed.runtime.sandboxes[living[0].info.id].destroy()
    await living[0].wait_terminal()
    await client.create_sandbox(SandboxSpec())
    keyed.runtime.fail_next_create(RuntimeError("no luck"))
    await living[1].stop()
    assert (await ask(keyed, token, "POST", "/v1/sandboxes", {}))[0] == 500
    assert (await ask(keyed, token, "POST", "/v1/sandboxes", {}))[0] == 201, "a failure takes no room"
    await client.close()


async def test_jobs_that_have_not_ended(keyed: World, given: Given) -> None:
    """As many as were set; one that has ended makes room; a repeated creation needs none."""
    given.kept["ours"] = {"open_jobs": 2}
    token = await key_for(keyed, "ours")
    content = {"name": "job", "scenarios": [HANGS]}
    jobs = [(await ask(keyed, token, "POST", "/v1/benchmark_jobs", content))[1]["id"] for _ in range(2)]
    status, problem = await ask(keyed, token, "POST", "/v1/benchmark_jobs", content)
    assert (status, problem["code"], problem["reason"]) == (429, "limit_exceeded", "OPEN_JOBS")
    assert (await ask(keyed, await key_for(keyed, "theirs"), "POST", "/v1/benchmark_jobs", content))[0] == 201
    assert (await ask(keyed, token, "POST", f"/v1/benchmark_jobs/{jobs[0]}/cancel"))[0] == 200
    assert (await ask(keyed, token, "POST", "/v1/benchmark_jobs", content))[0] == 201


async def test_bytes_of_a_request(keyed: World, given: Given) -> None:
    """JSON that is larger is refused; files are not JSON."""
    given.kept["ours"] = {"request_bytes": 2000}
    token = await key_for(keyed, "ours")
    status, sandbox = await ask(keyed, token, "POST", "/v1/sandboxes", {"tags": ["x" * 1000]})
    assert status == 201
    status, problem = await ask(keyed, token, "POST", "/v1/sandboxes", {"tags": ["x" * 2000]})
    assert (status, problem["reason"]) == (413, "TOO_LARGE")
    assert "2000 bytes" in problem["detail"]
    headers = {"authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(keyed.url, headers=headers) as http:
        path = f"/v1/sandboxes/{sandbox['id']}/files?path=/workspace/x"
        async with http.put(path, data=b"x" * 100_000) as answer:
            assert answer.status < 300


async def test_who_is_refused_is_not_read(keyed: World) -> None:
    """A body without a key, or over the pace, costs the server nothing."""
    async with aiohttp.ClientSession(keyed.url) as http:
        async with http.post("/v1/sandboxes", data=endless(), headers={"content-type": "application/json"}) as answer:
            assert answer.status == 401


async def endless() -> AsyncIterator[bytes]:
    """A body that never ends, and gives way to its answer."""
    while True:
        yield b" " * 1000
        await asyncio.sleep(0)


async def test_limits_that_change_are_followed(given: Given) -> None:
    """Within seconds; what was known is believed for as long as the store is away."""
    clock = FakeClock(auto_jump=False)
    quotas = Quotas(WorkspaceLimits(sandboxes=7), given, clock)
    assert (await quotas.limits_of("w")).sandboxes == 7
    given.kept["w"] = {"sandboxes": 2}
    assert (await quotas.limits_of("w")).sandboxes == 7
    await clock.advance(KNOWN_SECONDS)
    assert await quotas.limits_of("w") == WorkspaceLimits(sandboxes=2)
    given.away = True
    await clock.advance(KNOWN_SECONDS)
    assert (await quotas.limits_of("w")).sandboxes == 2
    with pytest.raises(PlatformError):
        await quotas.limits_of("unknown")


async def test_a_server_without_a_store_has_one_pace_for_all_without_keys() -> None:
    """Who asks without a key is counted by the workspace."""
    quotas = Quotas(WorkspaceLimits(request_burst=1, requests_per_second=1), None, FakeClock(auto_jump=False))
    caller = Caller("default", frozenset())
    await quotas.admit(caller)
    with pytest.raises(LimitExceededError, match="1 requests a second, and 1 at once"):
        await quotas.admit(caller)
    await quotas.admit(Caller("default", frozenset(), "key"))
