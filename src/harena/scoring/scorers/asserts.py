"""Test code over a candidate's functions: the `command` contract with `asserts`.

The code runs in one of three ways, the first of which is taken that pays the contract's gold solution:

    called    with `calls`: the candidate has a process of its own, and only plain values cross; trust `shared`
    apart     the code is a suite whose candidate has a sandbox of its own (`asserts_apart`); trust `separate`
    beside    the candidate shares the tests' process; trust `shared`

What the gold solution shows is believed, never what a candidate does; where it is paid in no way, the tests are wrong,
and no candidate has a score. Without a gold solution the first way decides, and each pass apart is confirmed by a run
beside. Where stand-ins cannot show what the tests look at, the code runs beside, too, and who fails there has failed;
but nobody is paid for passing there, unless the author has chosen that way (`isolate: false`): the candidate is why
stand-ins do not serve, and in the tests' process it can forge a pass.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal

from harena.core.results import Reason, Trust
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest.suite_protocol import NOTHING
from harena.scoring.late_modules import loaded
from harena.scoring.scorers.assert_names import AssertNames, assert_names
from harena.scoring.scorers.asserts_apart import can_be_apart, score_asserts_apart
from harena.scoring.scorers.gold_runs import gold_bench, known_by_gold, known_of_gold, not_by_chance, told_by_gold
from harena.scoring.scorers.hidden_run import REPEATS, HiddenRun
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.suite_apart import Attempt, not_served
from harena.scoring.scorers.suite_shared import with_room_for_suite
from harena.scoring.scorers.suite_without_candidate import Norm, compared_nothing, norm_of_report, suite_key
from harena.scoring.scorers.trusted_suite import idle_bench, missing_modules
from harena.scoring.slices import aside
from harena.scoring.verdict import PASSED_BUT_TOOK, Verdict, broken_contract, failed, one_line, tampered

Run = Callable[[Bench, CommandContract], Awaitable[Verdict]]
_Way = Literal["called", "apart", "beside"]
_NO_MODULE = "the entry {} is no module that tests can have by a name which nothing else has"
_PASSES_ALL = "in the tests' own process the candidate passes an assertion that nobody can pass"
_ONLY_BESIDE = "the test code can be run only beside the candidate ({}), and this job demands trust `separate`"


@dataclass(frozen=True, slots=True)
class _Code:
    """One piece of test code; `run` runs it once, called or beside the candidate."""

    contract: CommandContract
    names: AssertNames
    run: Run
    ways: tuple[_Way, ...]
    hidden: HiddenRun

    async def knows(self, bench: Bench, *, is_all: bool = False) -> bool | None:
        """Whether the candidate knows the answers; asked before it meets what the code expects."""
        await loaded("harena.scoring.scorers.changed_expectations")
        from harena.scoring.scorers.changed_expectations import tells_changes

        return await tells_changes(bench, self.contract, self.hidden, is_all=is_all)

    async def over(self, bench: Bench, way: _Way) -> Attempt:
        """One run of it."""
        if way == "apart":
            attempt = await score_asserts_apart(bench, self.contract, self.names)
            is_gold = dict(bench.scenario.candidate.files) == dict(self.contract.gold)
            if is_gold or not attempt.verdict.passed or not attempt.told.hollow:
                return attempt
            norm = await self._norm(bench) if self.contract.gold else None
            if not (why := compared_nothing(attempt.told, norm)):
                return attempt
            verdict = failed(Reason.SCORER_REJECTED, one_line(why, 600), observation="hollow")
            return replace(attempt, verdict=replace(verdict, trust=Trust.SEPARATE), unserved="")
        contract = self.contract if way == "called" else self.contract.model_copy(update={"isolate": False})
        return Attempt(replace(await self.run(bench, contract), trust=Trust.SHARED))

    async def _norm(self, bench: Bench) -> Norm:
        """What the gold solution's run compares."""

        async def asked() -> Norm:
            gold = gold_bench(bench, self.contract)
            return norm_of_report((await score_asserts_apart(gold, self.contract, self.names)).told)

        return await known_of_gold.get(bench, await suite_key(bench, self.contract, "norm", "asserts"), asked)


