"""A server that is killed with -9 while it cancels a large job. `python cancelled_lives.py STORE WRITES`: dies right
after so many writes that hold cancelled runs."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from stored_jobs import StoredJobs
from test_benchmark_jobs import NoSandboxes, Recipes, Scorer, load

from harena.core.clock import SystemClock
from harena.core.job_store import Batch
from harena.core.node_config import NodeConfig
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.store.benchmark_jobs import JobStore

SCENARIOS, ATTEMPTS = 5, 1000


class MortalStore(JobStore):
    """Dies after a chosen number of writes of cancelled runs."""

    left = int(sys.argv[2]) if __name__ == "__main__" else 0

    async def write(self, batch: Batch) -> None:
        await super().write(batch)
        if any(run.state == "cancelled" for run in batch.runs.values()):
            MortalStore.left -= 1
            if MortalStore.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class MortalJobs(StoredJobs):
    """Jobs over such a store."""

    async def _store(self) -> MortalStore:
        return MortalStore(await self.database())


async def live(place: Path) -> None:
    """Create a job, and cancel it."""
    scorer = Scorer()
    config = NodeConfig(store_place=place, durable_jobs=True)
    jobs = MortalJobs(config, NoSandboxes(), Recipes(), SystemClock(), load=load, score=scorer, cores=2)  # type: ignore[arg-type]
    await jobs.start()
    await jobs.create(HERE, {"name": "job", "scenarios": ["hang"] * SCENARIOS, "config": {"attempts": ATTEMPTS}})
    await scorer.hanging.wait()
    await jobs.cancel(HERE, "job")


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1])))
