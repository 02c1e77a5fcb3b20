"""A server's node in a process of its own that makes trajectories, and hangs once it has published them.

python world_lives.py HOME
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "server"))

from server_world import fake_node

from harena.core.clock import SystemClock
from harena.training.objects.registry import Registry


async def live(home: Path) -> None:
    """Print the job's id, and a line once its data set is published; the end is never written."""
    publish = Registry.push

    async def published(*given: Any, **more: Any) -> Any:
        await publish(*given, **more)
        print("published", flush=True)
        await asyncio.Event().wait()

    Registry.push = published  # type: ignore[method-assign]
    node = fake_node(home, SystemClock(), durable_jobs=True)
    await node.resume_jobs()
    world = await node.create_world_manifest("w", seed=1)
    first = await node.create_world_job(world.id, count=3, max_steps=200)
    behind = await node.create_world_job(world.id, count=2, max_steps=200, form="text")
    print(first.id, behind.id, flush=True)
    await node.wait_world_job(first.id)


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1])))
