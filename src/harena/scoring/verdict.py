"""What the scorers of all contracts say, and how single checks become one verdict. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from harena.core.errors import PlatformError
from harena.core.models import ExecOutcome, ExecResult
from harena.core.results import Reason, Trust, Validity


class StarvedError(PlatformError):
    """The program ran out of time on a host that did not give it the processor. Worth another try."""

    def __init__(self, message: str) -> None:
        super().__init__(message, step="score", reason=Reason.STARVED.value)


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


@dataclass(slots=True)
class Meter:
    """What all execs of one run used."""

    duration_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0

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


def failed(reason: Reason, detail: str, *, planned: int = 1, run: int = 1, observation: str = "") -> Verdict:
    """Score 0, for what the program did."""
    return Verdict(
        score=0.0, passed=False, reason=reason, detail=detail, planned=planned, run=run, observations=(observation,)
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

    cores: float | None = None
    """its own limit; None = no limit"""
    alone: bool = False
    """nothing else of its job ran at that time"""


_SHARE_OF_A_FED_TREE = 0.5
_SHARE_OF_A_FED_TREE_ALONE = 0.2


def classify_timeout(
    *,
    wall_seconds: float,
    cpu_seconds: float,
    run_delay_seconds: float,
    cores: float | None = None,
    alone: bool = False,
) -> Reason:
    """TIMEOUT, or STARVED where the host is to blame. A candidate must not be able to buy itself the second.

    `cpu_seconds` is the processor time of the whole process tree, `run_delay_seconds` the longest wait of one of its
    threads, `cores` the tree's own limit (None = none), `alone` = nothing else of the job ran.

    Starved takes both: one thread was runnable and got no processor for at least half of the wall time, and the tree
    got less than half of one core, or of its own limit where that is less. A program that sleeps has no run delay. One
    that starves itself with many threads or children has plenty, and the processor time to show for it; so has one
    whose own limit slows it down. Where sandboxes share the processor evenly, sixty busy children get no more of it
    than one neighbour and look starved: the run is tried again alone. Then a fifth is enough to be a timeout, because
    nobody was there to take the rest but its own processes.
    """
    promised_seconds = wall_seconds * min(1.0, cores or 1.0)
    fed = _SHARE_OF_A_FED_TREE_ALONE if alone else _SHARE_OF_A_FED_TREE
    waited = wall_seconds > 0 and run_delay_seconds >= 0.5 * wall_seconds
    return Reason.STARVED if waited and cpu_seconds < fed * promised_seconds else Reason.TIMEOUT


def timeout_reason(result: ExecResult, what: str, share: Share) -> Reason:
    """TIMEOUT. Raises StarvedError where the host is to blame."""
    reason = classify_timeout(
        wall_seconds=result.duration_seconds,
        cpu_seconds=result.usage.cpu_seconds,
        run_delay_seconds=result.run_delay_seconds,
        cores=share.cores,
        alone=share.alone,
    )
    if reason is Reason.STARVED:
        raise StarvedError(
            f"{what} ran out of time after {result.duration_seconds:.2f} s, of which it waited "
            f"{result.run_delay_seconds:.2f} s for a processor; lower the job's concurrency"
        )
    return reason


def program_failure(result: ExecResult, share: Share) -> tuple[Reason, str] | None:
    """(why, one line) if a program did not end well. Raises StarvedError."""
    if result.outcome is ExecOutcome.MEMORY:
        return Reason.MEMORY_LIMIT, "killed at the memory limit"
    if result.stdout_truncated:
        return Reason.OUTPUT_LIMIT, f"printed more than the {len(result.stdout)} bytes allowed"
    if result.outcome is ExecOutcome.TIMEOUT:
        return timeout_reason(result, "the program", share), f"still running after {result.duration_seconds:.2f} s"
    if result.returncode == 0:
        return None
    last_line = one_line(result.stderr.rstrip().rpartition(b"\n")[2].decode("utf-8", "replace"))
    error_name = last_line.partition(":")[0]
    if result.returncode < 0:
        return Reason.EXCEPTION, f"ended by signal {-result.returncode}"
    if error_name in ("SyntaxError", "IndentationError", "TabError"):
        return Reason.SYNTAX_ERROR, last_line
    if error_name == "MemoryError":
        return Reason.MEMORY_LIMIT, last_line
    return Reason.EXCEPTION, f"exit code {result.returncode}" + (f": {last_line}" if last_line else "")


def one_line(text: str, room: int = 300) -> str:
    """Printable, on one line, of bounded length."""
    return "".join(char if char.isprintable() else " " for char in text[:room]).strip()


def digest(observed: bytes) -> str:
    """Short name of what was observed."""
    return hashlib.sha256(observed).hexdigest()[:32]
