"""A job is deleted a few rows at a time, and whole although its deletion was cut short."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from sqlalchemy import event as engine_event

from harena.core.errors import PlatformError
from harena.core.job_store import LEASE_LOST, Batch
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.store import benchmark_jobs
from harena.store.benchmark_jobs import JobStore
from harena.store.database import Database
from harena.store.deletion import ROWS_DELETED_AT_A_TIME
from harena.store.stored_bytes import StoredBytes
from harena.store.workspaces import WorkspaceStore
from harena.testing.conformance_job_store import begun, ended, event, job

RUNS = 5000


async def filled(store: JobStore) -> None:
    """An ended job with a row and an event for each of its runs."""
    await store.insert_job(job(total=RUNS, state="completed", durable=True), request=b"{}")
    for first in range(0, RUNS, 1000):
        numbers = range(first, first + 1000)
        results = {n: ended(n, 1.0, cursor=n + 1) for n in numbers}
        events = [event(n + 1) for n in numbers]
        await store.write(Batch("job_1", runs=results, events=events))


async def rows_left(database: Database) -> int:
    """Rows of the job, in all tables."""
    tables = ("benchmark_jobs", "runs", "events", "job_requests")
    async with database.transaction() as connection:
        counts = [await connection.exec_driver_sql(f"SELECT count(*) FROM {name}") for name in tables]
        return sum(count.scalar_one() for count in counts)


async def test_no_transaction_deletes_more_than_a_few_thousand_rows(database: Database, store: JobStore) -> None:
    """However large the job: others write in between."""
    await filled(store)
    sizes = [0]

    def note(_connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("DELETE"):
            sizes[-1] += max(0, cursor.rowcount)

    engine = database._in_threads
    assert engine is not None
    engine_event.listen(engine, "after_cursor_execute", note)
    engine_event.listen(engine, "commit", lambda _: sizes.append(0))
    assert await store.delete_job("job_1", while_in=("completed",))
    assert await rows_left(database) == 0
    assert (sum(sizes) >= 2 * RUNS, max(sizes) <= ROWS_DELETED_AT_A_TIME) == (True, True), sizes


@pytest.mark.parametrize("steps", range(8))
async def test_a_deletion_that_was_cut_short_is_finished(database: Database, store: JobStore, steps: int) -> None:
    """After any of its transactions: the job does not exist any more, and what is left of it is removed later."""
    await filled(store)
    assert await store._begin_deletion(["job_1"], ["completed"]) == ["job_1"]
    for _ in range(steps):
        await database.run(partial(benchmark_jobs._delete_some, "job_1"))
    assert await store.find_job(HERE, "job_1") is None
    assert await store.list_jobs(HERE) == []
    assert await store.list_unfinished(states=["completed"]) == []
    assert not await store.delete_job("job_1", while_in=("completed",))
    assert await StoredBytes(database).measured(HERE) == 0
    assert await WorkspaceStore(database).list() == []
    await store.clear_deleted()
    assert await rows_left(database) == 0


async def test_nobody_writes_to_a_job_whose_deletion_has_begun(database: Database, store: JobStore) -> None:
    """Its last owner, which lives although the job has ended, holds no lease any more, and leaves no rows."""
    await store.insert_job(job("job_1", state="interrupted"))
    await store.write(Batch("job_1", runs={0: begun(0)}, epoch=1))
    assert await store._begin_deletion(["job_1"], ["interrupted"]) == ["job_1"]
    with pytest.raises(PlatformError) as lost:
        await store.write(Batch("job_1", runs={1: begun(0, attempt=2)}, epoch=1))
    assert lost.value.reason == LEASE_LOST
    await store.clear_deleted()
    assert await rows_left(database) == 0
