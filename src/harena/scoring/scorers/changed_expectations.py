"""A run of trusted tests without the values that they expect, for candidates that share their process.

A candidate in the tests' process can find what they expect (in frames, in the collector, in their source) and repeat
it, or find the proof's word. So it is run once with tests from which these values are taken out
(`hidden_expectations`), before it has met them: these tests tell the host what it answers, and only the host knows what
is right. Nothing in that process or its files says which answers pass, so there is nothing to repeat, to compare or to
remember from another run. A candidate that is paid for passing the tests must have known every answer there, too.

What the gold solution tells is believed, never what a candidate does: a value counts only where the gold, in the same
run, tells what the tests expect. Without a gold a value counts where the text of the tests alone says that whoever
passes has answered it there (`is_sure`), in tests that run with nobody, too. Where the gold's answer is an object of no
plain type, the text has the value among others (`siblings`), and says which of them the answer equals; so it has in a
second run for a candidate whose answer is such an object.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from harena.core.errors import SandboxError, SandboxFileError
from harena.core.models import SandboxSpec
from harena.core.ports import SandboxPort, SandboxSource
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest.reported_comparisons import OPAQUE, TOLD_PATH
from harena.scoring.scorers.computed_answers import Told, known_answers
from harena.scoring.scorers.gold_runs import gold_bench, known_of_gold
from harena.scoring.scorers.hidden_expectations import Comparison, HiddenTests, hidden_tests
from harena.scoring.scorers.hidden_run import HiddenRun, RunOnce
from harena.scoring.scorers.hidden_siblings import MOST_CHOICES, siblings
from harena.scoring.scorers.program import Bench, died_of_memory
from harena.scoring.scorers.suite_without_candidate import norm_of_nobody, suite_key
from harena.scoring.slices import aside, size_of

_MOST_TOLD_BYTES = 4 * 1024 * 1024
_TIMES_DENIED = 2


@dataclass(frozen=True, slots=True)
class _CountedPlaces:
    """Which places of a contract's tests count."""

    shown: frozenset[int]
    with_choices: frozenset[int]
    places: Mapping[int, Comparison]
    """places where the gold tells what is expected, and no `try` of the tests takes a failure back"""
    is_whole: bool
    """nothing else is judged by the tests"""


async def repeats_expectations(bench: Bench, contract: CommandContract, hidden: HiddenRun) -> bool:
    """Whether the candidate does not know the answers where the tests do not hold them, or hold others that they
    compute; False where nothing can be hidden or changed. Raises PlatformError and SandboxError for what is nobody's
    doing."""
    if await tells_changes(bench, contract, hidden, is_all=False) is False:
        return True
    if not hidden.repeats:
        hidden.repeats.append(await _repeats_computed(bench, contract, hidden.run))
    return hidden.repeats[0]


async def _repeats_computed(bench: Bench, contract: CommandContract, run: RunOnce) -> bool:
    """Whether the candidate answers otherwise than the gold solution where the tests compute other values to compare
    with; see `computed_answers`. What it is denied is found out twice, and the gold is asked anew each time: no answer
    counts that may be another one in each run."""
    if not contract.gold or dict(bench.scenario.candidate.files) == dict(contract.gold):
        return False

    async def by_gold(tests: CommandContract) -> tuple[Told, bool]:
        return await _heard(gold_bench(bench, contract).again(), tests, run)

    key = await suite_key(bench, contract, "computed")
    known = await known_of_gold.get(bench, key, lambda: known_answers(contract, by_gold))
    right = dict(known.told)
    for _ in range(_TIMES_DENIED):
        if known.others is None or not right:
            return False
        told, takes = await _heard(bench.again(), known.others, run)
        if not takes and known.are_told(told, right, bench.scenario.candidate.files):
            return False
        again, _ = await by_gold(known.others)
        right = {place: said for place, said in right.items() if again.get(place) == said}
    return bool(right)


