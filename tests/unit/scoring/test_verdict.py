"""From single checks to one verdict, and who is to blame for a time-out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.models import ExecOutcome, ExecResult, ResourceUsage
from harena.core.results import Reason, Validity
from harena.scoring.verdict import (
    CheckOutcome,
    Share,
    StarvedError,
    classify_timeout,
    from_checks,
    one_line,
    program_failure,
    tampered,
)

PASSED = CheckOutcome(passed=True, reason=Reason.PASSED)
WRONG = CheckOutcome(passed=False, reason=Reason.WRONG_ANSWER, detail="no")


@pytest.mark.parametrize(
    ("wall", "cpu", "delay", "reason"),
    [
        (10.0, 10.0, 0.0, Reason.TIMEOUT),
        (10.0, 0.0, 0.0, Reason.TIMEOUT),
        (10.0, 2.0, 8.0, Reason.STARVED),
        (10.0, 6.0, 4.0, Reason.TIMEOUT),
        (10.0, 4.0, 5.0, Reason.STARVED),
        (10.0, 19.0, 900.0, Reason.TIMEOUT),
        (0.0, 0.0, 0.0, Reason.TIMEOUT),
    ],
    ids=["busy", "sleeping", "starved", "crowded", "half", "starves itself with threads", "unknown"],
)
def test_starvation_is_told_from_slowness(wall: float, cpu: float, delay: float, reason: Reason) -> None:
    """Run delay and processor time decide."""
    assert classify_timeout(wall_seconds=wall, cpu_seconds=cpu, run_delay_seconds=delay) is reason


@pytest.mark.parametrize(
    ("cpu", "delay", "cores", "alone", "reason"),
    [
        (2.5, 9.0, None, False, Reason.STARVED),
        (2.5, 9.0, None, True, Reason.TIMEOUT),
        (1.9, 9.0, None, True, Reason.STARVED),
        (1.0, 9.0, 0.1, False, Reason.TIMEOUT),
        (0.4, 9.0, 0.1, False, Reason.STARVED),
        (0.2, 9.0, 0.1, True, Reason.TIMEOUT),
        (4.9, 9.0, 4.0, False, Reason.STARVED),
    ],
    ids=[
        "sixty children among neighbours",
        "sixty children alone",
        "a host that is busy otherwise",
        "slowed by its own limit",
        "starved below its limit",
        "alone below its limit",
        "a limit over one core promises one",
    ],
)
def test_a_candidate_cannot_buy_itself_an_excuse(
    cpu: float, delay: float, cores: float | None, alone: bool, reason: Reason
) -> None:
    """10 s of wall time: what its whole tree got counts, against what it could count on."""
    given = {"wall_seconds": 10.0, "cpu_seconds": cpu, "run_delay_seconds": delay}
    assert classify_timeout(**given, cores=cores, alone=alone) is reason


@given(st.floats(0, 100), st.floats(0, 100), st.none() | st.floats(0.01, 8))
def test_alone_is_never_a_better_excuse(cpu: float, delay: float, cores: float | None) -> None:
    """What is a timeout among neighbours is one without them."""
    given = {"wall_seconds": 10.0, "cpu_seconds": cpu, "run_delay_seconds": delay}
    among, alone = (classify_timeout(**given, cores=cores, alone=alone) for alone in (False, True))
    assert among is Reason.STARVED or alone is Reason.TIMEOUT


@given(st.floats(0.001, 1000), st.floats(0, 1))
def test_a_program_that_sleeps_is_never_starved(wall: float, share: float) -> None:
    """No run delay, no excuse, however little it used."""
    assert classify_timeout(wall_seconds=wall, cpu_seconds=wall * share, run_delay_seconds=0.0) is Reason.TIMEOUT


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
    failure = program_failure(result, Share())
    assert failure is not None
    assert failure[0] is reason


def test_a_starved_program_is_the_platforms_failure() -> None:
    """It is raised, so that the job tries again."""
    starved = ended(
        ExecOutcome.TIMEOUT, -9, duration_seconds=10.0, run_delay_seconds=9.0, usage=ResourceUsage(user_seconds=0.5)
    )
    with pytest.raises(StarvedError, match="processor"):
        program_failure(starved, Share())
    fed = ended(
        ExecOutcome.TIMEOUT, -9, duration_seconds=10.0, run_delay_seconds=9.0, usage=ResourceUsage(user_seconds=2.5)
    )
    assert program_failure(fed, Share(alone=True)) == (Reason.TIMEOUT, "still running after 10.00 s")


def test_details_are_one_printable_line() -> None:
    """Escape sequences of a program do not reach a terminal."""
    assert one_line("a\n\x1b[31mb\x00" + "c" * 1000, 10) == "a  [31mb c"
