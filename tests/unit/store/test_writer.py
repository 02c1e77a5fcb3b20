"""The batch writer: in the database before anybody hears of it, and nothing lost when a write fails."""

import asyncio

import pytest

from harena.core.errors import PlatformError
from harena.core.job_store import Batch, JobChanges, RunChange
from harena.jobs.benchmark.job_writer import BatchWriter
from harena.store.benchmark_jobs import JobStore
from harena.testing.clock import FakeClock
from harena.testing.conformance_job_store import event


class MemoryStore:
    """What was written, batch by batch; refuses while `broken`."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.broken = False

    async def write(self, batch: Batch) -> None:
        await asyncio.sleep(0)
        if self.broken:
            raise PlatformError("disk full", step="store")
        self.batches.append(batch)


def writer_over(store: MemoryStore, clock: FakeClock) -> tuple[BatchWriter, list[str]]:
    """A writer, and what it has told."""
    told: list[str] = []
    writer = BatchWriter(
        store,  # type: ignore[arg-type]
        "job_1",
        clock=clock,
        on_commit=lambda: told.append("committed"),
        on_failure=lambda error: told.append(f"failed: {error}"),
    )
    return writer, told


RUNNING, DONE = RunChange(state="running"), RunChange(state="done")


async def test_what_comes_together_is_written_together() -> None:
    """A hundred runs within the interval are one transaction, each with its last state."""
    store, clock = MemoryStore(), FakeClock(auto_jump=False)
    writer, told = writer_over(store, clock)
    for number in range(100):
        writer.add_run(number, RUNNING)
        writer.add_run(number, DONE)
        writer.add_event(event(number))
    await clock.advance(0.09)
    assert store.batches == []
    await clock.advance(0.02)
    assert len(store.batches) == 1
    assert store.batches[0].runs[99] == DONE
    assert len(store.batches[0].events) == 100
    assert told == ["committed"]
    await writer.close()
    assert len(store.batches) == 1


async def test_flush_does_not_wait_for_the_interval() -> None:
    """What was added is written when flush returns."""
    store = MemoryStore()
    writer, told = writer_over(store, FakeClock(auto_jump=False))
    writer.set_job(JobChanges(state="running"))
    writer.set_job(JobChanges(last_cursor=1))
    assert told == []
    await writer.flush()
    assert store.batches[0].job == JobChanges(state="running", last_cursor=1)
    assert told == ["committed"]
    await writer.close()


async def test_a_failed_write_loses_nothing() -> None:
    """What could not be written comes first in the next write, with its order kept."""
    store = MemoryStore()
    writer, told = writer_over(store, FakeClock(auto_jump=False))
    store.broken = True
    writer.add_run(1, RUNNING)
    writer.add_event(event(1))
    with pytest.raises(PlatformError, match="disk full"):
        await writer.flush()
    store.broken = False
    writer.add_run(1, DONE)
    writer.add_event(event(2))
    await writer.close()
    assert store.batches[0].runs == {1: DONE}
    assert [one.cursor for one in store.batches[0].events] == [1, 2]
    assert told == ["committed"]


async def test_a_failure_in_the_background_is_told_once() -> None:
    """Whoever runs the job learns that its results are not recorded any more."""
    store, clock = MemoryStore(), FakeClock(auto_jump=False)
    writer, told = writer_over(store, clock)
    store.broken = True
    writer.add_event(event(1))
    await clock.advance(1)
    await clock.advance(1)
    assert told == ["failed: disk full"]
    with pytest.raises(PlatformError):
        await writer.close()


async def test_written_means_readable(store: JobStore) -> None:
    """After a flush a reader of the real store sees the events."""
    writer = BatchWriter(
        store, "job_1", clock=FakeClock(auto_jump=False), on_commit=lambda: None, on_failure=lambda error: None
    )
    writer.add_event(event(1))
    await writer.flush()
    assert [one.cursor for one in await store.events_after("job_1", 0)] == [1]
    await writer.close()
