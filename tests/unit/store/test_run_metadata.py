"""Metadata of scenarios is stored once, however many attempts tell of it, and read in pages of bounded size."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text, update

from harena.core.job_store import PAGE_BYTES, Batch
from harena.core.results import Reason, RunResult, Trust, Validity
from harena.jobs.benchmark.job_summary import job_summary
from harena.store.benchmark_jobs import JobStore
from harena.store.database import Database
from harena.store.run_metadata import INLINE_BYTES
from harena.store.stored_bytes import StoredBytes
from harena.store.tables import runs
from harena.testing.conformance_job_store import done, job, queued

ATTEMPTS = 60
LARGE = {"text": "x" * 1_000_000}
RESULT = RunResult(
    scenario_id="s", score=1.0, passed=True, validity=Validity.VALID, trust=Trust.SEPARATE, reason=Reason.PASSED
)
RUN = {
    **RESULT.to_dict(), "run": 0, "scenario_version": None, "contract_version": None, "honeypot": False,
    "problem": None, "expected": None, "verdict_right": None,
}  # fmt: skip


async def stored(store: JobStore, *, batches: int = 3) -> None:
    """A job of one scenario with a megabyte of metadata, whose attempts end in several batches."""
    await store.insert_job(job("job_1", total=ATTEMPTS), queued(ATTEMPTS))
    for first in range(0, ATTEMPTS, ATTEMPTS // batches):
        ended = {
            number: replace(done(1.0, cursor=number + 1), envelope={**RUN, "metadata": LARGE})
            for number in range(first, first + ATTEMPTS // batches)
        }
        await store.write(Batch("job_1", runs=ended))


async def test_metadata_of_a_scenario_is_stored_once(database: Database, store: JobStore) -> None:
    """Not once for each attempt: a job cannot grow far beyond what it was measured by when it was accepted."""
    before = await StoredBytes(database).measured("default")
    await stored(store)
    assert await StoredBytes(database).measured("default") - before < 1_000_000
    found = await store.list_runs("job_1")
    assert [run.envelope["metadata"] for run in found] == [LARGE] * ATTEMPTS
    assert len({id(run.envelope["metadata"]) for run in found}) == 1
    assert await store.delete_job("job_1", while_in=("accepted", "queued", "running"))
    assert await StoredBytes(database).measured("default") == before


async def test_a_page_of_results_is_bounded_by_its_bytes(store: JobStore) -> None:
    """Its size as JSON, with the metadata that every result tells; whoever follows the cursor misses none."""
    await stored(store)
    seen: list[int] = []
    pages: list[int] = []
    while page := await store.page_runs("job_1", after=seen[-1] + 1 if seen else 0, limit=1000):
        assert all(run.envelope["metadata"] == LARGE for run in page)
        seen += [run.number for run in page]
        pages.append(len(page))
    assert seen == [*range(ATTEMPTS)]
    assert pages[0] == PAGE_BYTES // 1_000_000
    assert len(await store.page_runs("job_1", after=0, limit=1000, most_bytes=1)) == 1, "a page has one at least"


async def test_results_that_hold_their_metadata_are_bounded_too(database: Database, store: JobStore) -> None:
    """As earlier versions have written them."""
    await store.insert_job(job("job_1", total=20), queued(20))
    envelope = {"metadata": LARGE}
    ended = update(runs).values(state="done", passed=True, envelope=envelope, ended_cursor=runs.c.number + 1)
    async with database.transaction() as connection:
        await connection.execute(ended)
    page = await store.page_runs("job_1", after=0, limit=1000)
    assert len(page) == PAGE_BYTES // 1_000_000
    assert page[0].envelope["metadata"] == LARGE


async def test_a_sum_reads_no_metadata(store: JobStore) -> None:
    """A summary takes the memory of the results without it."""
    await stored(store)
    row: Any = await store.read_job("job_1")
    tracemalloc.start()
    try:
        summary = await job_summary(store, row, now=datetime.now(UTC))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (summary.summary.passed, summary.summary.scored) == (ATTEMPTS, ATTEMPTS)
    assert peak < 2_000_000, peak


async def test_short_metadata_stays_in_its_result(database: Database, store: JobStore) -> None:
    """Around the bound, and where there is none."""
    kept: list[dict[str, Any]] = [{}, {"a": 1}, {"a": "x" * INLINE_BYTES}, {"a": "ä\ud800"}]
    await store.insert_job(job("job_1"), queued(4))
    ended = {number: done(1.0, cursor=number + 1, metadata=metadata) for number, metadata in enumerate(kept)}
    await store.write(Batch("job_1", runs=ended))
    assert [run.envelope["metadata"] for run in await store.page_runs("job_1", after=0, limit=9)] == kept
    async with database.transaction() as connection:
        assert await connection.scalar(text("SELECT count(*) FROM run_metadata")) == 1
