"""Suites of tests over a candidate's modules: the `command` contract with `pytest` or `unittest`.

How the candidate is kept apart is the contract's to say. With `isolate: auto` it has a sandbox of its own, unless the
contract's gold solution is not paid like that: then the strongest way in which it is paid is taken, and the result
states the trust. Where there is no gold, a suite that cannot be served like that ends without a score: a run in the
suite's own process may then find that the candidate has failed, and pays nobody. Who passes in a sandbox of its own
must pass in the suite's own process, too, before it is paid (`_confirmed`).

A suite that does not pass may be broken for everybody. That is never believed of the run itself: the same suite is run
once without any candidate (`guest_absent_candidate`), and a test that fails there before it has asked for one fails for
all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath
from typing import cast

from harena.core.results import Reason, Trust
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest.suite_protocol import EVERY_SKIPPED, ONLY_GOLD
from harena.scoring.scenario import Candidate
from harena.scoring.scorers.answer_tables import with_other_answers
from harena.scoring.scorers.caught_failures import Mode
from harena.scoring.scorers.caught_failures import attempt as attempt_of
from harena.scoring.scorers.changed_expectations import repeats_expectations, tells_changes
from harena.scoring.scorers.defined_tests import Dependence
from harena.scoring.scorers.gold_runs import gold_bench, known_of_gold, not_by_chance
from harena.scoring.scorers.hidden_run import REPEATS, HiddenRun
from harena.scoring.scorers.literal_control import Judge
from harena.scoring.scorers.oracle_functions import without_oracles
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.suite_apart import Attempt, not_served, score_apart
from harena.scoring.scorers.suite_defined import (
    Missing,
    dependence_of,
    excuses_of,
    may_lack,
    missing_from,
    unheard_skip_of,
)
from harena.scoring.scorers.suite_shared import score_beside, with_room_for_suite
from harena.scoring.scorers.suite_without_candidate import (
    Norm,
    compared_nothing,
    fewer_than_gold,
    nobody_of,
    norm_of_nobody,
    norm_of_report,
    skipped_because_of,
    suite_key,
    unsettled_skip,
)
from harena.scoring.scorers.trusted_names import asks_for_a_candidates_module
from harena.scoring.scorers.trusted_suite import (
    LIST_IT,
    missing_modules,
    taking_part,
    with_failing_test,
    withheld_files,
)
from harena.scoring.scorers.unnamed_modules import unnamed_modules
from harena.scoring.slices import aside, size_of
from harena.scoring.verdict import PASSED_BUT_TOOK, Verdict, broken_contract, failed, one_line, tampered

_MODES: tuple[Mode, ...] = ("sandbox", True, False)
_NO_TESTS: frozenset[str] = frozenset()
_CATCH_IT = "give the contract a `gold` solution, which tells by what it catches"
_SHARE_IT = "put it into the problem's `files` if candidates shall import it"


@dataclass(frozen=True, slots=True)
class _WayResult:
    """What one way of running a suite says of a candidate."""

    verdict: Verdict
    unserved: str = ""
    """what of the suite cannot be served, if that is why nothing is known of the candidate; why a pass is in doubt"""
    skipped: frozenset[str] = _NO_TESTS
    """the tests that the suite has skipped by itself"""
    has_all_tests: bool = True
    """it is known which tests there are"""
    named: frozenset[str] = frozenset()
    """names that the candidate has where the suite takes them; `Report.named`"""


async def score_suite(bench: Bench, contract: CommandContract, hidden: HiddenRun) -> Verdict:
    """One suite over one candidate; `hidden`: see `changed_expectations`. Raises PlatformError and SandboxError for
    what is nobody's doing."""
    if await _judges_another_module(bench, contract):
        return broken_contract(
            f"the entry {bench.scenario.candidate.entry!r} has the name of a module of the standard library's that the "
            "suite imports or requires, so the suite would judge that one: give the entry another name"
        )
    if contract.isolate != "auto":
        verdict, doubt = await _scored(bench, contract, contract.isolate)
        if not (verdict.passed and doubt and verdict.trust is Trust.SEPARATE):
            return verdict
        # the suite believed something that the candidate's own code decided
        return broken_contract(_unserved(doubt)) if bench.demands_separate else replace(verdict, trust=Trust.SHARED)
    if not contract.gold:
        found = await _scored_with_skips(bench, contract, "sandbox", confirms=True)
        if found.unserved and not (found.verdict.passed and found.has_all_tests):
            return await _unserved_verdict(bench, contract, found, hidden)
        if found.verdict.passed:
            return await _confirmed(bench, contract, found, hidden)
        return await _without_trusted_files(bench, contract, found.verdict)
    key = await suite_key(bench, contract)
    if known_of_gold.known(key) is None:
        found = await _scored_with_skips(bench, contract, "sandbox")
        if found.verdict.passed:
            return await _confirmed(bench, contract, found, hidden)
    mode = await known_of_gold.get(bench, key, lambda: _strongest(bench, contract), best=_MODES[0])
    if isinstance(mode, str) and mode != "sandbox":
        return broken_contract(f"the gold solution is not paid: {mode}")
    if mode != "sandbox" and bench.demands_separate:
        return broken_contract("the gold solution is paid only beside the suite, and this job demands trust `separate`")
    if mode != "sandbox":
        await repeats_expectations(bench, contract, hidden)  # before it meets what they expect
    found = await _scored_with_skips(bench, contract, cast(Mode, mode), pays_gold=True)
    verdict = found.verdict
    if verdict.passed and mode == "sandbox":
        return await _confirmed(bench, contract, found, hidden)
    if mode == "sandbox" and found.unserved and verdict.score is not None and not bench.demands_separate:
        return await _judged_beside(bench, contract, replace(verdict, trust=Trust.SEPARATE), hidden)
    return replace(verdict, trust=Trust.SEPARATE if mode == "sandbox" else Trust.SHARED)


