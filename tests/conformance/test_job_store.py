"""Every store of benchmark jobs that harena ships passes one suite: SQLite, and a real PostgreSQL."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text
from stored_jobs import StoredJobs
from test_benchmark_jobs import NoSandboxes, Recipes, Scorer, load
from test_crashes import check_lives

from harena.core.clock import SystemClock
from harena.core.errors import PlatformError
from harena.core.job_store import STORE_UNAVAILABLE, JobCounts
from harena.core.node_config import NodeConfig
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.store import benchmark_jobs as queries
from harena.store import database as store_database
from harena.store.benchmark_jobs import JobStore
from harena.store.database import Database
from harena.store.deletion import ROWS_DELETED_AT_A_TIME
from harena.store.migrate import bring_to
from harena.testing.conformance_job_store import JobStoreConformance, job, owner, queued
from postgres_server import PostgresServer


class TestJobStore(JobStoreConformance):
    """A database of its own for each test."""

    @pytest.fixture
    def store(self, database: Database) -> JobStore:
        """Of an empty database."""
        return JobStore(database)


async def test_a_server_that_goes_away_and_comes_back(server: PostgresServer, url: str) -> None:
    """While it is away the error says that the same may succeed later; afterwards it does, with everything there."""
    database = await Database.open(url)
    store = JobStore(database)
    await store.insert_job(job("before"), queued(1))
    server.stop()
    try:
        with pytest.raises(PlatformError) as away:
            await store.insert_job(job("meanwhile"), [])
        assert away.value.reason == STORE_UNAVAILABLE
        with pytest.raises(PlatformError) as unopened:
            await Database.open(url)
        assert unopened.value.reason == STORE_UNAVAILABLE
        assert "HARENA_DATABASE_URL" in str(unopened.value)
    finally:
        server.start()
    assert [found.id for found in await store.list_jobs(HERE)] == ["before"]
    await store.insert_job(job("after"), [])
    await database.close()


async def test_a_writer_that_was_stopped_in_its_middle_holds_nobody_up(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others are told that the same may succeed later, and it does: the transaction that lay idle has been undone, and
    whoever began it is told so when it wakes up."""
    monkeypatch.setattr(store_database, "LOCK_SECONDS", 0.2)
    monkeypatch.setattr(store_database, "IDLE_SECONDS", 1.0)
    database, other = await Database.open(url), await Database.open(url)
    stopped, store = JobStore(database), JobStore(other)
    await stopped.insert_job(job(), [])
    locked, go_on = asyncio.Event(), asyncio.Event()

    async def stop_in_the_middle() -> None:
        async with database.transaction() as connection:
            await connection.exec_driver_sql("UPDATE benchmark_jobs SET lease_beat = 7")
            locked.set()
            await go_on.wait()

    held = asyncio.create_task(stop_in_the_middle())
    await locked.wait()
    refused = 0
    while True:
        try:
            assert await store.claim_job("job_1", owner(7), epoch=1, while_in=("queued",))
            break
        except PlatformError as error:
            assert error.reason == STORE_UNAVAILABLE  # noqa: PT017 - all of them, and there are several
            refused += 1
    go_on.set()
    with pytest.raises(PlatformError) as undone:
        await held
    assert (refused > 0, undone.value.reason) == (True, STORE_UNAVAILABLE)
    row = await store.find_job(HERE, "job_1")
    assert row is not None
    assert (row.owner.pid, row.lease_epoch, row.lease_beat) == (7, 2, 0)
    for each in (database, other):
        await each.close()


