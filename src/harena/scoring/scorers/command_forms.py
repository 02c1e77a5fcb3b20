"""The `command` contract in its three forms: a trusted command, a suite of tests, and test code over functions.

Each form has modules of its own, which are loaded, on a thread, by the first run that needs them: test code of a data
set needs a third of what a trusted command does, and to load all takes a quarter of a second.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harena.core.results import Trust
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.late_modules import loaded
from harena.scoring.scorers.asserts import asserts_judge, score_asserts
from harena.scoring.scorers.asserts_once import score_asserts_once, takes_of_asserts
from harena.scoring.scorers.entry_names import with_own_name
from harena.scoring.scorers.gold_runs import known_by_gold
from harena.scoring.scorers.hidden_run import REPEATS, HiddenRun
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.suite_shared import run_beside, with_room_for_suite
from harena.scoring.scorers.trusted_names import told
from harena.scoring.scorers.trusted_suite import taking_part
from harena.scoring.verdict import Verdict, broken_contract, tampered

if TYPE_CHECKING:
    from harena.scoring.scorers.literal_control import Judge


async def score_command(bench: Bench, contract: CommandContract) -> Verdict:
    """What a `command` contract says of one candidate. Raises PlatformError and SandboxError for what is nobody's
    doing."""
    if contract.suite:
        return await _score_suite(bench, contract)
    if contract.asserts is not None:
        return await _score_asserts(bench, contract)
    await loaded("harena.scoring.scorers.command")
    from harena.scoring.scorers.command import score_trusted_command

    return await score_trusted_command(bench, contract)


async def _score_suite(bench: Bench, contract: CommandContract) -> Verdict:
    await loaded("harena.scoring.scorers.suite")
    from harena.scoring.scorers.suite import score_suite, suite_judge

    hidden = HiddenRun(_run_suite_once)
    verdict = await _told(bench, contract, await score_suite(bench, contract, hidden))
    if verdict.passed and (verdict.trust or contract.trust) is Trust.SHARED:
        verdict = await _unless_repeated(bench, contract, verdict, hidden)
    return await _unless_made(bench, contract, verdict, await suite_judge(bench, contract))


async def _score_asserts(bench: Bench, contract: CommandContract) -> Verdict:
    named = await with_own_name(bench, contract)
    if named.unclear:
        return broken_contract(named.unclear)
    bench, contract = named.bench, named.contract
    hidden = HiddenRun(takes_of_asserts)
    verdict = await score_asserts(bench, contract, score_asserts_once, hidden)
    was_called = contract.calls and await known_by_gold(bench, contract) in (None, "called")
    if verdict.passed and verdict.trust is Trust.SHARED and not was_called:
        verdict = await _unless_repeated(bench, contract, verdict, hidden)
    if contract.calls:
        return verdict  # each function has a process of its own, in which no other one's answer can be filled in
    return await _unless_made(bench, contract, verdict, await asserts_judge(bench, contract, score_asserts_once))


async def _told(bench: Bench, contract: CommandContract, verdict: Verdict) -> Verdict:
    """A lowest score says which of the candidate's files took no part."""
    if verdict.score != 0.0:
        return verdict
    kept = await taking_part(bench, contract, is_apart=verdict.trust is Trust.SEPARATE)
    left_out = bench.scenario.candidate.files.keys() - kept.keys() - contract.files.keys()
    return replace(verdict, detail=verdict.detail + told(left_out))


async def _run_suite_once(bench: Bench, contract: CommandContract) -> bool:
    return await run_beside(with_room_for_suite(bench, contract), contract)


async def _unless_repeated(bench: Bench, contract: CommandContract, verdict: Verdict, hidden: HiddenRun) -> Verdict:
    await loaded("harena.scoring.scorers.changed_expectations")
    from harena.scoring.scorers.changed_expectations import repeats_expectations

    if not await repeats_expectations(bench, contract, hidden):
        return verdict
    return replace(tampered(REPEATS), trust=verdict.trust)


async def _unless_made(bench: Bench, contract: CommandContract, verdict: Verdict, judge: Judge) -> Verdict:
    if not verdict.passed:
        return verdict
    await loaded("harena.scoring.scorers.literal_control")
    from harena.scoring.scorers.literal_control import SAYS_NOTHING, equals_what_is_made

    if not await equals_what_is_made(bench, contract, judge):
        return verdict
    return replace(tampered(SAYS_NOTHING), trust=verdict.trust)
