"""Requests of a fuzzer, a million of them: the application in this process, without connections and without a client.

`test_api_attacker.py` sends the same over HTTP to a server in a process of its own, which takes eighteen milliseconds
for each, most of them for its connection. Here a request takes one: middleware, keys, limits, routes, node and store
are those of a server, and only what isolates programs is a fake. HARENA_FUZZ_MESSAGES sets how many are sent.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
import structlog
from api_world import Answer, Caller, possessions, process_state
from application_caller import ApplicationCaller
from server_world import World, world
from test_api_attacker import all_ended, fuzzed, nonsense

from harena.core.errors import NotFoundError
from harena.node.node import Node
from harena.server.app import create_app
from harena.server.face_routes import FACES
from harena.server.keys import Keys

MESSAGES = int(os.environ.get("HARENA_FUZZ_MESSAGES", "1500"))
FACE_ROUTES = [(operation.method, operation.path) for face in FACES for operation in face.operations]
BATCH = 20_000
"""requests after which everything is ended and deleted, and what is left is looked at"""
MORE = {"descriptors": 6, "threads": 6, "processes": 6, "tasks": 30}
"""that may be there after a batch: a server keeps some connections to its store"""
SETTLE_SECONDS = 120.0
"""in which requests end whose callers have gone, when everything that they may wait for has ended; none may wait for
longer than a minute beside that"""
AT_ONE_TIME = 8
"""callers"""


@pytest.fixture(autouse=True)
def _nobody_reads_the_log() -> Iterator[None]:
    """A line for each request is written, and not kept by whoever runs the test."""
    with open(os.devnull, "w") as nowhere:
        structlog.configure(logger_factory=structlog.PrintLoggerFactory(nowhere))
        yield
        structlog.reset_defaults()


@pytest_asyncio.fixture
async def here(tmp_path: Path) -> AsyncIterator[World]:
    """A server with keys, in this process."""
    async with world(tmp_path, keyed=True, durable_jobs=True) as made:
        assert isinstance(made.state.operations, Node)
        await made.state.operations.resume_jobs()
        yield made


class Values:
    """Values that no schema foresaw, each used several times: to draw one takes longer than a server takes for it."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self._values = [nonsense(draw, 2) for _ in range(300)]

    def __call__(self, draw: random.Random) -> Any:
        place = draw.randrange(len(self._values))
        if draw.random() < 0.02:
            self._values[place] = nonsense(draw, draw.randrange(3))
        return self._values[place]


async def _of_a_face(caller: ApplicationCaller, draw: random.Random, values: Values) -> Answer:
    """A request of another client's wire, which the OpenAPI document does not have."""
    method, path = draw.choice(FACE_ROUTES)
    words = [re.sub(r"[/?#\s]", "x", str(values(draw)))[:80] or "x" for _ in range(5)]
    parts = {"org": words[0], "ws": draw.choice(("hostile", words[1])), "project": words[2], "job": words[3]}
    query = f"?page_size={draw.choice((0, 1, 500, 10**9))}&status={words[4]}" if draw.random() < 0.5 else ""
    return await caller.ask(method, path.format(**parts) + query, values(draw) if method == "POST" else None)


async def _made(here: World, token: str) -> dict[str, dict[str, str]]:
    """One of every noun, made over HTTP. Its command is ended with its connection."""
    async with AsyncExitStack() as stack:
        http = aiohttp.ClientSession(here.url, headers={"authorization": f"Bearer {token}"})
        return await possessions(Caller(await stack.enter_async_context(http), ()), stack)


async def _send(caller: ApplicationCaller, seed: int, count: int, mine: dict[str, dict[str, str]]) -> Counter[int]:
    """So many requests, the same for the same seed. What was answered, and how often."""
    draw, values, answered = random.Random(seed), Values(seed), Counter[int]()
    for number in range(count):
        try:
            asked = _of_a_face(caller, draw, values) if draw.random() < 0.05 else fuzzed(caller, draw, mine, values)
            answer = await asked
        except ValueError:  # a header or an address that no client can send
            continue
        except RuntimeError as error:
            if isinstance(error.__cause__, NotFoundError):  # another has deleted a job while its results were sent
                continue
            raise AssertionError(f"seed {seed}, message {number}") from error
        if answer is not None:
            answered[answer.status] += 1
            assert answer.status < 500 or answer.status == 501, f"seed {seed}, message {number}: {answer}"
    return answered


async def _batch(caller: ApplicationCaller, seed: int, count: int, mine: dict[str, dict[str, str]]) -> Counter[int]:
    """So many requests of several callers, and the end of what they have made."""
    async with asyncio.TaskGroup() as sending:
        each = [
            sending.create_task(_send(caller, seed + place, count // AT_ONE_TIME, mine)) for place in range(AT_ONE_TIME)
        ]
    await all_ended(caller)
    assert await caller.settled(SETTLE_SECONDS) == []
    return sum((task.result() for task in each), Counter[int]())


def _state() -> dict[str, int]:
    """What this process holds, with the tasks of its event loop."""
    return {**process_state(os.getpid()), "tasks": len(asyncio.all_tasks())}


async def _left(before: dict[str, int]) -> dict[str, tuple[int, int]]:
    """What this process has more of than before, when threads that are idle have had time to end."""
    beyond: dict[str, tuple[int, int]] = {}
    for _ in range(100):
        gc.collect()
        now = _state()
        beyond = {name: (before[name], now[name]) for name, more in MORE.items() if now[name] > before[name] + more}
        if not beyond:
            break
        await asyncio.sleep(0.2)
    return beyond


@pytest.mark.timeout(0 if MESSAGES > 10_000 else 300)
async def test_requests_of_a_fuzzer_leave_nothing_in_the_application(here: World) -> None:
    """No crash, no answer of 500, and after each batch no descriptor, thread, process, task or memory more than after
    the first tenth; the same messages on every run."""
    keys = here.state.access
    assert isinstance(keys, Keys)
    token, _ = await keys.create(name="k", workspace="hostile", scopes=["admin", "publish"])
    caller = ApplicationCaller(create_app(here.state), token)
    mine = await _made(here, token)
    answered = await _batch(caller, 0, MESSAGES // 10, mine)
    before = _state()
    sent, seed = MESSAGES // 10, AT_ONE_TIME
    while sent < MESSAGES:
        count = min(BATCH, MESSAGES - sent)
        answered += await _batch(caller, seed, count, mine)
        sent, seed = sent + count, seed + AT_ONE_TIME
        assert await _left(before) == {}, sent
        kibibytes = _state()["kibibytes"]
        assert kibibytes < before["kibibytes"] + 100_000 + sent // 10, (sent, before, kibibytes)
    assert (await caller.ask("GET", "/healthz")).status == 200
    assert {200, 401, 403, 404, 422} - set(answered) <= {401, 403}, answered
