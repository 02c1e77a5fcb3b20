"""What changed from one benchmark job to another, as it is answered; see `harena.core.job_diff`."""

from __future__ import annotations

from dataclasses import dataclass

from harena.core.job_diff import regressed, significantly_worse
from harena.core.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedJob(Record):
    """One of the two jobs."""

    id: str
    name: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedJobs(Record):
    """Both jobs."""

    a: ComparedJob
    b: ComparedJob


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference(Record):
    """A mean over the scenarios that are scored in both jobs."""

    a: float
    b: float
    difference: float
    """b - a"""
    low: float | None
    """`low` to `high` is the 95 % confidence interval of the difference; null = too few scenarios to tell"""
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar(Record):
    """The exact test of McNemar over scenarios that pass in one job only."""

    newly_passing: int
    newly_failing: int
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FlakyScenarios(Record):
    """Scenarios whose scored attempts disagree whether it passes, by job."""

    a: list[str]
    b: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedAttempts(Record):
    """All attempts of one scenario in one job."""

    attempts: int
    scored: int
    passed: int
    score: float | None
    """mean of the scored attempts; null = none was"""
    reasons: dict[str, int]
    """how often each reason occurs among scored attempts"""
    unscored: dict[str, int]
    """reasons of the attempts without a score"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioChange(Record):
    """What became of one scenario."""

    scenario_id: str
    change: str
    """a `harena.core.job_diff.Change`"""
    difference: float | None
    """difference of the mean scores, b - a"""
    a: ComparedAttempts | None
    """null = the job lacks the scenario"""
    b: ComparedAttempts | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDiff(Record):
    """What changed from job `a` to job `b`, scenario by scenario, with paired statistics."""

    jobs: ComparedJobs
    compared: int
    """scenarios that are scored in both"""
    unchanged: int
    changes: dict[str, int]
    """kind of change -> scenarios"""
    pass_rate: PairedDifference | None
    """null = nothing can be compared"""
    mean_score: PairedDifference | None
    mcnemar: McNemar
    flaky: FlakyScenarios
    warnings: list[str]
    scenarios: list[ScenarioChange]
    """scenarios whose result changed, by id"""

    @property
    def regressed(self) -> bool:
        """A scenario passes no longer, or has a lower score."""
        return regressed(self.to_dict())

    @property
    def significantly_worse(self) -> bool:
        """The pass rate or the mean score fell by more than chance explains."""
        return significantly_worse(self.to_dict())
