"""A workspace that does its worst within default limits, beside one whose claims and scored runs all come out right.

The behaviours are a few of `docs/reference/hostile-behaviours.md`, the same on each run, and the two that fill what all
workspaces have together. How long anything takes is
measured elsewhere (`python -m benchmarks neighbours`); here only what does not depend on time counts.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_world import open_files, process_state
from escape_world import seen_owners

sys.path.insert(0, str(Path(__file__).parents[2]))  # `benchmarks` is a folder of the repository, and not installed

from benchmarks.hostile import BEHAVIOURS, drawn_pairs
from benchmarks.measures import neighbours
from benchmarks.server import Server, server

from footprint import spawners
from harena.core.workspace import WorkspaceLimits
from harena.sdk.http import open_http

pytestmark = pytest.mark.alone

SEED = 11
CASES = [
    *([each.name] for each in random.Random(SEED).sample(BEHAVIOURS, 2)),
    *([one.name, other.name] for one, other in drawn_pairs(SEED, 3)),
    ["templates-sum"],
    ["sandboxes-sum"],
]
CLAIMS = 3
MORE = {"descriptors": 20, "threads": 60, "processes": 0}
"""that a server may hold afterwards: connections to its store, and threads that are idle, which are kept for a while"""
MOST_MEMORY_BYTES = 1 << 30
"""that the server's memory may grow by, beside what outputs may take by their own limits"""
SMALL = {"request_memory_bytes": 64 << 20, "output_bytes": 64 << 20}
"""limits by which workspaces may make a server hold little"""
MEMORY_CASES = [["huge-outputs", "short-words"], ["worst-bodies", "slow-readers"]]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    """A real server with real sandboxes and its default limits, and a key of each of two workspaces."""
    home = tmp_path_factory.mktemp("home")
    keys = {workspace: neighbours.new_key(home, workspace) for workspace in ("honest", "hostile")}
    with server(home) as made:
        asyncio.run(_begun(made.url, keys["honest"]))
        seen_owners.extend(spawners(made.pid))
        yield made, keys


async def _begun(url: str, key: str) -> None:
    operations = await open_http(url, api_key=key)
    found = await neighbours.window(operations, claims=2)
    await operations.close()
    assert (found.wrong, found.lost) == ([], [])


@pytest.mark.parametrize("names", CASES, ids=" + ".join)
async def test_nothing_of_another_workspace_is_wrong_or_lost(
    serving: tuple[Server, dict[str, str]], names: list[str]
) -> None:
    """Each claim is answered, each run has its known verdict, the server's memory is bounded, and when the hostile
    client has gone the server holds no more descriptors, threads and processes than it may keep."""
    made, keys = serving
    before = process_state(made.pid)
    operations = await open_http(made.url, api_key=keys["honest"])
    try:
        async with neighbours.hostile(made.url, keys["hostile"], names) as answered:
            found = await neighbours.window(operations, claims=CLAIMS)
    finally:
        await operations.close()
    assert (found.wrong, found.lost) == ([], [])
    assert len(found.seconds) > 0
    assert found.runs > 0
    assert answered, "the hostile client was answered nothing"
    assert neighbours.bound_bytes(workspaces=2) > MOST_MEMORY_BYTES
    assert neighbours.memory_bytes(made.pid, "VmHWM") < before["kibibytes"] * 1024 + MOST_MEMORY_BYTES
    for _ in range(150):  # templates, idle threads and connections end after some seconds
        after = process_state(made.pid)
        beyond = {name for name in MORE if after[name] > before[name] + MORE[name]}
        if not beyond:
            break
        await asyncio.sleep(0.1)
    assert not beyond, (before, after, open_files(made.pid))


@pytest.mark.parametrize("names", MEMORY_CASES, ids=" + ".join)
async def test_the_memory_of_a_server_stays_within_what_its_limits_state(tmp_path: Path, names: list[str]) -> None:
    """With real sandboxes, and limits that are met: what both workspaces may make it hold, beside what it had."""
    keys = {workspace: neighbours.new_key(tmp_path, workspace) for workspace in ("honest", "hostile")}
    bound = neighbours.bound_bytes(workspaces=2, limits=WorkspaceLimits(**SMALL))
    with server(tmp_path, limits=SMALL) as made:
        seen_owners.extend(spawners(made.pid))
        await _begun(made.url, keys["honest"])
        before = process_state(made.pid)["kibibytes"] * 1024
        operations = await open_http(made.url, api_key=keys["honest"])
        try:
            async with neighbours.hostile(made.url, keys["hostile"], names) as answered:
                found = await neighbours.window(operations, claims=CLAIMS)
        finally:
            await operations.close()
        peak = neighbours.memory_bytes(made.pid, "VmHWM")
    assert (found.wrong, found.lost) == ([], [])
    assert answered, "the hostile client was answered nothing"
    assert peak < before + bound, (peak >> 20, before >> 20, bound >> 20)
