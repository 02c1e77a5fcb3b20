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


TREE = """
import weakref
class Node:
    def __init__(self, n): self.n, self.up = n, None
    def __eq__(self, other): return isinstance(other, Node) and self.n == other.n
    __hash__ = object.__hash__
    def add(self, node): node.up = weakref.ref(self); return node
class Res:
    closed = []
    def __init__(self, n): self.n = n
    def __del__(self): Res.closed.append(self.n)
class Subject:
    def __init__(self): self.seen = weakref.WeakSet()
    def attach(self, who): self.seen.add(who)
    def notify(self, n): return sorted(each.n + n for each in self.seen)
"""
LIVES = """
import gc, weakref
from solution import Node, Res, Subject
def test_parents():
    root = Node(1)
    leaf = root.add(Node(2))
    assert leaf == Node(2) and leaf != Node(3) and root == Node(1)
    assert leaf.up() is root
    del root
    gc.collect()
    assert leaf.up() is None
def test_closed():
    res = Res(1)
    del res
    assert Res.closed == [1]
def test_observers():
    subject, one, two = Subject(), Node(1), Node(2)
    subject.attach(one); subject.attach(two)
    assert subject.notify(1) == [2, 3]
    del one
    assert subject.notify(1) == [3]
"""


@pytest.mark.parametrize("more", [{}, {"isolate": False}], ids=["apart", "beside"])
async def test_objects_that_the_tests_make_end_as_they_say(more: dict[str, bool]) -> None:
    """What is watched for objects that equal everything holds none where the tests ask whether objects have ended."""
    result = await scored(TREE, LIVES, "pytest", **more)
    assert result.score == 1.0, result.detail
    kept = TREE.replace("weakref.WeakSet()", "set()")
    result = await scored(kept, LIVES, "pytest", **more)
    assert (result.score, result.reason) == (0.0, Reason.SCORER_REJECTED), result.detail
