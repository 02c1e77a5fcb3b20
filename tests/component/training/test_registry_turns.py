"""Pushes of one workspace wait for its own threads, and hold up nobody else's."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from harena.core.clock import SystemClock
from harena.core.errors import LimitExceededError
from harena.core.file_trees import files_of, pack_files
from harena.core.threads import work_for
from harena.core.workspace import WorkspaceLimits
from harena.store.database import Database
from harena.store.registry import RegistryStore
from harena.testing.conformance_registry import jsonl, stream, write
from harena.training.objects.registry import Registry


class _Held(Registry):
    """Which looks for the room of one workspace, before it keeps anything, only when it may."""

    may: asyncio.Event
    reached: asyncio.Event

    async def _room(self, workspace: str) -> float:
        if self._adding.get(workspace) is not None:  # else it looks before anything has come
            self.reached.set()
            if workspace == "hostile":
                await self.may.wait()
        return await super()._room(workspace)


async def test_a_push_waits_for_no_other_workspace(tmp_path: Path) -> None:
    """Two of one workspace are published one after the other, so that both together keep its limit."""
    database = await Database.open(tmp_path / "harena.db")

    async def objects() -> RegistryStore:
        return RegistryStore(database)

    async def limits(_: str) -> WorkspaceLimits:
        return WorkspaceLimits(objects=1)

    registry = _Held(objects, tmp_path / "objects", SystemClock(), limits_of=limits)
    registry.may, registry.reached = asyncio.Event(), asyncio.Event()

    async def push(workspace: str, name: str) -> dict[str, Any]:
        work_for.set(workspace)
        place = write(tmp_path / workspace / name, {"rows.jsonl": jsonl([{"prompt": name, "completion": "b"}])})
        content = b"".join(pack_files(files_of(place)))
        return await registry.push(workspace, "dataset", name, "1", stream(content))

    hostile = [asyncio.ensure_future(push("hostile", name)) for name in ("a", "b")]
    await asyncio.wait_for(registry.reached.wait(), 60)
    try:
        assert (await asyncio.wait_for(asyncio.ensure_future(push("other", "a")), 60))["ref"] == "a@1"
    finally:
        registry.may.set()
    ended = await asyncio.gather(*hostile, return_exceptions=True)
    await registry.close()
    await database.close()
    refused = [each for each in ended if isinstance(each, LimitExceededError)]
    assert (len(refused), len(registry._adding)) == (1, 0)
