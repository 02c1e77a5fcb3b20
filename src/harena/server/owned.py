"""Which workspace a sandbox belongs to. What another workspace has does not exist. Used from one event loop."""

from __future__ import annotations

from collections.abc import Sequence

from harena.core.errors import SandboxNotFoundError
from harena.core.models import SandboxStatus
from harena.core.ports import Operations, SandboxHandle

LOOK_OVER_AT_LEAST = 20_000
"""names that are kept before those that the node has forgotten are looked for"""


class OwnedSandboxes:
    """The node's sandboxes, each with its workspace."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._workspaces: dict[str, str] = {}
        self._look_over_at = LOOK_OVER_AT_LEAST

    async def note(self, sandbox_id: str, workspace: str) -> None:
        """It belongs to this workspace from now on."""
        self._workspaces[sandbox_id] = workspace
        if len(self._workspaces) >= self._look_over_at:
            known = {handle.info.id for handle in await self._operations.list_sandboxes(include_terminal=True)}
            self._workspaces = {name: owner for name, owner in self._workspaces.items() if name in known}
            self._look_over_at = max(LOOK_OVER_AT_LEAST, 2 * len(self._workspaces))

    async def find(self, workspace: str, sandbox_id: str) -> SandboxHandle:
        """Raises SandboxNotFoundError."""
        if self._workspaces.get(sandbox_id) != workspace:
            message = (
                f"no sandbox {sandbox_id!r} on this server: it was never here, or has ended so long ago that it is "
                "forgotten"
            )
            raise SandboxNotFoundError(message, sandbox_id=sandbox_id)
        return await self._operations.get_sandbox(sandbox_id)

    async def list(
        self, workspace: str, *, tags: Sequence[str], statuses: Sequence[SandboxStatus], include_terminal: bool
    ) -> list[SandboxHandle]:
        """Those of the workspace, oldest first."""
        found = await self._operations.list_sandboxes(tags=tags, statuses=statuses, include_terminal=include_terminal)
        mine = [handle for handle in found if self._workspaces.get(handle.info.id) == workspace]
        return sorted(mine, key=lambda handle: (handle.info.created_at, handle.info.id))
