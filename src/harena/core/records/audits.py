"""What an audit of a data set found: its problems, the weakest first, and what is wrong with each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from harena.core.records.calibrations import Finding
from harena.core.records.record import Record

SEVERITIES = ("error", "warning", "note")
"""the gravest first"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedProblem(Record):
    """One problem of an audited data set."""

    problem: str
    """its name in the data set"""
    contract: str
    """type of the scoring contract that its rows became"""
    trust: str
    """separate (verdicts are computed out of the candidate's reach) or shared"""
    fit: bool
    """whether right answers passed, mutants of them were tried, and it has no finding that is as grave as `fail_on`"""
    unproven: bool = False
    """nothing is found against it, and it has no right answer (nobody knows whether its tests can be passed), or one of
    which no mutant could be made (nobody knows how strong they are)"""
    findings: list[Finding] = field(default_factory=list)
    """what is wrong with it or worth a look, the gravest first"""
    gold_runs: int = 0
    """runs of its right answers that have a score"""
    gold_passed: int = 0
    """runs of its right answers that passed"""
    mutants: int = 0
    """mutants of the right answer that have a score; 0 where the right answer itself does not pass each time"""
    mutants_killed: int = 0
    """mutants that its tests notice"""
    forgeries: int = 0
    """forgeries that were tried"""
    forgeries_paid: int = 0
    """forgeries that earned more than an answer without a thought"""
    idle_score: float | None = None
    """most that an answer without a thought earns; null = none has a score"""

    @property
    def verdict(self) -> str:
        """One word for it: fit, unproven, or not fit."""
        return "fit" if self.fit else "unproven" if self.unproven else "not fit"

    @property
    def severity(self) -> str:
        """How grave its gravest finding is; empty where it has none."""
        return self.findings[0].severity if self.findings else ""

    @property
    def kill_share(self) -> float | None:
        """Share of the mutants that its tests notice; None where none was scored."""
        return self.mutants_killed / self.mutants if self.mutants else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport(Record):
    """The report of an audit."""

    OMITTED_WHEN_NONE: ClassVar[frozenset[str]] = frozenset({"job_id"})

    version: int
    """version of the report's form"""
    data_set: str
    """name of what was audited"""
    source_digest: str
    """sha256 of its bytes; empty where it is no file"""
    battery_version: str
    """which forgeries, mutants and other answers were tried"""
    gold_runs: int
    """times that each right answer was run"""
    fail_on: str
    """how grave a finding makes a problem unfit: error, or warning"""
    fit: bool
    """every problem is"""
    fit_problems: int
    """number of problems that are fit"""
    unproven_problems: int = 0
    """number of problems of which nobody knows whether their tests can be passed, or how strong they are"""
    kinds: dict[str, int]
    """kind of finding -> number of problems that have it, the gravest and most frequent first"""
    flake_rate: float | None
    """share of all scored runs of right answers that disagree with the others"""
    problems: list[AuditedProblem]
    """all of them, the weakest first"""
    job_id: str | None = None
    """the job whose runs it is made of"""
