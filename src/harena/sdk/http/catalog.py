"""The part of `Operations` that is about what is kept by name, over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harena.core.errors import NotFoundError
from harena.core.operations import catalog as table
from harena.core.records.catalog import ArchivedVersions, CalibrationJob, CatalogEntry, CatalogPage
from harena.sdk.http.from_table import FromTable
from harena.sdk.http.given_files import with_contents

if TYPE_CHECKING:
    from harena.core.catalog import CatalogKind
    from harena.core.idempotency import IdempotencyKey
    from harena.core.requests import CalibrationFields, EntryFields


class HttpCatalog(FromTable):
    """Stored scenarios, scoring contracts and calibrations. Used from one event loop."""

    async def create_catalog_entry(self, kind: CatalogKind, request: EntryFields) -> CatalogEntry:
        """Store an entry on the server; files that the request names are this machine's, and their content is sent."""
        fields = request.get("request")
        if kind == "benchmark_job_defs" and isinstance(fields, Mapping):
            request = {**request, "request": await with_contents(fields)}
        return await self.created(table.ENTRIES_OF[kind].create, await with_contents(request))

    async def get_catalog_entry(self, kind: CatalogKind, ref: str, *, content: bool = False) -> CatalogEntry:
        """Fetch an entry, with its content where that is asked for."""
        return await self.call(table.ENTRIES_OF[kind].get, kind, ref, content=content)

    async def list_catalog_entries(
        self,
        kind: CatalogKind,
        *,
        name: str | None = None,
        prefix: str = "",
        metadata: Mapping[str, str] | None = None,
        archived: bool = False,
        limit: int = 100,
        cursor: int | None = None,
    ) -> CatalogPage:
        """Fetch one page of the entries of a kind."""
        wanted = {"name": name, "prefix": prefix, "metadata": metadata, "archived": archived}
        page: Any = await self.ask(table.ENTRIES_OF[kind].list, {**wanted, "limit": limit, "cursor": cursor})
        return CatalogPage(entries=page[kind], next_cursor=page.next_cursor)  # which the wire calls by its kind

    async def archive_catalog_entry(self, kind: CatalogKind, ref: str) -> ArchivedVersions:
        """Archive a name's versions, or the one that the reference names."""
        return await self.call(table.ENTRIES_OF[kind].archive, kind, ref)

    async def delete_catalog_entry(self, kind: CatalogKind, ref: str) -> None:
        """Delete the version that the reference names."""
        await self.call(table.ENTRIES_OF[kind].delete, kind, ref)

    async def create_calibration(
        self, request: CalibrationFields, *, key: IdempotencyKey | None = None
    ) -> CalibrationJob:
        """Start a calibration on the server; files that the request names are this machine's, and their content is
        sent."""
        return await self.created(table.CALIBRATE, await with_contents(request), key)

    async def wait_calibration(self, calibration: str) -> CalibrationJob:
        """Wait until the calibration has ended. A server that is or goes away is asked again for ten minutes: its jobs
        outlive it."""
        return await self.wait_ended(table.GET_CALIBRATION, calibration, lambda found: found.ended)

    async def reachable(self, noun: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raises NotFoundError for what cannot be in a path."""
        if noun in (table.NOUN, table.DEFINITIONS):
            if "/" in (ref := given.get("ref", "")):
                raise NotFoundError(f"nothing is stored under {ref!r}: names have no slashes")
            if "/" in (calibration := given.get("calibration", "")):
                raise NotFoundError(f"no calibration has the id {calibration!r}")
        return await super().reachable(noun, given)
