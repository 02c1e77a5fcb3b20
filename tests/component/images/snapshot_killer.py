"""A process that takes one snapshot of a folder and kills itself at one of its steps, for tests of what is left then:
`snapshot_killer.py HOME FOLDER STEP`. STEP 0 = at none; it says how many steps there were."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from harena.core.clock import SystemClock
from harena.image_store.images import Images

STEPS = frozenset({"os.rename", "os.mkdir", "os.remove", "os.rmdir", "subprocess.Popen", "os.utime"})
"""events of the interpreter at which it may be killed; and each file that is opened below HOME"""


class FolderLayer:
    """Implements `UpperLayer` over a folder of a tmpfs."""

    def __init__(self, folder: str, image: str) -> None:
        self.folder = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        self.image = image
        self.users = -1
        self.below: list[int] = []
        self.places: dict[str, int] = {}

    async def close(self) -> None:
        os.close(self.folder)


async def take(home: str, folder: str, wanted: int) -> int:
    """Take it; gives the number of steps."""
    images = Images(Path(home), SystemClock(), for_server=False)
    base = (await images.get("default", "localhost/base:1")).digest
    seen = 0

    def step(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if event in STEPS or (event == "open" and str(arguments[0]).startswith(home)):
            seen += 1
            if seen == wanted:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(step)
    layer = FolderLayer(folder, base)
    await images.snapshot("default", layer, "localhost/base:1", "sb_1", "kept", None)
    await layer.close()
    await images.close()
    return seen


if __name__ == "__main__":
    print(asyncio.run(take(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
