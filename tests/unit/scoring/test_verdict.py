"""From single checks to one verdict, and who is to blame for a time-out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.models import ExecOutcome, ExecResult, ResourceUsage
from harena.core.results import Reason, Validity
from harena.scoring.verdict import (
    CheckOutcome,
    from_checks,
    one_line,
    program_failure,
    tampered,
)

PASSED = CheckOutcome(passed=True, reason=Reason.PASSED)
WRONG = CheckOutcome(passed=False, reason=Reason.WRONG_ANSWER, detail="no")


@given(st.lists(st.booleans(), max_size=8), st.integers(1, 8), st.booleans())
def test_a_full_score_takes_every_planned_check(ran: list[bool], planned: int, partial_credit: bool) -> None:
    """Passing a part, or only what ran, is never passing."""
    outcomes = [PASSED if passed else WRONG for passed in ran[:planned]]
    verdict = from_checks(outcomes, [1.0] * planned, partial_credit=partial_credit)
    assert verdict.passed is (len(outcomes) == planned and all(ran[:planned]))
    assert (verdict.score == 1.0) is verdict.passed
    assert verdict.score is not None
    if not partial_credit:
        assert verdict.score in (0.0, 1.0)
    assert verdict.checks_passed == sum(ran[:planned])


def test_partial_credit_counts_weights() -> None:
    """Three of four."""
    verdict = from_checks([PASSED, WRONG, PASSED], [1, 1, 2], partial_credit=True)
    assert (verdict.score, verdict.reason, verdict.detail) == (0.75, Reason.PARTIAL, "no")


def test_no_credit_keeps_the_first_failures_reason() -> None:
    """Zero of all is not partial."""
    assert from_checks([WRONG, WRONG], [1, 1], partial_credit=True).reason is Reason.WRONG_ANSWER


def test_tampering_is_the_minimum_whatever_had_passed() -> None:
    """And it is marked."""
    verdict = tampered("spoke", planned=3, outcomes=[PASSED, PASSED])
    assert (verdict.score, verdict.validity, verdict.checks_passed) == (0.0, Validity.SUSPECT, 2)


def ended(outcome: ExecOutcome, code: int = 0, stderr: bytes = b"", **fields: object) -> ExecResult:
    return ExecResult(outcome=outcome, returncode=code, stdout=b"", stderr=stderr, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (ended(ExecOutcome.EXITED, 1, b"Traceback\nValueError: x"), Reason.EXCEPTION),
        (ended(ExecOutcome.EXITED, 1, b"  ^\nSyntaxError: bad"), Reason.SYNTAX_ERROR),
        (ended(ExecOutcome.EXITED, 1, b"MemoryError"), Reason.MEMORY_LIMIT),
        (ended(ExecOutcome.SIGNALED, -11), Reason.EXCEPTION),
        (ended(ExecOutcome.MEMORY, -9), Reason.MEMORY_LIMIT),
        (ended(ExecOutcome.TIMEOUT, -9), Reason.TIMEOUT),
        (ended(ExecOutcome.EXITED, 0, stdout_truncated=True), Reason.OUTPUT_LIMIT),
    ],
)
def test_each_bad_end_has_its_reason(result: ExecResult, reason: Reason) -> None:
    """As far as one exec shows it."""
    failure = program_failure(result)
    assert failure is not None
    assert failure[0] is reason


def test_a_programs_time_that_is_over_is_its_own_doing() -> None:
    """Whether the host starved it was decided while it ran: a result is not excused by what the candidate can steer."""
    waited = ended(
        ExecOutcome.TIMEOUT, -9, duration_seconds=10.0, run_delay_seconds=9.9, usage=ResourceUsage(user_seconds=0.5)
    )
    assert program_failure(waited) == (
        Reason.TIMEOUT,
        "still running after 10.00 s and 0.50 s of processor time",
    )


def test_details_are_one_printable_line() -> None:
    """Escape sequences of a program do not reach a terminal."""
    assert one_line("a\n\x1b[31mb\x00" + "c" * 1000, 10) == "a  [31mb c"
