"""Whose training job is next, and whose gives way."""

from __future__ import annotations

import pytest

from harena.core.leases import Lease, Owner
from harena.core.training_store import TrainingJobHolder
from harena.jobs.training.training_turns import RunningTurn, TrainingTurns

LEASE = Lease(owner=Owner(pid=1, started="1", boot="b"), epoch=1, beat=0)


def job(name: str, state: str = "queued") -> TrainingJobHolder:
    """Its workspace is the first letter of its name."""
    return TrainingJobHolder(
        id=name, workspace=name[0], state=state, durable=True, cancel_requested_at=None, lease=LEASE
    )


def order(names: list[str], running: list[str], turns: TrainingTurns) -> list[str]:
    """In which jobs begin, where each ends before the next begins."""
    waiting, begun = [job(name) for name in names], []
    while waiting:
        found = turns.next_job(waiting, running)
        waiting.remove(found)
        turns.begun(found.workspace)
        begun.append(found.id)
    return begun


def test_workspaces_take_turns() -> None:
    """However many jobs one of them has, and although they came first."""
    assert order(["a1", "a2", "a3", "b1", "b2", "c1"], [], TrainingTurns()) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_who_has_fewest_running_is_next() -> None:
    """Whenever its last turn was."""
    turns = TrainingTurns()
    turns.begun("a")
    turns.begun("b")
    assert turns.next_job([job("a1"), job("b1")], ["a"]).id == "b1"
    assert turns.next_job([job("a1"), job("b1")], []).id == "a1"


def test_within_a_workspace_those_that_ran_come_first() -> None:
    """A server that was started again goes on with what it had begun."""
    assert TrainingTurns().next_job([job("a1"), job("a2", "running")], []).id == "a2"


def turn(name: str, seconds: float, saved_at: float | None = None) -> RunningTurn:
    return RunningTurn(job_id=name, workspace=name[0], seconds=seconds, saved_at=saved_at)


@pytest.mark.parametrize(
    ("running", "waiting", "gives_way"),
    [
        ([turn("a1", 20, 15)], {"b"}, "a1"),  # a checkpoint after its turn
        ([turn("a1", 20, 5)], {"b"}, None),  # before: what it learned since would be lost
        ([turn("a1", 20)], {"b"}, None),
        ([turn("a1", 100)], {"b"}, "a1"),  # it saves none
        ([turn("a1", 100, 5)], {"a"}, None),  # nobody else waits
        ([turn("a1", 100)], set(), None),
        ([turn("a1", 100), turn("b1", 100)], {"a", "b"}, None),  # as many each
        ([turn("a1", 100), turn("a2", 200), turn("b1", 300)], {"b"}, "a2"),
        ([turn("a1", 5), turn("b1", 300)], {"c"}, "b1"),
    ],
)
def test_who_gives_way(running: list[RunningTurn], waiting: set[str], gives_way: str | None) -> None:
    """A turn is 10 seconds long, or 100 where nothing is saved."""
    assert TrainingTurns(turn_seconds=10, latest_seconds=100).gives_way(running, waiting) == gives_way
