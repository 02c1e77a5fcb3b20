"""What the runs of a job add up to: pure functions over finished runs.

A run without a score (the platform failed, or the contract could not be applied) is never counted as a zero:
`pass_rate` and `mean_score` are over scored runs only; `pass_rate_of_all` says beside them what it is over all runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from harena.core.results import Reason, RunResult, Validity
from harena.jobs.lifecycle import RunState
from harena.jobs.worker import JobScenario, KnownVerdict


def verdict_is_right(expected: KnownVerdict | None, result: RunResult) -> bool | None:
    """Whether a run's verdict is the known one; None where none is known, or where the run was cancelled.

    A run that the platform lost has no verdict, so it confirms none: not even that the candidate fails.
    """
    if expected is None or result.reason is Reason.CANCELLED:
        return None
    return result.validity is not Validity.INFRA and expected.matches(result)


def run_fields(result: RunResult, *, scenario: JobScenario) -> dict[str, Any]:
    """A run as it is stored and answered: JSON types only."""
    expected = scenario.expected
    return {
        "scenario_id": result.scenario_id,
        "attempt": result.attempt,
        "score": result.score,
        "passed": result.passed,
        "validity": str(result.validity),
        "trust": str(result.trust),
        "reason": str(result.reason),
        "detail": result.detail,
        "duration_seconds": result.duration_seconds,
        "cpu_seconds": result.cpu_seconds,
        "peak_memory_bytes": result.peak_memory_bytes,
        "checks_planned": result.checks_planned,
        "checks_run": result.checks_run,
        "checks_passed": result.checks_passed,
        "scorer_version": result.scorer_version,
        "evidence": result.evidence,
        "platform_retries": result.platform_retries,
        "rescore": _rescore_fields(result),
        "metadata": dict(result.metadata),
        "honeypot": scenario.honeypot,
        "problem": scenario.problem_id,
        "expected": expected and {"passed": expected.passed, "reason": list(expected.reason), "score": expected.score},
        "verdict_right": verdict_is_right(expected, result),
    }


def _rescore_fields(result: RunResult) -> dict[str, Any] | None:
    again = result.rescore
    if again is None:
        return None
    reason = None if again.reason is None else str(again.reason)
    return {"score": again.score, "reason": reason, "error": again.error, "agrees": again.agrees(result.score)}


def summarise(runs: Sequence[Mapping[str, Any]], *, total: int, duration_seconds: float) -> dict[str, Any]:
    """The summary of `runs` (as `run_fields` gives them) of a job of `total` runs.

    {total, scored, passed, pass_rate, pass_rate_of_all, mean_score, infra, invalid, suspect, cancelled,
     by_reason: {reason: runs}, duration_seconds, runs_per_second, verdicts: {expected, right, wrong} or None,
     hack_rate, hack_rate_of_all, honeypots: {runs, scored, passed} or None,
     rescored: {runs, scored, disagreed, disagreement_rate, disagreement_rate_of_all} or None}

    Rates are None where nothing was scored; those `_of_all` divide by all runs that there are to be. `suspect` runs are
    scored; `infra`, `invalid` and `cancelled` are not. The hack rate is the share of `suspect` runs: they passed a
    honeypot, or were seen to tamper. `honeypots` and `rescored` are None where there were none.
    """
    ended = [run for run in runs if run["reason"] != Reason.CANCELLED]
    scores = [run["score"] for run in ended if run["score"] is not None]
    passed = sum(1 for run in ended if run["passed"])
    validities = Counter(run["validity"] for run in ended)
    return {
        "total": total,
        "scored": len(scores),
        "passed": passed,
        "pass_rate": passed / len(scores) if scores else None,
        "pass_rate_of_all": passed / total if total else None,
        "mean_score": sum(scores) / len(scores) if scores else None,
        "infra": validities[Validity.INFRA],
        "invalid": validities[Validity.INVALID],
        "suspect": validities[Validity.SUSPECT],
        "cancelled": len(runs) - len(ended),
        "by_reason": dict(Counter(run["reason"] for run in runs).most_common()),
        "duration_seconds": duration_seconds,
        "runs_per_second": len(ended) / duration_seconds if duration_seconds > 0 else 0.0,
        "verdicts": _verdicts(ended),
        "hack_rate": validities[Validity.SUSPECT] / len(scores) if scores else None,
        "hack_rate_of_all": validities[Validity.SUSPECT] / total if total else None,
        "honeypots": _honeypots(ended),
        "rescored": _rescored(ended),
    }


def _honeypots(ended: Sequence[Mapping[str, Any]]) -> dict[str, int] | None:
    runs = [run for run in ended if run.get("honeypot")]
    if not runs:
        return None
    return {
        "runs": len(runs),
        "scored": sum(run["score"] is not None for run in runs),
        "passed": sum(run["reason"] == Reason.HONEYPOT for run in runs),
    }


def _rescored(ended: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    agreed = [run["rescore"]["agrees"] for run in ended if run.get("rescore") is not None]
    if not agreed:
        return None
    scored, disagreed = len(agreed) - agreed.count(None), agreed.count(False)
    return {
        "runs": len(agreed),
        "scored": scored,
        "disagreed": disagreed,
        "disagreement_rate": disagreed / scored if scored else None,
        "disagreement_rate_of_all": disagreed / len(agreed),
    }


def _verdicts(ended: Sequence[Mapping[str, Any]]) -> dict[str, int] | None:
    known = [run["verdict_right"] for run in ended if run["verdict_right"] is not None]
    if not known:
        return None
    return {"expected": len(known), "right": sum(known), "wrong": len(known) - sum(known)}


def progress(counts: Mapping[str, int], *, ended: bool, effective_concurrency: int) -> dict[str, int]:
    """A job's progress from its counts (queued, running, done, cancelled, passed, scored)."""
    by_state = {state: counts.get(state, 0) for state in RunState}
    if ended:  # its process may have gone without a word: nothing of it runs any more
        by_state[RunState.QUEUED] += by_state[RunState.RUNNING]
        by_state[RunState.RUNNING] = 0
    done, scored, passed = by_state[RunState.DONE], counts.get("scored", 0), counts.get("passed", 0)
    return {
        "total": sum(by_state.values()),
        **{str(state): number for state, number in by_state.items()},
        "passed": passed,
        "failed": scored - passed,
        "infra": done - scored,
        "effective_concurrency": effective_concurrency,
    }
