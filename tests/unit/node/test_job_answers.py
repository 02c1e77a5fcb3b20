"""What is answered about a job, and what it is answered from."""

import sqlite3
from contextlib import closing
from pathlib import Path

from test_benchmark_jobs import HERE, Scorer, opened


async def test_progress_is_answered_from_the_jobs_own_row(tmp_path: Path) -> None:
    """Also where none of its runs and events can be read any more; results are read from the runs."""
    path = tmp_path / "harena.db"
    async with opened(path, Scorer()) as jobs:
        await jobs.create(HERE, {"name": "n", "scenarios": ["pass", "fail", "lost"], "config": {"attempts": 2}})
        results = await jobs.wait(HERE, "n")
        before = await jobs.get(HERE, "n")
        told = await jobs.summary(HERE, "n")
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM runs")
            connection.execute("DELETE FROM events")
        assert await jobs.get(HERE, "n") == before
        assert (await jobs.list(HERE))["benchmark_jobs"] == [before]
        assert (await jobs.results(HERE, "n"))["runs"] == []
    assert told.to_dict() == {name: value for name, value in results.to_dict().items() if name != "runs"}
    progress = before["progress"]
    assert [progress[name] for name in ("total", "done", "passed", "failed", "infra", "invalid", "queued")] == [
        *(6, 6, 2, 2, 2, 0, 0),
    ]
    assert before["cursor"] > 0
    assert before["duration_seconds"] == results["summary"]["duration_seconds"]


async def test_pages_of_results_follow_each_other(tmp_path: Path) -> None:
    """Each run once, with its number in the order of acceptance; nothing comes after the last one."""
    async with opened(tmp_path / "harena.db", Scorer()) as jobs:
        job = await jobs.create(HERE, {"name": "n", "scenarios": ["pass"] * 7, "config": {"concurrency": 3}})
        await jobs.wait(HERE, "n")
        seen, cursor = [], 0
        while (page := await jobs.results_page(HERE, job["id"], after=cursor, limit=3))["runs"]:
            cursor = page["cursor"]
            seen += [run["run"] for run in page["runs"]]
        last = await jobs.results_page(HERE, job["id"], after=cursor)
    assert sorted(seen) == list(range(7))
    assert (last["runs"], last["cursor"], last["state"]) == ([], cursor, "completed")
