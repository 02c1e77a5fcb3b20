"""A process that pulls one image and says each change, for tests that kill it: `image_puller.py HOME REFERENCE`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from harena.core.clock import SystemClock
from harena.image_store.images import Images


async def main(home: str, reference: str) -> None:
    """Pull it."""
    images = Images(Path(home), SystemClock(), for_server=False)
    pull = await images.pull("default", reference, refresh=True)
    async for event in images.events("default", pull.id, 0):
        print(event.pull.state.value, event.pull.downloaded_bytes, flush=True)
    await images.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
