"""Suites that share a sandbox with their candidate: `isolate: true` (another process) and `false` (the same). Trust
`shared`."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.core.results import Reason
from harena.scoring.codec import MalformedError
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest.suite_protocol import BESIDE, EQUAL, NO_PYTEST, TAKES, TOOK
from harena.scoring.scorers.long_suites import takes_long
from harena.scoring.scorers.oracle_functions import lines_of_oracles
from harena.scoring.scorers.program import WORKSPACE, Bench, overlaid, put_files
from harena.scoring.scorers.suite_apart import Attempt, Report, parsed_report
from harena.scoring.scorers.suite_settings import python_paths
from harena.scoring.scorers.trusted_suite import (
    ENVIRONMENT,
    NO_ORACLES,
    NO_SKIPS,
    NOTHING_CAUGHT,
    candidate_program,
    ends_alike,
    files_on_both_sides,
    named_files,
    suite_argv,
    taking_part,
    trusted_paths,
)
from harena.scoring.slices import aside, last_line, lines_beginning, size_of
from harena.scoring.verdict import (
    PASSED_BUT_TOOK,
    Verdict,
    broken_contract,
    failed,
    one_line,
    program_failure,
    tampered,
)

if TYPE_CHECKING:
    from harena.scoring.scorers.skip_conditions import SkipCondition

_NOT_STARTED = (126, 127, NO_PYTEST)
_NOTING_TAKES = 5
"""how often the time of a run one takes in which the calls of functions are noted, at most"""
_SHARED_LIMITS = ("memory_bytes", "pids", "cpu", "disk_bytes", "output_bytes", "open_files")


RUNNER_BYTES = 96 * 1024 * 1024
"""memory of the runner of tests, beside the candidate's limit, in a sandbox that they share. Tests that need nothing
take 68 MB there with unittest and 80 MB with pytest; 24 MB of these are the candidate's process (CPython 3.11)."""


def with_room_for_suite(bench: Bench, contract: CommandContract) -> Bench:
    """Make the bench anew for a run in which suite and candidate share limits that each had for itself: they have the
    sum of their times, and of everything else the larger limit, so that no right candidate runs into one."""
    made = bench.again()
    theirs, ours = bench.spec.limits, bench.base_spec.limits
    larger = {name: _larger(getattr(theirs, name), getattr(ours, name)) for name in _SHARED_LIMITS}
    made.spec = replace(bench.spec, limits=replace(theirs, **larger))
    made.timeout_seconds += contract.scorer_timeout_seconds
    return made


def _larger(one: Any, other: Any) -> Any:
    """The larger limit; None is none."""
    return None if one is None or other is None else max(one, other)


async def score_beside(
    bench: Bench,
    contract: CommandContract,
    isolate: bool,
    may_catch: Mapping[str, int] | None = NOTHING_CAUGHT,
    skips: Mapping[str, SkipCondition | None] = NO_SKIPS,
) -> Attempt:
    """One suite, one candidate, one sandbox. `may_catch`: see `guest_caught_assertions`; `skips`: see `guest_suite`."""
    theirs = await taking_part(bench, contract)
    ran = await _run(bench, contract, theirs, isolate, may_catch, skips)
    if ran.result.outcome is ExecOutcome.TIMEOUT and bench.timeout_seconds <= bench.again().timeout_seconds:

        async def run_of(idle: Bench) -> ExecResult:
            return (await _run(idle, contract, dict(idle.scenario.candidate.files), isolate)).result

        if await takes_long(bench, contract, theirs, run_of):
            bench = with_room_for_suite(bench, contract)
            ran = await _run(bench, contract, theirs, isolate, may_catch, skips)
    if ran.is_equal:
        noting = bench.with_files(bench.scenario.candidate, bench.scenario.files)
        noting.timeout_seconds *= _NOTING_TAKES
        again = await _run(noting, contract, theirs, isolate, may_catch, skips, notes_uses=True)
        ran = again if again.proven else ran
    result, proven, report = ran.result, ran.proven, ran.report
    observation = f"{result.outcome}:{result.returncode}:{proven}"
    failure = program_failure(result)
    if failure is None and proven and report is None:
        return Attempt(tampered("the proof came without the one report that the suite's runner writes before it"))
    report = report or Report()
    if failure is None and proven:
        passed = Verdict(score=1.0, passed=True, reason=Reason.PASSED, checks_passed=1, observations=(observation,))
        return Attempt(passed, told=report)
    if failure is None:
        detail = "exit code 0 without the proof that every check has run and passed"
        if ran.is_equal:
            detail = f"{detail}: what the tests compare, or a library for them, is an object that equals everything"
        return Attempt(failed(Reason.EXITED_EARLY, detail, observation=observation))
    exited = result.outcome is ExecOutcome.EXITED
    if not exited or result.returncode in _NOT_STARTED:
        # a candidate may end a suite in any way: that it is the suite's own fault is believed only without one
        async def ended(idle: Bench) -> ExecResult:
            idle.spec, idle.timeout_seconds = bench.spec, bench.timeout_seconds
            return (await _run(idle, contract, dict(idle.scenario.candidate.files), isolate)).result

        if (alone := await ends_alike(bench, result, theirs, ended)) is not None:
            why = "the image has no pytest; add it to the blueprint's packages"
            if alone.returncode != NO_PYTEST:
                why = one_line(last_line(alone.stderr)) or str(alone.outcome)
            return Attempt(
                broken_contract(f"the suite does not end well with a candidate that does nothing, too: {why}")
            )
    if exited and report.taken:
        noted = (observation, PASSED_BUT_TOOK) if ran.took else (observation,)
        verdict = replace(tampered(f"{TAKES}{report.taken}"), observations=noted)
        return Attempt(verdict, report.unserved, report)
    reason = Reason.SCORER_REJECTED if exited else failure[0]
    verdict = failed(reason, (exited and report.first) or failure[1], observation=observation)
    return Attempt(verdict, report.unserved, report)