async def suite_judge(bench: Bench, contract: CommandContract) -> Judge:
    """What runs changed tests of a suite once, with the candidate where it is paid."""
    mode: Mode = "sandbox" if contract.isolate == "auto" else contract.isolate
    if contract.gold:
        known = known_of_gold.known(await suite_key(bench, contract))
        mode = mode if known is None else known

    async def judge(bench: Bench, changed: CommandContract) -> Verdict:
        if mode == "sandbox":
            return (await score_apart(bench, changed)).verdict
        return (await score_beside(with_room_for_suite(bench, changed), changed, mode)).verdict

    return judge


async def _judges_another_module(bench: Bench, contract: CommandContract) -> bool:
    """The entry takes no part, and the suite finds Python's own module of its name. It is the candidate's mistake where
    the gold solution has no such module, or the suite asks for another one of a candidate's."""
    candidate = bench.scenario.candidate
    path = PurePosixPath(candidate.entry)
    name = path.parts[0].partition(".")[0]
    if path.suffix != ".py" or name not in sys.stdlib_module_names:
        return False
    if contract.gold and all(PurePosixPath(each).parts[0].partition(".")[0] != name for each in contract.gold):
        return False
    trusted = {**bench.scenario.files, **contract.files}
    if await aside(size_of(trusted), asks_for_a_candidates_module, contract, trusted):
        return False
    alone = Candidate(files={candidate.entry: candidate.files.get(candidate.entry, "")}, entry=candidate.entry)
    alone_bench = bench.with_candidate(alone, files=bench.scenario.files)
    return candidate.entry not in await taking_part(alone_bench, contract, is_apart=True)


