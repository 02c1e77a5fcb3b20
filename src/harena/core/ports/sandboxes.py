"""What a node can do with sandboxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harena.core.models import SandboxSpec
from harena.core.ports.runtime import SandboxHandle
from harena.core.records.sandboxes import SandboxStatus


class SandboxOperations(Protocol):
    """Sandboxes of one workspace."""

    async def create_sandbox(self, spec: SandboxSpec) -> SandboxHandle:
        """Create and start. Returns when it runs. Raises SandboxFailedError, NotFoundError, HostUnsupportedError."""

    async def get_sandbox(self, sandbox_id: str) -> SandboxHandle:
        """Raises SandboxNotFoundError. Ended sandboxes are remembered for a while."""

    async def list_sandboxes(
        self,
        *,
        tags: Sequence[str] = (),
        statuses: Sequence[SandboxStatus] = (),
        include_terminal: bool = False,
    ) -> list[SandboxHandle]:
        """Sandboxes that carry all `tags` and have one of `statuses` (none given: all). Ended ones only on request."""
