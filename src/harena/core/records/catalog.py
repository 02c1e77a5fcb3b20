"""What is kept by name and version, as it is answered: scenarios, scoring contracts, definitions, calibrations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from harena.core.catalog import CatalogKind
from harena.core.records.calibrations import CalibrationReport
from harena.core.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry(Record):
    """One version of a name. It never changes; it can be archived, which hides it, and deleted."""

    ref: str
    """the version, as NAME@2"""
    name: str
    """chosen by who stored the first version; unique in its workspace for its kind"""
    version: int
    """1, 2, ... for the name; other content gets the next one"""
    digest: str
    """digest of the content"""
    metadata: dict[str, str]
    """given with the version; no part of its content"""
    created_at: str
    """when this version was stored"""
    archived_at: str | None
    """when it was archived; null = it is not"""

    def as_created(self) -> CatalogEntry:
        """The entry as its creation is answered: without what only `get` tells."""
        left_out: dict[str, Any] = dict.fromkeys(self.OMITTED_WHEN_NONE)
        return replace(self, **left_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOutline(Record):
    """What an entry of stored scenarios says about one of its calibrations."""

    id: str
    """id of the calibration"""
    created_at: str
    """when it was asked for"""
    state: str | None
    """state of the calibration's job; null = the job was deleted"""
    gold_runs: int
    """times that each right answer is run"""
    fit: bool | None
    """null = it has no report (yet)"""
    flake_rate: float | None
    """share of its right answers' scored runs that disagree with the others; null = it has no report"""
    battery_version: str | None
    """which forgeries were tried; null = it has no report"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredScenarios(CatalogEntry):
    """One version of stored scenarios."""

    OMITTED_WHEN_NONE: ClassVar[frozenset[str]] = frozenset({"calibrations", "calibration", "scenarios", "grader"})

    format: str
    """the data format that was stored"""
    problems: int
    """number of scenarios"""
    candidates: int
    """number of candidates stored with the scenarios; candidates may also come with a job"""
    trust: str
    """shared if one of its contracts is, else separate"""
    scorers: list[str]
    """types of the contracts, each once"""
    contracts: list[str]
    """the stored scoring contracts that they refer to, as NAME@2"""
    calibrations: list[CalibrationOutline] | None = None
    """from `get`: of this version, newest first"""
    calibration: CalibrationReport | None = None
    """from `get`: the newest report"""
    scenarios: Any = None
    """from `get` with `content`: what was stored"""
    grader: Any = None
    """from `get` with `content`: grader of rows that hold none of their own"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringContract(CatalogEntry):
    """One version of a stored scoring contract."""

    OMITTED_WHEN_NONE: ClassVar[frozenset[str]] = frozenset({"contract"})

    type: str
    """the contract's type, such as tests or stdio"""
    trust: str
    """separate (verdicts are computed out of the candidate's reach) or shared"""
    scorer_version: str
    """rules that judge by it now, such as tests-9"""
    contract: Mapping[str, Any] | None = None
    """from `get`: what was stored"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookOutline(Record):
    """Where a definition's jobs tell their end."""

    url: str
    """where each job's end is posted to"""
    signed: bool
    """there is a secret, which is never answered"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkJobDef(CatalogEntry):
    """One version of a definition: a part of a benchmark job's request."""

    OMITTED_WHEN_NONE: ClassVar[frozenset[str]] = frozenset({"request"})

    fields: list[str]
    """fields of a job's request that the definition holds"""
    problems: int | None
    """number of its scenarios; null = they come with each run"""
    blueprint_id: str | None
    """blueprint that its candidates run in; null = each run says, or the default"""
    config: Mapping[str, Any]
    """the fields of a `JobConfig` that the definition sets"""
    webhook: WebhookOutline | None
    """null = its jobs tell nobody"""
    request: Mapping[str, Any] | None = None
    """from `get` with `content`: what was stored, without the webhook's secret"""


ENTRIES: Mapping[CatalogKind, type[CatalogEntry]] = {
    "scenarios": StoredScenarios,
    "scoring_contracts": ScoringContract,
    "benchmark_job_defs": BenchmarkJobDef,
}
"""the record of each kind"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogPage(Record):
    """One page of entries, newest first."""

    entries: list[CatalogEntry]
    """up to as many as were asked for"""
    next_cursor: int | None
    """asks for what follows; null = this was the last page"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenariosPage(Record):
    """One page of stored scenarios, newest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"scenarios": 1000}

    scenarios: list[StoredScenarios]
    """up to as many as were asked for"""
    next_cursor: int | None
    """asks for what follows; null = this was the last page"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractsPage(Record):
    """One page of stored scoring contracts, newest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"scoring_contracts": 1000}

    scoring_contracts: list[ScoringContract]
    """up to as many as were asked for"""
    next_cursor: int | None
    """asks for what follows; null = this was the last page"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionsPage(Record):
    """One page of definitions, newest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"benchmark_job_defs": 1000}

    benchmark_job_defs: list[BenchmarkJobDef]
    """up to as many as were asked for"""
    next_cursor: int | None
    """asks for what follows; null = this was the last page"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedVersions(Record):
    """What archiving did."""

    name: str
    """the name whose versions were archived"""
    archived: int
    """how many versions were not archived before"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationJob(Record):
    """A calibration, as it was when it was asked for: a benchmark job, and the report that its runs make."""

    id: str
    """also the id of its benchmark job, for events, results and cancelling"""
    job_id: str
    """id of its benchmark job, which is the calibration's own"""
    scenarios: str | None
    """the stored version, as NAME@2"""
    gold_runs: int
    """times that each right answer is run"""
    created_at: str
    """when it was asked for"""
    state: str | None
    """state of the calibration's job; null = the job was deleted"""
    ended: bool
    """its job has ended, or was deleted"""
    fit: bool | None
    """null until it has ended, and where its job did not complete"""
    report: CalibrationReport | None
    """null until it has completed"""