async def _without_trusted_files(bench: Bench, contract: CommandContract, verdict: Verdict) -> Verdict:
    """The verdict on a candidate that fails without the trusted modules that it imports. Nothing is known of one that
    passes with them, unless it does so by what they say that the tests expect: it then fails where that is another."""
    if verdict.score != 0.0:
        return verdict
    candidate = await taking_part(bench, contract)
    trusted = {**bench.scenario.files, **contract.files}
    withheld = await aside(size_of(trusted) + size_of(candidate), withheld_files, contract, candidate, trusted)
    shown = {path: contract.files[path] for path in withheld}
    if not withheld or not (await score_apart(bench, contract, shown)).verdict.passed:
        return verdict
    others = await aside(size_of(trusted), _without_answers, trusted, shown)
    if others and not (await score_apart(bench.again(), contract, {**shown, **others})).verdict.passed:
        looked_up = f"the candidate takes from {', '.join(others)} what the tests expect; {_SHARE_IT}"
        return replace(verdict, detail=one_line(f"{verdict.detail} ({looked_up})", 600))
    files = ", ".join(withheld)
    verb = "imports" if all(path.endswith(".py") for path in withheld) else "uses"
    lacking = f"the candidate {verb} {files}, which it is not given because it may hold answers; {_SHARE_IT}"
    return broken_contract(_unserved(lacking))


def _without_answers(trusted: dict[str, str], shown: dict[str, str]) -> dict[str, str]:
    """The modules that hold what the tests expect, or compute it, with other values and without these functions."""
    others = with_other_answers(trusted, shown)
    return {**others, **without_oracles(trusted, {**shown, **others})}


async def _unserved_verdict(bench: Bench, contract: CommandContract, found: _WayResult, hidden: HiddenRun) -> Verdict:
    """The verdict where stand-ins could not serve a suite, or cannot tell which tests it has. What a suite does may
    depend on what the candidate gave it (an object to pickle in the place of a number), so this excuses only who passes
    in the suite's own process: whoever fails there, too, is wrong. Nobody is paid for passing there, and nobody excused
    who passes there whatever the tests say, by the proof's word or an emptied result: the run is repeated with one more
    test, which nobody can pass. Nor is who passes there and does not know the answers where the expected values are
    hidden."""
    repeats = await repeats_expectations(bench, contract, hidden)  # before it meets what they expect
    if found.verdict.passed:
        roomy = with_room_for_suite(bench, contract)
        again = await _again_beside(roomy, contract, found)
        beside = again.verdict
        if again.unserved and beside.score is None:
            return beside  # it says what cannot be told, whoever the candidate is
    else:
        beside, _ = await _scored(with_room_for_suite(bench, contract), contract, False)
    if beside.score is not None and not beside.passed:
        return beside
    if beside.passed and repeats:
        return replace(tampered(REPEATS), trust=Trust.SHARED)
    control = with_failing_test(contract)
    if beside.passed and control is not None and (await score_beside(bench.again(), control, False)).verdict.passed:
        detail = "in the suite's own process the candidate passes a test that nobody can pass"
        return replace(tampered(detail), trust=Trust.SHARED)
    return broken_contract(_unserved(found.unserved))


async def _again_beside(bench: Bench, contract: CommandContract, found: _WayResult) -> _WayResult:
    """What comes of a run in the suite's own process, with what is known of the suite from the first one."""
    return await _scored_with_skips(bench, contract, False, pays_gold=True, may_skip=found.skipped, named=found.named)


