"""Lists of sandboxes that are long: what they take of the event loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import aiohttp
from server_world import world

from harena.core.ports import SandboxHandle
from harena.server.owned import SORTED_AT_ONCE, OwnedSandboxes


@dataclass(frozen=True)
class Told:
    id: str
    created_at: datetime


@dataclass(frozen=True)
class Handle:
    info: Told


async def test_the_oldest_of_many_are_found_in_pieces() -> None:
    """Whatever their order is; others go on meanwhile."""
    owned = OwnedSandboxes(cast("Any", None))
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    count = 5 * SORTED_AT_ONCE
    # 7 and the count have no common divisor: each moment comes once
    handles = [Handle(Told(f"sb_{at}", begin + timedelta(seconds=at * 7 % count))) for at in range(count)]
    given = cast("list[SandboxHandle]", handles)
    after = begin + timedelta(seconds=99), "sb_zzz"
    finding = asyncio.create_task(owned.oldest(given, 3, after=after))
    passes = 0
    while not finding.done():
        await asyncio.sleep(0)
        passes += 1
    assert [handle.info.created_at - begin for handle in finding.result()] == [
        timedelta(seconds=s) for s in (100, 101, 102)
    ]
    assert passes >= count // SORTED_AT_ONCE
    assert await owned.oldest([], 3, after=None) == []


async def test_lists_of_a_workspace_are_made_one_at_a_time(tmp_path: Path) -> None:
    """Others' are made meanwhile; so many requests for lists take no more of the loop than one."""
    async with world(tmp_path) as made, aiohttp.ClientSession(made.url) as http:
        async with http.post("/v1/sandboxes", json={"tags": ["x"]}) as answer:
            sandbox_id = (await answer.json())["id"]
        owned = made.state.sandboxes
        async with owned.listing("default"):
            asked = [
                asyncio.create_task(http.get("/v1/sandboxes?tag=x").__aenter__()),
                asyncio.create_task(http.get("/v1/sandboxes?include_terminal=true").__aenter__()),
            ]
            async with owned.listing("another"):
                pass
            async with http.get("/healthz") as answer:
                assert answer.status == 200
            assert not any(one.done() for one in asked)
        for one in asked:
            async with await one as answer:
                assert [told["id"] for told in (await answer.json())["sandboxes"]] == [sandbox_id]
        assert not owned._listing
