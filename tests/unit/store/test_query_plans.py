"""What is asked again and again costs the same however many runs there are: SQLite searches, and scans nothing."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import event as engine_event

from harena.core.job_store import Batch
from harena.store.benchmark_jobs import JobStore
from harena.store.database import Database
from harena.testing.conformance_job_store import done, event, job, queued

ASKED: dict[str, tuple[Callable[[JobStore], Awaitable[Any]], str]] = {
    "a page of results": (lambda store: store.page_runs("job_1", after=3, limit=2), "runs_by_end (job_id=? AND "),
    "a page of events": (lambda store: store.events_after("job_1", 3, limit=2), "PRIMARY KEY (job_id=? AND cursor>?)"),
    "the last event": (lambda store: store.last_event("job_1"), "PRIMARY KEY (job_id=?)"),
}


@pytest.mark.parametrize("what", ASKED)
async def test_it_is_found_by_an_index(database: Database, store: JobStore, what: str) -> None:
    """In its order, too: nothing is sorted."""
    asked, index = ASKED[what]
    await store.insert_job(job(), queued(10))
    ends = {number: done(1.0, cursor=number + 1) for number in range(8)}
    events = [event(number + 1) for number in range(8)]
    await store.write(Batch("job_1", runs=ends, events=events))
    said: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        said.append((statement, parameters))

    engine = database._in_threads  # where whole transactions on a file are run
    assert engine is not None
    engine_event.listen(engine, "before_cursor_execute", note)
    assert await asked(store)
    engine_event.remove(engine, "before_cursor_execute", note)
    ((statement, parameters),) = said
    async with database.transaction() as connection:
        plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        steps = [row[3] for row in plan]
    assert len(steps) == 1, steps
    assert steps[0].startswith("SEARCH")
    assert index in steps[0]
