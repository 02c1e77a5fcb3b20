"""What the scorers of all contracts say, and how single checks become one verdict. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harena.core.errors import HarenaError, PlatformError
from harena.core.models import ExecOutcome, ExecResult, SandboxOrigin
from harena.core.results import Reason, Trust, Validity
from harena.scoring.slices import last_line


class StarvedError(PlatformError):
    """The program ran out of time on a host that did not give it the processor. Worth another try."""

    def __init__(self, message: str) -> None:
        super().__init__(message, step="score", reason=Reason.STARVED.value)


class ContractFailedError(HarenaError):
    """The contract has no verdict for what it saw. If it has one for a candidate that does nothing, the candidate is to
    blame, else the contract (see `blame`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutcome:
    """One planned check."""

    passed: bool
    reason: Reason
    detail: str = ""
    observation: str = ""
    """what was seen, for the evidence; never a time"""
    ran: bool = True
    """it came to an end of its own; False = cut off, or never reached"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A score and where it comes from; the envelope without what was measured."""

    score: float | None
    passed: bool
    reason: Reason
    detail: str = ""
    validity: Validity = Validity.VALID
    planned: int = 1
    run: int = 1
    checks_passed: int = 0
    observations: tuple[str, ...] = ()
    trust: Trust | None = None
    """None = the contract's"""
    unjudged: bool = False
    """the lowest score stands for a judgement that the candidate kept from being made: it says nothing of what was to
    be judged, and where that costs (in a formula of `weighted`) it is taken for granted"""


PASSED_BUT_TOOK = "passed, but for what it took of the tests"
"""observation of a run in the tests' own process in which all has passed, and that is no pass for this reason alone"""


@dataclass(slots=True)
class Meter:
    """What all execs of one run used, and where they ran."""

    duration_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    origin: SandboxOrigin | None = None
    """what the candidate's sandbox was made of; None = it was in none"""

    def add(self, result: ExecResult) -> None:
        """Count one exec."""
        self.duration_seconds += result.duration_seconds
        self.cpu_seconds += result.usage.cpu_seconds
        self.peak_memory_bytes = max(self.peak_memory_bytes, result.usage.peak_memory_bytes)


def tampered(detail: str, *, planned: int = 1, outcomes: Sequence[CheckOutcome] = ()) -> Verdict:
    """Something spoke that may not speak: scored with the minimum, and marked."""
    return Verdict(
        score=0.0,
        passed=False,
        reason=Reason.PROTOCOL,
        detail=detail,
        validity=Validity.SUSPECT,
        planned=planned,
        run=sum(outcome.ran for outcome in outcomes),
        checks_passed=sum(outcome.passed for outcome in outcomes),
        observations=tuple(outcome.observation for outcome in outcomes),
    )


def broken_contract(detail: str) -> Verdict:
    """The contract itself failed on a good sandbox: no score."""
    return Verdict(
        score=None, passed=False, reason=Reason.SCORER_ERROR, detail=detail, validity=Validity.INVALID, run=0
    )


def failed(
    reason: Reason, detail: str, *, planned: int = 1, run: int = 1, observation: str = "", unjudged: bool = False
) -> Verdict:
    """Score 0, for what the program did. `unjudged`: see Verdict."""
    return Verdict(
        score=0.0,
        passed=False,
        reason=reason,
        detail=detail,
        planned=planned,
        run=run,
        observations=(observation,),
        unjudged=unjudged,
    )


def from_checks(outcomes: Sequence[CheckOutcome], weights: Sequence[float], *, partial_credit: bool) -> Verdict:
    """One verdict of many checks. `outcomes` may be shorter than `weights`: what did not run did not pass."""
    passed_count = sum(outcome.passed for outcome in outcomes)
    passed = passed_count == len(outcomes) == len(weights)
    earned = sum(weight for outcome, weight in zip(outcomes, weights, strict=False) if outcome.passed)
    share = earned / sum(weights)
    failure = next((outcome for outcome in outcomes if not outcome.passed), None)
    if passed:
        score, reason, detail = 1.0, Reason.PASSED, ""
    elif failure is None:
        score, reason, detail = 0.0, Reason.EXITED_EARLY, f"{len(outcomes)} of {len(weights)} checks ran"
    else:
        score, reason, detail = 0.0, failure.reason, failure.detail
    if partial_credit and not passed:
        score = share
        reason = Reason.PARTIAL if passed_count else reason
    return Verdict(
        score=score,
        passed=passed,
        reason=reason,
        detail=detail,
        planned=len(weights),
        run=sum(outcome.ran for outcome in outcomes),
        checks_passed=passed_count,
        observations=tuple(outcome.observation for outcome in outcomes),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What a run could count on of the processor."""

    alone: bool = False
    """it was starved before, and nothing else of its job runs now"""


def program_failure(result: ExecResult) -> tuple[Reason, str] | None:
    """(why, one line) if a program did not end well. That a program was starved is found while it runs, see
    `fair_time`: what has become a result is the program's doing."""
    if result.outcome is ExecOutcome.MEMORY:
        return Reason.MEMORY_LIMIT, "killed at the memory limit"
    if result.stdout_truncated:
        return Reason.OUTPUT_LIMIT, f"printed more than the {len(result.stdout)} bytes allowed"
    if result.outcome is ExecOutcome.TIMEOUT:
        used = f"{result.usage.cpu_seconds:.2f} s of processor time"
        return Reason.TIMEOUT, f"still running after {result.duration_seconds:.2f} s and {used}"
    if result.returncode == 0:
        return None
    said = one_line(last_line(result.stderr))
    error_name = said.partition(":")[0]
    if result.returncode < 0:
        return Reason.EXCEPTION, f"ended by signal {-result.returncode}"
    if error_name in ("SyntaxError", "IndentationError", "TabError"):
        return Reason.SYNTAX_ERROR, said
    if error_name == "MemoryError":
        return Reason.MEMORY_LIMIT, said
    return Reason.EXCEPTION, f"exit code {result.returncode}" + (f": {said}" if said else "")


def one_line(text: str, room: int = 300) -> str:
    """Printable, on one line, of bounded length."""
    return "".join(char if char.isprintable() else " " for char in text[:room]).strip()


def digest(observed: bytes) -> str:
    """Short name of what was observed."""
    return digest_of_parts((observed,))


def digest_of_parts(observed: Iterable[bytes]) -> str:
    """Short name of what was observed, which is given in parts."""
    made = hashlib.sha256()
    for part in observed:
        made.update(part)
    return made.hexdigest()[:32]
