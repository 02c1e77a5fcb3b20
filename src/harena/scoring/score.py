"""One scenario in, one envelope out. Contracts are applied here; what the platform did wrong passes through."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from harena.core.errors import HarenaError, SandboxFileError, ValidationError
from harena.core.models import MIB, SandboxSpec
from harena.core.ports import SandboxSource
from harena.core.results import Reason, RunResult, Trust, Validity
from harena.core.server_places import told_to_clients
from harena.scoring.contracts.contract import (
    CommandContract,
    Contract,
    HarborContract,
    NumericContract,
    PythonContract,
    ReferenceContract,
    StdioContract,
    TestsContract,
    WeightedContract,
)
from harena.scoring.contracts.judge import JudgeContract
from harena.scoring.contracts.text import TextContract
from harena.scoring.digests import digest_of
from harena.scoring.places import is_of_image, place_of, require_place, trusted_place
from harena.scoring.scenario import Scenario
from harena.scoring.scorers.fault_attribution import blamed
from harena.scoring.scorers.languages import CHOSEN_LANGUAGE
from harena.scoring.scorers.program import Bench, MemoryFilledError, MissingInterpreterError, python_of, starts
from harena.scoring.scorers.tests import score_tests
from harena.scoring.slices import LETTERS, MOST_AT_ONCE, aside, size_at_least
from harena.scoring.verdict import Meter, Verdict, broken_contract, failed, one_line

_NOTHING_RAN_SECONDS = 0.005
"""processor time below which nothing has run; the start of an interpreter takes more"""
_TOO_LARGE = "the candidate's files are more than its disk limit allows"


def require(contract: Contract, trust: Trust | None) -> None:
    """Raises ValidationError if a job that demands `separate` trust is given a contract that cannot have it."""
    if trust is Trust.SEPARATE and contract.trust is not Trust.SEPARATE:
        why = f" ({contract.shared_because})" if contract.shared_because else ""
        raise ValidationError(
            "this job demands trust `separate`, and this contract's verdict is computed beside the candidate's code "
            f"(`shared`){why}; score it with `tests`, `stdio`, `numeric` or `python`, or lower the demand"
        )


async def score_scenario(
    scenario: Scenario,
    *,
    sandboxes: SandboxSource,
    base_spec: SandboxSpec,
    timeout_seconds: float,
    attempt: int = 1,
    require_trust: Trust | None = None,
    alone: bool = False,
    place: SandboxSpec | None = None,
) -> RunResult:
    """Run one candidate and score it.

    What the program does is in the result, also where it makes its judging fail (see `blame`). What the platform does
    is raised, always as a HarenaError: PlatformError (StarvedError among them) and SandboxError, worth another try;
    after the last one `infra_result` makes the envelope. ValidationError: the contract's trust is not enough, or it
    cannot be scored in the image; nothing was run.

    `base_spec` is what a sandbox shall be; the scenario's limits replace those of its limits that they name. `place`:
    in its stead for a scenario that names its image or blueprint; None = as `place_of` finds it.
    `timeout_seconds` is the time (see `time_limits`) of everything that the candidate runs; the scenario may say less.
    `alone`: nothing else of its job runs meanwhile (see `Bench.blames_candidate`).
    """
    require(scenario.scoring, require_trust)
    where = place_of(scenario, base_spec, place)
    require_place(scenario.scoring, where)
    bench = Bench(scenario, sandboxes, where, timeout_seconds, alone=alone, trusted_spec=trusted_place(base_spec),
                  demands_separate=require_trust is Trust.SEPARATE)  # fmt: skip
    candidate, contract = scenario.candidate, scenario.scoring
    own = size_at_least(candidate.files, scenario.files, scenario.statement, most=MOST_AT_ONCE)
    size = (own + contract.size) // LETTERS
    if (mistake := await aside(size, _first_look, scenario)) is not None:
        reason, detail = mistake
        verdict = failed(reason, one_line(detail), planned=_planned(contract), run=0)
    elif candidate.entry not in bench.files():
        detail = f"a file of the problem takes the place of {candidate.entry}, the candidate's entry"
        verdict = failed(Reason.MISSING_ENTRY_POINT, one_line(detail), planned=_planned(contract), run=0)
    else:
        if is_of_image(where) and _may_run_python(contract):
            bench.python = await python_of(bench)
        verdict = await blamed(contract, bench, _apply_to_files, planned=_planned(contract))
        nothing_ran = bench.meter.cpu_seconds < _NOTHING_RAN_SECONDS and verdict.detail != _TOO_LARGE
        if verdict.reason is Reason.MEMORY_LIMIT and nothing_ran:
            verdict = await _blamed_on_limits(bench) or verdict
    verdict = _caught(verdict) if scenario.honeypot else verdict
    return await aside(size, _envelope, scenario, attempt, verdict, bench.meter)


def _may_run_python(contract: Contract) -> bool:
    """Candidates are programs that harena starts by their language."""
    return not isinstance(contract, HarborContract | TextContract | JudgeContract)


def _first_look(scenario: Scenario) -> tuple[Reason, str] | None:
    """The candidate's mistake. What names the contract is computed here, too, and then known: scorers ask for it in the
    event loop."""
    _ = scenario.scoring.fingerprint
    return scenario.candidate.mistake


def _caught(verdict: Verdict) -> Verdict:
    """The verdict of a honeypot: to pass it is a sign of cheating, whatever the cheat was."""
    if not verdict.passed:
        return verdict
    detail = "passed a honeypot, which no honest candidate can"
    return replace(verdict, score=0.0, passed=False, reason=Reason.HONEYPOT, validity=Validity.SUSPECT, detail=detail)


async def _blamed_on_limits(bench: Bench) -> Verdict | None:
    """Nothing of the candidate has been seen to run: if an empty program, without the candidate's files, does not get
    further under the same limits, these are to blame. Asked where no candidate can answer."""
    if await starts(bench):
        return None
    megabytes = (bench.spec.limits.memory_bytes or 0) // MIB
    return broken_contract(f"the interpreter cannot start in {megabytes} MiB; raise `memory_mb`")


async def _apply_to_files(contract: Contract, bench: Bench) -> Verdict:
    try:
        return await _apply(contract, bench)
    except SandboxFileError as error:
        if error.reason != "NO_SPACE" or not bench.candidate_fills_the_disk:
            raise
        return failed(Reason.MEMORY_LIMIT, _TOO_LARGE, planned=_planned(contract), run=0)


async def _apply(contract: Contract, bench: Bench) -> Verdict:
    try:
        return await _applied(contract, bench)
    except MissingInterpreterError as error:
        # the candidate names its entry and writes its first line: no contract asks for that language
        detail = one_line(f"{error} {CHOSEN_LANGUAGE}", 500)
        return failed(Reason.MISSING_ENTRY_POINT, detail, planned=_planned(contract), run=0, unjudged=True)
    except MemoryFilledError as error:
        return failed(Reason.MEMORY_LIMIT, str(error), planned=_planned(contract), run=0, unjudged=True)


async def _applied(contract: Contract, bench: Bench) -> Verdict:
    return await _scorer_of(type(contract))(bench, contract)


def load_scorers(kinds: Iterable[type[Contract]]) -> None:
    """Load the scorers of contracts of these kinds. Where the first run that needs one does it, the event loop waits
    for that, and with it all other runs."""
    for kind in kinds:
        _scorer_of(kind)


def _scorer_of(kind: type[Contract]) -> Callable[[Bench, Any], Awaitable[Verdict]]:
    """What gives the verdict of contracts of a kind. It is loaded when it is first asked for: most jobs have contracts
    of one kind, and to load all scorers takes a tenth of a second. A server has loaded them before."""
    if issubclass(kind, TestsContract):
        return score_tests
    if issubclass(kind, WeightedContract):
        from harena.scoring.scorers.weighted import score_weighted

        return partial(score_weighted, apply=_apply)
    if issubclass(kind, TextContract):
        from harena.scoring.scorers.text import score_text

        return score_text
    if issubclass(kind, JudgeContract):
        from harena.scoring.scorers.judgement import score_judge

        return score_judge
    if issubclass(kind, ReferenceContract):
        from harena.scoring.scorers.reference import score_reference

        return score_reference
    if issubclass(kind, StdioContract):
        from harena.scoring.scorers.output import score_stdio

        return score_stdio
    if issubclass(kind, NumericContract):
        from harena.scoring.scorers.output import score_numeric

        return score_numeric
    if issubclass(kind, PythonContract):
        from harena.scoring.scorers.python import score_python

        return score_python
    if issubclass(kind, HarborContract):
        from harena.scoring.scorers.harbor import score_harbor

        return score_harbor
    assert issubclass(kind, CommandContract)
    from harena.scoring.scorers.command_forms import score_command

    return score_command


def infra_result(scenario: Scenario, error: HarenaError, *, attempt: int = 1, platform_retries: int = 0) -> RunResult:
    """The envelope after the last retry: no score, never 0."""
    starved = error.reason == Reason.STARVED.value
    verdict = Verdict(
        score=None,
        passed=False,
        reason=Reason.STARVED if starved else Reason.PLATFORM_ERROR,
        detail=" ".join(told_to_clients(error).split())[:500],
        validity=Validity.INFRA,
        planned=_planned(scenario.scoring),
        run=0,
    )
    return _envelope(scenario, attempt, verdict, Meter(), platform_retries)


def _planned(contract: Contract) -> int:
    if isinstance(contract, TestsContract):
        return len(contract.checks)
    if isinstance(contract, ReferenceContract):
        return len(contract.inputs)
    if isinstance(contract, WeightedContract):
        return sum(_planned(part.scoring) for part in contract.parts.values())
    return len(contract.cases) if isinstance(contract, StdioContract) else 1


def _envelope(scenario: Scenario, attempt: int, verdict: Verdict, meter: Meter, platform_retries: int = 0) -> RunResult:
    origin = meter.origin
    return RunResult(
        scenario_id=scenario.id,
        attempt=attempt,
        score=verdict.score,
        passed=verdict.passed,
        validity=verdict.validity,
        trust=verdict.trust or scenario.scoring.trust,
        reason=verdict.reason,
        detail=verdict.detail,
        duration_seconds=meter.duration_seconds,
        cpu_seconds=meter.cpu_seconds,
        peak_memory_bytes=meter.peak_memory_bytes,
        checks_planned=verdict.planned,
        checks_run=verdict.run,
        checks_passed=verdict.checks_passed,
        scorer_version=scenario.scoring.version,
        evidence=_evidence(scenario, verdict),
        scenario_digest=scenario.digest,
        candidate_digest=scenario.candidate.digest,
        profile=origin.profile if origin else "",
        image_digest=origin.image_digest if origin else "",
        blueprint_digest=origin.blueprint_digest if origin else "",
        platform_retries=platform_retries,
        metadata=scenario.metadata,
    )


def _evidence(scenario: Scenario, verdict: Verdict) -> str:
    """sha256 over contract, candidate, scorer version and observations; the same run gives the same digest."""
    named = {
        "contract": scenario.scoring.fingerprint,
        "candidate": scenario.candidate.files,
        "entry": scenario.candidate.entry,
        "files": dict(scenario.files),
        "scorer_version": scenario.scoring.version,
        "observations": verdict.observations,
        "score": verdict.score,
    }
    return digest_of(named)
