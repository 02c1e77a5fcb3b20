"""One workspace deletes an object while another one publishes the same content: the files stay."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from harena.core.clock import SystemClock
from harena.core.file_trees import files_of, pack_files
from harena.core.registry import NewObject, ObjectVersion
from harena.store.database import Database
from harena.store.registry import RegistryStore
from harena.testing.conformance_registry import jsonl, stream, write
from harena.training.objects.registry import Registry
from harena.training.objects.tree_locks import TreeLocks

ROWS = {"rows.jsonl": jsonl([{"prompt": "a", "completion": "b"}])}


class Held(RegistryStore):
    """Goes on from the places that are named only when it may."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.may: dict[str, asyncio.Event] = {}
        self.reached: dict[str, asyncio.Event] = {}

    def stop_at(self, place: str) -> None:
        self.may[place], self.reached[place] = asyncio.Event(), asyncio.Event()

    async def has_tree(self, digest: str) -> bool:
        answer = await super().has_tree(digest)
        await self._pass("has_tree")
        return answer

    async def add(self, new: NewObject) -> ObjectVersion:
        await self._pass("add")
        return await super().add(new)

    async def _pass(self, place: str) -> None:
        if place in self.may:
            self.reached[place].set()
            await self.may[place].wait()


class Told(TreeLocks):
    """Tells that somebody wants a lock."""

    asked: asyncio.Event

    async def hold(self, digest: str, work: Callable[[], Awaitable[Any]]) -> Any:
        self.asked.set()
        return await super().hold(digest, work)


@pytest.mark.parametrize("servers", [1, 2])
async def test_who_deletes_takes_no_files_of_who_publishes(tmp_path: Path, servers: int) -> None:
    """Two deletions of one content, the first of which goes on when the second has ended and a push has put the files
    there again, but not yet its row; in one process, and in two that share the folder."""
    database = await Database.open(tmp_path / "harena.db")
    stores = [Held(database) for _ in range(3)]

    def registry(store: Held) -> Registry:
        async def given() -> Held:
            return store

        made = Registry(given, tmp_path / "objects", SystemClock())
        made._locks = Told(tmp_path / "objects" / "locks", SystemClock())
        made._locks.asked = asyncio.Event()
        return made

    registries = [registry(store) for store in stores]
    if servers == 1:
        for each in registries[1:]:
            each._locks._locks = registries[0]._locks._locks  # type: ignore[attr-defined]
    first, second, other = registries
    content = b"".join(pack_files(files_of(write(tmp_path / "rows", ROWS))))
    for name in ("one", "two"):
        await first.push("hostile", "dataset", name, "1", stream(content))
    digest = (await first.get("hostile", "dataset", "one@1")).digest
    await stores[0].remove("hostile", "dataset", "two", "1")

    stores[0].stop_at("has_tree")
    deleting = asyncio.ensure_future(first.delete("hostile", "dataset", "one@1"))
    await stores[0].reached["has_tree"].wait()  # and was told that nobody has it
    again = asyncio.ensure_future(second._drop_tree(stores[1], digest))
    await _first_of(again, second._locks.asked)
    stores[2].stop_at("add")
    other._locks.asked.clear()
    pushing = asyncio.ensure_future(other.push("other", "dataset", "mine", "1", stream(content)))
    await _first_of(stores[2].reached["add"], other._locks.asked)

    stores[0].may["has_tree"].set()
    await deleting
    stores[2].may["add"].set()
    await again
    assert (await pushing).digest == digest
    pulled = b"".join([piece async for piece in other.pull("other", "dataset", "mine@1")])
    assert pulled == content
    for each in registries:
        await each.close()
    await database.close()


async def _first_of(*news: asyncio.Event | asyncio.Future[Any]) -> None:
    waits = [asyncio.ensure_future(one.wait() if isinstance(one, asyncio.Event) else one) for one in news]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED, timeout=60)
    for wait, one in zip(waits, news, strict=True):
        if isinstance(one, asyncio.Event):
            wait.cancel()


async def test_what_is_begun_under_a_lock_ends_under_it(tmp_path: Path) -> None:
    """A caller who leaves does not let the next one in before the work is done."""
    locks, may, order = TreeLocks(tmp_path / "locks", SystemClock()), asyncio.Event(), []
    begun = asyncio.Event()

    async def slow() -> None:
        begun.set()
        await may.wait()
        order.append("slow")

    async def next_one() -> None:
        order.append("next")

    leaving = asyncio.ensure_future(locks.hold("ab12", slow))
    await begun.wait()
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    waiting = asyncio.ensure_future(locks.hold("ab34", next_one))
    await locks.hold("cd12", next_one)  # another one is free
    may.set()
    await waiting
    await locks.close()
    assert order == ["next", "slow", "next"]