async def _confirmed(bench: Bench, contract: CommandContract, found: _WayResult, hidden: HiddenRun) -> Verdict:
    """The verdict on a candidate that passes apart: it is paid if it passes in the suite's own process, too. What a
    stand-in has of its own, and who serves one question at a time, is not the candidate; so no pass is believed of
    stand-ins alone. The second run begins when the first has ended, and only for who has passed: in it a candidate can
    read the tests, and would tell one beside it.

    It has the trust of the first run, which judged its values where the candidate was not; but with a doubt, of what
    was not judged there at all (that nobody logged, say), that of the second. What the suite has skipped by itself in
    the first run, where the candidate could change nothing that it asks for, may be skipped in the second, too.

    Where there is no doubt, a candidate that passes both is paid although it has taken something of the tests in the
    second: it gave its answers without that in the first, and nobody knows all ways in which right programs get at
    objects of the tests."""
    verdict, doubt = found.verdict, found.unserved
    if doubt:
        await repeats_expectations(bench, contract, hidden)  # before it meets what they expect
    roomy = with_room_for_suite(bench, contract)
    again = await _again_beside(roomy, contract, found)
    beside = again.verdict
    if again.unserved and beside.score is None:
        return beside
    if beside.passed and doubt:
        return broken_contract(_unserved(doubt)) if bench.demands_separate else beside
    if beside.passed or (not doubt and PASSED_BUT_TOOK in beside.observations):
        return verdict
    if contract.gold and not await _gold_passes_beside(bench, contract):
        # the author's own solution passes with stand-ins only
        where = "the gold solution is not paid in the suite's own process"
        return broken_contract(_unserved(f"{doubt}; and {where}")) if doubt else verdict
    if beside.score is None:
        return broken_contract(_unconfirmed(beside.detail))
    return beside


async def _judged_beside(bench: Bench, contract: CommandContract, verdict: Verdict, hidden: HiddenRun) -> Verdict:
    """The verdict on a candidate that fails apart (`verdict`) at what stand-ins cannot serve, where the gold solution
    needs nothing of that: a right one may be written otherwise. It is paid for passing in the suite's own process if it
    knows the answers where the tests do not hold them. Where any of them cannot be hidden, or too few can, it has
    failed: whoever answers with odd objects would else choose to have no score, or to look answers up."""
    if not await tells_changes(bench, contract, hidden):
        return verdict
    beside, _ = await _scored(with_room_for_suite(bench, contract), contract, False, pays_gold=True)
    return beside if beside.passed else verdict


async def _gold_passes_beside(bench: Bench, contract: CommandContract) -> bool:
    async def passes() -> bool:
        gold = with_room_for_suite(gold_bench(bench, contract), contract)
        return (await _scored(gold, contract, False))[0].passed

    return await known_of_gold.get(bench, await suite_key(bench, contract, "beside"), passes, best=True)


def _unconfirmed(what: str) -> str:
    detail = f"the candidate passes in a sandbox of its own, and the suite cannot be run in one process: {what}"
    return one_line(f"{detail}; set `isolate: sandbox` to do without that", 600)


def _unserved(what: str) -> str:
    return not_served("the suite", what)


def _touched(contract: CommandContract, theirs: Iterable[str]) -> str:
    """The first file of the candidate's that a trusted file names as one: to read it, or to run it."""
    texts = [text for path, text in contract.files.items() if path.endswith(".py")]
    for path in sorted(theirs):
        name = path.rpartition("/")[2]
        if any(name in text or f"{name.removesuffix('.py')}.__file__" in text for text in texts):
            return path
    return ""


async def _gold_scored(bench: Bench, contract: CommandContract, mode: Mode) -> tuple[Verdict, str]:
    return await _scored(gold_bench(bench, contract), contract, mode)


async def _strongest(bench: Bench, contract: CommandContract) -> Mode | str:
    """The strongest isolation in which the gold solution is paid; else why it is not."""
    why = ""
    for mode in _MODES:
        verdict, _ = await not_by_chance(partial(_gold_scored, bench, contract, mode))
        if verdict.passed:
            return mode
        why = why or verdict.detail or str(verdict.reason)
    return f"in no isolation ({why})"


async def _scored(
    bench: Bench, contract: CommandContract, mode: Mode, *, pays_gold: bool = False
) -> tuple[Verdict, str]:
    """(the verdict, what of the suite cannot be served if that is why nothing is known of the candidate). `pays_gold`:
    the gold solution is paid like this, so that the suite is not broken: a module that is missing is the candidate's to
    bring."""
    found = await _scored_with_skips(bench, contract, mode, pays_gold=pays_gold)
    return found.verdict, found.unserved


