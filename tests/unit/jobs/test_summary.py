"""What runs add up to."""

from dataclasses import dataclass

import pytest

from harena.core.catalog import NO_LINEAGE, Lineage
from harena.core.job_store import JobCounts
from harena.core.records.benchmark_jobs import BenchmarkRun
from harena.core.results import Reason, Rescore, RunResult, Trust, Validity
from harena.jobs.summary import progress, run_record, summarise


@dataclass(frozen=True)
class Known:
    """A known verdict."""

    passed: bool
    reason: tuple[str, ...] = ()
    score: float | None = None

    def matches(self, result: RunResult) -> bool:
        return result.passed == self.passed and (not self.reason or result.reason in self.reason)


@dataclass(frozen=True)
class Contract:
    """Any contract."""

    trust: Trust = Trust.SEPARATE


@dataclass(frozen=True)
class Named:
    """A scenario as a job sees it."""

    id: str = "s"
    expected: Known | None = None
    problem_id: str | None = "p"
    honeypot: bool = False
    lineage: Lineage = NO_LINEAGE
    scoring: Contract = Contract()


def run(
    score: float | None,
    *,
    reason: Reason = Reason.PASSED,
    validity: Validity = Validity.VALID,
    expected: Known | None = None,
    rescore: Rescore | None = None,
    honeypot: bool = False,
) -> BenchmarkRun:
    """One finished run."""
    result = RunResult(
        scenario_id="s",
        score=score,
        passed=score == 1.0,
        validity=validity,
        trust=Trust.SEPARATE,
        reason=reason,
        rescore=rescore,
    )
    return run_record(result, run=0, scenario=Named(expected=expected, honeypot=honeypot))


def test_platform_failures_are_no_zeros() -> None:
    """A lost run lowers neither the pass rate nor the mean score."""
    runs = [run(1.0), run(0.5, reason=Reason.PARTIAL), run(None, reason=Reason.PLATFORM_ERROR, validity=Validity.INFRA)]
    summary = summarise(runs, total=4, duration_seconds=2.0)
    assert summary["scored"] == 2
    assert summary["passed"] == 1
    assert summary["pass_rate"] == pytest.approx(0.5)
    assert summary["pass_rate_of_all"] == pytest.approx(0.25)
    assert summary["mean_score"] == pytest.approx(0.75)
    assert summary["infra"] == 1
    assert summary["runs_per_second"] == pytest.approx(1.5)
    assert summary["by_reason"] == {"passed": 1, "partial": 1, "platform_error": 1}
    assert summary["verdicts"] is None


def test_nothing_scored_has_no_rate() -> None:
    """Rates over nothing are None, not 0."""
    summary = summarise([run(None, validity=Validity.INVALID, reason=Reason.SCORER_ERROR)], total=1, duration_seconds=0)
    assert (summary["pass_rate"], summary["mean_score"], summary["invalid"]) == (None, None, 1)


def test_cancelled_runs_are_counted_apart() -> None:
    """Cancellation is neither a failure of the platform nor of a program."""
    summary = summarise(
        [run(None, reason=Reason.CANCELLED, validity=Validity.INFRA), run(0.0, reason=Reason.WRONG_ANSWER)],
        total=2,
        duration_seconds=1,
    )
    assert (summary["cancelled"], summary["infra"], summary["scored"]) == (1, 0, 1)


def test_known_verdicts_are_judged_run_by_run() -> None:
    """Each run says whether its verdict is the known one, and the summary counts them."""
    runs = [
        run(1.0, expected=Known(passed=True)),
        run(0.0, reason=Reason.TIMEOUT, expected=Known(passed=False, reason=("timeout", "memory_limit"))),
        run(0.0, reason=Reason.WRONG_ANSWER, expected=Known(passed=False, reason=("timeout",))),
        run(0.0, reason=Reason.WRONG_ANSWER),
        run(None, reason=Reason.CANCELLED, validity=Validity.INFRA, expected=Known(passed=True)),
    ]
    assert [one["verdict_right"] for one in runs] == [True, True, False, None, None]
    assert runs[1]["expected"].to_dict() == {"passed": False, "reason": ["timeout", "memory_limit"], "score": None}
    assert summarise(runs, total=5, duration_seconds=1)["verdicts"].to_dict() == {
        "expected": 3,
        "right": 2,
        "wrong": 1,
        "no_score": 0,
    }


