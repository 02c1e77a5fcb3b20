"""The part of `Operations` that is about what is kept by name, for one workspace of a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harena.core.catalog import CatalogKind
    from harena.core.idempotency import IdempotencyKey
    from harena.core.records.catalog import ArchivedVersions, CalibrationJob, CatalogEntry, CatalogPage
    from harena.core.requests import CalibrationFields, EntryFields
    from harena.node.parts import NodeParts


class CatalogOperations:
    """Stored scenarios, scoring contracts and calibrations. Used from one event loop."""

    workspace: str
    _parts: NodeParts

    async def create_catalog_entry(self, kind: CatalogKind, request: EntryFields) -> CatalogEntry:
        """Store an entry in the workspace's catalogue."""
        return await self._parts.benchmark_jobs().catalog.create(self.workspace, kind, request)

    async def get_catalog_entry(self, kind: CatalogKind, ref: str, *, content: bool = False) -> CatalogEntry:
        """Look an entry up; scenarios come with the calibrations of their tests."""
        from harena.core.records.catalog import StoredScenarios
        from harena.jobs.benchmark.calibrations import with_calibrations

        jobs = self._parts.benchmark_jobs()
        entry = await jobs.catalog.get(self.workspace, kind, ref, content=content)
        if not isinstance(entry, StoredScenarios):
            return entry
        found = await jobs.calibrations.of_version(self.workspace, entry.name, entry.version)
        return with_calibrations(entry, found)

    async def list_catalog_entries(
        self,
        kind: CatalogKind,
        *,
        name: str | None = None,
        prefix: str = "",
        metadata: Mapping[str, str] | None = None,
        archived: bool = False,
        cursor: int | None = None,
        limit: int = 100,
    ) -> CatalogPage:
        """Read one page of the entries of a kind."""
        return await self._parts.benchmark_jobs().catalog.list(
            self.workspace,
            kind,
            name=name,
            prefix=prefix,
            metadata=metadata,
            archived=archived,
            cursor=cursor,
            limit=limit,
        )

    async def archive_catalog_entry(self, kind: CatalogKind, ref: str) -> ArchivedVersions:
        """Archive a name's versions, or the one that the reference names."""
        return await self._parts.benchmark_jobs().catalog.archive(self.workspace, kind, ref)

    async def delete_catalog_entry(self, kind: CatalogKind, ref: str) -> None:
        """Delete a version, and count the workspace's stored bytes anew."""
        await self._parts.benchmark_jobs().catalog.delete(self.workspace, kind, ref)
        self._parts.deleted(self.workspace)

    async def create_calibration(
        self, request: CalibrationFields, *, key: IdempotencyKey | None = None
    ) -> CalibrationJob:
        """Start a calibration in the workspace."""
        return await self._parts.benchmark_jobs().calibrations.create(self.workspace, request, key=key)

    async def get_calibration(self, calibration: str) -> CalibrationJob:
        """Look a calibration up by its id."""
        return await self._parts.benchmark_jobs().calibrations.get(self.workspace, calibration)

    async def wait_calibration(self, calibration: str) -> CalibrationJob:
        """Wait until a calibration has ended."""
        return await self._parts.benchmark_jobs().calibrations.wait(self.workspace, calibration)
