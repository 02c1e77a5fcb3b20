"""Following a job over HTTP while its server goes away and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from server_world import fake_node, served

from harena.cli.progress import follow
from harena.cli.tally import Tally
from harena.core.clock import SystemClock
from harena.core.errors import SandboxTerminatedError, SandboxUnavailableError
from harena.core.models import SandboxSpec
from harena.core.reconnecting import MOST_AWAY_SECONDS
from harena.core.records.benchmark_jobs import BenchmarkEvent
from harena.core.records.sandboxes import SandboxStatus
from harena.sdk.http.operations import HttpOperations
from harena.testing import FakeRuntime
from harena.testing.conformance_operations import BAD, GOOD


async def test_a_follower_outlives_the_server(tmp_path: Path) -> None:
    """It says that the connection is lost and that it is back; every event comes once."""
    clock, loop = SystemClock(), asyncio.get_running_loop()
    node = fake_node(tmp_path, clock)
    slow = {**GOOD, "id": "slow", "candidate": {"files": {"solution.py": "import time; time.sleep(3600)"}}}
    job = await node.create_benchmark_job({"name": "n", "scenarios": [GOOD, BAD, slow]})
    seen: list[int] = []
    two_ended = asyncio.Event()

    async with AsyncExitStack() as second:
        first = AsyncExitStack()
        server = await first.enter_async_context(served(node, clock, tmp_path))
        client, port = HttpOperations(server.url), int(server.url.rpartition(":")[2])

        def events(after: int) -> Iterator[Mapping[str, Any]]:
            """As the sdk gives them, to a thread that may wait."""
            stream = client.benchmark_job_events(job["id"], after=after)
            while (event := asyncio.run_coroutine_threadsafe(_next(stream), loop).result()) is not None:
                seen.append(event["cursor"])
                yield event
                if len(seen) == 6:  # the job's start, three runs' starts and two ends
                    loop.call_soon_threadsafe(two_ended.set)

        async def come_back() -> None:
            await second.enter_async_context(served(node, clock, tmp_path, port=port))
            await node.cancel_benchmark_job(job["id"])

        def pause(_: float) -> None:
            asyncio.run_coroutine_threadsafe(come_back(), loop).result()

        out, tally = StringIO(), Tally.of(job)
        following = asyncio.create_task(asyncio.to_thread(follow, events, tally, name="n", out=out, pause=pause))
        await two_ended.wait()
        await first.aclose()
        await following
        everything = [event["cursor"] async for event in node.benchmark_job_events(job["id"])]
        await client.close()
    await node.close()
    assert seen == everything
    assert (tally.state, tally.done, tally.passed, tally.cancelled) == ("cancelled", 2, 1, 1)
    said = out.getvalue()
    assert said.index("no server answers") < said.index("the connection is back")


class Comeback(SystemClock):
    """A client's clock: its first pause is when the server comes back, or, where it never does, time flies."""

    def __init__(self, come_back: Callable[[], Awaitable[object]] | None = None) -> None:
        self.come_back = come_back
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if self.come_back is not None:
            await self.come_back()


@pytest.mark.parametrize("comes_back", [True, False])
async def test_waiting_outlives_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comes_back: bool) -> None:
    """Whoever waits for a job waits on, and has its results; a server that never comes back is given up."""
    node = fake_node(tmp_path, SystemClock())
    slow = {**GOOD, "id": "slow", "candidate": {"files": {"solution.py": "import time; time.sleep(3600)"}}}
    job = await node.create_benchmark_job({"name": "n", "scenarios": [slow]})
    bound, asked = node.in_workspace("default"), asyncio.Event()
    events = bound.benchmark_job_events

    def noticed(job_id: str, *, after: int = 0) -> AsyncIterator[BenchmarkEvent]:
        asked.set()
        return events(job_id, after=after)

    monkeypatch.setattr(bound, "benchmark_job_events", noticed)
    monkeypatch.setattr(node, "in_workspace", lambda _: bound)
    async with AsyncExitStack() as second:

        async def come_back() -> None:
            await second.enter_async_context(served(node, SystemClock(), tmp_path, port=port))
            await node.cancel_benchmark_job(job["id"])

        clock = Comeback(come_back if comes_back else None)
        async with served(node, SystemClock(), tmp_path) as server:
            port = int(server.url.rpartition(":")[2])
            client = HttpOperations(server.url, clock=clock)
            waiting = asyncio.create_task(client.wait_benchmark_job(job["id"]))
            await asked.wait()
        if comes_back:
            assert (await waiting)["state"] == "cancelled"
            assert clock.pauses == [0.5]
        else:
            with pytest.raises(SandboxUnavailableError, match="no server answers"):
                await waiting
            assert clock.pauses[:3] == [0.5, 1.0, 2.0]
            assert sum(clock.pauses) >= MOST_AWAY_SECONDS
        await client.close()
    await node.close()


