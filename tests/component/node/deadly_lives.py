"""A run whose scoring ends the node, each time, and the nodes that come after it. Prints what happened.

`python deadly_lives.py STORE_FILE LOG`. Each life is a fork of this process. Scenarios that say "deadly" kill the
process that scores them; all others pass.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from crash_lives import LoggingScorer, MortalStore
from stored_jobs import StoredJobs
from test_benchmark_jobs import NoSandboxes, Recipes, Scorer, load

from harena.core.clock import SystemClock
from harena.core.errors import NotFoundError
from harena.core.node_config import NodeConfig
from harena.core.results import RunResult
from harena.core.workspace import DEFAULT_WORKSPACE as HERE

DOES = ["pass", "pass", "deadly", *["pass"] * 9]
MOST_LIVES = 12


class DeadlyScorer(LoggingScorer):
    """Ends with its process, where the scenario says so; else scores when something has been written, so that several
    runs are under way at a time."""

    async def __call__(self, scenario: Any, **more: Any) -> RunResult:
        if scenario.does != "deadly":
            return await super().__call__(scenario, **more)
        os.write(self.log, f"{os.getpid()} {scenario.id} {more['attempt']}\n".encode())
        os.kill(os.getpid(), signal.SIGKILL)
        return await Scorer.__call__(self, scenario, **more)


class TellingJobs(StoredJobs):
    """Jobs over a store that tells scorers of writes."""

    async def _store(self) -> MortalStore:
        return MortalStore(await self.database())


async def live(place: Path, log: Path) -> None:
    """Go on with the job, or begin it."""
    scorer = DeadlyScorer(log)
    config = NodeConfig(store_place=place, durable_jobs=True)
    jobs = TellingJobs(config, NoSandboxes(), Recipes(), SystemClock(), score=scorer, load=load, cores=2)
    await jobs.start()
    try:
        await jobs.get(HERE, "job")
    except NotFoundError:
        scorer.waits = True
        await jobs.create(HERE, {"name": "job", "scenarios": DOES, "config": {"concurrency": 3}})
    await jobs.wait(HERE, "job")
    await jobs.close()


def main() -> None:
    """Lives, until one ends by itself."""
    place, log = Path(sys.argv[1]), Path(sys.argv[2])
    statuses: list[int] = []
    while len(statuses) < MOST_LIVES and statuses[-1:] != [0]:
        pid = os.fork()
        if pid == 0:
            asyncio.run(live(place, log))
            os._exit(0)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    executed = [line.split(" ")[1] for line in log.read_text().splitlines()]
    print(json.dumps({"statuses": statuses, "executed": executed}))


if __name__ == "__main__":
    main()
