"""Records and port of the catalogue: scenarios, scoring contracts and definitions, by name and version.

An entry is a name and immutable versions 1, 2, ... of it. A version is named `NAME@2`; a bare name means the newest
version that is not archived. Names are unique in a workspace, of each kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from harena.core.errors import ValidationError

if TYPE_CHECKING:
    from harena.core.pages import PageRows

CatalogKind = Literal["scenarios", "scoring_contracts", "benchmark_job_defs"]
NOUNS: Mapping[CatalogKind, str] = {
    "scenarios": "scenarios",
    "scoring_contracts": "scoring contract",
    "benchmark_job_defs": "definition",
}
"""for people"""

MAX_NAME = 128
MAX_VERSION = 2**31 - 1
NAME_PATTERN = rf"^[A-Za-z0-9][A-Za-z0-9._-]{{0,{MAX_NAME - 1}}}$"
METADATA_NAME_PATTERN = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$"
_REFERENCE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,127})(?:@([1-9][0-9]{0,9}))?")

EntryMetadata = Mapping[str, str]
"""what a user has noted of a version: text by name"""
EntryDescription = Mapping[str, Any]
"""what was read of a version when it was stored; its keys are those of its kind, see `harena.jobs.catalog`"""
SourceFields = Mapping[str, Any]
"""fields of a job's request that say what is run: {scenarios, format, grader}"""
StoredReport = Mapping[str, Any]
"""what a calibration has found; its keys are those of `harena.scoring.calibration`"""


@dataclass(frozen=True, slots=True)
class Lineage:
    """Which stored versions something was made of."""

    scenarios: str | None = None
    """reference to the stored scenarios, as `NAME@2`; None = they came with the job"""
    digest: str | None = None
    """digest of the stored scenarios' content"""
    contract: str | None = None
    """reference to the stored scoring contract, as `NAME@2`; None = the scoring contract was written in place"""


NO_LINEAGE = Lineage()


def parse_reference(reference: object) -> tuple[str, int | None]:
    """(name, version or None) of `NAME` or `NAME@2`. Raises ValidationError."""
    match = _REFERENCE.fullmatch(reference) if isinstance(reference, str) else None
    version = int(match[2]) if match is not None and match[2] else None
    if match is None or (version is not None and version > MAX_VERSION):
        shown = repr(reference) if isinstance(reference, str) else type(reference).__name__
        raise ValidationError(
            f"{shown[:200]} is no stored version: write NAME or NAME@2, the name in letters, digits, '.', '_' and '-'"
        )
    return match[1], version


def is_reference(scenarios: object) -> bool:
    """In place of scenarios: {"ref": "NAME@2"}, stored ones."""
    return isinstance(scenarios, Mapping) and "ref" in scenarios


def referred(scenarios: Mapping[str, Any]) -> str:
    """What {"ref": ...} names. Raises ValidationError."""
    if set(scenarios) != {"ref"}:
        raise ValidationError(
            "scenarios: a reference to stored scenarios stands alone, as {'ref': 'NAME@2'} "
            f"(got also {', '.join(sorted(map(str, set(scenarios) - {'ref'})))[:200]})"
        )
    parse_reference(scenarios["ref"])
    return str(scenarios["ref"])


@dataclass(frozen=True, slots=True)
class StoredSources:
    """What a version of stored scenarios holds, as a job runs it."""

    version: str
    """NAME@2"""
    digest: str
    sources: SourceFields


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """A version of an entry as it is stored; it gets the next number of its name."""

    workspace: str
    kind: CatalogKind
    name: str
    digest: str
    """digest of the content"""
    metadata: EntryMetadata
    described: EntryDescription
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryVersion(NewEntry):
    """A version of an entry as it is stored. It never changes but in that it can be archived."""

    version: int
    archived_at: str | None
    """since when it is hidden from lists and from its bare name; None = it is not"""
    sequence: int
    """its place in lists, newest last"""

    @property
    def ref(self) -> str:
        """NAME@2."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCalibration:
    """A calibration as it is stored when its job has been accepted."""

    job_id: str
    """id of its benchmark job, and its own"""
    workspace: str
    name: str | None
    """name of the stored scenarios; None = they came with the request"""
    version: int | None
    """version of the stored scenarios"""
    gold_runs: int
    """how often each gold candidate runs"""
    created_at: str
    sources: bytes | None = field(repr=False)
    """what its report is made from, packed; None = only the process that began it can make its report"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCalibration(NewCalibration):
    """A calibration as it is stored."""

    sequence: int
    """its place in lists, newest last"""
    report: StoredReport | None
    """what it has found; None = that is not known yet"""


class CatalogStorePort(Protocol):
    """The catalogue in one store. Every method is one transaction, but for `archive`, `remove` and `clear_deleted`,
    which take a few rows at a time; all raise PlatformError."""

    async def add(self, entry: NewEntry, content: bytes) -> tuple[EntryVersion, bool]:
        """(the entry, whether it is new): a new version of its name, after all there are; or, where one that is not
        archived has the same digest and metadata, that one."""

    async def find(self, workspace: str, kind: CatalogKind, name: str, version: int | None) -> EntryVersion | None:
        """This version, archived or not; without a version, the newest that is not archived."""

    async def page(
        self,
        workspace: str,
        kind: CatalogKind,
        *,
        name: str | None = None,
        prefix: str = "",
        metadata: EntryMetadata,
        archived: bool = False,
        before: int | None = None,
        limit: int,
    ) -> PageRows[EntryVersion]:
        """One page, newest first, of those before a sequence: of each name the newest version that is not archived;
        with `name`, every version of that name; with `archived`, every version of every name, archived ones too."""

    async def content(self, workspace: str, digest: str) -> bytes | None:
        """What was stored under this digest."""

    async def archive(self, workspace: str, kind: CatalogKind, name: str, version: int | None, at: str) -> int:
        """Archive one version, or all of them; how many were not archived before."""

    async def remove(
        self, workspace: str, kind: CatalogKind, name: str, version: int, *, while_in: Collection[str]
    ) -> list[str] | None:
        """Delete one version, its content where no other version has the same, and its calibrations; its number is not
        used again. None = there is no such version; else the jobs in these states that refer to it, and then it
        stays. From the first transaction on the version does not exist; calibrations that a death leaves are removed
        by `clear_deleted`."""

    async def clear_deleted(self) -> None:
        """Remove calibrations of versions whose deletion has been cut short."""

    def sealed(self, text: str) -> str:
        """A user's secret in the form in which it is stored. Raises ValidationError where there is nothing to seal it
        with, PlatformError."""

    def opened(self, text: str) -> str:
        """A secret as it was given; one that another key has sealed stays sealed."""

    async def add_calibration(self, calibration: NewCalibration) -> None:
        """Store a calibration; one of this job that is there stays."""

    async def find_calibration(self, workspace: str, job_id: str) -> StoredCalibration | None:
        """The calibration with this job."""

    async def calibrations_of(
        self, workspace: str, name: str, version: int, *, limit: int = 100
    ) -> list[StoredCalibration]:
        """The calibrations of a version of scenarios, newest first."""

    async def report_calibration(self, job_id: str, report: StoredReport) -> None:
        """Keep its report; one that is there stays."""
