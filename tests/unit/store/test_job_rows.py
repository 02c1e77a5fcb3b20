"""Queries over jobs, runs and events."""

from typing import Any

import pytest

from harena.core.errors import PlatformError
from harena.store.benchmark_jobs import Batch, JobStore


def job(job_id: str = "job_1", name: str = "n", **more: Any) -> dict[str, Any]:
    """A job's row."""
    return {
        "id": job_id,
        "name": name,
        "state": "queued",
        "created_at": "2030-01-01T00:00:00+00:00",
        "blueprint": "default",
        "config": {"concurrency": 8},
        "effective_concurrency": 8,
        "total": 2,
        "owner_pid": 1,
        "owner_started": "2",
        "owner_boot": "b",
        **more,
    }


def queued(count: int) -> list[dict[str, Any]]:
    """That many runs of one attempt each."""
    return [{"number": n, "scenario_id": f"s{n}", "attempt": 1, "state": "queued"} for n in range(count)]


def done(score: float | None, **envelope: Any) -> dict[str, Any]:
    """A run that has ended."""
    return {"state": "done", "score": score, "passed": score == 1.0, "envelope": {"score": score, **envelope}}


async def test_jobs_are_found_by_id_and_newest_by_name(store: JobStore) -> None:
    """A name means the newest job of that name; an id means itself, also where it is another job's name."""
    await store.insert_job(job("job_1", "n"), queued(2))
    await store.insert_job(job("job_2", "n"), [])
    await store.insert_job(job("job_3", "job_1"), [])
    for asked, found in (("n", "job_2"), ("job_1", "job_1"), ("job_3", "job_3")):
        row = await store.find_job(asked)
        assert row is not None
        assert row["id"] == found
    assert await store.find_job("other") is None
    assert [row["id"] for row in await store.list_jobs()] == ["job_3", "job_2", "job_1"]


async def test_a_job_is_accepted_whole_or_not_at_all(store: JobStore) -> None:
    """When one run cannot be written there is no job either."""
    with pytest.raises(PlatformError):
        await store.insert_job(job(), [*queued(2), *queued(1)])
    assert await store.list_jobs() == []


async def test_a_batch_is_written_and_counted(store: JobStore) -> None:
    """Runs, events and the job's own columns arrive together."""
    await store.insert_job(job(), queued(6))
    batch = Batch(
        "job_1",
        runs={0: done(1.0, detail="é\ud800"), 1: done(0.0), 2: done(None), 3: {"state": "running"}, 5: done(1.0)},
        events=[{"cursor": 1, "at": "t", "kind": "run_finished", "body": {"run": 0}}],
        job={"state": "running"},
    )
    await store.write(batch)
    assert await store.count_runs(["job_1"]) == {
        "job_1": {"done": 4, "running": 1, "queued": 1, "scored": 3, "passed": 2}
    }
    runs = await store.list_runs("job_1")
    assert [(run["number"], run["envelope"]["score"]) for run in runs] == [(0, 1.0), (1, 0.0), (2, None), (5, 1.0)]
    assert runs[0]["envelope"]["detail"] == "é\ud800"
    row = await store.find_job("job_1")
    assert row is not None
    assert row["state"] == "running"
    assert await store.last_event_at("job_1") == "t"


async def test_odd_values_do_not_lose_the_batch(store: JobStore) -> None:
    """What JSON cannot say is kept as text."""
    await store.insert_job(job(), queued(1))
    await store.write(Batch("job_1", runs={0: done(1.0, metadata={"odd": {1}})}))
    assert (await store.list_runs("job_1"))[0]["envelope"]["metadata"] == {"odd": "{1}"}


async def test_events_come_in_pages_after_a_cursor(store: JobStore) -> None:
    """Nothing is missed and nothing repeated across pages, and jobs do not mix."""
    events = [{"cursor": n, "at": "t", "kind": "k", "body": {"n": n}} for n in range(1, 8)]
    await store.write(Batch("job_1", events=events))
    await store.write(Batch("job_2", events=events[:1]))
    seen, cursor = [], 2
    while page := await store.events_after("job_1", cursor, limit=2):
        seen += [event["body"]["n"] for event in page]
        cursor = page[-1]["cursor"]
    assert seen == [3, 4, 5, 6, 7]


async def test_a_job_moves_only_from_the_states_it_is_in(store: JobStore) -> None:
    """What has ended is not changed by whoever comes late."""
    await store.insert_job(job(), [])
    assert await store.update_job("job_1", {"state": "completed"}, while_in=("queued", "running"))
    assert not await store.update_job("job_1", {"state": "interrupted"}, while_in=("queued", "running"))
    row = await store.find_job("job_1")
    assert row is not None
    assert row["state"] == "completed"


async def test_cancellation_can_be_asked_for(store: JobStore) -> None:
    """One process sets it, another one sees it."""
    await store.insert_job(job(), [])
    assert not await store.cancel_requested("job_1")
    await store.update_job("job_1", {"cancel_requested": True}, while_in=("queued",))
    assert await store.cancel_requested("job_1")
