"""What pushes have on the disk while they arrive: it counts as it is made, and goes with the process that made it."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from harena.core.clock import SystemClock
from harena.core.errors import LimitExceededError
from harena.core.file_trees import BLOCK_BYTES, Tree, files_of, pack_files
from harena.core.home import INCOMING
from harena.core.spool import LOCKED, remove_left_spools
from harena.core.workspace import WorkspaceLimits
from harena.store.database import Database
from harena.store.registry import RegistryStore
from harena.testing.conformance_registry import jsonl, stream, write
from harena.training.objects.registry import Registry

ROOM = 1024 * 1024


class Watched(Registry):
    """Counts what lies in the folder of pushes whenever one has been unpacked, or could not be."""

    most = 0

    def _unpacked(self, source: Path, folder: Path, charge: Callable[[int], None]) -> Tree:
        try:
            return super()._unpacked(source, folder, charge)
        finally:
            # os.walk passes over what another push removes in this moment; Path.rglob raises there
            self.most = max(self.most, sum(len(below) + len(files) for _, below, files in os.walk(self._incoming)))


@pytest_asyncio.fixture
async def registry(tmp_path: Path) -> AsyncIterator[Watched]:
    database = await Database.open(tmp_path / "harena.db")

    async def objects() -> RegistryStore:
        return RegistryStore(database)

    async def limits(_: str) -> WorkspaceLimits:
        return WorkspaceLimits(object_bytes=ROOM)

    registry = Watched(objects, tmp_path / "objects", SystemClock(), limits_of=limits)
    yield registry
    await registry.close()
    await database.close()


def folders(seed: int) -> bytes:
    """A small tar whose empty files lie deep, each below folders of its own."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for number in range(100):
            archive.addfile(tarfile.TarInfo(f"{seed}-{number}/" + "d/" * 60 + "f"))
    return out.getvalue()


async def push(registry: Registry, content: bytes, name: str = "x") -> Any:
    return await registry.push("default", "dataset", name, "1.0.0", stream(content))


async def test_folders_of_pushes_are_counted_as_they_are_made(registry: Watched) -> None:
    """Ten pushes of 6,200 folders each, where there is room for 256 blocks: no more than these are ever made."""
    pushes = [push(registry, folders(seed), f"x{seed}") for seed in range(10)]
    ends = await asyncio.gather(*pushes, return_exceptions=True)
    assert {type(end) for end in ends} == {LimitExceededError}
    own = 10 * 3 + 1  # each push's folder, stream and tree, and the process's
    assert registry.most <= ROOM // BLOCK_BYTES + own
    assert registry._arriving.workspaces == {}
    assert not any(registry._incoming.iterdir())


async def test_a_stream_counts_beside_its_files(registry: Watched) -> None:
    """Both are on the disk: together they have the room that there is, and afterwards nothing of them counts."""
    rows = jsonl([{"prompt": "x" * (ROOM * 6 // 10), "completion": "y"}])
    place = write(registry._folder.parent / "large", {"train.jsonl": rows})
    content = b"".join(pack_files(files_of(place)))
    with pytest.raises(LimitExceededError):
        await push(registry, content)
    small = write(registry._folder.parent / "small", {"train.jsonl": jsonl([{"prompt": "x", "completion": "y"}])})
    assert (await push(registry, b"".join(pack_files(files_of(small)))))["ref"] == "x@1.0.0"
    assert registry._arriving.workspaces == {}


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from harena.core.clock import SystemClock
from harena.training.objects.registry import Registry

async def endless():
    while True:
        yield b"x" * 65536
        found = [*Path(sys.argv[1]).rglob("tree.tar")]
        if found and found[0].stat().st_size:
            os.kill(os.getpid(), signal.SIGKILL)

registry = Registry(None, Path(sys.argv[1]) / "objects", SystemClock())
asyncio.run(registry.push("default", "dataset", "x", "1.0.0", endless()))
"""


@pytest.mark.parametrize("how", ["start", "push"])
async def test_what_a_killed_process_received_goes_at_once(registry: Watched, tmp_path: Path, how: str) -> None:
    """Not a day later: with the next start in that home, and with the next push."""
    dying = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(tmp_path))
    assert await dying.wait() == -9
    left = [*(tmp_path / INCOMING).rglob("tree.tar")]
    assert len(left) == 1
    assert (tmp_path / INCOMING) == registry._incoming
    if how == "start":
        remove_left_spools(tmp_path)
    else:
        with pytest.raises(LimitExceededError):
            await push(registry, folders(0))
    assert not any(registry._incoming.iterdir())


async def test_what_a_living_process_receives_stays(registry: Watched, tmp_path: Path) -> None:
    """A start beside it removes nothing of it."""
    seen: list[str] = []

    async def slow() -> AsyncIterator[bytes]:
        yield b"\0" * 1024
        check = "import pathlib, sys, harena.core.spool as s; s.remove_left_spools(pathlib.Path(sys.argv[1]))"
        await asyncio.to_thread(subprocess.run, [sys.executable, "-c", check, str(tmp_path)], check=True)
        seen.extend(os.listdir(registry._incoming))

    with pytest.raises(Exception, match="no files"):
        await registry.push("default", "dataset", "x", "1.0.0", slow())
    assert [name.startswith(LOCKED) for name in seen] == [True]
    assert not any(registry._incoming.iterdir())
