"""A node that is killed with -9 again and again over one store, each time at a chosen write. Prints what happened.

`python crash_lives.py STORE_FILE_OR_URL LOG SEED KILLS`. Each life is a fork of this process: a real
process, without the price of starting an interpreter for each. A life runs until its k-th write to the store and dies
right before, within or right after the transaction; the last life is left to finish the job.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from stored_jobs import StoredJobs
from test_benchmark_jobs import NoSandboxes, Recipes, Scorer, load

from harena.core.clock import SystemClock
from harena.core.errors import NotFoundError
from harena.core.job_store import Batch
from harena.core.node_config import NodeConfig
from harena.core.results import RunResult
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.store import benchmark_jobs as queries
from harena.store.benchmark_jobs import JobStore

SCENARIOS, ATTEMPTS, CONCURRENCY = 60, 2, 3


class MortalStore(JobStore):
    """Dies at a chosen write."""

    moment: tuple[int, str] | None = None
    writes = 0
    written = asyncio.Event()

    async def write(self, batch: Batch) -> None:
        cls = type(self)
        cls.writes += 1
        number, when = cls.moment or (0, "")
        due = when if number == cls.writes else ""
        if due == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        if due == "during":  # the job's row is written, its runs and events are not
            queries.put_rows = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
        await super().write(batch)
        if due == "after":  # who outlives its death within a write is not killed at all, and the test says so
            os.kill(os.getpid(), signal.SIGKILL)
        cls.written.set()
        cls.written = asyncio.Event()


class LoggingScorer(Scorer):
    """Notes each execution where a kill cannot take it back. Waits for a write where the node does not write before
    each score by itself (a job's first life), so that a life does not run far between two writes."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self.waits = False
        self.log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def __call__(self, scenario: Any, **more: Any) -> RunResult:
        os.write(self.log, f"{os.getpid()} {scenario.id} {more['attempt']}\n".encode())
        if self.waits:
            await MortalStore.written.wait()
        return await super().__call__(scenario, **more)


class MortalJobs(StoredJobs):
    """A durable node's jobs over a mortal store."""

    async def _store(self) -> JobStore:
        return MortalStore(await self.database())


async def live(place: Path | str, log: Path, moment: tuple[int, str] | None) -> None:
    """One life: go on with the job, or begin it."""
    MortalStore.moment = moment
    scorer = LoggingScorer(log)
    config = NodeConfig(store_place=place, durable_jobs=True)
    jobs = MortalJobs(config, NoSandboxes(), Recipes(), SystemClock(), score=scorer, load=load, cores=4)
    await jobs.start()
    try:
        await jobs.get(HERE, "job")
    except NotFoundError:
        scorer.waits = True
        does = ["pass" if number % 3 else "fail" for number in range(SCENARIOS)]
        config = {"attempts": ATTEMPTS, "concurrency": CONCURRENCY}
        await jobs.create(HERE, {"name": "job", "scenarios": does, "config": config})
    await jobs.wait(HERE, "job")
    await jobs.close()


def stored(place: Path | str) -> list[str]:
    """The runs whose result is stored."""
    url = f"sqlite:///{place}" if isinstance(place, Path) else place.replace("postgresql:", "postgresql+psycopg:")
    engine = create_engine(url)
    try:
        with engine.connect() as connection, contextlib.suppress(DBAPIError):  # before the first life: no tables yet
            told = "SELECT runs_running, runs_done, last_cursor FROM benchmark_jobs"
            true = (
                "SELECT (SELECT count(*) FROM runs WHERE state = 'running'), "
                "(SELECT count(*) FROM runs WHERE state = 'done'), (SELECT coalesce(max(cursor), 0) FROM events)"
            )
            counted = connection.execute(text(told)).all()
            assert counted in ([], connection.execute(text(true)).all()), "the job's own row is right after each death"
            rows = connection.execute(text("SELECT scenario_id, attempt FROM runs WHERE ended_cursor IS NOT NULL"))
            return [f"{scenario_id} {attempt}" for scenario_id, attempt in rows]
        return []
    finally:
        engine.dispose()


def one_life(place: Path | str, log: Path, moment: tuple[int, str] | None) -> dict[str, Any]:
    """Fork, wait for its death; {pid, killed, moment, stored_before}."""
    before = stored(place)
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(live(place, log, moment))
            os._exit(0)
        except BaseException:  # noqa: BLE001 - a fork must not return into the driver
            traceback.print_exc()
            os._exit(1)
    status = os.waitpid(pid, 0)[1]
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    return {"pid": pid, "killed": killed, "status": status, "moment": moment, "stored_before": before}


def main() -> None:
    """All lives, and the log of executions."""
    place, log, seed, kills = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    store = place if "://" in place else Path(place)
    chosen = random.Random(seed)
    moments = [(chosen.randint(1, 5), chosen.choice(["before", "during", "after"])) for _ in range(kills)]
    lives = [one_life(store, log, moment) for moment in [*moments, None]]
    executed = [line.split(" ", 1) for line in log.read_text().splitlines()]
    print(json.dumps({"lives": lives, "executed": [(int(pid), run) for pid, run in executed]}))


if __name__ == "__main__":
    main()