async def tells_changes(
    bench: Bench, contract: CommandContract, hidden: HiddenRun, *, is_all: bool = True
) -> bool | None:
    """Whether the candidate knows the answers where the tests do not hold them; None where none is hidden, or where,
    without a gold, its answers cannot be told. `is_all`: None, too, where any judgement of the tests is not hidden, or
    less than what a guess meets once in `MOST_CHOICES` times. Raises PlatformError and SandboxError for what is
    nobody's doing."""
    if not contract.gold and (is_all or contract.isolate not in ("auto", False)):
        return None
    if contract.gold and dict(bench.scenario.candidate.files) == dict(contract.gold):
        return True

    async def found() -> _CountedPlaces:
        return await (_asked(bench, contract, hidden.run) if contract.gold else _asked_without_gold(bench, contract))

    asked = await known_of_gold.get(bench, await suite_key(bench, contract, "hidden"), found)
    if not any(place.is_certain for place in asked.places.values()):
        return None
    if is_all and not (asked.is_whole and _guesses(asked) >= MOST_CHOICES):
        return None
    if not hidden.found:
        hidden.found.append(await _knows(bench, contract, asked, hidden.run))
    return hidden.found[0]


def _guesses(asked: _CountedPlaces) -> int:
    """Number of guesses that a candidate which knows nothing has at least to choose from."""
    product = 1
    for place in asked.places.values():
        if place.is_certain and product < MOST_CHOICES:
            product *= 2 if isinstance(place.value, bool) else max(1, len(siblings(place.value)))
    return product


async def _asked(bench: Bench, contract: CommandContract, run: RunOnce) -> _CountedPlaces:
    """What the gold solution tells: first with everything hidden, then with what it does not tell shown again."""
    shown: frozenset[int] = frozenset()
    with_choices: frozenset[int] = frozenset()
    gold = gold_bench(bench, contract)
    for _ in range(3):
        tests = await _hidden(contract, shown, with_choices)
        told = await _told(gold.again(), tests, run) if tests.places else {}
        others = {place for place, said in told.items() if said != {tests.places[place].told}}
        if not others:
            break
        objects = {place for place in others - with_choices if told[place] == {OPAQUE}}
        with_choices |= {place for place in objects if siblings(tests.places[place].value)}
        shown |= others - with_choices | (others & with_choices - objects)
    places = {
        place: tests.places[place]
        for place, said in told.items()
        if tests.places[place].is_judged and said == {tests.places[place].told}
    }
    is_whole = tests.is_whole and not shown and places.keys() == tests.places.keys()
    return _CountedPlaces(shown, with_choices, places, is_whole)


async def _asked_without_gold(bench: Bench, contract: CommandContract) -> _CountedPlaces:
    """What the text of the tests tells."""
    none: frozenset[int] = frozenset()
    tests = await _hidden(contract, none, none)
    sure = {number: place for number, place in tests.places.items() if place.is_sure}
    if contract.suite and sure:
        norm = await norm_of_nobody(bench, contract, sees_files=True, counts=False, skips=False)
        sure = {number: place for number, place in sure.items() if _is_run(place.test, norm.functions)}
    return _CountedPlaces(none, none, sure, is_whole=False)


def _is_run(test: str, run: Collection[str]) -> bool:
    """Among the tests that were run is this one, as pytest or as unittest names it."""
    path, _, inside = test.partition("::")
    dotted = f"{path.removesuffix('.py')}.{inside}".replace("/", ".").replace("::", ".")
    return any(each == test or dotted == each or f".{dotted}".endswith(f".{each}") for each in run)


async def _knows(bench: Bench, contract: CommandContract, asked: _CountedPlaces, run: RunOnce) -> bool | None:
    """Whether the candidate tells what is expected wherever it is asked for; None where an answer of no plain type
    cannot be asked what it equals, or equals several values, and no gold says that such answers are wrong."""
    tests = await _hidden(contract, asked.shown, asked.with_choices)
    told = await _told(bench.again(), tests, run)
    objects = _objects(asked, told, tests)
    if not _is_right(tests, asked.places, told, objects):
        return False
    if not all(siblings(asked.places[place].value) for place in objects):
        return False if contract.gold else None  # it cannot be asked what these equal, and the gold's are plain ones
    if not objects:
        return True
    tests = await _hidden(contract, asked.shown, asked.with_choices | objects)
    told = await _told(bench.again(), tests, run)
    rests = {place for place in objects if _is_rest(tests.places[place], told.get(place, ()))}
    objects -= rests
    unsaid = {
        place for place in objects if not contract.gold and _equals_some(tests.places[place], told.get(place, ()))
    }
    is_right = _is_right(tests, asked.places, told, _objects(asked, told, tests) - objects | unsaid | rests)
    return None if is_right and unsaid else is_right


