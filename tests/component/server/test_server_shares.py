"""Slow searches of one workspace leave connections to the database for others."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
from server_world import world
from test_server_keys import key_for

from harena.node.node import Node
from harena.store.database import Database
from harena.store.rows import insert_rows
from harena.store.shares import ConnectionShares
from harena.store.tables import catalog

SEARCHES = 60
ROWS = 20_000
NAMES = [f"k{number:04}" for number in range(50)]
"""names of metadata: one search of all rows takes a second"""
MOST_SECONDS = 5.0
"""for five reads of another workspace; without shares they wait for sixty searches, half a minute"""


async def test_slow_searches_of_a_workspace_hold_up_no_other(tmp_path: Path) -> None:
    """The searches that find no place in time are refused with 503 and say when to come back."""
    async with world(tmp_path, keyed=True) as here:
        assert isinstance(here.state.operations, Node)
        database: Database = await here.state.operations._parts._database.opened()
        database._reading = ConnectionShares(database._reading._free, database._reading._each, wait_seconds=1.0)
        metadata = dict.fromkeys(NAMES, "v")
        fixed = {"workspace": "a", "kind": "scenarios", "version": 1, "digest": "d", "described": {}, "created_at": "t"}
        rows = [{"name": f"n{number}", "metadata": metadata} for number in range(ROWS)]
        await database.run(lambda connection: insert_rows(connection, catalog, rows, fixed=fixed))
        a, b = [{"authorization": f"Bearer {await key_for(here, workspace)}"} for workspace in "ab"]
        wanted = [("metadata", f"{name}=v") for name in NAMES[-15:-1]] + [("metadata", f"{NAMES[-1]}=other")]
        connections = aiohttp.TCPConnector(limit=2 * SEARCHES)
        async with aiohttp.ClientSession(here.url, connector=connections) as http:

            async def search() -> tuple[int, bool]:
                asked = [*wanted, ("archived", "true")]
                async with http.get("/v1/scenarios", params=asked, headers=a) as answer:
                    await answer.read()
                    return answer.status, "retry-after" in answer.headers

            searches = [asyncio.create_task(search()) for _ in range(SEARCHES)]
            async with asyncio.timeout(MOST_SECONDS):
                for _ in range(5):
                    async with http.get("/v1/scenarios", headers=b) as answer:
                        assert (answer.status, (await answer.json())["scenarios"]) == (200, [])
            told = await asyncio.gather(*searches)
    assert {status for status, _ in told} <= {200, 503}
    assert sum(status == 503 for status, _ in told) > SEARCHES / 2
    assert all(again for status, again in told if status == 503)
