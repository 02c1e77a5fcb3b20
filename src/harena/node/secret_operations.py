"""The part of `Operations` that is about secrets, for one workspace of a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harena.core.records.secrets import Secret, SecretsPage
    from harena.node.parts import NodeParts


class SecretOperations:
    """Secrets. Used from one event loop."""

    workspace: str
    _parts: NodeParts

    async def set_secret(self, name: str, value: str, *, hosts: Sequence[str]) -> Secret:
        """Store a secret of the workspace."""
        return await self._parts.secrets().set(self.workspace, name, value, hosts)

    async def list_secrets(self, *, limit: int = 100, cursor: str | None = None) -> SecretsPage:
        """Read one page of the workspace's secrets, without their values."""
        return await self._parts.secrets().page(self.workspace, limit=limit, cursor=cursor)

    async def get_secret(self, name: str) -> Secret:
        """Look a secret up, without its value."""
        return await self._parts.secrets().get(self.workspace, name)

    async def delete_secret(self, name: str) -> None:
        """Delete a secret, and count the workspace's stored bytes anew."""
        await self._parts.secrets().delete(self.workspace, name)
        self._parts.deleted(self.workspace)
