"""Requests that wait for jobs or follow them: so many for each workspace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import aiohttp
import pytest
from server_world import World

from harena.core.errors import LimitExceededError
from harena.core.records.benchmark_jobs import BenchmarkEvent
from harena.core.threads import work_for
from harena.server.event_streams import send_events
from harena.server.followers import MOST_FOLLOWERS
from harena.testing.conformance_operations import GOOD


async def never() -> AsyncGenerator[BenchmarkEvent, None]:
    """Events of a job of which nothing is heard."""
    await asyncio.Event().wait()
    yield BenchmarkEvent.from_dict({})


async def test_a_workspace_has_so_many_followers(here: World) -> None:
    """One more is refused before its stream begins; another workspace has its own, and who leaves makes room."""
    here.state.followers.most = 3

    async def follow(workspace: str) -> AsyncGenerator[bytes, None]:
        work_for.set(workspace)
        stream = send_events(here.state, never())
        await anext(stream)
        return stream

    streams = [await asyncio.create_task(follow("ours")) for _ in range(3)]
    with pytest.raises(LimitExceededError, match="3 requests of this workspace"):
        await asyncio.create_task(follow("ours"))
    streams.append(await asyncio.create_task(follow("theirs")))
    await streams.pop(0).aclose()
    streams.append(await asyncio.create_task(follow("ours")))
    for stream in streams:
        await stream.aclose()
    assert not here.state.followers._counts


async def test_every_route_that_waits_for_a_job_is_counted(here: World, http: aiohttp.ClientSession) -> None:
    """Streams of events, and answers that are waited for; what is answered at once is not."""
    async with http.post("/v1/benchmark_jobs", json={"name": "j", "scenarios": [GOOD]}) as made:
        job = (await made.json())["id"]
    here.state.followers.most = 0
    for path, status in (
        (f"/v1/benchmark_jobs/{job}/events", 429),
        (f"/v1/benchmark_jobs/{job}?wait_seconds=1", 429),
        (f"/v1/benchmark_jobs/{job}", 200),
    ):
        async with http.get(path) as answer:
            assert answer.status == status, path
    here.state.followers.most = MOST_FOLLOWERS
    async with http.get(f"/v1/benchmark_jobs/{job}/events") as answer:
        assert (await answer.text()).rstrip().endswith("data: {}")
    assert not here.state.followers._counts