async def _scored_with_skips(
    bench: Bench,
    contract: CommandContract,
    mode: Mode,
    *,
    pays_gold: bool = False,
    confirms: bool = False,
    may_skip: frozenset[str] = frozenset(),
    named: frozenset[str] = frozenset(),
) -> _WayResult:
    """The verdict, and the tests that the suite has skipped by itself; see `_scored`. `confirms`: a pass is followed by
    a run in one process, which says which tests are missing. `may_skip`: tests that are known to be skipped whoever the
    candidate is. `named`: see `Report.named`, of the run before."""
    attempt, caught = await attempt_of(bench, contract, mode)
    if caught:
        why = f"whether a candidate is to catch the assertion that fails at {caught} cannot be told"
        return _WayResult(broken_contract(one_line(f"{why}; {_CATCH_IT}", 600)), why)
    verdict = replace(attempt.verdict, trust=Trust.SEPARATE if mode == "sandbox" else Trust.SHARED)
    if verdict.passed:
        verdict, doubt, skipped = await _without_excuses(
            bench, contract, mode, attempt, verdict, confirms, may_skip, named
        )
        if doubt and not confirms:
            return _WayResult(broken_contract(_undefined(doubt, contract)), doubt, skipped)
        unserved = (attempt.unserved or doubt) if verdict.passed else ""
        return _WayResult(verdict, unserved, skipped, not doubt, frozenset(attempt.told.named))
    if verdict.score is None or pays_gold:
        return _WayResult(verdict, attempt.unserved)
    if (missing := await missing_modules(bench, contract)) is not None:
        return _WayResult(broken_contract(missing))
    if attempt.told.broken == EVERY_SKIPPED and await _skips_all_by_itself(bench, contract, mode, attempt):
        return _WayResult(broken_contract(f"the suite fails whoever the candidate is: {EVERY_SKIPPED}"))
    nobody = await nobody_of(bench, contract)
    if nobody.broken and (touched := _touched(contract, await taking_part(bench, contract))):
        return _WayResult(
            broken_contract(_unserved(f"it touches the candidate's file {touched} ({nobody.broken[:200]})"))
        )
    if nobody.broken:
        return _WayResult(
            broken_contract(one_line(f"the suite fails without any candidate, too: {nobody.broken}", 600))
        )
    if nobody.brings and (unnamed := await unnamed_modules(bench, contract)):
        return _WayResult(broken_contract(unnamed))
    if nobody.brings:
        detail = one_line(f"{verdict.detail} (a module that is not there is the candidate's to bring; {LIST_IT})", 600)
        return _WayResult(replace(verdict, detail=detail))
    return _WayResult(verdict, attempt.unserved)


async def _skips_all_by_itself(bench: Bench, contract: CommandContract, mode: Mode, attempt: Attempt) -> bool:
    """The suite's text says that each test is skipped whoever the candidate is, and that no candidate changes which
    tests there are. A suite that uses the candidate while it is read shows nothing of that where there is none. In one
    process with the suite a candidate may take away the tests that are not skipped."""
    if mode != "sandbox":
        return False
    on = await dependence_of(bench, contract, is_beside=False, believes_names=False)
    stated = excuses_of(attempt.told, on).stated
    return not on and bool(attempt.told.excused) and stated.issuperset(attempt.told.excused)