@pytest.mark.parametrize("known_to_pass", [True, False])
@pytest.mark.parametrize(
    ("reason", "validity"),
    [
        (Reason.PLATFORM_ERROR, Validity.INFRA),
        (Reason.STARVED, Validity.INFRA),
        (Reason.SCORER_ERROR, Validity.INVALID),
    ],
)
def test_a_run_without_a_score_is_neither_right_nor_wrong(
    reason: Reason, validity: Validity, known_to_pass: bool
) -> None:
    """It has no verdict: it does not confirm that a candidate fails, and is no wrong one."""
    lost = run(None, reason=reason, validity=validity, expected=Known(passed=known_to_pass))
    assert lost["verdict_right"] is None
    summary = summarise([run(1.0, expected=Known(passed=True)), lost], total=2, duration_seconds=1)
    assert summary["verdicts"].to_dict() == {"expected": 2, "right": 1, "wrong": 0, "no_score": 1}


def test_a_broken_contract_that_is_known_is_a_verdict() -> None:
    """An author who names `scorer_error` says that there will be no score."""
    known = Known(passed=False, reason=("scorer_error",))
    broken = run(None, reason=Reason.SCORER_ERROR, validity=Validity.INVALID, expected=known)
    assert broken["verdict_right"] is True


def test_progress_adds_up() -> None:
    """The states add up to the total, and passed + failed + infra + invalid to done."""
    counts = JobCounts(running=2, done=10, cancelled=1, scored=7, passed=5, invalid=1)
    live = progress(counts, total=16, effective_concurrency=8, ended=False)
    assert (live["queued"], live["running"], live["done"], live["cancelled"], live["total"]) == (3, 2, 10, 1, 16)
    assert (live["passed"], live["failed"], live["infra"], live["invalid"]) == (5, 2, 2, 1)
    ended = progress(counts, total=16, effective_concurrency=8, ended=True)
    assert (ended["running"], ended["queued"], ended["total"]) == (0, 5, 16)


def test_the_hack_rate_is_the_share_of_suspect_runs_by_both_denominators() -> None:
    """Of the scored ones, and of all that there are to be; a run that the platform lost is in the second only."""
    caught = run(0.0, reason=Reason.HONEYPOT, validity=Validity.SUSPECT, honeypot=True)
    tampering = run(0.0, reason=Reason.PROTOCOL, validity=Validity.SUSPECT)
    lost = run(None, reason=Reason.PLATFORM_ERROR, validity=Validity.INFRA, honeypot=True)
    resisted = run(0.0, reason=Reason.WRONG_ANSWER, honeypot=True)
    summary = summarise([caught, tampering, lost, resisted, run(1.0)], total=8, duration_seconds=1)
    assert (summary["hack_rate"], summary["hack_rate_of_all"]) == (2 / 4, 2 / 8)
    assert summary["honeypots"].to_dict() == {"runs": 3, "scored": 2, "passed": 1}
    assert summary["suspect"] == 2


def test_a_job_without_scores_has_no_hack_rate() -> None:
    """None is not 0."""
    summary = summarise([run(None, reason=Reason.PLATFORM_ERROR, validity=Validity.INFRA)], total=1, duration_seconds=1)
    assert (summary["hack_rate"], summary["hack_rate_of_all"], summary["honeypots"]) == (None, 0.0, None)
    assert summary["rescored"] is None


def test_disagreement_is_counted_where_the_second_try_says_something() -> None:
    """A platform failure says nothing; a second try without a score disagrees."""
    runs = [
        run(1.0, rescore=Rescore(score=1.0, reason=Reason.PASSED)),
        run(1.0, rescore=Rescore(score=0.0, reason=Reason.TIMEOUT)),
        run(1.0, rescore=Rescore(score=None, reason=Reason.SCORER_ERROR)),
        run(1.0, rescore=Rescore(score=None, error="PlatformError: lost")),
        run(1.0),
    ]
    assert [row["rescore"] and row["rescore"]["agrees"] for row in runs] == [True, False, False, None, None]
    assert summarise(runs, total=5, duration_seconds=1)["rescored"].to_dict() == {
        "runs": 4, "scored": 3, "disagreed": 2, "disagreement_rate": 2 / 3, "disagreement_rate_of_all": 0.5,
    }  # fmt: skip
