"""Short works whose worker does not what a worker does: whoever asked is told that, and nothing of the machine."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from harena.core.clock import SystemClock
from harena.core.errors import PlatformError
from harena.jobs.training.owned_training import Workers
from harena.jobs.training.short_works import ShortWorks


@pytest.mark.parametrize(
    ("program", "says", "last"),
    [
        (
            "import os, sys; os.write(int(sys.argv[2]), b'no' + bytes([10]))",
            "a training worker told what none",
            "",
        ),
        ("raise SystemExit(3)", "a training worker ended with exit code 3", ""),
        ("1 / 0", "a training worker ended with exit code 1", "ZeroDivisionError: division by zero"),
    ],
)
async def test_a_worker_that_is_broken(program: str, says: str, last: str) -> None:
    """It is a fault of the platform, whose first line says how it ended; what it printed follows."""
    works = ShortWorks(Workers(command=(sys.executable, "-c", program), env=dict(os.environ)), SystemClock())
    with pytest.raises(PlatformError) as broken:
        async with works.done("default", {}):
            pass
    first, *_, end = [*str(broken.value).strip().split("\n"), ""] if not last else str(broken.value).split("\n")
    assert first.startswith(says)
    assert "Traceback" not in first
    assert end == last


async def test_workspaces_take_turns_at_short_works() -> None:
    """Of one that has asked for many, one is done before another workspace's."""
    program = 'import os, sys; os.write(int(sys.argv[2]), b\'{"event_type": "training_end"}\' + bytes([10]))'
    works = ShortWorks(Workers(command=(sys.executable, "-c", program), env=dict(os.environ)), SystemClock())
    ended = []

    async def work(workspace: str) -> None:
        async with works.done(workspace, {}):
            ended.append(workspace)

    await asyncio.gather(*map(work, ("many", "many", "many", "one")))
    assert ended.index("one") <= 1
