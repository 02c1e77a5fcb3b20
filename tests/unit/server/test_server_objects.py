"""What a workspace may publish, what it may delete, and what of its commands' outputs is kept."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from server_world import World, world
from test_server_keys import ask, key_for
from test_server_limits import Given

from harena.core.workspace import LIMITS
from harena.store.database import Database
from harena.store.workspaces import WorkspaceStore
from harena.testing.conformance_registry import tar_of

ROW = json.dumps({"prompt": "1 + 1", "expected_output": "2"}).encode() + b"\n"


@pytest.fixture
def given() -> Given:
    """Nothing was set."""
    return Given()


@pytest_asyncio.fixture
async def keyed(tmp_path: Path, given: Given) -> AsyncIterator[World]:
    """A server that asks for keys, with these limits."""
    async with world(tmp_path, keyed=True, limits=given) as made:
        yield made


async def push(world: World, token: str, version: str, rows: bytes = ROW) -> tuple[int, Any]:
    """Publish a data set."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/octet-stream"}
    query = {"kind": "dataset", "name": "d", "version": version}
    async with aiohttp.ClientSession(world.url, headers=headers) as http:
        async with http.post("/v1/objects", params=query, data=tar_of(("rows.jsonl", rows))) as answer:
            return answer.status, await answer.json()


async def test_every_limit_can_be_one_workspaces(tmp_path: Path) -> None:
    """Kept in the store, and taken back there; others stay."""
    database = await Database.open(tmp_path / "harena.db")
    store = WorkspaceStore(database)
    wanted = dict.fromkeys(LIMITS, 1)
    await store.set_limits("ours", wanted)
    assert await store.limits("ours") == wanted
    await store.set_limits("ours", {"sandbox_pids": None, "runs": None, "objects": 7})
    left = {name: 1 for name in LIMITS if name not in ("sandbox_pids", "runs")} | {"objects": 7}
    assert await store.limits("ours") == left
    assert await store.limits("theirs") == {}
    await database.close()


async def test_ceilings_of_one_workspace(keyed: World, given: Given) -> None:
    """Its sandboxes meet those that were set for it, and nobody else's do."""
    given.kept["ours"] = {"sandbox_memory_bytes": 2**25, "sandbox_lifetime_seconds": 60.0}
    wanted = {"limits": {"memory_bytes": 2**26}}
    assert (await ask(keyed, await key_for(keyed, "ours"), "POST", "/v1/sandboxes", wanted))[0] == 422
    assert (await ask(keyed, await key_for(keyed, "theirs"), "POST", "/v1/sandboxes", wanted))[0] == 201
