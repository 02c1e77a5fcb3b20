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
    """right answers, times `gold_runs`"""
    scored: int
    """runs with a score"""
    passed: int
    """runs that passed; fewer than `scored` is a fault"""
    flakes: int = 0
    """scored runs whose score is not the most frequent one of their candidate"""
    flake_rate: float | None
    """`flakes` over `scored`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownWrongRuns(Record):
    """Runs of candidates that the file says are wrong."""

    runs: int
    """runs of such candidates"""
    passed: list[str]
    """ids of the scenarios whose candidates passed; each is a fault"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantRuns(Record):
    """Runs of answers that need no thought: a constant, an argument given back."""

    tried: int = 0
    """answers that were run"""
    best: str | None = None
    """name of the best one; null = none earned anything"""
    best_score: float | None = None
    """score of the best one"""
    passed: list[str] = field(default_factory=list)
    """names of such answers that passed; each is a fault"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantRuns(Record):
    """Runs of the first right answer with one mistake each."""

    tried: int = 0
    """mutants that were run"""
    scored: int = 0
    """mutants that have a score"""
    killed: int = 0
    """number of mutants that did not pass"""
    survived: list[str] = field(default_factory=list)
    """what was changed in each mutant that passed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidForgery(Record):
    """A forgery that earned more than doing nothing does."""

    forgery: str
    """its name in the battery"""
    score: float
    """what it earned"""
    tries: str
    """what it tries, in one sentence"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatteryRuns(Record):
    """Runs of the forgeries that apply to the contract."""

    tried: int
    """forgeries that were run"""
    paid: list[PaidForgery]
    """forgeries that earned something; each is a fault"""
    unscored: list[str]
    """names of those that had no score although the platform worked"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Record):
    """Something that is wrong with a problem, or worth a look."""

    kind: str
    """word for it, as `flaky` or `look_up`; docs/how-to/audit.md has all of them"""
    severity: str
    """error (what is learned from it is wrong), warning (it is weaker than it looks), or note"""
    says: str
    """what runs have shown, in one sentence"""
    advice: str
    """what to do, in one sentence"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedScenario(Record):
    """One problem under one contract."""

    scenario: str
    """id of the scenario"""
    contract: str
    """type of the scoring contract"""
    trust: str
    """separate (verdicts are computed out of the candidate's reach) or shared"""
    digest: str = ""
    """sha256 over all that decides a score, and the right answers: the version that this holds for"""
    verdict: str = "not_judged"
    """fit, not_fit (there are faults), not_judged (there was nothing to try), or no_verdict (the platform gave some
    runs no score, and the others show no fault)"""
    why: str = ""
    """why it is not fit, in one sentence; empty = it is"""
    fit: bool
    """whether `verdict` is fit"""
    faults: list[str]
    """what is wrong with it, a sentence for each"""
    gold: GoldRuns
    """what right answers got"""
    known_wrong: KnownWrongRuns
    """what candidates got that are known to be wrong"""
    empty_score: float | None
    """score of an empty program; null = it had none"""
    stub_score: float | None
    """score of a program that defines what is asked for and does nothing; null = it had none, or none was run"""
    constants: ConstantRuns = field(default_factory=ConstantRuns)
    """what answers got that need no thought"""
    mutants: MutantRuns = field(default_factory=MutantRuns)
    """how many slightly wrong answers the checks tell from the right one"""
    battery: BatteryRuns
    """what forgeries got"""
    unscored_by_platform: int = 0
    """number of runs that have no score because of the platform, also after the job's retries"""
    notes: list[str] = field(default_factory=list)
    """sentences about lines of a `command` whose answer a candidate can arrange; no faults"""
    findings: list[Finding] = field(default_factory=list)
    """all of that and what audits look for besides, the gravest first"""
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
    """which forgeries were tried; reports of one version can be compared"""
    gold_runs: int
    """times that each right answer was run"""
    fit: bool
    """every scenario is"""
    verdicts: dict[str, int] = field(default_factory=dict)
    """verdict -> number of scenarios"""
    flake_rate: float | None
    """share of all scored runs of right answers that disagree with the others"""
    scenarios: list[CalibratedScenario]
    """one for each scenario, in their order"""
    job_id: str | None = None
    """from `harena.calibrate`: the job whose runs it is made of"""
