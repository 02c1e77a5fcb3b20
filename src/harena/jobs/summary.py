"""What the runs of a job add up to: pure functions over finished runs.

A run without a score (the platform failed, or the contract could not be applied) is never counted as a zero:
`pass_rate` and `mean_score` are over scored runs only; `pass_rate_of_all` says beside them what it is over all runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from harena.core.job_store import JobCounts
from harena.core.records.benchmark_jobs import (
    BenchmarkRun,
    ExpectedVerdict,
    HoneypotCounts,
    Progress,
    Rescored,
    RescoredCounts,
    Summary,
    VerdictCounts,
)
from harena.core.results import Reason, RunResult, Validity
from harena.jobs.worker import JobScenario, KnownVerdict


def verdict_is_right(expected: KnownVerdict | None, result: RunResult) -> bool | None:
    """Whether a run's verdict is the known one; None where none is known, or where the run has no score.

    A run without a score has no verdict: it is not wrong, and confirms nothing, not even that the candidate fails. One
    exception: an author who names the reason `scorer_error` knows that the contract cannot be applied.
    """
    if expected is None or result.reason is Reason.CANCELLED:
        return None
    if result.score is None and not (result.validity is Validity.INVALID and result.reason in expected.reason):
        return None
    return expected.matches(result)


def run_record(result: RunResult, *, run: int, scenario: JobScenario) -> BenchmarkRun:
    """Run number `run` of a job, as it is stored (as JSON types) and answered."""
    expected = scenario.expected
    return BenchmarkRun(
        run=run,
        scenario_id=result.scenario_id,
        attempt=result.attempt,
        score=result.score,
        passed=result.passed,
        validity=result.validity,
        trust=result.trust,
        reason=result.reason,
        detail=result.detail,
        duration_seconds=result.duration_seconds,
        cpu_seconds=result.cpu_seconds,
        peak_memory_bytes=result.peak_memory_bytes,
        checks_planned=result.checks_planned,
        checks_run=result.checks_run,
        checks_passed=result.checks_passed,
        scorer_version=result.scorer_version,
        evidence=result.evidence,
        scenario_digest=result.scenario_digest,
        candidate_digest=result.candidate_digest,
        profile=result.profile,
        image_digest=result.image_digest,
        blueprint_digest=result.blueprint_digest,
        scenario_version=scenario.lineage.scenarios,
        contract_version=scenario.lineage.contract,
        platform_retries=result.platform_retries,
        rescore=_rescored(result),
        # no copy: all attempts of a scenario share it
        metadata=result.metadata if isinstance(result.metadata, dict) else dict(result.metadata),
        honeypot=scenario.honeypot,
        problem=scenario.problem_id,
        expected=None
        if expected is None
        else ExpectedVerdict(passed=expected.passed, reason=[*expected.reason], score=expected.score),
        verdict_right=verdict_is_right(expected, result),
    )


def _rescored(result: RunResult) -> Rescored | None:
    again = result.rescore
    if again is None:
        return None
    return Rescored(score=again.score, reason=again.reason, error=again.error, agrees=again.agrees(result.score))


def summarise(runs: Iterable[BenchmarkRun], *, total: int, duration_seconds: float) -> Summary:
    """The summary of `runs` of a job of `total` runs."""
    summing = Summing()
    for run in runs:
        summing.add(run)
    return summing.summary(total=total, duration_seconds=duration_seconds)


class Summing:
    """Adds runs up one after the other, in memory that does not grow with their number."""

    def __init__(self) -> None:
        self._ended = self._cancelled = self._passed = self._scored = 0
        self._score = 0.0
        self._reasons: Counter[str] = Counter()
        self._validities: Counter[str] = Counter()
        self._verdicts: Counter[bool | None] = Counter()
        self._honeypots: Counter[str] = Counter()
        self._agreed: Counter[bool | None] = Counter()

    def add(self, run: BenchmarkRun) -> None:
        """Count one run."""
        self._reasons[str(run.reason)] += 1
        if run.reason is Reason.CANCELLED:
            self._cancelled += 1
            return
        self._ended += 1
        self._passed += run.passed
        self._validities[run.validity] += 1
        if run.score is not None:
            self._scored += 1
            self._score += run.score
        if run.expected is not None:
            self._verdicts[run.verdict_right] += 1
        if run.rescore is not None:
            self._agreed[run.rescore.agrees] += 1
        if run.honeypot:
            scored, passed = run.score is not None, run.reason is Reason.HONEYPOT
            self._honeypots.update(runs=1, scored=scored, passed=passed)

    def summary(self, *, total: int, duration_seconds: float, cancelled: int = 0) -> Summary:
        """What they come to in a job of `total` runs that took so long. `cancelled`: runs that the job counts as
        cancelled; those of them that have no result, because nothing was known of them any more, count as well.

        Rates are None where nothing was scored; those `_of_all` divide by all runs that there are to be. `suspect` runs
        are scored; `infra`, `invalid` and `cancelled` are not. The hack rate is the share of `suspect` runs: they
        passed a honeypot, or were seen to tamper.
        """
        scored, suspect = self._scored, self._validities[Validity.SUSPECT]
        without_result = max(0, cancelled - self._cancelled)
        reasons = self._reasons + Counter({str(Reason.CANCELLED): without_result})  # without those that are 0
        return Summary(
            total=total,
            scored=scored,
            passed=self._passed,
            pass_rate=self._passed / scored if scored else None,
            pass_rate_of_all=self._passed / total if total else None,
            mean_score=self._score / scored if scored else None,
            infra=self._validities[Validity.INFRA],
            invalid=self._validities[Validity.INVALID],
            suspect=suspect,
            cancelled=self._cancelled + without_result,
            by_reason=dict(reasons.most_common()),
            duration_seconds=duration_seconds,
            runs_per_second=self._ended / duration_seconds if duration_seconds > 0 else 0.0,
            verdicts=self._verdict_counts(),
            hack_rate=suspect / scored if scored else None,
            hack_rate_of_all=suspect / total if total else None,
            honeypots=self._honeypot_counts(),
            rescored=self._rescored(),
        )

    def _verdict_counts(self) -> VerdictCounts | None:
        if not (expected := self._verdicts.total()):
            return None
        counts = self._verdicts
        return VerdictCounts(expected=expected, right=counts[True], wrong=counts[False], no_score=counts[None])

    def _honeypot_counts(self) -> HoneypotCounts | None:
        counts = self._honeypots
        if not counts:
            return None
        return HoneypotCounts(runs=counts["runs"], scored=counts["scored"], passed=counts["passed"])

    def _rescored(self) -> RescoredCounts | None:
        runs, disagreed = self._agreed.total(), self._agreed[False]
        if not runs:
            return None
        scored = runs - self._agreed[None]
        return RescoredCounts(
            runs=runs,
            scored=scored,
            disagreed=disagreed,
            disagreement_rate=disagreed / scored if scored else None,
            disagreement_rate_of_all=disagreed / runs,
        )


def progress(counts: JobCounts, *, total: int, effective_concurrency: int, ended: bool) -> Progress:
    """The progress of a job that has so many runs."""
    running, done, cancelled = counts.running, counts.done, counts.cancelled
    if ended:  # its process may have gone without a word: nothing of it runs any more
        running = 0
    return Progress(
        total=total,
        queued=total - running - done - cancelled,
        running=running,
        done=done,
        cancelled=cancelled,
        passed=counts.passed,
        failed=counts.scored - counts.passed,
        infra=done - counts.scored - counts.invalid,
        invalid=counts.invalid,
        effective_concurrency=effective_concurrency,
    )
