"""What a calibration found: whether each scenario is fit for training, and how that is known.

Rates are shares of scored runs, null where nothing was scored. A report is stored as it was made; fields that an
earlier version did not have get their defaults.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from harena.core.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldRuns(Record):
    """Runs of right answers."""

    runs: int
    scored: int
    passed: int
    flakes: int = 0
    """scored runs whose score is not the most frequent one of their candidate"""
    flake_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownWrongRuns(Record):
    """Runs of candidates that the file says are wrong."""

    runs: int
    passed: list[str]
    """ids of the scenarios whose candidates passed; each is a fault"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantRuns(Record):
    """Runs of answers that need no thought: a constant, an argument given back."""

    tried: int = 0
    best: str | None = None
    """name of the best one; null = none earned anything"""
    best_score: float | None = None
    passed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantRuns(Record):
    """Runs of the first right answer with one mistake each."""

    tried: int = 0
    scored: int = 0
    killed: int = 0
    """number of mutants that did not pass"""
    survived: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidForgery(Record):
    """A forgery that earned more than doing nothing does."""

    forgery: str
    score: float
    tries: str
    """what it tries, in one sentence"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatteryRuns(Record):
    """Runs of the forgeries that apply to the contract."""

    tried: int
    paid: list[PaidForgery]
    unscored: list[str]
    """names of those that had no score although the platform worked"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedScenario(Record):
    """One problem under one contract."""

    scenario: str
    contract: str
    """type of the scoring contract"""
    trust: str
    digest: str = ""
    """sha256 over all that decides a score, and the right answers: the version that this holds for"""
    verdict: str = "not_judged"
    """fit, not_fit (there are faults), not_judged (there was nothing to try), or no_verdict (the platform gave some
    runs no score, and the others show no fault)"""
    why: str = ""
    """why it is not fit, in one sentence; empty = it is"""
    fit: bool
    faults: list[str]
    gold: GoldRuns
    known_wrong: KnownWrongRuns
    empty_score: float | None
    """score of an empty program; null = it had none"""
    stub_score: float | None
    """score of a program that defines what is asked for and does nothing; null = it had none, or none was run"""
    constants: ConstantRuns = field(default_factory=ConstantRuns)
    mutants: MutantRuns = field(default_factory=MutantRuns)
    battery: BatteryRuns
    unscored_by_platform: int = 0
    """number of runs that have no score because of the platform, also after the job's retries"""
    notes: list[str] = field(default_factory=list)
    """sentences about lines of a `command` whose answer a candidate can arrange; no faults"""
    true_positive_rate: float | None
    """share of the right answers that passed"""
    false_positive_rate: float | None
    """share of all others, mutants apart, that passed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport(Record):
    """The report of a calibration."""

    OMITTED_WHEN_NONE: ClassVar[frozenset[str]] = frozenset({"job_id"})

    version: int
    """version of the report's form"""
    battery_version: str
    gold_runs: int
    """times that each right answer was run"""
    fit: bool
    """every scenario is"""
    verdicts: dict[str, int] = field(default_factory=dict)
    """verdict -> number of scenarios"""
    flake_rate: float | None
    scenarios: list[CalibratedScenario]
    job_id: str | None = None
    """from `harena.calibrate`: the job whose runs it is made of"""
