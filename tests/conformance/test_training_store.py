"""The store of training jobs, over SQLite and over a real PostgreSQL."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from queued_training import queued_job
from sqlalchemy import Connection

from harena.core.errors import PlatformError, ValidationError
from harena.core.idempotency import IdempotencyKey
from harena.core.job_store import LEASE_LOST
from harena.core.leases import Owner
from harena.core.training_store import (
    NO_CHANGES,
    NewTrainingEvent,
    NewTrainingJob,
    StoredTrainingJob,
    TrainingChanges,
    TrainingRetry,
)
from harena.store import deletion
from harena.store import training_jobs as queries
from harena.store.database import Database
from harena.store.training_jobs import TrainingStore

OWNER = Owner(pid=1, started="5", boot="b")


def job(name: str = "j", **more: Any) -> NewTrainingJob:
    return queued_job(**{"id": f"id_{name}", "name": name, "owner": OWNER, **more})


def event(kind: str, message: str | None = None) -> NewTrainingEvent:
    return NewTrainingEvent(at="t", kind=kind, level="info", message=message, body={"data": {"kind": kind}})


async def read(store: TrainingStore, job_id: str) -> StoredTrainingJob:
    """A job that there is."""
    found = await store.read_job(job_id)
    assert found is not None
    return found


@pytest.fixture
def store(database: Database) -> TrainingStore:
    return TrainingStore(database)


async def test_events_are_numbered_whoever_writes(store: TrainingStore) -> None:
    """Twenty writers at a time: each cursor once, none left out, the job's own row knows the last."""
    await store.insert_job(job(), [event("first")])
    await asyncio.gather(*(store.write("id_j", NO_CHANGES, [event(f"{n}"), event(f"{n}", "said")]) for n in range(20)))
    events = await store.events_after("id_j", 0)
    assert [one.cursor for one in events] == [*range(1, 42)]
    assert (await read(store, "id_j")).last_cursor == 41
    assert all(a.kind == b.kind for a, b in zip(events[1::2], events[2::2], strict=True)), "a write is whole"
    assert [one.message for one in await store.events_after("id_j", 38, told=True)] == ["said", "said"]
    assert [one.cursor for one in await store.events_after("id_j", 0, kinds=["first"])] == [1]
    assert events[0].body == {"data": {"kind": "first"}}


async def test_a_lease(store: TrainingStore) -> None:
    """Two claim, one gets it; what the other one writes is refused whole; a claim of a holder that beats fails."""
    await store.insert_job(job(), [])
    won = await asyncio.gather(*(store.claim("id_j", OWNER, epoch=1, while_in=["queued"]) for _ in range(2)))
    assert sorted(won) == [False, True]
    assert await store.write("id_j", TrainingChanges(state="running"), [event("job_started")], epoch=2)
    assert await store.look(["id_j", "id_x"]) == {"id_j": (False, 2)}
    assert not await store.claim("id_j", OWNER, epoch=2, beat=0, while_in=["running"]), "it has beaten since"
    assert await store.claim("id_j", OWNER, epoch=2, beat=1, while_in=["running"])
    with pytest.raises(PlatformError) as caught:
        await store.write("id_j", TrainingChanges(state="failed"), [event("late")], epoch=2)
    assert caught.value.reason == LEASE_LOST
    found = await read(store, "id_j")
    assert (found.state, found.last_cursor) == ("running", 1)


async def test_a_write_that_no_longer_fits(store: TrainingStore) -> None:
    """Nothing of it stays."""
    await store.insert_job(job(state="completed"), [])
    assert not await store.write(
        "id_j", TrainingChanges(state="cancelled"), [event("x")], while_in=["queued", "running"]
    )
    assert await store.events_after("id_j", 0) == []
    assert await store.write("id_j", TrainingChanges(cancel_requested_at="t"), while_in=["completed"])
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


async def _rows_left(database: Database) -> int:
    async with database.transaction() as connection:
        names = ("training_jobs", "training_events")
        counts = [await connection.exec_driver_sql(f"SELECT count(*) FROM {name}") for name in names]
        return sum(count.scalar_one() for count in counts)


