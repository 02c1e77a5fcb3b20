"""The store of training jobs, over SQLite and over a real PostgreSQL."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harena.core.errors import PlatformError, ValidationError
from harena.core.idempotency import IdempotencyKey
from harena.core.job_store import LEASE_LOST
from harena.store.database import Database
from harena.store.training_jobs import TrainingStore

OWNER = {"owner_pid": 1, "owner_started": "5", "owner_boot": "b"}


def job(name: str = "j", **more: Any) -> dict[str, Any]:
    return {
        "id": f"id_{name}", "workspace": "default", "name": name, "state": "queued", "trainer_type": "rl",
        "created_at": "t", "request": {}, "resolved": [], "plan": {}, "metrics": {}, "artifacts": {}, "durable": True,
        **OWNER, **more,
    }  # fmt: skip


def event(kind: str, message: str | None = None) -> dict[str, Any]:
    return {"at": "t", "kind": kind, "level": "info", "message": message, "body": {"data": {"kind": kind}}}


@pytest.fixture
def store(database: Database) -> TrainingStore:
    return TrainingStore(database)


async def test_events_are_numbered_whoever_writes(store: TrainingStore) -> None:
    """Twenty writers at a time: each cursor once, none left out, the job's own row knows the last."""
    await store.insert_job(job(), [event("first")])
    await asyncio.gather(*(store.write("id_j", {}, [event(f"{n}"), event(f"{n}", "said")]) for n in range(20)))
    events = await store.events_after("id_j", 0)
    assert [one["cursor"] for one in events] == [*range(1, 42)]
    assert (await store.read_job("id_j") or {})["last_cursor"] == 41
    assert all(a["kind"] == b["kind"] for a, b in zip(events[1::2], events[2::2], strict=True)), "a write is whole"
    assert [one["message"] for one in await store.events_after("id_j", 38, told=True)] == ["said", "said"]
    assert [one["cursor"] for one in await store.events_after("id_j", 0, kinds=["first"])] == [1]
    assert events[0]["body"] == {"data": {"kind": "first"}}


async def test_a_lease(store: TrainingStore) -> None:
    """Two claim, one gets it; what the other one writes is refused whole; a claim of a holder that beats fails."""
    await store.insert_job(job(), [])
    won = await asyncio.gather(*(store.claim("id_j", OWNER, epoch=1, while_in=["queued"]) for _ in range(2)))
    assert sorted(won) == [False, True]
    assert await store.write("id_j", {"state": "running"}, [event("job_started")], epoch=2)
    assert await store.look(["id_j", "id_x"]) == {"id_j": (False, 2)}
    assert not await store.claim("id_j", OWNER, epoch=2, beat=0, while_in=["running"]), "it has beaten since"
    assert await store.claim("id_j", OWNER, epoch=2, beat=1, while_in=["running"])
    with pytest.raises(PlatformError) as caught:
        await store.write("id_j", {"state": "failed"}, [event("late")], epoch=2)
    assert caught.value.reason == LEASE_LOST
    row = await store.read_job("id_j") or {}
    assert (row["state"], row["last_cursor"]) == ("running", 1)


async def test_a_write_that_no_longer_fits(store: TrainingStore) -> None:
    """Nothing of it stays."""
    await store.insert_job(job(state="completed"), [])
    assert not await store.write("id_j", {"state": "cancelled"}, [event("x")], while_in=["queued", "running"])
    assert await store.events_after("id_j", 0) == []
    assert await store.write("id_j", {"cancel_requested_at": "t"}, while_in=["completed"])
    assert (await store.look(["id_j"]))["id_j"][0]


async def test_keys(store: TrainingStore) -> None:
    """One job for a key, until it is deleted; events go with it."""
    key = IdempotencyKey.of("k", b"request")
    assert await store.insert_job(job("a"), [event("x")], key=key) == "id_a"
    assert await store.insert_job(job("b"), [], key=key) == "id_a"
    assert await store.read_job("id_b") is None
    with pytest.raises(ValidationError, match="another request"):
        await store.find_answer("default", IdempotencyKey.of("k", b"other"))
    assert not await store.delete_job("id_a", while_in=["completed"])
    assert await store.delete_job("id_a", while_in=["queued"])
    assert await store.events_after("id_a", 0) == []
    assert await store.find_answer("default", key) is None


async def test_finding_and_listing(store: TrainingStore) -> None:
    """By id before name, the newest of a name, of one workspace; pages and filters."""
    for number, more in enumerate(
        [{"name": "n"}, {"name": "n", "state": "failed"}, {"name": "other", "trainer_type": "sft"}, {"name": "id_0"}]
    ):
        await store.insert_job(job(**{**more, "id": f"id_{number}"}), [])
    await store.insert_job(job("far", workspace="far"), [])
    assert (await store.find_job("default", "n") or {})["id"] == "id_1"
    assert (await store.find_job("default", "id_0") or {})["name"] == "n"
    assert await store.find_job("default", "far") is None
    rows = await store.list_jobs("default", wanted={}, limit=3)
    assert [row["id"] for row in rows] == ["id_3", "id_2", "id_1"]
    rest = await store.list_jobs("default", wanted={}, before=rows[-1]["sequence"], limit=3)
    assert [row["id"] for row in rest] == ["id_0"]
    assert [row["id"] for row in await store.list_jobs("default", wanted={"trainer_type": "sft"}, limit=9)] == ["id_2"]
    assert await store.count_jobs("default", states=["queued"]) == 3
    assert [row["id"] for row in await store.open_jobs(states=["queued"])] == ["id_0", "id_2", "id_3", "id_far"]
