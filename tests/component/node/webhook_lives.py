"""One life of a server over a store that other lives go on with: `webhook_lives.py STORE URL SECRET MOMENT`.

It begins the job where there is none, and is killed with -9 right before its first post or right after it; with "never"
it lives until the delivery is over.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from hurried_clock import HurriedClock
from stored_jobs import StoredJobs
from test_benchmark_jobs import HERE, NoSandboxes, Recipes, Scorer, load, request

from harena.core.errors import NotFoundError
from harena.core.node_config import NodeConfig
from harena.jobs.webhook_post import HttpPost
from harena.jobs.webhooks import DeliveryOutcome


class MortalPost(HttpPost):
    """Dies at its moment."""

    moment = "never"

    async def __call__(self, url: str, headers: Mapping[str, str], body: bytes) -> DeliveryOutcome:
        if self.moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answered = await super().__call__(url, headers, body)
        if self.moment == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return answered


async def live(place: Path, url: str, secret: str, moment: str) -> None:
    """Until the delivery is over."""
    post = MortalPost(None)
    post.moment = moment
    jobs = StoredJobs(
        NodeConfig(store_place=place, durable_jobs=True),
        NoSandboxes(),
        Recipes(),
        HurriedClock(),
        score=Scorer(),
        load=load,  # type: ignore[arg-type]
        cores=2,
        post=post,
    )
    await jobs.start()
    try:
        job = await jobs.get(HERE, "n")
    except NotFoundError:
        job = await jobs.create(HERE, {**request("pass"), "webhook": {"url": url, "secret": secret}})
    while job["webhook"]["ended_at"] is None:
        await jobs._clock.sleep(10)
        job = await jobs.get(HERE, "n")
    await jobs.close()


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), *sys.argv[2:5]))
