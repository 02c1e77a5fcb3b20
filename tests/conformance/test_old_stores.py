"""A store of an earlier version migrates in place, with all that is in it, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import old_stores
import pytest
from sqlalchemy import create_engine, inspect
from stored_jobs import StoredJobs
from test_benchmark_jobs import NoSandboxes, Recipes, Scorer, load

from harena.core.clock import SystemClock
from harena.core.job_store import Batch, RunChange
from harena.core.node_config import NodeConfig
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.store.benchmark_jobs import JobStore
from harena.store.database import Database


@pytest.fixture
def places(new_place: Callable[[], Path | str]) -> tuple[Path | str, Path | str]:
    """Where two databases may be."""
    return new_place(), new_place()


def schema(place: Path | str) -> dict[str, Any]:
    """Columns with types and whether they may be empty, keys and indexes, by table."""
    url = f"sqlite:///{place}" if isinstance(place, Path) else place.replace("postgresql:", "postgresql+psycopg:")
    engine = create_engine(url)
    seen = inspect(engine)
    found = {
        table: (
            sorted((column["name"], str(column["type"]), column["nullable"]) for column in seen.get_columns(table)),
            seen.get_pk_constraint(table)["constrained_columns"],
            sorted((str(index["name"]), index["column_names"], index["unique"]) for index in seen.get_indexes(table)),
        )
        for table in seen.get_table_names()
    }
    engine.dispose()
    return found


@pytest.mark.parametrize("version", old_stores.VERSIONS)
async def test_nothing_is_lost_and_the_tables_are_todays(places: tuple[Path | str, Path | str], version: str) -> None:
    """Jobs, results in their order and events are there, and can be added to; as in a new database."""
    old, new = places
    old_stores.make(old, version)
    for place in places:
        await (await Database.open(place)).close()
    assert schema(old) == schema(new)
    database = await Database.open(old)
    store = JobStore(database)
    row = await store.find_job(HERE, "old")
    assert row is not None
    assert (row.config, row.durable, row.lease_epoch) == ({"concurrency": 8}, False, 1)
    pages = await store.page_runs("job_1", after=0, limit=9)
    assert [run.envelope for run in pages] == [{"score": 1.0}, {"score": None}]
    [left] = await store.open_runs("job_1")
    assert (left.number, left.state) == (1, "running")
    assert (left.failures, left.repeats, left.interruptions) == (0, 0, 0)
    await store.write(Batch("job_1", runs={1: RunChange(state="done", score=0.5, passed=False, ended_cursor=9)}))
    assert await store.open_runs("job_1") == []
    assert len(await store.events_after("job_1", 0)) == 1
    await database.close()


async def test_a_job_of_an_earlier_version_is_gone_on_with(places: tuple[Path | str, Path | str]) -> None:
    """What had ended stays as it was, what had failed has not got its tries back, and the rest is run."""
    old_stores.make(places[0], "0002")
    scorer = Scorer()
    jobs = StoredJobs(
        NodeConfig(store_place=places[0], durable_jobs=True),
        NoSandboxes(),
        Recipes(),
        SystemClock(),
        score=scorer,
        load=load,
        cores=2,
    )
    await jobs.start()
    results = await jobs.wait(HERE, "open")
    events = [event async for event in jobs.events(HERE, "open")]
    await jobs.close()
    assert results["state"] == "completed"
    assert [run["score"] for run in results["runs"]] == [0.5, 1.0, 1.0, 1.0]
    assert [run["platform_retries"] for run in results["runs"]] == [0, 1, 0, 0]
    assert sorted(call[0] for call in scorer.calls) == ["s1", "s2", "s3"]
    assert [event["cursor"] for event in events] == list(range(1, len(events) + 1))
    assert [event["kind"] for event in events][3:5] == ["job_resumed", "run_requeued"]
