"""The part of `Operations` that is about what is kept by name, over HTTP."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from harena.core.catalog import parse_reference
from harena.core.errors import NotFoundError
from harena.core.records.catalog import ENTRIES, Archived, CalibrationJob, CatalogEntry, CatalogPage
from harena.core.records.record import Record
from harena.sdk.http.calls import Calls
from harena.sdk.http.connection import step
from harena.sdk.http.given_files import with_contents

if TYPE_CHECKING:
    from harena.core.catalog import CatalogKind
    from harena.core.idempotency import IdempotencyKey

R = TypeVar("R", bound=Record)

CALIBRATION_WAIT_SECONDS = 30
"""how long one request waits for a calibration's end; asked again for as long as somebody waits"""


class HttpCatalog(Calls):
    """Stored scenarios, scoring contracts and calibrations. Used from one event loop."""

    async def create_catalog_entry(self, kind: CatalogKind, request: Mapping[str, Any]) -> CatalogEntry:
        """See `Operations`."""
        if kind == "benchmark_job_defs" and isinstance(request.get("request"), Mapping):
            request = {**request, "request": await with_contents(request["request"])}
        return await self._made(ENTRIES[kind], f"/v1/{kind}", request)

    async def get_catalog_entry(self, kind: CatalogKind, reference: str, *, content: bool = False) -> CatalogEntry:
        """See `Operations`."""
        query = {"content": content} if kind != "scoring_contracts" else None
        return await self._connection.record(ENTRIES[kind], "GET", _entry(kind, reference), query=query)

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
        """See `Operations`."""
        query: dict[str, str | int | float | list[str]] = {"prefix": prefix, "archived": archived, "limit": limit}
        query["metadata"] = [f"{key}={value}" for key, value in (metadata or {}).items()]
        if name is not None:
            query["name"] = name
        if cursor is not None:
            query["cursor"] = cursor
        page = await self._connection.json("GET", f"/v1/{kind}", query=query)
        with self._connection.understanding("a page of the catalogue"):
            entries = [self._connection.read(ENTRIES[kind], entry) for entry in page[kind]]
            return CatalogPage(entries=entries, next_cursor=page["next_cursor"])

    async def archive_catalog_entry(self, kind: CatalogKind, reference: str) -> Archived:
        """See `Operations`."""
        return await self._connection.record(Archived, "POST", f"{_entry(kind, reference)}/archive")

    async def delete_catalog_entry(self, kind: CatalogKind, reference: str) -> None:
        """See `Operations`."""
        async with self._connection.request("DELETE", _entry(kind, reference)):
            return

    async def create_calibration(
        self, request: Mapping[str, Any], *, key: IdempotencyKey | None = None
    ) -> CalibrationJob:
        """See `Operations`."""
        return await self._made(CalibrationJob, "/v1/calibrations", request, key)

    async def get_calibration(self, calibration_id: str) -> CalibrationJob:
        """See `Operations`."""
        return await self._connection.record(CalibrationJob, "GET", _calibration(calibration_id))

    async def wait_calibration(self, calibration_id: str) -> CalibrationJob:
        """See `Operations`."""
        while True:
            query = {"wait_seconds": CALIBRATION_WAIT_SECONDS}
            found = await self._connection.record(CalibrationJob, "GET", _calibration(calibration_id), query=query)
            if found.ended:
                return found

    async def _made(self, kind: type[R], path: str, request: Mapping[str, Any], key: IdempotencyKey | None = None) -> R:
        content = await with_contents(request)
        headers = {"idempotency-key": uuid.uuid4().hex if key is None else key.key}
        return await self.twice(lambda: self._connection.record(kind, "POST", path, content=content, headers=headers))


def definition_path(reference: object) -> str:
    """Where a definition is. Raises ValidationError."""
    parse_reference(reference)
    return _entry("benchmark_job_defs", str(reference))


def _entry(kind: str, reference: str) -> str:
    if "/" in reference:
        raise NotFoundError(f"nothing is stored under {reference!r}: names have no slashes")
    return f"/v1/{kind}/{step(reference)}"


def _calibration(calibration_id: str) -> str:
    if "/" in calibration_id:
        raise NotFoundError(f"no calibration has the id {calibration_id!r}")
    return f"/v1/calibrations/{step(calibration_id)}"
