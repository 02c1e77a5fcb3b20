"""The part of `Operations` that is about the objects that training refers to, for one workspace of a node."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING

from harena.core.records.objects import StoredObject, StoredObjectsPage

if TYPE_CHECKING:
    from harena.core.registry import ObjectKind
    from harena.node.parts import NodeParts


class RegistryOperations:
    """Capabilities, tasks, data sets, models and checkpoints. Used from one event loop."""

    workspace: str
    _parts: NodeParts

    async def push_object(
        self, kind: ObjectKind, name: str, version: str, tree: AsyncIterable[bytes], *, digest: str | None = None
    ) -> StoredObject:
        """See `Operations`."""
        return await self._parts.registry().push(self.workspace, kind, name, version, tree, digest=digest)

    async def get_object(self, kind: ObjectKind, ref: str) -> StoredObject:
        """See `Operations`."""
        return await self._parts.registry().get(self.workspace, kind, ref)

    async def list_objects(
        self, kind: ObjectKind | None = None, *, name: str | None = None, cursor: int | None = None, limit: int = 100
    ) -> StoredObjectsPage:
        """See `Operations`."""
        return await self._parts.registry().list(self.workspace, kind, name=name, cursor=cursor, limit=limit)

    async def delete_object(self, kind: ObjectKind, ref: str) -> None:
        """See `Operations`."""
        await self._parts.registry().delete(self.workspace, kind, ref)
        self._parts.deleted(self.workspace)

    def pull_object(self, kind: ObjectKind, ref: str) -> AsyncIterator[bytes]:
        """See `Operations`."""
        return self._parts.registry().pull(self.workspace, kind, ref)
