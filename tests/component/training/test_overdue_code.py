"""Code that is stopped at its time limit leaves the interpreter as it was."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from harena.training.data.time_limit import OverdueError, time_limit

def overdue():
    try:
        with time_limit(0.01):
            while True:
                pass
    except OverdueError:
        return True

def called():
    return True

assert overdue()
sys.setprofile(lambda frame, event, argument: None)
assert called()
sys.setprofile(None)
print("goes on")
"""


def test_a_profiler_works_after_a_time_limit() -> None:
    """An exception for a thread that was withdrawn made CPython repeat one step for ever."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert (ended.stdout.strip(), ended.stderr) == ("goes on", "")
