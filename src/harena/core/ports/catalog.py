"""What a node can do with what is kept by name: scenarios, scoring contracts, definitions; and with calibrations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Protocol

from harena.core.catalog import CatalogKind
from harena.core.idempotency import IdempotencyKey
from harena.core.parameters import MOST_WORD, Bounds, Cursor, Id, Limit, OptionalWord

if TYPE_CHECKING:
    from harena.core.records.catalog import ArchivedVersions, CalibrationJob, CatalogEntry, CatalogPage
    from harena.core.requests import CalibrationFields, EntryFields


class CatalogOperations(Protocol):
    """What one workspace keeps by name and version."""

    async def create_catalog_entry(self, kind: CatalogKind, request: EntryFields) -> CatalogEntry:
        """Check everything, then keep scenarios, a scoring contract or a definition as a version of a name; `request`
        and answer as documented in `harena.jobs.catalog`, here and below."""

    async def get_catalog_entry(self, kind: CatalogKind, ref: Id, *, content: bool = False) -> CatalogEntry:
        """A version, by NAME@2 or NAME (the newest that is not archived). Raises NotFoundError."""

    async def list_catalog_entries(
        self,
        kind: CatalogKind,
        *,
        name: OptionalWord = None,
        prefix: Annotated[str, Bounds(max_length=MOST_WORD)] = "",
        metadata: Annotated[Mapping[str, str] | None, Bounds(pairs=True)] = None,
        archived: bool = False,
        limit: Limit = 100,
        cursor: Cursor = None,
    ) -> CatalogPage:
        """One page, {entries, cursor}, newest first."""

    async def archive_catalog_entry(self, kind: CatalogKind, ref: Id) -> ArchivedVersions:
        """Hide a version, or every version of a name: {name, archived}. Raises NotFoundError."""

    async def delete_catalog_entry(self, kind: CatalogKind, ref: Id) -> None:
        """Delete the version NAME@2. Raises NotFoundError, and ValidationError with the reason IN_USE where benchmark
        jobs that have not ended refer to it."""

    async def create_calibration(
        self, request: CalibrationFields, *, key: IdempotencyKey | None = None
    ) -> CalibrationJob:
        """Start a calibration: a benchmark job of the same id that runs right answers, empty ones and every forgery.

        Raises ValidationError, NotFoundError. `request` and answer are as documented in
        `harena.jobs.benchmark.calibrations`. The same `key` gives the same calibration."""

    async def get_calibration(self, calibration: Id) -> CalibrationJob:
        """How far it is; with `wait_seconds` when it has ended, or after that time.

        Raises NotFoundError."""

    async def wait_calibration(self, calibration: str) -> CalibrationJob:
        """Returns the calibration when it has ended."""
