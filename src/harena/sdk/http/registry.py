"""The part of `Operations` that is about the objects that training refers to, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable

from harena.core.records.catalog import StoredObject, StoredObjectsPage
from harena.core.registry import ObjectKind, checked_kind, checked_version, parse_object_ref
from harena.sdk.http.calls import Calls
from harena.sdk.http.connection import step

OCTETS = "application/octet-stream"


class HttpRegistry(Calls):
    """Capabilities, tasks, data sets, models and checkpoints. Used from one event loop."""

    async def push_object(
        self, kind: ObjectKind, name: str, version: str, tree: AsyncIterable[bytes], *, digest: str | None = None
    ) -> StoredObject:
        """See `Operations`."""
        checked_version(checked_kind(kind), name, version)
        query = {"kind": kind, "name": name, "version": version}
        if digest is not None:
            query["digest"] = digest
        async with self._connection.request(
            "POST", "/v1/objects", query=query, body=tree, headers={"content-type": OCTETS}
        ) as response:
            answer = self._connection.parsed(await response.read())
        return self._connection.read(StoredObject, answer)

    async def get_object(self, kind: ObjectKind, ref: str) -> StoredObject:
        """See `Operations`."""
        return await self._connection.record(StoredObject, "GET", _path(kind, ref))

    async def list_objects(
        self, kind: ObjectKind | None = None, *, name: str | None = None, cursor: int | None = None, limit: int = 100
    ) -> StoredObjectsPage:
        """See `Operations`."""
        asked: dict[str, str | int | None] = {"kind": kind, "name": name, "cursor": cursor, "limit": limit}
        query = {field: value for field, value in asked.items() if value is not None}
        return await self._connection.record(StoredObjectsPage, "GET", "/v1/objects", query=query)

    async def delete_object(self, kind: ObjectKind, ref: str) -> None:
        """See `Operations`."""
        async with self._connection.request("DELETE", _path(kind, ref)):
            return

    async def pull_object(self, kind: ObjectKind, ref: str) -> AsyncGenerator[bytes, None]:
        """See `Operations`."""
        async with self._connection.request("GET", f"{_path(kind, ref)}/tree") as response:
            async for piece in response.content.iter_any():
                yield piece


def _path(kind: ObjectKind, ref: str) -> str:
    """Raises ValidationError."""
    parse_object_ref(ref)
    return f"/v1/objects/{checked_kind(kind)}/{step(ref)}"
