"""What a server answers that is no harena server, or a broken one: each request ends, with an error of harena's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from harena.core.clock import SystemClock
from harena.core.errors import HarenaError, SandboxUnavailableError
from harena.core.frames import Frame, frames
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.reconnecting import MOST_AWAY_SECONDS
from harena.sdk.http.execs import RemoteExec
from harena.sdk.http.operations import HttpOperations

MOST_REQUESTS = 60
"""more than waiting for ten minutes takes: who asks more often goes on without an end"""

Ask = Callable[[HttpOperations], Awaitable[Any]]


class FlyingTime(SystemClock):
    """A client's clock whose pauses take no time."""

    def __init__(self) -> None:
        self.slept = 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept += seconds
        await asyncio.sleep(0)


@asynccontextmanager
async def answering(
    body: bytes, kind: str = "application/json", *, status: int = 200, headers: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[tuple[HttpOperations, FlyingTime]]:
    """A client of a server that answers every request so; after too many requests it ends the test."""
    requests = 0

    async def answer(request: web.Request) -> web.Response:
        nonlocal requests
        requests += 1
        await request.read()
        if requests > MOST_REQUESTS:
            return web.json_response({"status": 418, "detail": "asked without an end"}, status=418)
        return web.Response(body=body, content_type=kind, status=status, headers=headers)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    server = TestServer(app, host="127.0.0.1")
    await server.start_server()
    clock = FlyingTime()
    client = HttpOperations(str(server.make_url("")).rstrip("/"), clock=clock)
    try:
        yield client, clock
    finally:
        await client._connection.close()
        await server.close()


async def _events(client: HttpOperations) -> None:
    async for _ in client.benchmark_job_events("j"):
        pass


async def _training_events(client: HttpOperations) -> None:
    async for _ in client.training_job_events("j"):
        pass


async def _run(client: HttpOperations) -> None:
    running = RemoteExec(client._connection, "s")
    await running.start(ExecRequest(argv=("true",)))
    await running.wait()


ASKED: dict[str, Ask] = {
    "create_sandbox": lambda client: client.create_sandbox(SandboxSpec()),
    "get_sandbox": lambda client: client.get_sandbox("s"),
    "list_sandboxes": lambda client: client.list_sandboxes(),
    "create_blueprint": lambda client: client.create_blueprint("b"),
    "get_blueprint": lambda client: client.get_blueprint("b"),
    "list_blueprints": lambda client: client.list_blueprints(),
    "score": lambda client: client.score({}),
    "create_benchmark_job": lambda client: client.create_benchmark_job({"name": "j", "scenarios": []}),
    "get_benchmark_job": lambda client: client.get_benchmark_job("j"),
    "list_benchmark_jobs": lambda client: client.list_benchmark_jobs(),
    "benchmark_job_results_page": lambda client: client.benchmark_job_results_page("j"),
    "benchmark_job_summary": lambda client: client.benchmark_job_summary("j"),
    "cancel_benchmark_job": lambda client: client.cancel_benchmark_job("j"),
    "benchmark_job_events": _events,
    "get_catalog_entry": lambda client: client.get_catalog_entry("scenarios", "a"),
    "list_catalog_entries": lambda client: client.list_catalog_entries("scenarios"),
    "get_calibration": lambda client: client.get_calibration("c"),
    "get_training_job": lambda client: client.get_training_job("t"),
    "list_training_jobs": lambda client: client.list_training_jobs(),
    "training_job_events": _training_events,
}
NONSENSE = {
    "html": b"<html><body>login</body></html>",
    "empty": b"",
    "null": b"null",
    "list": b"[]",
    "object": b"{}",
    "number": b"7",
    "half": b'{"sandboxes": [{"sandbox_id": "x"',
    "wrong types": b'{"id": 3, "sandboxes": 3, "benchmark_jobs": {}, "runs": "x", "next_cursor": [], "entries": 1.5}',
    "deep": b"[" * 100_000,
    "not text": b"\xff\xfe\x00",
    "events of nothing": b"event: x\ndata: {}\n\n",
    "events of no JSON": b"event: x\ndata: {\n\n",
    "a problem that is none": b"event: problem\ndata: []\n\n",
    "deep events": b"event: x\ndata: " + b"[" * 100_000 + b"\n\n",
}


@pytest.mark.cheap
@pytest.mark.parametrize("nonsense", NONSENSE)
@pytest.mark.parametrize("asked", ASKED)
async def test_nonsense_is_an_error_of_the_server(asked: str, nonsense: str) -> None:
    """Nothing of the parser's, and no loop, reaches the caller."""
    async with answering(NONSENSE[nonsense]) as (client, _):
        with pytest.raises(SandboxUnavailableError):
            await ASKED[asked](client)


@pytest.mark.parametrize("asked", [_events, _training_events])
async def test_a_stream_without_news_is_given_up_after_ten_minutes(asked: Ask) -> None:
    """It is asked for again after pauses, as long as a server may take to come back."""
    async with answering(b": still here\n\n", "text/event-stream") as (client, clock):
        with pytest.raises(SandboxUnavailableError, match="without the job's end"):
            await asked(client)
        assert clock.slept >= MOST_AWAY_SECONDS


async def test_events_that_come_again_are_an_error() -> None:
    """A server whose cursors do not grow would be followed for ever."""
    event = b'data: {"cursor": 1, "at": "t", "kind": "run_started", "job_id": "j"}\n\n'
    async with answering(event, "text/event-stream") as (client, _):
        with pytest.raises(SandboxUnavailableError, match="come again"):
            await _events(client)


@pytest.mark.cheap
@pytest.mark.parametrize("content", [b"[" * 100_000, b"1" * 5000, b"[]", b"null", b"x", b"\xff", b'{"usage": 3}'])
@pytest.mark.parametrize("kind", [Frame.STARTED, Frame.RESULT, Frame.PROBLEM])
@pytest.mark.parametrize("begun", [b"", frames(Frame.STARTED, b'{"exec_id": "e"}')])
async def test_a_command_whose_frames_are_nonsense_ends(begun: bytes, kind: Frame, content: bytes) -> None:
    """Also where the task that follows it meets what it does not expect: nobody waits for ever."""
    async with answering(begun + frames(kind, content), "application/octet-stream") as (client, _):
        with pytest.raises(SandboxUnavailableError if content[:1] != b"{" else HarenaError):
            await asyncio.wait_for(_run(client), 10)


@pytest.mark.parametrize("seconds", ["9" * 5000, "9" * 20, "-1", "1e9"])
@pytest.mark.parametrize("body", [b"busy", b"[" * 100_000])
async def test_a_refusal_that_is_nonsense_is_an_error_of_the_server(body: bytes, seconds: str) -> None:
    async with answering(body, "text/plain", status=503, headers={"retry-after": seconds}) as (client, _):
        with pytest.raises(HarenaError):
            await client.get_sandbox("s")
