"""The part of `Operations` that is about the objects that training refers to, for one workspace of a node."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harena.core.records.objects import StoredObject, StoredObjectsPage
    from harena.core.registry import ObjectKind
    from harena.node.parts import NodeParts


class RegistryOperations:
    """Capabilities, tasks, data sets, models and checkpoints. Used from one event loop."""

    workspace: str
    _parts: NodeParts

    async def push_object(
        self, kind: ObjectKind, name: str, version: str, tree: AsyncIterable[bytes], *, digest: str | None = None
    ) -> StoredObject:
        """Receive an archive as one version of an object of the workspace."""
        return await self._parts.registry().push(self.workspace, kind, name, version, tree, digest=digest)

    async def get_object(self, kind: ObjectKind, ref: str) -> StoredObject:
        """Look an object up, the newest version where the reference names none."""
        return await self._parts.registry().get(self.workspace, kind, ref)

    async def list_objects(
        self, kind: ObjectKind | None = None, *, name: str | None = None, cursor: int | None = None, limit: int = 100
    ) -> StoredObjectsPage:
        """Read one page of the workspace's objects."""
        return await self._parts.registry().list(self.workspace, kind, name=name, cursor=cursor, limit=limit)

    async def delete_object(self, kind: ObjectKind, ref: str) -> None:
        """Delete a version of an object, and count the workspace's stored bytes anew."""
        await self._parts.registry().delete(self.workspace, kind, ref)
        self._parts.deleted(self.workspace)

    def pull_object(self, kind: ObjectKind, ref: str) -> AsyncIterator[bytes]:
        """Write an object as an archive, piece by piece."""
        return self._parts.registry().pull(self.workspace, kind, ref)
