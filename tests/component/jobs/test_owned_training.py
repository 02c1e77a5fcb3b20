"""One job in one process: a stuck worker, a store that is away, a lease that another process has taken."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hurried_clock import HurriedClock
from queued_training import queued_job

from footprint import command_line, processes
from harena.core.clock import SystemClock
from harena.core.errors import PlatformError
from harena.core.job_store import LEASE_LOST, STORE_UNAVAILABLE
from harena.core.leases import Owner
from harena.core.training_jobs import TrainingState
from harena.core.training_store import StoredTrainingJob
from harena.jobs.training.owned_training import EndCause, OwnedTraining, Workers
from harena.store.database import Database
from harena.store.training_jobs import TrainingStore

WORKERS = Workers(command=(sys.executable, "-m", "harena.testing.fake_trainer"), env={})
OWNER = Owner(pid=1, started="5", boot="b")


class NoPauses(SystemClock):
    """Timers as they are: a worker may need a while to begin."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(0)


class AwayNowAndThen(TrainingStore):
    """Refuses as many writes as it is told."""

    refusals = 0
    reason = STORE_UNAVAILABLE

    async def write(self, *given: Any, **more: Any) -> bool:
        if self.refusals:
            self.refusals -= 1
            raise PlatformError("the disk is full", step="store", reason=self.reason)
        return await super().write(*given, **more)


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[AwayNowAndThen]:
    database = await Database.open(tmp_path / "harena.db")
    yield AwayNowAndThen(database)
    await database.close()


async def claimed(store: TrainingStore, *tags: str, **more: Any) -> StoredTrainingJob:
    """A job that this process holds."""
    fields = {"request": {"tags": list(tags)}, "owner": OWNER, **more}
    await store.insert_job(queued_job(**fields), [])
    await store.claim("train_1", OWNER, epoch=1, while_in=["queued"])
    found = await store.read_job("train_1")
    assert found is not None
    return found


def run(job: StoredTrainingJob, store: TrainingStore, folder: Path, **more: Any) -> OwnedTraining:
    owned = OwnedTraining(job, folder, **{"workers": WORKERS, "store": store, "clock": NoPauses(), **more})
    owned.start(on_end=lambda: None)
    return owned


async def stored(store: TrainingStore) -> StoredTrainingJob:
    found = await store.read_job("train_1")
    assert found is not None
    return found


async def test_a_worker_that_is_stuck(store: AwayNowAndThen, tmp_path: Path) -> None:
    """It is killed after ten minutes without a word; the third one is the last."""
    owned = run(await claimed(store, "held"), store, tmp_path / "job", clock=HurriedClock())
    await owned.wait()
    job = await stored(store)
    assert (job.state, job.restarts, job.crashes) == ("failed", 2, 2)
    assert "told nothing for 600 seconds" in job.error


async def test_a_store_that_is_away(store: AwayNowAndThen, tmp_path: Path) -> None:
    """What happens meanwhile is written down when it is back, once and in order."""
    job = await claimed(store)
    store.refusals = 7
    owned = run(job, store, tmp_path / "job")
    await owned.wait()
    assert store.refusals == 0
    assert (await stored(store)).state == "completed"
    events = await store.events_after("train_1", 0)
    steps = [event.body["metrics"]["steps"] for event in events if event.kind == "step_complete"]
    assert steps == [[1], [2], [3]]


async def test_a_job_that_another_process_has_taken(store: AwayNowAndThen, tmp_path: Path) -> None:
    """This one's worker ends, and it writes nothing more."""
    job = await claimed(store, "held")
    owned = run(job, store, tmp_path / "job")
    while not await store.events_after("train_1", 0, kinds=["training_start"]):
        await owned.news.wait()
    await store.claim("train_1", replace(OWNER, pid=2), epoch=2, while_in=["running"])
    before = await stored(store)
    await owned.keep(cancel=False, epoch=3)
    await owned.wait()
    assert await stored(store) == before
    assert [pid for pid in processes() if str(tmp_path / "job") in command_line(pid)] == []


async def test_a_write_that_comes_too_late(store: AwayNowAndThen, tmp_path: Path) -> None:
    """A holder that was slow learns it from its own write."""
    job = await claimed(store)
    await store.claim("train_1", replace(OWNER, pid=2), epoch=2, while_in=["queued"])
    owned = run(job, store, tmp_path / "job")
    await owned.wait()
    assert owned.failure is not None
    assert owned.failure.reason == LEASE_LOST
    assert (await stored(store)).state == "queued"


async def test_a_worker_that_cannot_be_started(store: AwayNowAndThen, tmp_path: Path) -> None:
    """Says so."""
    nothing = Workers(command=("/nowhere/python",), env={})
    owned = run(await claimed(store), store, tmp_path / "job", workers=nothing)
    await owned.wait()
    job = await stored(store)
    assert job.state == TrainingState.FAILED
    assert "could not be started" in job.error


@pytest.mark.parametrize("durable", [True, False])
async def test_a_servers_job_tells_neither_paths_nor_what_its_worker_printed(
    durable: bool, store: AwayNowAndThen, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever asks for the job sees its error; the operator has the log. An embedded node's user is both."""
    said = "import sys; print('Traceback: /etc/of-the-server'); sys.exit(3)"
    job = await claimed(store, durable=durable)
    workers = Workers(command=(sys.executable, "-c", said), env={})
    await run(job, store, tmp_path / "a" / "b", workers=workers).wait()
    error = (await stored(store)).error
    assert error.startswith("its worker ended with exit code 3")
    assert ("of-the-server" in error) is not durable
    assert ("of-the-server" in caplog.text) is durable


async def test_a_node_that_ends_jobs_by_dying(store: AwayNowAndThen, tmp_path: Path) -> None:
    """A job whose servers die again and again is given up: it may be what kills them."""
    job = replace(await claimed(store), state="running", crashes=2)
    owned = run(job, store, tmp_path / "job", lost="the server that ran it (pid 7) has gone")
    await owned.wait()
    assert "pid 7) has gone; so did 2 before it" in (await stored(store)).error


async def test_cancelling_before_its_worker_has_begun(store: AwayNowAndThen, tmp_path: Path) -> None:
    """No worker is started at all."""
    owned = run(await claimed(store), store, tmp_path / "job")
    owned.stop(EndCause.CANCEL)
    await owned.wait()
    assert (await stored(store)).state == "cancelled"
    assert not (tmp_path / "job" / "plan.json").exists()


async def test_what_a_worker_is_told(store: AwayNowAndThen, tmp_path: Path) -> None:
    """All of it, and the workspace that its sandboxes belong to."""
    owned = run(await claimed(store, "steps:1", workspace="team"), store, tmp_path / "job")
    await owned.wait()
    (begun,) = await store.events_after("train_1", 0, kinds=["training_start"])
    assert begun.message == "1 steps to go for team"
    plan = json.loads((tmp_path / "job" / "plan.json").read_text())
    assert plan.keys() == {"job_id", "workspace", "trainer_type", "request", "resolved", "plan"}
    assert not [*(tmp_path / "job").glob("*.tmp")]
