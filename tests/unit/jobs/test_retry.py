"""Retry decisions."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import (
    HostUnsupportedError,
    NotFoundError,
    PlatformError,
    SandboxResourceExhaustedError,
    ValidationError,
)
from harena.jobs.retry import (
    ALONE_AFTER_INTERRUPTIONS,
    MOST_INTERRUPTIONS,
    GiveUp,
    RetryAfter,
    RetryAlone,
    RetryPolicy,
    decide,
    decide_interrupted,
    decide_scored,
)

LOST = PlatformError("the node was lost", step="exec")


def test_retry_attempts_counts_the_further_tries() -> None:
    """With retry_attempts=2 a run is tried three times in all."""
    policy = RetryPolicy(retry_attempts=2)
    decisions = [decide(policy, LOST, failures=failures) for failures in (1, 2, 3)]
    assert [type(decision) for decision in decisions] == [RetryAfter, RetryAfter, GiveUp]


def test_no_retries() -> None:
    """retry_attempts=0 gives up at the first failure, and for this run only."""
    assert decide(RetryPolicy(retry_attempts=0), LOST, failures=1) == GiveUp(whole_job=False)


@pytest.mark.parametrize("error", [HostUnsupportedError("no user namespaces"), NotFoundError("no such image")])
def test_what_no_retry_can_heal_ends_the_job(error: Exception) -> None:
    """A host that cannot isolate, or a missing image, is the same for every run."""
    assert decide(RetryPolicy(retry_attempts=5), error, failures=1) == GiveUp(whole_job=True)


def test_a_wrong_request_is_not_repeated() -> None:
    """It would be as wrong the next time; the job's other runs are not concerned."""
    assert decide(RetryPolicy(retry_attempts=5), ValidationError("no"), failures=1) == GiveUp(whole_job=False)


def test_the_errors_own_delay_is_respected() -> None:
    """An error that says when to come back is not asked earlier."""
    full = SandboxResourceExhaustedError("full", retry_delay=timedelta(seconds=7))
    assert decide(RetryPolicy(), full, failures=1) == RetryAfter(7.0)


@given(failures=st.integers(1, 10_000), first=st.floats(0.001, 5), maximum=st.floats(5, 60))
def test_delays_grow_and_stay_bounded(failures: int, first: float, maximum: float) -> None:
    """However often a run fails, the next delay is not shorter than the last and never above the maximum."""
    policy = RetryPolicy(retry_attempts=100_000, first_delay_seconds=first, max_delay_seconds=maximum)
    now = decide(policy, LOST, failures=failures)
    later = decide(policy, LOST, failures=failures + 1)
    assert isinstance(now, RetryAfter)
    assert isinstance(later, RetryAfter)
    assert first <= now.delay_seconds <= later.delay_seconds <= maximum


def test_a_score_is_repeated_only_where_the_job_asks_for_its_reason() -> None:
    """By default a score stands; a reason that is asked for is repeated as often as failures are."""
    assert decide_scored(RetryPolicy(retry_attempts=5), "timeout", failures=0) is None
    policy = RetryPolicy(retry_attempts=2, retry_reasons=frozenset({"timeout"}))
    assert decide_scored(policy, "wrong_answer", failures=0) is None
    decisions = [decide_scored(policy, "timeout", failures=failures) for failures in (0, 1, 2)]
    assert decisions == [RetryAfter(0.1), RetryAfter(0.2), None]


def test_a_run_under_which_nodes_are_lost_is_isolated_and_then_given_up() -> None:
    """Its neighbours of the first times are none the worse: nothing that was not alone is given up."""
    decisions = [decide_interrupted(lost) for lost in range(MOST_INTERRUPTIONS + 2)]
    assert decisions[:ALONE_AFTER_INTERRUPTIONS] == [None] * ALONE_AFTER_INTERRUPTIONS
    assert decisions[ALONE_AFTER_INTERRUPTIONS:MOST_INTERRUPTIONS] == [RetryAlone()] * 3
    assert decisions[MOST_INTERRUPTIONS:] == [GiveUp(), GiveUp()]


def test_a_run_that_looked_starved_is_always_tried_again() -> None:
    """Its second try tells whether the host or the candidate was to blame, also where a job asks for no retries."""
    starved = PlatformError("no processor", step="score", reason="starved")
    decisions = [decide(RetryPolicy(retry_attempts=0), starved, failures=failures) for failures in (1, 2)]
    assert decisions == [RetryAfter(0.1), GiveUp()]
    assert decide(RetryPolicy(retry_attempts=0), PlatformError("lost", step="score"), failures=1) == GiveUp()
