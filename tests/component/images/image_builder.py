"""A process that builds one image and says each event, for tests that kill it: `image_builder.py HOME DOCKERFILE`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from build_world import WORKSPACE, archive, builds_over

from harena.core.clock import SystemClock
from harena.image_store.images import Images


async def main(home: str, dockerfile: str) -> None:
    """Build it."""
    images = Images(Path(home), SystemClock(), for_server=False)
    builds, _ = builds_over(images)
    files = [(f"f{number}", bytes([number]) * 300_000) for number in range(4)]
    begun = await builds.begin(WORKSPACE, archive(dockerfile, *files, references=["localhost/built:1"]))
    async for event in builds.events(WORKSPACE, begun.id, 0):
        print(event.kind, event.build.image if event.build else "", flush=True)
    await builds.close()
    await images.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
