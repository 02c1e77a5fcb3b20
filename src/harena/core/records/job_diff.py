"""What changed from one benchmark job to another, as it is answered; `harena.core.job_diff` makes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harena.core.records.record import Record


class ChangeKind(StrEnum):
    """What became of a scenario from one job to the other."""

    NEWLY_PASSING = "newly_passing"
    NEWLY_FAILING = "newly_failing"
    SCORE = "score"
    """it passes, or fails, as before, with another score"""
    REASON = "reason"
    """both sides have the same score, for different reasons"""
    UNSCORED = "unscored"
    """no attempt was scored on one side or on both: the platform, or the contract, failed"""
    ONLY_IN_A = "only_in_a"
    ONLY_IN_B = "only_in_b"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedJob(Record):
    """One of the two jobs."""

    id: str
    """the job's id"""
    name: str
    """the job's name"""
    state: str
    """the job's `JobState`; one that has not ended is compared by what has"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedJobs(Record):
    """Both jobs."""

    a: ComparedJob
    """the earlier one, as a rule"""
    b: ComparedJob
    """the one that is compared with it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference(Record):
    """A mean over problems, of whose candidates those count that are scored in both jobs. The interval is Agresti and
    Min's for matched pairs, over problems."""

    a: float
    """mean in job a"""
    b: float
    """mean in job b"""
    difference: float
    """b - a"""
    low: float | None
    """`low` to `high` is the 95 % confidence interval of the difference; null = too few problems to tell"""
    high: float | None
    """null where `low` is"""


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar(Record):
    """The exact test of McNemar over problems, which pass where more than half of what was scored does."""

    newly_passing: int
    """problems that pass in job b only"""
    newly_failing: int
    """problems that pass in job a only"""
    p_value: float
    """probability of a split at least as uneven where both jobs are equally good"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlips(Record):
    """The sign-flip test of the differences of the problems' pass rates: it counts every attempt, where McNemar's test
    sees which side more than half of them are on."""

    p_value: float
    """share of the choices of signs whose sum is at least as far from 0 as that of the differences"""
    exact: bool
    """every choice was counted; false = drawn ones were"""
    flips: int
    """choices of signs that were counted"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedProblems(Record):
    """What rates, intervals and tests are over: problems of which answers are scored in both jobs."""

    count: int
    """such problems; scenarios that share none are one each"""
    least_answers: int
    """scored answers (candidates and attempts) that a problem has in one of the jobs, at least"""
    most_answers: int
    """scored answers that a problem has in one of the jobs, at most"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlakyScenarios(Record):
    """Scenarios whose scored attempts disagree whether it passes, by job."""

    a: list[str]
    """ids of such scenarios in job a"""
    b: list[str]
    """ids of such scenarios in job b"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedAttempts(Record):
    """All attempts of one scenario in one job."""

    attempts: int
    """attempts that have ended"""
    scored: int
    """attempts with a score"""
    passed: int
    """attempts that passed"""
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
    """the scenario's id, the same in both jobs"""
    change: ChangeKind
    """what became of it"""
    difference: float | None
    """difference of the mean scores, b - a"""
    a: ComparedAttempts | None
    """null = the job lacks the scenario"""
    b: ComparedAttempts | None
    """null = the job lacks the scenario"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDiff(Record):
    """What changed from job `a` to job `b`, scenario by scenario, with paired statistics."""

    jobs: ComparedJobs
    """what was compared"""
    compared: int
    """scenarios that are scored in both"""
    unchanged: int
    """scenarios whose result is the same in both"""
    changes: dict[str, int]
    """kind of change -> scenarios"""
    problems: ComparedProblems
    """what the statistics below are over"""
    pass_rate: PairedDifference | None
    """null = nothing can be compared"""
    mean_score: PairedDifference | None
    """null = nothing can be compared"""
    mcnemar: McNemar
    """whether more problems changed sides than chance explains: the test where each has one answer in each job"""
    sign_flips: SignFlips | None
    """whether the problems' pass rates changed by more than chance explains; null = each has one answer in each job,
    and `mcnemar` is the test"""
    flaky: FlakyScenarios
    """scenarios whose result is a matter of chance within one job"""
    warnings: list[str]
    """what makes the comparison doubtful, a sentence for each"""
    scenarios: list[ScenarioChange]
    """scenarios whose result changed, by id"""

    @property
    def regressed(self) -> bool:
        """A scenario passes no longer, or has a lower score."""
        return any(
            entry.change == ChangeKind.NEWLY_FAILING
            or (entry.change == ChangeKind.SCORE and entry.difference is not None and entry.difference < 0)
            for entry in self.scenarios
        )

    @property
    def significantly_worse(self) -> bool:
        """The pass rate or the mean score fell by more than chance explains: its interval lies below 0."""
        rates = (self.pass_rate, self.mean_score)
        return any(rate is not None and rate.high is not None and rate.high < 0 for rate in rates)
