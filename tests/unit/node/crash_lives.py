"""A node that is killed with -9 again and again over one store, each time at a chosen write. Prints what happened.

`python crash_lives.py STORE_FILE SEED KILLS`. Each life is a fork of this process: real processes, without the price of
starting an interpreter for each. A life runs until its k-th write to the store and dies right before or right after
the transaction; the last life is left to finish the job.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import sys
import traceback
from contextlib import closing
from pathlib import Path
from typing import Any

from test_benchmark_jobs import NoSandboxes, Recipes, Scorer, load

from harena.core.clock import SystemClock
from harena.core.errors import NotFoundError
from harena.core.job_store import Batch
from harena.core.results import RunResult
from harena.node.benchmark_jobs import BenchmarkJobs
from harena.store.benchmark_jobs import JobStore

SCENARIOS, ATTEMPTS, CONCURRENCY = 60, 2, 3


class MortalStore(JobStore):
    """Dies at a chosen write. Scorers wait for writes, so that a life does not run far between two of them."""

    moment: tuple[int, str] | None = None
    writes = 0
    written = asyncio.Event()

    async def write(self, batch: Batch) -> None:
        cls = type(self)
        cls.writes += 1
        if cls.moment == (cls.writes, "before"):
            os.kill(os.getpid(), signal.SIGKILL)
        await super().write(batch)
        if cls.moment == (cls.writes, "after"):
            os.kill(os.getpid(), signal.SIGKILL)
        cls.written.set()
        cls.written = asyncio.Event()


class LoggingScorer(Scorer):
    """Notes each execution where a kill cannot take it back."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self.log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def __call__(self, scenario: Any, **more: Any) -> RunResult:
        os.write(self.log, f"{os.getpid()} {scenario.id} {more['attempt']}\n".encode())
        await MortalStore.written.wait()
        return await super().__call__(scenario, **more)


class MortalJobs(BenchmarkJobs):
    """A durable node's jobs over a mortal store."""

    async def _store(self) -> JobStore:
        return MortalStore(await self._opened())


async def live(path: Path, moment: tuple[int, str] | None) -> None:
    """One life: go on with the job, or begin it."""
    MortalStore.moment = moment
    scorer = LoggingScorer(path.with_suffix(".log"))
    jobs = MortalJobs(path, NoSandboxes(), Recipes(), SystemClock(), durable=True, score=scorer, load=load, cores=4)
    await jobs.start()
    try:
        await jobs.get("job")
    except NotFoundError:
        does = ["pass" if number % 3 else "fail" for number in range(SCENARIOS)]
        config = {"attempts": ATTEMPTS, "concurrency": CONCURRENCY}
        await jobs.create({"name": "job", "scenarios": does, "config": config})
    await jobs.wait("job")
    await jobs.close()


def stored(path: Path) -> list[str]:
    """The runs whose result is stored."""
    with closing(sqlite3.connect(path)) as connection, contextlib.suppress(sqlite3.OperationalError):
        rows = connection.execute("SELECT scenario_id, attempt FROM runs WHERE ended_cursor IS NOT NULL")
        return [f"{scenario_id} {attempt}" for scenario_id, attempt in rows]
    return []


def one_life(path: Path, moment: tuple[int, str] | None) -> dict[str, Any]:
    """Fork, wait for its death; {pid, killed, moment, stored_before}."""
    before = stored(path)
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(live(path, moment))
            os._exit(0)
        except BaseException:  # noqa: BLE001 - a fork must not return into the driver
            traceback.print_exc()
            os._exit(1)
    status = os.waitpid(pid, 0)[1]
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    return {"pid": pid, "killed": killed, "status": status, "moment": moment, "stored_before": before}


def main() -> None:
    """All lives, and the log of executions."""
    path, seed, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chosen = random.Random(seed)
    moments = [(chosen.randint(1, 5), chosen.choice(["before", "after"])) for _ in range(kills)]
    lives = [one_life(path, moment) for moment in moments]
    lives.append(one_life(path, None))
    executed = [line.split(" ", 1) for line in path.with_suffix(".log").read_text().splitlines()]
    print(json.dumps({"lives": lives, "executed": [(int(pid), run) for pid, run in executed]}))


if __name__ == "__main__":
    main()
