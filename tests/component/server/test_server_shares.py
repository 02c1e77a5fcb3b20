"""Slow searches of one workspace leave connections to the database for others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import aiohttp
from server_world import world
from sqlalchemy import Connection
from test_server_keys import key_for

from harena.core.threads import work_for
from harena.node.node import Node
from harena.store.database import READING, READING_SHARE, Database
from harena.store.shares import ConnectionShares

SEARCHES = 60
MOST_SECONDS = 60.0
"""for what waits for no search"""


async def test_slow_searches_of_a_workspace_hold_up_no_other(tmp_path: Path) -> None:
    """The searches that find no place in time are refused with 503 and say when to come back."""
    async with world(tmp_path, keyed=True) as here:
        assert isinstance(here.state.operations, Node)
        database: Database = await here.state.operations._parts._database.opened()
        database._reading = ConnectionShares(READING, READING_SHARE, wait_seconds=0.5)
        begun, may_end = searches_that_do_not_end(database, "a")
        a, b = [{"authorization": f"Bearer {await key_for(here, workspace)}"} for workspace in "ab"]
        connections = aiohttp.TCPConnector(limit=2 * SEARCHES)
        async with aiohttp.ClientSession(here.url, connector=connections) as http:

            async def search() -> tuple[int, bool]:
                async with http.get("/v1/scenarios", params={"archived": "true"}, headers=a) as answer:
                    await answer.read()
                    return answer.status, "retry-after" in answer.headers

            try:
                async with asyncio.timeout(MOST_SECONDS):
                    searches = [asyncio.create_task(search()) for _ in range(SEARCHES)]
                    await begun.wait()
                    for _ in range(5):
                        async with http.get("/v1/scenarios", headers=b) as answer:
                            assert (answer.status, (await answer.json())["scenarios"]) == (200, [])
                    ends = asyncio.as_completed(searches)
                    refused = [await next(ends) for _ in range(SEARCHES - READING_SHARE)]
            finally:
                may_end.set()
            answered = [await end for end in ends]
    assert refused == [(503, True)] * len(refused)
    assert answered == [(200, False)] * READING_SHARE


def searches_that_do_not_end(database: Database, workspace: str) -> tuple[asyncio.Event, threading.Event]:
    """What this workspace reads keeps its connection until the second event is set. The first is set when as many of
    its searches as may read at one time have their connections."""
    loop, begun, may_end = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    run, at_work = database._run, list[None]()

    async def held(threads: ThreadPoolExecutor | None, work: Callable[[Connection], Any]) -> Any:
        if threads is not database._readers or work_for.get() != workspace:
            return await run(threads, work)

        def hold(connection: Connection) -> Any:
            at_work.append(None)
            if len(at_work) == READING_SHARE:
                loop.call_soon_threadsafe(begun.set)
            may_end.wait()
            return work(connection)

        return await run(threads, hold)

    database._run = held  # type: ignore[method-assign]
    return begun, may_end