async def test_jobs_of_an_earlier_version_are_counted_once(url: str) -> None:
    """A database without counts in its jobs' rows gets them when it is opened."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        bring_to(connection, "0003")
        connection.execute(
            text(
                "INSERT INTO benchmark_jobs (id, name, state, created_at, blueprint, config, effective_concurrency, "
                "total, owner_pid, owner_started, owner_boot, cancel_requested) "
                "VALUES ('job_1', 'n', 'running', 't', 'default', '{}', 8, 6, 1, '2', 'b', false)"
            )
        )
        ends = [("done", 1.0, True, "valid"), ("done", 0.0, False, "valid"), ("done", None, False, "invalid"),
                ("done", None, False, "infra"), ("cancelled", None, False, "infra"),
                ("running", None, None, None)]  # fmt: skip
        for number, (state, score, passed, validity) in enumerate(ends):
            envelope = None if validity is None else json.dumps({"validity": validity})
            connection.execute(
                text("INSERT INTO runs VALUES ('job_1', :n, :id, 1, :state, :score, :passed, :envelope, 0, :cursor)"),
                {"n": number, "id": f"s{number}", "state": state, "score": score, "passed": passed,
                 "envelope": envelope, "cursor": None if passed is None else number + 1},
            )  # fmt: skip
        connection.execute(text("INSERT INTO events VALUES ('job_1', 7, 't', 'k', '{}')"))
    engine.dispose()
    database = await Database.open(url)
    row = await JobStore(database).find_job(HERE, "job_1")
    await database.close()
    assert row is not None
    assert (row.counts, row.last_cursor) == (
        JobCounts(running=1, done=4, cancelled=1, scored=2, passed=1, invalid=1),
        7,
    )


async def test_durable_jobs_over_postgres(url: str) -> None:
    """The whole road: accepted by one node, let go of, ended by the next."""
    does = ["pass", "hang", "fail", "lost"]
    first, second = Scorer(), Scorer()
    second.hangs = False
    jobs = durable(url, first)
    await jobs.start()
    job = await jobs.create(HERE, {"name": "n", "scenarios": does, "config": {"attempts": 2, "concurrency": 3}})
    await first.hanging.wait()
    await jobs.close()
    jobs = durable(url, second)
    await jobs.start()
    results = await jobs.wait(HERE, "n")
    events = [event async for event in jobs.events(HERE, job["id"])]
    page = await jobs.results_page(HERE, "n", limit=5000)
    await jobs.delete(HERE, "n")
    assert (await jobs.list(HERE))["benchmark_jobs"] == []
    await jobs.close()
    assert (results["state"], len(results["runs"]), results["summary"]["infra"]) == ("completed", 8, 2)
    assert len(page["runs"]) == 8
    assert [event["cursor"] for event in events] == list(range(1, len(events) + 1))
    assert sum(event["kind"] == "run_finished" for event in events) == 8


async def test_a_job_survives_a_crash_of_the_database(server: PostgresServer, url: str) -> None:
    """The server goes away under a running job: runs pause, what was scored waits, and all goes on when it is back."""
    may_end = asyncio.Semaphore(0)

    class Waiting(Scorer):
        async def __call__(self, scenario: Any, **more: Any) -> Any:
            result = await super().__call__(scenario, **more)
            self.hanging.set()
            await may_end.acquire()
            return result

    scorer = Waiting()
    jobs = durable(url, scorer)
    job = await jobs.create(HERE, {"name": "n", "scenarios": ["pass"] * 100, "config": {"concurrency": 4}})
    await scorer.hanging.wait()
    await asyncio.to_thread(server.stop)
    try:
        may_end.release()  # a score that cannot be stored
        execution = jobs._owned[job["id"]]._execution
        while not execution._paused:  # noqa: ASYNC110 - the only other sign is in the store, which is away
            await asyncio.sleep(0)
        for _ in range(100):
            may_end.release()
        started = len(scorer.calls)
    finally:
        await asyncio.to_thread(server.start)
    results = await jobs.wait(HERE, job["id"])
    told = [event["kind"] async for event in jobs.events(HERE, job["id"])]
    await jobs.close()
    assert (results["state"], results["summary"]["passed"], len(scorer.calls)) == ("completed", 100, 100)
    assert started <= 5
    assert told.count("run_finished") == 100
    assert told.count("job_paused") == told.count("job_continued") >= 1


def durable(url: str, scorer: Scorer) -> StoredJobs:
    """A server's jobs in that database."""
    clock = SystemClock()
    config = NodeConfig(store_place=url, durable_jobs=True)
    return StoredJobs(config, NoSandboxes(), Recipes(), clock, score=scorer, load=load, cores=2)


@pytest.mark.slow
@pytest.mark.thorough
async def test_kill_9_over_postgres(url: str, tmp_path: Path) -> None:
    """What a killed client's connection had begun is undone, and holds nothing up."""
    await check_lives(url, tmp_path / "log", seed=2)


async def test_two_nodes_may_open_a_new_database_at_once(url: str) -> None:
    """One migrates, the other waits."""
    for database in await asyncio.gather(*(Database.open(url) for _ in range(4))):
        await database.close()


async def test_a_url_that_names_no_postgres_is_not_repeated() -> None:
    """It may hold a password."""
    with pytest.raises(PlatformError, match="must be postgresql://") as refused:
        await Database.open("mysql://me:secret@host/x")
    assert "secret" not in str(refused.value)


async def test_servers_that_clear_one_job_at_a_time_leave_nothing(database: Database) -> None:
    """Its own row goes last: what another deletes at this moment is taken by nobody for the end."""
    store, total = JobStore(database), 5 * ROWS_DELETED_AT_A_TIME
    await store.insert_job(job(total=total, state="completed"), queued(total))
    await store._begin_deletion(["job_1"], ["completed"])
    left: list[int] = []

    async def clear() -> None:
        while await database.run(partial(queries._delete_some, "job_1")):
            pass
        async with database.transaction() as connection:
            left.append((await connection.exec_driver_sql("SELECT count(*) FROM runs")).scalar_one())

    await asyncio.gather(*(clear() for _ in range(4)))
    assert left == [0] * 4