async def run_in_shared_sandbox(
    bench: Bench, contract: CommandContract, files: Mapping[str, str], argv: Sequence[str], stdin: bytes
) -> ExecResult:
    """Run a runner of tests in a fresh sandbox that it shares with the candidate's `files`. `stdin` holds the word of
    its proof."""
    async with bench.sandbox(runner_bytes=RUNNER_BYTES) as sandbox:
        await put_files(sandbox, files)
        await put_files(sandbox, contract.files)
        return await bench.run(
            sandbox,
            ExecRequest(
                argv=tuple(argv),
                env={**ENVIRONMENT, **contract.env},
                cwd=WORKSPACE,
                stdin=stdin,
                timeout_seconds=bench.timeout_seconds,
                stdin_stream=True,  # of a pipe nobody reads the word again, as of a file
                guarded=True,
            ),
        )


async def run_beside(bench: Bench, contract: CommandContract) -> bool:
    """Run a suite once in one process with its candidate, for what it leaves in its sandbox; whether the candidate has
    taken anything of the tests, or ended them before they could say so."""
    ran = await _run(bench, contract, await taking_part(bench, contract), False)
    return ran.report is None or bool(ran.report.taken)


@dataclass(frozen=True, slots=True)
class _Ran:
    """One run of a suite beside its candidate."""

    result: ExecResult
    """what the suite's process did"""
    proven: bool
    """whether its proof is there"""
    report: Report | None
    """what it says of its tests; None where no runner has said it: beside the suite a candidate may find the word"""
    is_equal: bool
    """the proof is missing for a class that equals everything, and for nothing else"""
    took: bool
    """the proof is missing for what the candidate has taken of the tests, and for nothing else"""


async def _run(
    bench: Bench,
    contract: CommandContract,
    theirs: dict[str, str],
    isolate: bool,
    may_catch: Mapping[str, int] | None = NOTHING_CAUGHT,
    skips: Mapping[str, SkipCondition | None] = NO_SKIPS,
    *,
    notes_uses: bool = False,
) -> _Ran:
    on_both_sides = await aside(size_of(contract.files), files_on_both_sides, contract)
    named = named_files(contract, on_both_sides) if isolate else {}
    files = overlaid(overlaid(theirs, named), bench.scenario.files)
    ours = trusted_paths(contract, files)
    trusted = frozenset(ours)
    rest = [path for path in files if path not in trusted]
    is_confirming = not isolate and contract.isolate == "auto"
    oracles = await _oracles_of(contract, on_both_sides) if is_confirming else NO_ORACLES
    word = secrets.token_hex(16)
    home = candidate_program() if isolate else BESIDE
    argv = suite_argv(
        contract,
        ours,
        rest,
        home,
        on_both_sides,
        may_catch=may_catch,
        skips=skips,
        notes_uses=notes_uses,
        oracles=oracles,
        searched=python_paths(contract, bench.scenario.files),
    )
    result = await run_in_shared_sandbox(bench, contract, files, argv, f"{word}\n".encode())
    return await aside(len(result.stdout), _said, result, word)


async def _oracles_of(contract: CommandContract, on_both_sides: Collection[str]) -> Mapping[str, Sequence[int]]:
    """The functions of modules that a candidate apart does not have, by which the tests compute what they expect."""
    there = {*contract.test_files.values(), *on_both_sides}
    withheld = {path: text for path, text in contract.files.items() if path not in there and path.endswith(".py")}
    if not withheld:
        return NO_ORACLES
    return await aside(size_of(contract.files), lines_of_oracles, dict(contract.files), withheld)


def _said(result: ExecResult, word: str) -> _Ran:
    """The report is there if there is exactly one that a runner writes."""
    stdout, proof, equal = result.stdout, f"harena-proof {word}".encode(), EQUAL + word.encode()
    reports = lines_beginning(stdout, f"harena-report {word} ".encode(), 2)
    try:
        report = parsed_report(reports[0], word) if len(reports) == 1 else None
    except MalformedError:
        report = None
    proven = proof in lines_beginning(stdout, proof, 2)
    is_equal = not proven and program_failure(result) is None and equal in lines_beginning(stdout, equal, 2)
    taken = TOOK + word.encode()
    return _Ran(result, proven, report, is_equal, not proven and taken in lines_beginning(stdout, taken, 2))