async def score_asserts(bench: Bench, contract: CommandContract, run: Run, hidden: HiddenRun) -> Verdict:
    """One piece of test code over one candidate; `hidden`: see `changed_expectations`. Raises PlatformError and
    SandboxError for what is nobody's doing."""
    entry = bench.scenario.candidate.entry
    names = await shared_names(contract, entry)
    if not contract.calls and names.unclear:
        return broken_contract(names.unclear)
    code = _Code(contract, names, run, _ways(contract, entry), hidden)
    return await (_judged_with_gold(bench, code) if contract.gold else _judged_without_gold(bench, code))


async def asserts_judge(bench: Bench, contract: CommandContract, run: Run) -> Run:
    """What runs changed test code once, with the candidate where it is paid."""
    entry = bench.scenario.candidate.entry
    names = await shared_names(contract, entry)
    known = await known_by_gold(bench, contract) if contract.gold else None
    is_apart = "apart" in _ways(contract, entry) and known != "beside"

    async def judge(bench: Bench, changed: CommandContract) -> Verdict:
        if is_apart:
            return (await score_asserts_apart(bench, changed, names)).verdict
        return await run(with_room_for_suite(bench, changed), changed.model_copy(update={"isolate": False}))

    return judge


async def shared_names(contract: CommandContract, entry: str) -> AssertNames:
    """The owners of the names that tests use in the candidate's process."""
    asserts = contract.asserts or ""
    gold = contract.gold.get(entry, next(iter(contract.gold.values()), None))
    return await aside(len(asserts) + len(gold or ""), assert_names, asserts, gold)


def _ways(contract: CommandContract, entry: str) -> tuple[_Way, ...]:
    if contract.isolate is False:
        return ("beside",)
    apart: tuple[_Way, ...] = ("apart",) if can_be_apart(contract, entry) else ()
    return ("called", *apart, "beside") if contract.calls else (*apart, "beside")


async def _judged_with_gold(bench: Bench, code: _Code) -> Verdict:
    found = await known_by_gold(bench, code.contract)
    if found is None:
        attempt = await code.over(bench, code.ways[0])
        if attempt.verdict.passed:
            return await _confirmed(bench, code, code.ways[0], attempt)
        found = await told_by_gold(bench, code.contract, lambda gold: _way(gold, code), best=code.ways[0])
        if found == code.ways[0] and not attempt.unserved:
            return attempt.verdict
        bench = bench.again()
    if found not in code.ways:
        return broken_contract(one_line(f"the gold solution is not paid: {found}", 600))
    if found != "apart" and bench.demands_separate:
        return broken_contract(_ONLY_BESIDE.format("the gold solution is not paid apart"))
    way = next(each for each in code.ways if each == found)
    if way == "beside":
        await code.knows(bench)
    attempt = await code.over(bench, way)
    if way == "apart" and not attempt.verdict.passed and attempt.unserved and not bench.demands_separate:
        return await _judged_beside(bench, code, attempt)
    return await _confirmed(bench, code, way, attempt)


async def _judged_beside(bench: Bench, code: _Code, attempt: Attempt) -> Verdict:
    """The verdict on a candidate that fails apart at what stand-ins cannot serve, where the gold solution needs
    nothing of that: a right one may be written otherwise. It is paid for passing in the tests' own process if it knows
    the answers where the tests do not hold them; where any cannot be hidden, or too few can, it has failed. Suites do
    the same."""
    knows = await code.knows(bench, is_all=True)
    if not knows:
        return attempt.verdict
    beside = (await code.over(with_room_for_suite(bench, code.contract), "beside")).verdict
    return beside if beside.passed else attempt.verdict


async def _way(gold: Bench, code: _Code) -> str:
    """How the gold solution is paid, else why it is not."""
    why = ""
    for way in code.ways:

        async def judged(way: _Way = way) -> tuple[Verdict, str]:
            attempt = await code.over(gold.again(), way)
            return attempt.verdict, attempt.unserved

        verdict, _ = await not_by_chance(judged)
        if verdict.passed:
            return way
        why = verdict.detail or str(verdict.reason)
    return f"in no way: {why}"


