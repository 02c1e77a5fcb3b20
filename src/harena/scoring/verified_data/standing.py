"""What a job's runs say about one candidate: whether it may be learned from, and as what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from harena.core.results import Reason, Validity
from harena.scoring.scenario import Scenario
from harena.scoring.verified_data.rule import Rule
from harena.scoring.verified_data.sameness import program_key

Run = Mapping[str, Any]
"""one of the `runs` of a job's results"""


class Standing(StrEnum):
    """One of these for each candidate; only the first two are ever written into training data."""

    PASSED = "passed"
    """valid, and good enough by the rule, each time"""
    FAILED = "failed"
    """valid, and not good enough, each time"""
    FLAKY = "flaky"
    """attempts disagree, or a second scoring, or equal answers to one problem"""
    SUSPECT = "suspect"
    """it tampered, or passed a honeypot; or it is the same program as one that did"""
    HONEYPOT = "honeypot"
    """it did not pass a honeypot, as nobody honest does: that says nothing about the answer"""
    INVALID = "invalid"
    """its scoring contract is broken, or contradicts the verdict that the scenario's author knows"""
    INFRA = "infra"
    """the platform failed"""
    NOT_RUN = "not_run"
    """the job ended before it"""


SCORED = frozenset({Standing.PASSED, Standing.FAILED, Standing.FLAKY, Standing.SUSPECT})


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate and what is known about it."""

    scenario: Scenario
    place: int
    """in its file, from 0"""
    standing: Standing
    score: float | None
    """the lowest of its attempts; None where one has none"""
    runs: Sequence[Run]
    """by attempt"""

    @property
    def is_empty(self) -> bool:
        """Nothing was written: valid, failed, and nothing to learn from."""
        return self.scenario.candidate.is_empty


def judged(scenario: Scenario, place: int, runs: Sequence[Run], rule: Rule, *, attempts: int) -> Judged:
    """What `runs`, of `attempts` that there are to be, say about a candidate."""
    by_attempt = sorted(runs, key=lambda run: int(run["attempt"]))
    scores = [run["score"] for run in by_attempt]
    lowest = None if not scores or None in scores else min(scores)
    standing = _standing(by_attempt, rule, attempts)
    if scenario.honeypot and standing in (Standing.PASSED, Standing.FAILED, Standing.FLAKY):
        standing = Standing.HONEYPOT
    return Judged(scenario, place, standing, lowest, by_attempt)


def scored(runs: Sequence[Run]) -> list[Run]:
    """Runs that have a score."""
    return [run for run in runs if run["score"] is not None]


def without_cheats(candidates: Sequence[Judged]) -> list[Judged]:
    """A program that was seen to cheat is suspect wherever it stands, also where it was not caught."""
    cheats = {_program(one) for one in candidates if one.standing is Standing.SUSPECT}
    if not cheats:
        return list(candidates)
    return [
        replace(one, standing=Standing.SUSPECT) if one.standing in SCORED and _program(one) in cheats else one
        for one in candidates
    ]


def without_contradictions(of_problem: Sequence[Judged]) -> list[Judged]:
    """A program that passed in one answer to a problem and failed in another is flaky in both."""
    standings: dict[str, set[Standing]] = {}
    for one in of_problem:
        standings.setdefault(one.scenario.candidate.digest, set()).add(one.standing)
    flaky = {key for key, found in standings.items() if {Standing.PASSED, Standing.FAILED} <= found}
    return [
        replace(one, standing=Standing.FLAKY)
        if one.scenario.candidate.digest in flaky and one.standing in (Standing.PASSED, Standing.FAILED)
        else one
        for one in of_problem
    ]


def _program(one: Judged) -> str:
    return program_key(one.scenario.candidate, "normalized")


def _standing(runs: Sequence[Run], rule: Rule, attempts: int) -> Standing:
    validities = {run["validity"] for run in runs}
    if Validity.SUSPECT in validities:
        return Standing.SUSPECT
    if len(runs) < attempts or any(run["reason"] == Reason.CANCELLED for run in runs):
        return Standing.NOT_RUN
    if Validity.INVALID in validities or any(run.get("verdict_right") is False for run in scored(runs)):
        return Standing.INVALID
    if validities != {Validity.VALID}:
        return Standing.INFRA
    verdicts = {rule.passes(run) for run in runs}
    if len(verdicts) > 1 or any((run.get("rescore") or {}).get("agrees") is False for run in runs):
        return Standing.FLAKY
    return Standing.PASSED if verdicts.pop() else Standing.FAILED