def _is_rest(place: Comparison, told: Collection[str]) -> bool:
    """The answer equals what is expected as a number with a modulus does of which that is the rest: it equals all
    choices of its class, and no other. There is one such rest in each class, so it is as hard to guess as a number."""
    return bool(told) and all(_are_of_one_class(place, said) for said in told)


def _are_of_one_class(place: Comparison, said: str) -> bool:
    choices, known = siblings(place.value), place.value
    if said == place.told:
        return True
    if type(known) is not int or any(type(each) is not int for each in choices):
        return False
    given = said.removeprefix("#").split(",")
    if said[:1] != "#" or not all(each.isdigit() and len(each) < 4 for each in given):
        return False
    equal = {choices[int(each)] for each in given if int(each) < len(choices)}
    modulus = math.gcd(*(each - known for each in equal))
    return 0 <= known < modulus != 1 and equal == {each for each in choices if (each - known) % modulus == 0}


def _equals_some(place: Comparison, told: Collection[str]) -> bool:
    """The answer equals what is expected and some other choices, as one that is rounded does: no gold says whether it
    may. One that equals more than a quarter of them says nothing."""
    found = [said.removeprefix("#").split(",") for said in told if said.startswith("#")]
    most = len(siblings(place.value)) // 4
    return len(found) == len(told) > 0 and all(place.told[1:] in each and 1 < len(each) <= most for each in found)


def _objects(asked: _CountedPlaces, told: Told, tests: HiddenTests) -> set[int]:
    """Places at which objects of no plain type were told, and besides them only right answers (in a loop over several
    kinds of numbers, say)."""
    return {
        place
        for place in asked.places
        if place in told and OPAQUE in told[place] and told[place] <= {OPAQUE, tests.places[place].told}
    }


def _is_right(tests: HiddenTests, places: Collection[int], told: Told, without: Collection[int]) -> bool:
    return all(
        told[place] == {tests.places[place].told} if place in told else not tests.places[place].is_certain
        for place in places
        if place not in without
    )


async def _hidden(contract: CommandContract, shown: frozenset[int], with_choices: frozenset[int]) -> HiddenTests:
    size = size_of(contract.files) + len(contract.asserts or "")
    return await aside(size, hidden_tests, contract, shown, with_choices)


async def _told(bench: Bench, tests: HiddenTests, run: RunOnce) -> Told:
    """What was told at each place in one run of the tests. It proves nothing by itself, and nothing is lost if the run
    fails: who tells right answers knows them."""
    told, _ = await _heard(bench, tests.contract, run)
    return {place: said for place, said in told.items() if place in tests.places}


async def _heard(bench: Bench, contract: CommandContract, run: RunOnce) -> tuple[Told, bool]:
    """(what was told in one run, what that says of it)"""
    keeping = _KeepingTold(bench.sandboxes)
    bench.sandboxes = keeping
    takes = await run(bench, contract)
    return await aside(len(keeping.told), _told_at, keeping.told), takes


def _told_at(told: bytes) -> Told:
    found: dict[int, set[str]] = {}
    for line in told.splitlines():
        place, _, said = line.partition(b" ")
        if len(place) < 10 and place.isdigit():
            found.setdefault(int(place), set()).add(said.decode("utf-8", "replace"))
    return {place: frozenset(said) for place, said in found.items()}


class _KeepingTold:
    """Sandboxes of which the first one is asked at its end for what was told in it."""

    def __init__(self, source: SandboxSource) -> None:
        self._source = source
        self.told = b""

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[SandboxPort]:
        """Make a sandbox, and keep what was told in it before it ends."""
        async with self._source.sandbox(spec) as made:
            yield made
            self.told = self.told or await _content(made)


async def _content(sandbox: SandboxPort) -> bytes:
    """What was told; nothing where the candidate has put something else there, or filled the memory of its sandbox."""
    try:
        if (await sandbox.stat(TOLD_PATH)).kind == "file":
            return await sandbox.read_file(TOLD_PATH, max_bytes=_MOST_TOLD_BYTES)
    except SandboxError as error:
        is_answer = isinstance(error, SandboxFileError) and error.reason != "IO_FAILED"
        if not is_answer and not await died_of_memory(sandbox):
            raise
    return b""