async def test_no_transaction_deletes_more_events_than_a_writer_can_wait_for(
    database: Database, store: TrainingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many a job has."""
    monkeypatch.setattr(deletion, "ROWS_DELETED_AT_A_TIME", 3)
    await store.insert_job(job("a"), [event("x")] * 10)
    sizes: list[int] = []
    delete_some = queries._delete_some

    def counted(job_id: str, connection: Connection) -> bool:
        before = connection.exec_driver_sql("SELECT count(*) FROM training_events").scalar_one()
        more = delete_some(job_id, connection)
        sizes.append(before - connection.exec_driver_sql("SELECT count(*) FROM training_events").scalar_one())
        return more

    monkeypatch.setattr(queries, "_delete_some", counted)
    assert await store.delete_job("id_a", while_in=["queued"])
    assert (sizes, await _rows_left(database)) == ([3, 3, 3, 1, 0], 0)


@pytest.mark.parametrize("steps", range(4))
async def test_a_deletion_that_was_cut_short_is_finished(
    database: Database, store: TrainingStore, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """Its job exists for nobody meanwhile, and nobody writes to it: neither its last owner, nor one who retries it."""
    monkeypatch.setattr(deletion, "ROWS_DELETED_AT_A_TIME", 4)
    await store.insert_job(job("a", state="failed"), [event("x")] * 10)
    lease = (await read(store, "id_a")).lease
    done = 0
    delete_some = queries._delete_some

    def dies(job_id: str, connection: Connection) -> bool:
        nonlocal done
        if done == steps:
            raise PlatformError("killed", step="store")
        done += 1
        return delete_some(job_id, connection)

    monkeypatch.setattr(queries, "_delete_some", dies)
    with pytest.raises(PlatformError, match="killed"):
        await store.delete_job("id_a", while_in=["failed"])
    monkeypatch.setattr(queries, "_delete_some", delete_some)
    assert await store.read_job("id_a") is None
    assert await store.find_job("default", "id_a") is None
    assert await store.list_jobs("default", limit=10) == []
    assert not await store.delete_job("id_a", while_in=["failed"])
    with pytest.raises(PlatformError) as lost:
        await store.write("id_a", NO_CHANGES, [event("late")], epoch=lease.epoch)
    assert lost.value.reason == LEASE_LOST
    again = TrainingRetry(owner=OWNER, durable=True, attempt=2, from_scratch=True)
    assert not await store.reopen("id_a", again, [event("late")], while_in=["failed"])
    await store.clear_deleted()
    assert await _rows_left(database) == 0


async def test_finding_and_listing(store: TrainingStore) -> None:
    """By id before name, the newest of a name, of one workspace; pages and filters."""
    for number, more in enumerate(
        [{"name": "n"}, {"name": "n", "state": "failed"}, {"name": "other", "trainer_type": "sft"}, {"name": "id_0"}]
    ):
        await store.insert_job(job(**{**more, "id": f"id_{number}"}), [])
    await store.insert_job(job("far", workspace="far"), [])
    assert (await store.find_job("default", "n")) == await read(store, "id_1")
    assert (await store.find_job("default", "id_0")) == await read(store, "id_0")
    assert await store.find_job("default", "far") is None
    page = await store.list_jobs("default", limit=3)
    assert [found.id for found in page] == ["id_3", "id_2", "id_1"]
    rest = await store.list_jobs("default", before=page[-1].sequence, limit=3)
    assert [found.id for found in rest] == ["id_0"]
    assert [found.id for found in await store.list_jobs("default", trainer_type="sft", limit=9)] == ["id_2"]
    assert await store.count_jobs("default", states=["queued"]) == 3
    assert [found.id for found in await store.list_jobs("default", name="n", state="failed", limit=9)] == ["id_1"]
    assert [found.id for found in await store.open_jobs(states=["queued"])] == ["id_0", "id_2", "id_3", "id_far"]


@pytest.mark.parametrize("from_scratch", [True, False])
async def test_a_job_that_is_queued_once_more(store: TrainingStore, from_scratch: bool) -> None:
    """How it ended is forgotten, and from scratch what it had learned, too; a job that has not ended stays."""
    await store.insert_job(job(), [])
    learned = TrainingChanges(step=3, steps=9, metrics={"loss": 1.0}, artifacts={"model": "m"}, crashes=2, restarts=2)
    await store.write("id_j", learned, [])
    retry = TrainingRetry(
        owner=replace(OWNER, pid=2), durable=False, attempt=1 + from_scratch, from_scratch=from_scratch
    )
    assert not await store.reopen("id_j", retry, [event("late")], while_in=["failed"])
    await store.write("id_j", TrainingChanges(state="failed", error="e", ended_at="t"), [])
    before = await read(store, "id_j")
    assert await store.reopen("id_j", retry, [event("job_queued")], while_in=["failed"])
    found = await read(store, "id_j")
    assert (found.state, found.error, found.ended_at, found.crashes, found.restarts) == ("queued", None, None, 0, 2)
    assert (found.lease.owner.pid, found.durable, found.attempt) == (2, False, retry.attempt)
    forgotten = (0, None, {}, {})
    assert (found.step, found.steps, found.metrics, found.artifacts) == (
        forgotten if from_scratch else (before.step, before.steps, before.metrics, before.artifacts)
    )
    assert [one.kind for one in await store.events_after("id_j", 0)] == ["job_queued"]


async def test_an_owner_that_lets_go(store: TrainingStore) -> None:
    """The next one sees that nobody runs the job; the lease is at the same epoch."""
    await store.insert_job(job(), [])
    await store.write("id_j", TrainingChanges(released=True), [], epoch=1)
    (holder,) = await store.open_jobs(states=["queued"])
    assert (holder.lease.owner, holder.lease.epoch, holder.lease.beat) == (replace(OWNER, started=""), 1, 1)
