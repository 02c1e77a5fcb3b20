"""An object of the candidate's that the suite holds no more ends where the candidate is, as in one process."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Reason

pytestmark = SHARED

PROGRAM = """
import weakref
LOG = []
class Lease:
    def __del__(self): LOG.append("ended")
def lease(): return Lease()
def log(): return list(LOG)
class Pool:
    def __init__(self): self.leases = weakref.WeakSet()
    def new(self):
        made = Lease()
        self.leases.add(made)
        return made
    def count(self): return len(self.leases)
def numbers():
    try: yield from range(9)
    finally: LOG.append("closed")
"""
SUITE = """
from solution import Pool, lease, log, numbers
def test_ends():
    held = lease()
    assert log() == []
    assert log() == []
    del held
    assert log() == ["ended"]
def test_weakly():
    pool = Pool()
    held = pool.new()
    assert pool.count() == 1
    del held
    assert pool.count() == 0
def test_generators():
    for number in numbers():
        if number == 2: break
    del number
    assert log().count("closed") == 1
    steps = numbers()
    assert next(steps) == 0 and next(steps) == 1
    del steps
    assert log().count("closed") == 2
"""


@pytest.mark.parametrize("isolate", ["auto", "sandbox"])
async def test_what_nobody_holds_ends(isolate: str) -> None:
    result = await scored(PROGRAM, SUITE, "pytest", isolate=isolate)
    assert result.score == 1.0, result.detail


@pytest.mark.parametrize("edit", [('append("ended")', 'append("left")'), ("weakref.WeakSet()", "set()")])
async def test_what_is_held_does_not(edit: tuple[str, str]) -> None:
    """A pool that holds what it gives counts it on."""
    result = await scored(PROGRAM.replace(*edit), SUITE, "pytest")
    assert (result.score, result.reason) == (0.0, Reason.SCORER_REJECTED), result.detail
