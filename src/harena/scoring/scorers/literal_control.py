"""A control for who passes tests whose expected values its own functions make: the same tests with other literals.

A candidate computes nothing and passes `assert Vec(1, 2) + Vec(3, 4) == Vec(4, 6)`, or `norm(f("b a")) == norm(["a",
"b"])`, if its answer is filled in by what is made next, or made last. It does so with `Vec(5, 9)` as well. So who is
paid otherwise runs the tests once more with other literals (`changed_literals`) from some place on, drawn anew each
time: before that place nothing tells this run from the true one. Where a right program's answer differs from what the
others make, its run goes on.

Equal is not enough to lose: a right program may say that all objects of a class are equal, or give one answer for many
arguments. So the place is changed once more, alone, with other literals; and then both what the tests' literals make
and what these make are there before the answer is asked for. Where all are equal it equals both, and these each other;
what was filled in by the one that came next, or last, does not, and an answer that equals all older objects equals two
that differ. With a gold solution that one must pass the tests that are changed there. Without one only such places
count at which the answer was there before what is expected, or is the result of an operator: an object may rightly be
found in what its making has changed (a registry, a state that all objects share).
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable
from pathlib import PurePosixPath

from harena.core.results import Reason
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.scorers.changed_literals import ChangedTests, LiteralTests, literal_tests
from harena.scoring.scorers.gold_runs import gold_bench
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.suite_without_candidate import Remembered, suite_key
from harena.scoring.slices import aside, size_of
from harena.scoring.verdict import Verdict

Judge = Callable[[Bench, CommandContract], Awaitable[Verdict]]
"""runs tests of a contract once over the bench's candidate, kept apart as where it was paid"""
SAYS_NOTHING = (
    "its answer equals whatever its own functions make of the values in the tests, also where these are others: it has "
    "computed nothing"
)
MOST_RUNS = 12
"""runs of one control, at most"""
_MOST_WITHOUT_GOLD = 10
"""runs of one where there is no gold solution: three places are judged at which a right program is equal"""
_RUNS_OF_ONE = 6
"""runs in which one place is found and judged, at most"""
_silent = Remembered()
"""by contract, the places where its gold solution's answer was equal, too: they are asked of no further candidate"""


async def equals_what_is_made(bench: Bench, contract: CommandContract, judge: Judge) -> bool:
    """Whether a candidate that has passed was paid for answers that equal anything that its own functions make. Raises
    PlatformError and SandboxError for what is nobody's doing."""
    if dict(bench.scenario.candidate.files) == dict(contract.gold):
        return False
    theirs = [path for path in (*bench.scenario.candidate.files, *contract.gold) if path.endswith(".py")]
    modules = _names(theirs) - _names((*bench.scenario.files, *contract.files))
    size = size_of(contract.files) + len(contract.asserts or "")
    tests = await aside(size, literal_tests, contract, modules)
    return tests is not None and await _Control(bench, contract, judge, tests).finds()


async def _nothing() -> set[int]:
    return set()


def _names(paths: Iterable[str]) -> set[str]:
    """Names by which modules of these paths, and packages above them, may be imported from any folder."""
    return {part.partition(".")[0] for path in paths for part in PurePosixPath(path).parts}


class _Control:
    """One candidate's runs."""

    def __init__(self, bench: Bench, contract: CommandContract, judge: Judge, tests: LiteralTests) -> None:
        self._bench, self._contract, self._judge, self._tests = bench, contract, judge, tests
        self._left = MOST_RUNS if contract.gold else _MOST_WITHOUT_GOLD
        self._places = [place for place in tests.places if contract.gold or place in tests.certain]

    async def finds(self) -> bool:
        """Whether some place says nothing of this candidate."""
        key = await suite_key(self._bench, self._contract, "literals")
        silent: set[int] = await _silent.get(self._bench, key, _nothing)
        self._places = [place for place in self._places if place not in silent]
        while self._places and self._left >= _RUNS_OF_ONE:
            place = await self._equal_at(self._places[_drawn(len(self._places)) :])
            if place is None:
                return False
            if self._contract.gold and await self._gold_is_equal(place):
                silent.add(place)
            elif await self._says_nothing(place):
                return True
            self._places.remove(place)  # there a right program may be equal
        return False

    async def _equal_at(self, places: list[int]) -> int | None:
        """The first of these places where the answer equals what other literals make. The tests may fail otherwise
        where so many are changed; then one is."""
        found, verdict = await self._told(places)
        if verdict is None or verdict.passed or found is not None or len(self._places) < 2:
            return found
        if verdict.reason is not Reason.TIMEOUT:
            found, _ = await self._told([secrets.choice(self._places)])
        return found

    async def _told(self, places: list[int]) -> tuple[int | None, Verdict | None]:
        """(the place that is found, what comes of the run)"""
        tests = await aside(self._size, self._tests.changed, places)
        if tests is None:
            return None, None
        verdict = await self._run(self._bench, tests)
        found = tests.marked(verdict.detail)
        return (found if found in self._places else None), verdict

    async def _gold_is_equal(self, place: int) -> bool:
        tests = await aside(self._size, self._tests.changed, [place])
        return tests is None or not (await self._run(gold_bench(self._bench, self._contract), tests)).passed

    async def _says_nothing(self, place: int) -> bool:
        changed = await aside(self._size, self._tests.told_apart, place)
        if changed is None:
            return False
        for tests in reversed(changed):  # a right program whose answers are all equal is found by the last one
            if tests.marked((await self._run(self._bench, tests)).detail) != place:
                return False
        gold = self._contract.gold
        return not gold or (await self._run(gold_bench(self._bench, self._contract), changed[0])).passed

    @property
    def _size(self) -> int:
        return size_of(self._contract.files) + len(self._contract.asserts or "")

    async def _run(self, bench: Bench, tests: ChangedTests) -> Verdict:
        self._left -= 1
        return await self._judge(bench.again(), tests.contract)


def _drawn(count: int) -> int:
    """From which place on the tests are changed: half of the times from the first one."""
    return 0 if count < 2 or secrets.randbelow(2) else secrets.randbelow(count)
