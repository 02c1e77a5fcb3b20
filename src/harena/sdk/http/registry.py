"""The part of `Operations` that is about the objects that training refers to, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from typing import Any

from harena.core.operations import registry as table
from harena.core.operations.sandboxes import OCTETS
from harena.core.records.objects import StoredObject
from harena.core.registry import ObjectKind, checked_kind, checked_version, parse_object_ref
from harena.sdk.http.calls import Calls, over_http


class HttpRegistry(Calls):
    """Capabilities, tasks, data sets, models and checkpoints. Used from one event loop."""

    get_object = over_http(table.GET)
    list_objects = over_http(table.LIST)
    delete_object = over_http(table.DELETE)

    async def push_object(
        self, kind: ObjectKind, name: str, version: str, tree: AsyncIterable[bytes], *, digest: str | None = None
    ) -> StoredObject:
        """Upload an object's archive as it is read. Raises ValidationError for a bad kind, name or version before
        anything is sent."""
        checked_version(checked_kind(kind), name, version)
        query = {"kind": kind, "name": name, "version": version}
        if digest is not None:
            query["digest"] = digest
        async with self._connection.request(
            table.PUSH.method, table.PUSH.path, query=query, body=tree, headers={"content-type": OCTETS}
        ) as response:
            answer = self._connection.parsed(await response.read())
        return self._connection.read(StoredObject, answer)

    async def pull_object(self, kind: ObjectKind, ref: str) -> AsyncGenerator[bytes, None]:
        """Download an object's archive, piece by piece."""
        where = await self.place(table.PULL, kind=kind, ref=ref)
        async with self._connection.request(table.PULL.method, where) as response:
            async for piece in response.content.iter_any():
                yield piece

    async def reachable(self, noun: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raises ValidationError for what names no object."""
        if noun == table.NOUN and "ref" in given:
            parse_object_ref(given["ref"])
            checked_kind(given["kind"])
        return await super().reachable(noun, given)
