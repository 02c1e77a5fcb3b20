"""A server's node in a process of its own, which is killed while it accepts or deletes a training job.

python unsettled_lives.py HOME REQUEST accept|delete
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "server"))

from server_world import fake_node

from harena.core.clock import SystemClock
from harena.store.training_jobs import TrainingStore


async def live(home: Path, request: dict[str, Any], doing: str) -> None:
    node = fake_node(home, SystemClock())
    await node.create_blueprint("told", env={"SAID": "right"})
    job = (await node.create_training_job({**request, "tags": ["steps:1"]}))["id"]
    await node.wait_training_job(job)
    delete_job = TrainingStore.delete_job

    async def killed_before(*given: object, **named: object) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("it has been killed")

    async def killed_after(*given: Any, **named: Any) -> bool:
        await delete_job(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("it has been killed")

    TrainingStore.insert_job = killed_before  # type: ignore[method-assign]
    TrainingStore.delete_job = killed_after  # type: ignore[method-assign]
    if doing == "accept":
        await node.create_training_job(request)
    await node.delete_training_job(job)


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]))