@pytest.mark.parametrize("kind", ["benchmark", "training"])
@pytest.mark.parametrize("comes_back", [True, False])
async def test_a_wait_may_begin_while_the_server_is_away(tmp_path: Path, kind: str, comes_back: bool) -> None:
    """It is asked for ten minutes, as one that the server left; then whoever waits is told for how long."""
    node = fake_node(tmp_path, SystemClock())
    if kind == "benchmark":
        job = await node.create_benchmark_job({"name": "n", "scenarios": [GOOD]})
        await node.wait_benchmark_job(job["id"])
    else:
        rows = tmp_path / "rows.jsonl"
        rows.write_text('{"prompt": "1+1=", "completion": "2"}\n')
        asked = {
            "trainer_type": "sft",
            "model": "tiny-llama",
            "config": {"dataset_ref": str(rows)},
            "tags": ["steps:1"],
        }
        job = await node.create_training_job(asked)
        await node.wait_training_job(job["id"])
    async with AsyncExitStack() as later:

        async def come_back() -> None:
            await later.enter_async_context(served(node, SystemClock(), tmp_path, port=port))

        async with served(node, SystemClock(), tmp_path) as server:
            url, port = server.url, int(server.url.rpartition(":")[2])
        clock = Comeback(come_back if comes_back else None)
        client = HttpOperations(url, clock=clock)
        wait = client.wait_benchmark_job if kind == "benchmark" else client.wait_training_job
        if comes_back:
            assert (await wait(job["id"]))["state"] == "completed"
        else:
            with pytest.raises(
                SandboxUnavailableError, match=r"no server answers .* \(it was tried for 6\d\d seconds\)"
            ):
                await wait(job["id"])
            assert sum(clock.pauses) >= MOST_AWAY_SECONDS
        await client.close()
    await node.close()


async def test_sandboxes_that_are_being_created_are_listed_over_http(tmp_path: Path) -> None:
    """By their tags, for their workspace alone; a clean-up that stops what it finds leaves none of them behind."""
    runtime = FakeRuntime()
    runtime.may_create.clear()
    node = fake_node(tmp_path, SystemClock(), runtime)
    async with served(node, SystemClock(), tmp_path) as server:
        client = HttpOperations(server.url)
        creations = [asyncio.create_task(client.create_sandbox(SandboxSpec(tags=("mine",)))) for _ in range(5)]
        await runtime.asked_for(5)
        found = await client.list_sandboxes(tags=["mine"])
        assert [handle.info.status for handle in found] == [SandboxStatus.PENDING] * 5
        assert await client.list_sandboxes(tags=["other"]) == []
        assert node.pending_sandboxes("elsewhere") == []
        stops = [asyncio.create_task(handle.stop()) for handle in found]
        while len(await client.list_sandboxes(statuses=[SandboxStatus.TERMINATING])) < 5:
            pass
        runtime.may_create.set()
        await asyncio.gather(*stops)
        ends = await asyncio.gather(*creations, return_exceptions=True)
        assert [type(end) for end in ends] == [SandboxTerminatedError] * 5
        assert await client.list_sandboxes() == []
        assert runtime.sandboxes == {}
        await client.close()
    await node.close()


async def test_what_one_handle_is_told_the_others_know(tmp_path: Path) -> None:
    """A sandbox that was stopped through one of them runs for none; what was known before its end comes too late."""
    node = fake_node(tmp_path, SystemClock())
    async with served(node, SystemClock(), tmp_path) as server:
        client = HttpOperations(server.url)
        made = await client.create_sandbox(SandboxSpec())
        again, (listed,) = await client.get_sandbox(made.info.id), await client.list_sandboxes()
        await again.stop()
        assert [handle.info.status for handle in (made, listed)] == [SandboxStatus.COMPLETED] * 2
        with pytest.raises(SandboxTerminatedError):
            _ = made.port
        await client.close()
    await node.close()


async def _next(stream: Any) -> Mapping[str, Any] | None:
    event: Mapping[str, Any] | None = await anext(stream, None)
    return event
