"""Two benchmark jobs compared, scenario by scenario: pure functions over their finished runs.

A scenario's attempts are taken together. It *passes* where more than half of its scored attempts do; its score is their
mean. Attempts that the platform lost, or whose contract could not be applied, say nothing about a candidate: a scenario
with no scored attempt on a side is listed as such, and never counted as a change.

The statistics are paired, over the problems whose scenarios are scored on both sides: each problem is its own control,
so what makes some harder than others cancels out, and neither attempts of one scenario nor candidates of one problem
are taken for independent samples. Where each problem has one answer on each side, McNemar's test says whether more of
them changed sides than chance explains; where some have several, a sign-flip test of the problems' pass rates does, as
McNemar's sees of four attempts no more than which side most of them are on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harena.core.records.job_diff import (
    ChangeKind,
    ComparedAttempts,
    ComparedJobs,
    ComparedProblems,
    FlakyScenarios,
    JobDiff,
    McNemar,
    PairedDifference,
    ScenarioChange,
    SignFlips,
)

VERSIONS = (
    *("scorer_version", "scenario_digest", "contract_version", "scenario_version"),
    *("profile", "image_digest", "blueprint_digest"),
)
"""fields of a run; where one of them differs, the two sides were not asked the same question"""
SAME_SCORE = 1e-9
_95_PERCENT = 1.959963984540054
"""quantile of the normal distribution for an interval of 95 %"""


@dataclass(slots=True)
class Attempts:
    """The attempts of one scenario in one job."""

    problem: str = ""
    """the problem that its candidates share; the scenario's own name where it shares none"""
    scored: int = 0
    passed: int = 0
    score_sum: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    """how often each reason occurs among scored attempts"""
    unscored: Counter[str] = field(default_factory=Counter)
    """reasons of those without a score"""
    versions: set[tuple[Any, ...]] = field(default_factory=set)

    def add(self, run: Mapping[str, Any]) -> None:
        """One more run, as results have it."""
        self.versions.add(tuple(run.get(name) for name in VERSIONS))
        if run["score"] is None:
            self.unscored[run["reason"]] += 1
            return
        self.scored += 1
        self.passed += bool(run["passed"])
        self.score_sum += run["score"]
        self.reasons[run["reason"]] += 1

    @property
    def passes(self) -> bool:
        """More than half of what was scored."""
        return 2 * self.passed > self.scored

    @property
    def pass_rate(self) -> float:
        """Over scored attempts, of which there must be one."""
        return self.passed / self.scored

    @property
    def score(self) -> float:
        """The mean of scored attempts, of which there must be one."""
        return self.score_sum / self.scored

    @property
    def is_flaky(self) -> bool:
        """Scored attempts disagree whether it passes."""
        return 0 < self.passed < self.scored

    @property
    def record(self) -> ComparedAttempts:
        """What the comparison says of them."""
        return ComparedAttempts(
            attempts=self.scored + self.unscored.total(),
            scored=self.scored,
            passed=self.passed,
            score=self.score if self.scored else None,
            reasons=dict(sorted(self.reasons.items())),
            unscored=dict(sorted(self.unscored.items())),
        )


def gather(runs: Iterable[Mapping[str, Any]], scenarios: dict[str, Attempts] | None = None) -> dict[str, Attempts]:
    """The runs of one job, in any order, by scenario; added to `scenarios`, where that is given."""
    scenarios = {} if scenarios is None else scenarios
    for run in runs:
        attempts = scenarios.get(run["scenario_id"])
        if attempts is None:
            attempts = scenarios[run["scenario_id"]] = Attempts(run.get("problem") or run["scenario_id"])
        attempts.add(run)
    return scenarios


def diff(jobs: ComparedJobs, a: Mapping[str, Attempts], b: Mapping[str, Attempts]) -> JobDiff:
    """What changed from job `a` to job `b`, which `jobs` names."""
    changed: list[ScenarioChange] = []
    pairs: list[tuple[Attempts, Attempts]] = []
    for name in sorted(a.keys() | b.keys()):
        of_a, of_b = a.get(name), b.get(name)
        if of_a is not None and of_b is not None and of_a.scored and of_b.scored:
            pairs.append((of_a, of_b))
        change = _change(of_a, of_b)
        if change is not None:
            changed.append(_changed(name, change, of_a, of_b))
    counts = Counter(entry.change for entry in changed)
    problems = _by_problem(pairs)
    over = _over(problems)
    gained = sum(right.passes and not left.passes for left, right in problems)
    lost = sum(left.passes and not right.passes for left, right in problems)
    return JobDiff(
        jobs=jobs,
        compared=len(pairs),
        unchanged=len(a.keys() | b.keys()) - len(changed),
        changes={str(change): counts[change] for change in ChangeKind},
        problems=over,
        pass_rate=_paired([(left.pass_rate, right.pass_rate) for left, right in problems]),
        mean_score=_paired([(left.score, right.score) for left, right in problems]),
        mcnemar=McNemar(newly_passing=gained, newly_failing=lost, p_value=mcnemar_exact(gained, lost)),
        sign_flips=_sign_flips(problems) if over.most_answers > 1 else None,
        flaky=FlakyScenarios(a=_flaky(a), b=_flaky(b)),
        warnings=_warnings(a, b),
        scenarios=changed,
    )


