"""A server's node in a process of its own, with a worker that learns nothing: begins the job, or goes on with it.

python training_lives.py HOME REQUEST
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "server"))

from server_world import fake_node

from harena.core.clock import SystemClock


async def live(home: Path, request: dict[str, object]) -> None:
    """To the job's end. Prints its folder, its events as they come, and how it ended; a line of JSON each."""
    node = fake_node(home, SystemClock(), durable_jobs=True)
    await node.resume_jobs()
    there = (await node.list_training_jobs())["training_jobs"]
    job = there[0] if there else await node.create_training_job(request)
    assert (await node.training_job_artifacts(job["id"]))["folder"] is None, "a server does not tell"
    print(json.dumps(str(home / "training" / job["id"] / str(job["attempt"]))), flush=True)
    async for event in node.training_job_events(job["id"]):
        print(json.dumps(event.to_dict()), flush=True)
    print(json.dumps((await node.wait_training_job(job.id)).to_dict()), flush=True)
    await node.close()


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), json.loads(sys.argv[2])))