async def _without_excuses(
    bench: Bench,
    contract: CommandContract,
    mode: Mode,
    attempt: Attempt,
    verdict: Verdict,
    confirms: bool,
    may_skip: frozenset[str],
    named: frozenset[str],
) -> tuple[Verdict, str, frozenset[str]]:
    """The verdict, unless a test is not run because of what the candidate says or lacks: that test has not passed. The
    gold solution says by what it skips what may be skipped; where it is not paid, or there is none, nobody does. And
    why it cannot be told whether a test is missing; with stand-ins, which show less, also that one is missing. And the
    tests that the suite has skipped by itself."""
    told = attempt.told
    if dict(bench.scenario.candidate.files) == dict(contract.gold):
        return verdict, "", _NO_TESTS
    norm = await _norm_of_gold(bench, contract, mode) if contract.gold else None
    is_beside = mode is False and contract.isolate is False  # else who passes has passed over stand-ins, too
    on = Dependence() if norm else await dependence_of(bench, contract, is_beside=is_beside)
    if not on.named.issubset(told.named if mode is not False else named):  # a `__name__` is the candidate's to choose
        on = await dependence_of(bench, contract, is_beside=is_beside, believes_names=False)
    if on.uncountable:
        return (
            verdict,
            f"how many tests there are depends on what the candidate answers or has ({on.uncountable})",
            _NO_TESTS,
        )
    is_untold = bool(contract.gold) and norm is None
    if why := "" if is_untold else compared_nothing(told, norm):
        return failed(Reason.SCORER_REJECTED, one_line(why, 600), observation="hollow"), "", _NO_TESTS
    if told.unjudged and not contract.gold:
        why = f"{min(told.unjudged)[:300]} executed no assertion, because what it goes through is empty"
        return verdict, f"{why}{ONLY_GOLD}", _NO_TESTS
    lacks = bool(on) and may_lack(told, on)
    excuses = excuses_of(told, on, may_skip, is_beside=mode is False)
    rest = replace(told, excused=tuple(test for test in told.excused if test not in excuses.stated))
    if norm is None and not (rest.excused or told.sought or lacks):
        return verdict, "", excuses.stated
    norm = norm or await norm_of_nobody(
        bench, contract, sees_files=mode != "sandbox", counts=lacks, skips=bool(rest.excused)
    )
    if why := skipped_because_of(told, norm, excuses.stated | excuses.unknown):
        return failed(Reason.EXITED_EARLY, one_line(why, 600), observation="skipped"), "", excuses.stated
    if unknown := excuses.unknown - norm.may_skip:
        return (
            verdict,
            f"{min(unknown)[:300]} skips itself, and its text does not tell whether the candidate is why",
            excuses.stated,
        )
    if why := unsettled_skip(rest, norm) or unheard_skip_of(rest, on):
        return verdict, why, excuses.stated
    if why := fewer_than_gold(told, norm):
        return failed(Reason.EXITED_EARLY, one_line(why, 600), observation="fewer"), "", excuses.stated
    missing = missing_from(told, on, norm.shown) if norm.shown is not None else Missing()
    if missing.lacks and not confirms and (mode is False or not attempt.unserved):
        why = f"not there, because the candidate lacks what it needs: {missing.lacks}"
        return failed(Reason.EXITED_EARLY, one_line(why, 600), observation="undefined"), "", excuses.stated
    return verdict, missing.untold or missing.lacks, excuses.stated


def _undefined(why: str, contract: CommandContract) -> str:
    detail = f"it cannot be told whether the candidate has passed every test: {why}"
    if contract.gold:
        return one_line(f"{detail}; let the tests name what they test", 600)
    return one_line(f"{detail}; give the contract a `gold` solution, whose tests every candidate has to pass", 600)


async def _norm_of_gold(bench: Bench, contract: CommandContract, mode: Mode) -> Norm | None:
    """None where the gold solution does not pass like this."""

    async def found() -> Norm | None:
        gold = gold_bench(bench, contract)
        gold = gold if mode == "sandbox" else with_room_for_suite(gold, contract)
        attempt, _ = await attempt_of(gold, contract, mode)
        return norm_of_report(attempt.told) if attempt.verdict.passed else None

    return await known_of_gold.get(bench, await suite_key(bench, contract, "norm", str(mode)), found)
