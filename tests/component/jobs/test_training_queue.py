"""When jobs begin, where several things happen at the same moment."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest_asyncio
from queued_training import queued_job

from harena.core.clock import SystemClock
from harena.core.node_config import NodeConfig
from harena.core.training_jobs import TrainingState
from harena.jobs.training.owned_training import Workers
from harena.jobs.training.training_queue import TrainingQueue
from harena.jobs.training.training_turns import TrainingTurns
from harena.store.database import Database
from harena.store.tables import BEING_DELETED
from harena.store.training_jobs import TrainingStore

WORKERS = Workers(command=(sys.executable, "-m", "harena.testing.fake_trainer"), env={})


@pytest_asyncio.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await Database.open(tmp_path / "harena.db")
    yield database
    await database.close()


class LateQueue(TrainingQueue):
    """A job is accepted in the moment in which the queue has seen that there is nothing to do."""

    late = False

    async def _look(self) -> None:
        if not self.late:
            self.late = True
            await accept(self)
            self.tend()
        await super()._look()


@dataclass
class OpenStores:
    """The stores of a database that is open already."""

    database: Database

    async def training_jobs(self) -> TrainingStore:
        return TrainingStore(self.database)

    async def is_one_machine(self) -> bool:
        return self.database.is_one_machine


def queue_of(database: Database, tmp_path: Path, kind: type[TrainingQueue] = TrainingQueue) -> Any:
    config = NodeConfig(store_place=tmp_path / "harena.db")
    return kind(config, OpenStores(database), SystemClock(), WORKERS)


async def accept(queue: TrainingQueue, **more: Any) -> None:
    fields = {"request": {"tags": ["steps:1"]}, "durable": queue.durable, "owner": queue.owner, **more}
    await (await queue.store()).insert_job(queued_job(**fields), [])


async def test_a_job_that_comes_when_the_queue_is_about_to_rest(database: Database, tmp_path: Path) -> None:
    """It begins."""
    queue = queue_of(database, tmp_path, LateQueue)
    queue.tend()
    store = await queue.store()
    async with asyncio.timeout(60):
        while not (await store.events_after("train_1", 0, kinds=["job_ended"])):
            if (owned := queue.owned("train_1")) is not None:
                await owned.wait()
            await asyncio.sleep(0)
    assert (await store.read_job("train_1")).state == TrainingState.COMPLETED
    await queue.close()


async def test_ending_a_job_that_has_just_begun(database: Database, tmp_path: Path) -> None:
    """Somebody saw it queued, and another process has claimed it since: it is not ended behind its back."""
    queue = queue_of(database, tmp_path)
    await accept(queue)
    store = await queue.store()
    seen = await store.read_job("train_1")
    await store.claim("train_1", replace(queue.owner, pid=1), epoch=1, while_in=["queued"])
    assert not await queue.end_unowned(seen, TrainingState.CANCELLED, None)
    assert (await store.read_job("train_1")).state == "queued"
    assert await queue.end_unowned(await store.read_job("train_1"), TrainingState.CANCELLED, None)
    assert not await store.claim("train_1", queue.owner, epoch=2, while_in=["queued"]), "it has ended: nobody begins it"


async def test_an_embedded_job_of_a_process_that_has_gone(database: Database, tmp_path: Path) -> None:
    """Whoever asks first ends it, running or not; a server's is left to servers."""
    queue = queue_of(database, tmp_path)
    await accept(queue, owner=replace(queue.owner, started="1"))
    store = await queue.store()
    job = await queue.settled(await store.read_job("train_1"))
    assert (job.state, "harena train retry" in job.error) == ("failed", True)
    await accept(queue, id="train_2", owner=replace(queue.owner, started="1"), durable=True)
    assert (await queue.settled(await store.read_job("train_2"))).state == "queued"


async def test_a_queue_that_begins_finishes_the_deletion_that_a_death_cut_short(
    database: Database, tmp_path: Path
) -> None:
    """What is left of it exists for nobody, and goes before anything begins."""
    queue = queue_of(database, tmp_path)
    await accept(queue, workspace=BEING_DELETED, state="failed")
    queue.tend()
    await queue._tending
    async with database.transaction() as connection:
        assert (await connection.exec_driver_sql("SELECT count(*) FROM training_jobs")).scalar_one() == 0
    await queue.close()


def server_queue(database: Database, tmp_path: Path) -> TrainingQueue:
    config = NodeConfig(store_place=tmp_path / "harena.db", durable_jobs=True)
    return TrainingQueue(config, OpenStores(database), SystemClock(), WORKERS)


async def ended(queue: TrainingQueue, name: str) -> None:
    store = await queue.store()
    async with asyncio.timeout(60):
        while (await store.read_job(name)).ended_at is None:
            if (owned := queue.owned(name)) is not None:
                await owned.wait()
            await asyncio.sleep(0)


async def test_one_workspaces_jobs_do_not_keep_another_from_its_turn(database: Database, tmp_path: Path) -> None:
    """Three that never end are before it; the first gives way at its next checkpoint, and goes on from that."""
    queue = server_queue(database, tmp_path)
    queue._turns = TrainingTurns(turn_seconds=0.0)
    for number in range(3):
        held = {"tags": ["steps:2", "held"]}
        await accept(queue, id=f"train_a{number}", workspace="a", request=held)
    await accept(queue, id="train_b", workspace="b", request={"tags": ["steps:1"]})
    folder = queue.folders / "train_a0" / "1"
    folder.mkdir(parents=True)
    (folder / "go-1").touch()
    queue.tend()
    await ended(queue, "train_b")
    store = await queue.store()
    assert (await store.read_job("train_b")).state == TrainingState.COMPLETED
    assert (await store.read_job("train_a1")).state == (await store.read_job("train_a2")).state == "queued"
    (folder / "go-2").touch()
    await ended(queue, "train_a0")
    job = await store.read_job("train_a0")
    assert (job.state, job.step, job.crashes) == (TrainingState.COMPLETED, 2, 0)
    told = [event.message for event in await store.events_after("train_a0", 0, told=True)]
    assert "1 steps to go for a" in told, told
    await queue.drain()
    await queue.close()
