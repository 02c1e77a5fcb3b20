"""What cannot be the name of an object is refused before anything is sent to a server."""

from __future__ import annotations

from collections.abc import AsyncIterable, Mapping
from typing import Any

from harena.core.operations import registry as table
from harena.core.records.objects import StoredObject
from harena.core.registry import ObjectKind, checked_kind, checked_version, parse_object_ref
from harena.sdk.http.from_table import FromTable


class HttpRegistry(FromTable):
    """Capabilities, tasks, data sets, models and checkpoints. Used from one event loop."""

    async def push_object(
        self, kind: ObjectKind, name: str, version: str, tree: AsyncIterable[bytes], *, digest: str | None = None
    ) -> StoredObject:
        """Upload an object's archive as it is read. Raises ValidationError for a bad kind, name or version before
        anything is sent."""
        checked_version(checked_kind(kind), name, version)
        given = {"kind": kind, "name": name, "version": version, "tree": tree, "digest": digest}
        return await self.send_bytes(table.PUSH, given)

    async def reachable(self, noun: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raises ValidationError for what names no object."""
        if noun == table.NOUN and "ref" in given:
            parse_object_ref(given["ref"])
            checked_kind(given["kind"])
        return await super().reachable(noun, given)
