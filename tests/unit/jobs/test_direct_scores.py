"""Direct scores: who waits for whom, and what becomes of a candidate that looked starved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from harena.core.blueprint_source import BlueprintSource
from harena.core.errors import LimitExceededError, NotFoundError
from harena.core.results import Reason, RunResult, Trust, Validity
from harena.core.workspace import WorkspaceLimits
from harena.jobs.benchmark import direct_scores
from harena.jobs.benchmark.direct_scores import DirectScores
from harena.jobs.benchmark.job_admission import JobAdmission
from harena.jobs.slots import Slots
from harena.scoring.verdict import StarvedError
from harena.testing.clock import FakeClock

TESTS = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 1}]}


class ReadHere:
    """What stands in the place of threads: the order in which requests are read is that in which they came."""

    async def run(self, function: Callable[..., Any], *given: Any) -> Any:
        return function(*given)


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn of these tests' loop is not one of a thread."""
    monkeypatch.setattr(direct_scores, "SCENARIOS", ReadHere())


@dataclass
class Scoring:
    """A scoring room that is held open; candidates named "greedy" look starved, unless they are alone."""

    under_way: int = 0
    most: int = 0
    alone: list[tuple[str, int]] = field(default_factory=list)
    """(candidate, how many were under way) of those that were alone"""
    tries: list[str] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    always_starved: bool = False

    async def __call__(self, scenario: Any, *, alone: bool = False, **_: Any) -> RunResult:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        self.tries.append(scenario.id)
        if alone:
            self.alone.append((scenario.id, self.under_way))
        try:
            await self.gate.wait()
            if scenario.id.startswith("greedy") and (self.always_starved or not alone):
                raise StarvedError("it waited")
        finally:
            self.under_way -= 1
        return RunResult(
            scenario_id=scenario.id, attempt=1, score=1.0, passed=True, validity=Validity.VALID, trust=Trust.SEPARATE,
            reason=Reason.PASSED,
        )  # fmt: skip


class Nothing(BlueprintSource):
    """No blueprint and no sandbox."""

    def built_in(self, *_: object) -> Any:
        raise NotFoundError("none")

    find = built_in

    def source(self, *_: object) -> Any:
        return None


def scores(room: Scoring, clock: FakeClock, slots: int = 4) -> DirectScores:
    nothing: Any = Nothing()
    return DirectScores(nothing, nothing, clock, Slots(slots), score=room)


def request(name: str, retries: int = 1) -> dict[str, Any]:
    return {"scenario": {"id": name, "candidate": "x", "scoring": TESTS}, "retry_attempts": retries}


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def drain(clock: FakeClock, tasks: list[asyncio.Task[Any]]) -> None:
    for _ in range(20):
        await settle()
        await clock.advance(1.0)
    assert all(task.done() for task in tasks)


async def test_who_looked_starved_is_tried_again_alone() -> None:
    """After those that are under way, before those that wait; so crowding others out buys no way out of a verdict."""
    room, clock = Scoring(), FakeClock(auto_jump=False)
    direct = scores(room, clock)
    names = ["greedy", *(f"other {number}" for number in range(9))]
    tasks = [asyncio.create_task(direct.score("default", request(name))) for name in names]
    await settle()
    assert (room.under_way, room.most) == (4, 4)
    room.gate.set()
    await drain(clock, tasks)
    assert room.alone == [("greedy", 1)]
    assert {task.result()["validity"] for task in tasks} == {"valid"}
    assert room.tries.count("greedy") == 2


async def test_starved_also_when_alone_has_no_score() -> None:
    """The machine's fault, after the last retry; others go on meanwhile and afterwards."""
    room, clock = Scoring(always_starved=True), FakeClock(auto_jump=False)
    room.gate.set()
    direct = scores(room, clock)
    tasks = [asyncio.create_task(direct.score("default", request(name))) for name in ("greedy", "a", "b")]
    await drain(clock, tasks)
    greedy, *others = (task.result() for task in tasks)
    assert (greedy["score"], greedy["validity"], greedy["reason"]) == (None, "infra", "starved")
    assert [other["score"] for other in others] == [1.0, 1.0]
    assert (await direct.score("default", request("later")))["score"] == 1.0


@pytest.mark.parametrize("under_way", [True, False])
async def test_a_cancelled_turn_holds_nobody_back(under_way: bool) -> None:
    """Whether it was waiting to be alone, or was alone."""
    room, clock = Scoring(), FakeClock(auto_jump=False)
    room.gate.set()
    direct = scores(room, clock, slots=2)
    greedy = asyncio.create_task(direct.score("default", request("greedy")))
    await settle()
    room.gate.clear()
    holding = None
    if not under_way:  # somebody is under way when it wants to be alone
        holding = asyncio.create_task(direct.score("default", request("holding")))
        await settle()
    await clock.advance(1.0)
    await settle()
    assert bool(room.alone) is under_way
    waiting = asyncio.create_task(direct.score("default", request("waiting")))
    await settle()
    assert "waiting" not in room.tries
    greedy.cancel()
    await settle()
    assert "waiting" in room.tries
    room.gate.set()
    await drain(clock, [waiting, *([holding] if holding else [])])


async def limited(most: int) -> tuple[Scoring, DirectScores]:
    async def limits_of(_: str) -> WorkspaceLimits:
        return WorkspaceLimits(runs=most)

    room, nothing, slots = Scoring(), Nothing(), Slots(4)
    given: Any = nothing
    clock = FakeClock(auto_jump=False)
    return room, DirectScores(given, given, clock, slots, score=room, admission=JobAdmission(limits_of, slots))


async def test_a_workspace_that_may_have_one_run() -> None:
    """Its direct scores have it one after the other, also where it has never had a job."""
    room, direct = await limited(1)
    tasks = [asyncio.create_task(direct.score("default", request(name))) for name in "abc"]
    await settle()
    assert room.under_way == 1
    room.gate.set()
    await asyncio.gather(*tasks)
    assert room.most == 1


async def test_a_workspace_that_may_have_no_run() -> None:
    """Its direct scores are refused: nothing waits for what never comes."""
    _, direct = await limited(0)
    with pytest.raises(LimitExceededError, match="no runs"):
        await direct.score("default", request("a"))