async def _judged_without_gold(bench: Bench, code: _Code) -> Verdict:
    way = code.ways[0]
    if way == "beside":
        if code.contract.isolate is not False:
            return await _unserved_verdict(bench, code, _NO_MODULE.format(bench.scenario.candidate.entry))
        await code.knows(bench)
    attempt = await code.over(bench, way)
    if attempt.unserved and not attempt.verdict.passed:
        return await _unserved_verdict(bench, code, attempt.unserved)
    if attempt.verdict.passed:
        return await _confirmed(bench, code, way, attempt)
    return await _failed(bench, code, way, attempt.verdict)


async def _unserved_verdict(bench: Bench, code: _Code, unserved: str) -> Verdict:
    """The verdict where no gold solution tells that the tests may be run beside the candidate, and apart from it they
    look at what cannot be served. Who fails beside, too, has failed. Nobody is paid for passing there, and nobody
    excused who passes whatever the tests say, or does not know the answers where the tests do not hold them."""
    knows = await code.knows(bench)  # before it meets what they expect
    roomy = with_room_for_suite(bench, code.contract)
    beside = (await code.over(roomy, "beside")).verdict
    if not beside.passed:
        return await _failed(bench, code, "beside", beside)
    if knows is False:
        return replace(tampered(REPEATS), trust=Trust.SHARED)
    control = replace(code, contract=_with_failing_assertion(code.contract))
    if (await control.over(with_room_for_suite(bench, code.contract), "beside")).verdict.passed:
        return replace(tampered(_PASSES_ALL), trust=Trust.SHARED)
    if bench.demands_separate:
        return broken_contract(_ONLY_BESIDE.format(unserved))
    return broken_contract(not_served("the test code", unserved))


def _with_failing_assertion(contract: CommandContract) -> CommandContract:
    return contract.model_copy(update={"asserts": f"{contract.asserts}\nassert 1 == 2\n"})


async def _failed(bench: Bench, code: _Code, way: _Way, verdict: Verdict) -> Verdict:
    """The verdict on a failure, which may be that of the contract."""
    if NOTHING in verdict.detail and NOTHING in (await code.over(idle_bench(bench), way)).verdict.detail:
        return broken_contract(f"{NOTHING}, whoever the candidate is")
    if way == "apart" and (missing := await missing_modules(bench, code.contract)) is not None:
        return broken_contract(missing)
    if verdict.score == 0.0:
        await loaded("harena.scoring.scorers.unnamed_modules")
        from harena.scoring.scorers.unnamed_modules import unnamed_modules

        if unnamed := await unnamed_modules(bench, code.contract):
            return broken_contract(unnamed)
    return verdict


async def _confirmed(bench: Bench, code: _Code, way: _Way, attempt: Attempt) -> Verdict:
    """The verdict of an attempt; one that passes apart is paid if it passes beside the candidate, too, as in suites.
    With a doubt, of what was not judged apart, it has the trust of the second run; without one, what it takes of the
    tests there costs nothing."""
    if way != "apart" or not attempt.verdict.passed:
        return attempt.verdict
    if attempt.unserved:
        await code.knows(bench)
    beside = (await code.over(with_room_for_suite(bench, code.contract), "beside")).verdict
    if attempt.unserved and bench.demands_separate:
        return broken_contract(_ONLY_BESIDE.format(attempt.unserved))
    if beside.passed or (not attempt.unserved and PASSED_BUT_TOOK in beside.observations):
        return beside if attempt.unserved else attempt.verdict
    if attempt.unserved or not code.contract.gold:
        return beside
    passes = await told_by_gold(
        bench, code.contract, lambda gold: _passes_beside(gold, code), "passes beside", best="yes"
    )
    return beside if passes else attempt.verdict


async def _passes_beside(gold: Bench, code: _Code) -> str:
    return "yes" if (await code.over(gold, "beside")).verdict.passed else ""
