"""Worlds and their jobs in every store that harena ships: SQLite, and a real PostgreSQL."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from harena.core.world_store import NewWorld, NewWorldJob
from harena.store.database import Database
from harena.store.worlds import WorldStore

WORLD = NewWorld(
    id="world_1", workspace="w", name="a", manifest={"seed": 1}, facts={"digest": "d"}, created_at="2030-01-01"
)
JOB = NewWorldJob(
    id="wjob_1",
    workspace="w",
    world="world_1",
    manifest={"seed": 1},
    trajectories={"count": 1},
    dataset="d@1",
    state="queued",
    created_at="2030-01-01",
)
OPEN, ENDED = ("queued", "running"), ("completed", "failed", "cancelled")


async def test_worlds_by_id_and_name(database: Database) -> None:
    """An id comes before a name, of a name the newest; each workspace has its own."""
    store = WorldStore(database)
    for new in (WORLD, replace(WORLD, id="world_2"), replace(WORLD, id="world_3", name="world_1")):
        assert await store.add_world(new, most=3)
    assert not await store.add_world(replace(WORLD, id="world_4"), most=3)
    assert await store.add_world(replace(WORLD, id="world_5", workspace="x"), most=3)
    for asked, wanted in (("world_1", "world_1"), ("a", "world_2"), ("world_3", "world_3")):
        found = await store.find_world("w", asked)
        assert found is not None
        assert found.id == wanted
        assert (found.manifest, found.facts) == (WORLD.manifest, WORLD.facts)
    assert await store.find_world("x", "world_1") is None
    await store.remove_world("x", "world_1")
    page = await store.worlds("w", name=None, before=None, limit=2)
    assert ([row.id for row in page], page.more) == (["world_3", "world_2"], True)
    page = await store.worlds("w", name=None, before=page[-1].sequence, limit=2)
    assert ([row.id for row in page], page.more) == (["world_1"], False)
    assert [row.id for row in await store.worlds("w", name="a", before=None, limit=9)] == ["world_2", "world_1"]
    await store.remove_world("w", "world_1")
    assert await store.find_world("w", "world_2") is not None
    found = await store.find_world("w", "world_1")
    assert found is not None
    assert found.id == "world_3"


async def test_a_job_ends_once(database: Database, other_database: Database) -> None:
    """Whoever writes the end first has ended it, whichever process that is."""
    one, other = WorldStore(database), WorldStore(other_database)
    assert await one.add_job(JOB, most_open=1, open_states=OPEN)
    assert not await other.add_job(replace(JOB, id="wjob_2"), most_open=1, open_states=OPEN)
    assert await other.add_job(replace(JOB, id="wjob_3", workspace="x"), most_open=1, open_states=OPEN)
    assert [row.id for row in await other.jobs_in(OPEN)] == ["wjob_1", "wjob_3"]
    assert await one.write_job("wjob_1", {"state": "running", "played": 1}, while_in=OPEN)
    assert not await one.remove_job("w", "wjob_1", while_in=ENDED)
    ends = [
        store.write_job("wjob_1", {"state": state, "rows": 1, "ended_at": "2030-01-02"}, while_in=OPEN)
        for store, state in ((one, "completed"), (other, "cancelled"))
    ]
    assert sorted(await asyncio.gather(*ends)) == [False, True]
    found = await other.find_job("w", "wjob_1")
    assert found is not None
    assert found.state in ENDED
    assert (found.played, found.reached, found.rows, found.error) == (1, 0, 1, None)
    assert (found.manifest, found.trajectories) == (JOB.manifest, JOB.trajectories)
    assert not await one.remove_job("x", "wjob_1", while_in=ENDED)
    assert await one.find_job("x", "wjob_1") is None
    assert [row.id for row in await one.jobs("w", world="world_1", before=None, limit=9)] == ["wjob_1"]
    assert await one.jobs("w", world="world_2", before=None, limit=9) == []
    assert await one.remove_job("w", "wjob_1", while_in=ENDED)
    assert await other.find_job("w", "wjob_1") is None