def _by_problem(pairs: Iterable[tuple[Attempts, Attempts]]) -> list[tuple[Attempts, Attempts]]:
    """What both sides have of each problem, over all of its candidates that are scored on both."""
    found: dict[str, tuple[Attempts, Attempts]] = {}
    for pair in pairs:
        sums = found.setdefault(pair[1].problem, (Attempts(), Attempts()))
        for whole, one in zip(sums, pair, strict=True):
            whole.scored += one.scored
            whole.passed += one.passed
            whole.score_sum += one.score_sum
    return list(found.values())


def _over(problems: Sequence[tuple[Attempts, Attempts]]) -> ComparedProblems:
    answers = [side.scored for pair in problems for side in pair]
    return ComparedProblems(
        count=len(problems), least_answers=min(answers, default=0), most_answers=max(answers, default=0)
    )


def _sign_flips(problems: Sequence[tuple[Attempts, Attempts]]) -> SignFlips:
    from harena.core.sign_flips import sign_flips  # not with `import harena`, which loads this module

    return sign_flips([right.pass_rate - left.pass_rate for left, right in problems])


def _flaky(scenarios: Mapping[str, Attempts]) -> list[str]:
    return sorted(name for name, attempts in scenarios.items() if attempts.is_flaky)


def mcnemar_exact(gained: int, lost: int) -> float:
    """Two-sided p-value that as many scenarios change sides by chance alone, each as likely one way as the other.

    The exact binomial form of McNemar's test (Q. McNemar, "Note on the sampling error of the difference between
    correlated proportions or percentages", Psychometrika 12, 1947).
    """
    changed, fewer = gained + lost, min(gained, lost)
    if changed == 0:
        return 1.0
    # from the largest term down: by logarithms, so that a hundred thousand changes are no overflow
    term = math.exp(
        math.lgamma(changed + 1) - math.lgamma(fewer + 1) - math.lgamma(changed - fewer + 1) - changed * math.log(2.0)
    )
    tail, number = 0.0, fewer
    while number >= 0 and term > tail * 1e-17:
        tail += term
        term *= number / (changed - number + 1)
        number -= 1
    return min(1.0, 2.0 * tail)


def _paired(pairs: Sequence[tuple[float, float]]) -> PairedDifference | None:
    """Means of both sides, their difference b - a, and its 95 % confidence interval, for values between 0 and 1.

    The interval is that of A. Agresti and Y. Min, "Simple improved confidence intervals for comparing matched
    proportions", Statistics in Medicine 24, 2005: Wald's with half an observation added to each of the four outcomes,
    which keeps it honest for few pairs, and for pairs that all agree. Where attempts make fractions of the pairs, the
    same two pseudo-pairs are added to the paired differences, of which E. Miller, "Adding error bars to evals",
    arXiv:2411.00640, 2024, takes the plain standard error.
    """
    if not pairs:
        return None
    count = len(pairs)
    a, b = (math.fsum(side) / count for side in zip(*pairs, strict=True))
    differences = [right - left for left, right in pairs]
    total, squares = math.fsum(differences), math.fsum(difference * difference for difference in differences) + 1
    centre = total / (count + 2)
    half = _95_PERCENT * math.sqrt(max(0.0, squares / (count + 2) - centre * centre) / (count + 2))
    return PairedDifference(
        a=a,
        b=b,
        difference=total / count,
        low=max(-1.0, centre - half),
        high=min(1.0, centre + half),
    )


def _change(a: Attempts | None, b: Attempts | None) -> ChangeKind | None:
    if a is None:
        return ChangeKind.ONLY_IN_B
    if b is None:
        return ChangeKind.ONLY_IN_A
    if not (a.scored and b.scored):
        return ChangeKind.UNSCORED if (a.scored, a.unscored) != (b.scored, b.unscored) else None
    if a.passes != b.passes:
        return ChangeKind.NEWLY_PASSING if b.passes else ChangeKind.NEWLY_FAILING
    if abs(a.score - b.score) > SAME_SCORE:
        return ChangeKind.SCORE
    return ChangeKind.REASON if a.reasons.keys() != b.reasons.keys() else None


def _changed(name: str, change: ChangeKind, a: Attempts | None, b: Attempts | None) -> ScenarioChange:
    both = a is not None and b is not None and a.scored > 0 and b.scored > 0
    return ScenarioChange(
        scenario_id=name,
        change=change,
        difference=b.score - a.score if a is not None and b is not None and both else None,
        a=None if a is None else a.record,
        b=None if b is None else b.record,
    )


def _warnings(a: Mapping[str, Attempts], b: Mapping[str, Attempts]) -> list[str]:
    """Where the two sides were not asked for the same, a change may be one of the question."""
    said = []
    for place, version in enumerate(VERSIONS):
        differ = sorted(name for name in a.keys() & b.keys() if _differ(a[name], b[name], place))
        if differ:
            shown = ", ".join(differ[:3]) + (", ..." if len(differ) > 3 else "")
            said.append(f"{version} differs in {len(differ)} scenarios ({shown}): scores may have changed with it")
    for side, of, other in (("a", a, b), ("b", b, a)):
        missing = len(other.keys() - of.keys())
        if missing:
            said.append(f"{missing} scenarios are missing in {side}: they are not part of any rate")
    for side, of in (("a", a), ("b", b)):
        lost = sum(1 for attempts in of.values() if not attempts.scored)
        if lost:
            said.append(f"{lost} scenarios have no score in {side}: they are not part of any rate")
    return said


def _differ(a: Attempts, b: Attempts, place: int) -> bool:
    """The versions of one kind are not the same, where both sides know them: older results may not have them."""
    of_a, of_b = ({versions[place] for versions in side.versions} - {None, ""} for side in (a, b))
    return bool(of_a and of_b and of_a != of_b)
