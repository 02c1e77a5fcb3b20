"""Which runs are scored twice, and what becomes of the second score."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import PlatformError
from harena.core.results import Reason, Rescore, RunResult, Trust, Validity
from harena.jobs.rescore import rescoring, sampled
from harena.jobs.schedule import Ticket, tickets


def result(score: float | None, reason: Reason = Reason.PASSED) -> RunResult:
    """One try."""
    validity = Validity.INFRA if score is None else Validity.VALID
    return RunResult(
        scenario_id="s", score=score, passed=score == 1, validity=validity, trust=Trust.SEPARATE, reason=reason
    )


class Scorer:
    """Gives these answers, one after the other, and counts how often it was asked about each run."""

    def __init__(self, *answers: RunResult | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[int] = []

    async def __call__(self, ticket: Ticket) -> RunResult:
        self.asked.append(ticket.number)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize(
    ("fraction", "total", "count"), [(0.0, 100, 0), (0.1, 100, 10), (0.001, 100, 1), (1.0, 7, 7), (0.5, 1, 1)]
)
def test_the_sample_is_the_share_that_was_asked_for(fraction: float, total: int, count: int) -> None:
    """At least one, unless none; the same for the same seed, another for another one."""
    chosen = sampled(fraction, total, seed="job_1")
    assert len(chosen) == count
    assert chosen <= frozenset(range(total))
    assert chosen == sampled(fraction, total, seed="job_1")


@given(fraction=st.floats(0.001, 1), total=st.integers(1, 600), seed=st.text(max_size=9))
def test_a_sample_has_exactly_its_size(fraction: float, total: int, seed: str) -> None:
    """Membership is computed, number by number, and adds up; nothing outside the job is chosen."""
    chosen = sampled(fraction, total, seed=seed)
    assert sum(number in chosen for number in range(-2, 2 * total)) == len(chosen) == len([*chosen])


def test_a_sample_is_spread_over_the_job() -> None:
    """Each tenth of a job of a million runs has about its share, and the sample itself holds no number."""
    tracemalloc.start()
    chosen = sampled(0.5, 1_000_000, seed="job_1")
    assert tracemalloc.get_traced_memory()[1] < 10_000
    tracemalloc.stop()
    for first in range(0, 1_000_000, 100_000):
        assert 430 < sum(number in chosen for number in range(first, first + 1000)) < 570


def test_samples_of_two_jobs_differ() -> None:
    """Nobody knows beforehand which runs are looked at twice."""
    assert sampled(0.1, 1000, seed="job_1") != sampled(0.1, 1000, seed="job_2")


async def test_only_chosen_runs_are_scored_twice_and_the_first_score_stands() -> None:
    """The second one is noted beside it."""
    scorer = Scorer(result(1.0), result(1.0), result(0.0, Reason.TIMEOUT))
    score = rescoring(scorer, frozenset({1}))
    first, second = tickets(2, 1)
    assert (await score(first)).rescore is None
    twice = await score(second)
    assert scorer.asked == [0, 1, 1]
    assert (twice.score, twice.reason) == (1.0, Reason.PASSED)
    assert twice.rescore == Rescore(score=0.0, reason=Reason.TIMEOUT)
    assert twice.rescore.agrees(twice.score) is False


async def test_a_platform_failure_of_the_second_try_costs_nothing() -> None:
    """The run has its score."""
    score = rescoring(Scorer(result(1.0), PlatformError("lost", step="x")), frozenset({0}))
    twice = await score(tickets(1, 1)[0])
    assert twice.score == 1.0
    assert twice.rescore is not None
    assert twice.rescore.error == "PlatformError: lost"
    assert twice.rescore.agrees(1.0) is None


async def test_a_failure_of_the_first_try_is_raised_and_a_missing_score_not_scored_again() -> None:
    """Retries and reasons are as without re-scoring."""
    scorer = Scorer(PlatformError("lost", step="x"), result(None, Reason.SCORER_ERROR))
    score = rescoring(scorer, frozenset({0}))
    with pytest.raises(PlatformError):
        await score(tickets(1, 1)[0])
    assert (await score(tickets(1, 1)[0])).rescore is None
    assert scorer.asked == [0, 0]
