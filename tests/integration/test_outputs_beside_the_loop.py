"""What a candidate prints, or lets be told, is read in threads and in steps: the event loop has others to answer."""

from __future__ import annotations

import asyncio.events
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from shared_sandboxes import SHARED, judged

from harena.scoring import load_scenarios

pytestmark = SHARED
MOST_SECONDS = 1.0
"""processor time of one step of the loop; a list of 16 million lines takes three times as long"""
PRINTS_LINES = "import os\nfor _ in range(256):\n    os.write(1, b'\\n' * 65536)\ndef one(): return 1\n"
SUITE = """import unittest
from solution import one
class T(unittest.TestCase):
    def test_one(self): self.assertEqual(one(), 1)
"""


@contextmanager
def longest_steps() -> Iterator[list[float]]:
    """The processor time of each step that an event loop of this thread takes, in seconds."""
    found: list[float] = []
    run = asyncio.events.Handle._run

    def measured(handle: asyncio.events.Handle) -> None:
        before = time.thread_time()
        run(handle)
        found.append(time.thread_time() - before)

    asyncio.events.Handle._run = measured  # type: ignore[method-assign]
    try:
        yield found
    finally:
        asyncio.events.Handle._run = run  # type: ignore[method-assign]


@pytest.mark.parametrize("isolate", ["auto", False])
async def test_no_step_of_the_loop_grows_with_what_a_candidate_prints(isolate: str | bool) -> None:
    """A right candidate that prints 16 MiB of line breaks is paid, in the time of one that prints nothing."""
    scoring = {"type": "command", "unittest": ["test_it.py"], "files": {"test_it.py": SUITE}}
    scoring |= {} if isolate == "auto" else {"isolate": isolate}
    (scenario,) = load_scenarios([{"id": "one", "candidate": PRINTS_LINES, "scoring": scoring}]).scenarios
    with longest_steps() as steps:
        result = await judged(scenario)
    assert result.score == 1.0, result.detail
    assert max(steps) < MOST_SECONDS
