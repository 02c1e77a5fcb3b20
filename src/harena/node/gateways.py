"""The gateways of a node's sandboxes: secrets opened, tokens made, listeners served. Loaded with the first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harena.core.errors import NotFoundError, SandboxUnavailableError

if TYPE_CHECKING:
    from harena.core.gateways import Gateway
    from harena.core.ports.egress import GatewaySet
    from harena.core.records.gateways import GatewayLog
    from harena.core.secrets import OpenSecret
    from harena.egress.credentials import BoundGateway
    from harena.egress.gateway_link import GatewayLink

OpensSecrets = Callable[[str, str], Awaitable["OpenSecret"]]
"""(workspace, name); raises NotFoundError, PlatformError"""


@dataclass(frozen=True, slots=True)
class _Bound:
    """Implements `GatewaySet`."""

    workspace: str
    environment: Mapping[str, str] = field(repr=False)
    gateways: tuple[BoundGateway, ...]
    urls: tuple[str, ...]


class NodeGateways:
    """Implements `Gateways`. Used from one event loop."""

    def __init__(self) -> None:
        self._link: GatewayLink | None = None
        self._opens: OpensSecrets | None = None
        self._closed = False

    def open_with(self, opens: OpensSecrets) -> None:
        """Say what opens secrets: the node, which is made after the runtime that asks for gateways."""
        self._opens = opens

    async def bound(self, workspace: str, gateways: Sequence[Gateway], urls: Sequence[str]) -> GatewaySet:
        """Make tokens for a sandbox's gateways, and start the process that serves them. Raises SandboxUnavailableError
        where the node has been closed."""
        from harena.egress.credentials import BoundGateway, new_token
        from harena.egress.gateway_link import GatewayLink

        if self._opens is None or self._closed:
            raise SandboxUnavailableError("this node has been closed: open another one", reason="NODE_CLOSED")
        if self._link is None:  # here, because what is wrong with its settings is known before anything is made
            self._link = GatewayLink.of_settings()
        environment: dict[str, str] = {}
        made = []
        for gateway, url in zip(gateways, urls, strict=True):
            token = new_token()
            made.append(BoundGateway.of(gateway, token, await self._opens(workspace, gateway.secret)))
            environment |= {gateway.name: token, f"{gateway.name}_URL": url}
        return _Bound(workspace, environment, tuple(made), tuple(urls))

    async def serve(self, sandbox_id: str, bound: GatewaySet, listeners: Sequence[int]) -> None:
        """Hand the sandbox's listening sockets to the process that serves gateways."""
        from harena.egress.gateway_link import ServedGateway

        assert isinstance(bound, _Bound)
        assert self._link is not None  # since it was bound
        parts = zip(bound.gateways, listeners, bound.urls, strict=True)
        await self._link.serve(sandbox_id, [ServedGateway(*part) for part in parts], bound.workspace)

    def forget(self, sandbox_id: str) -> None:
        """Let the sandbox's tokens end."""
        if self._link is not None:
            self._link.forget(sandbox_id)

    async def log(self, sandbox_id: str, *, after: int = 0, limit: int = 100) -> GatewayLog:
        """Read what the sandbox's gateways have done. Raises NotFoundError where it has none."""
        if self._link is None:
            raise NotFoundError(f"sandbox {sandbox_id} has no gateways")
        return await self._link.gateway_log(sandbox_id, after=after, limit=limit)

    async def close(self) -> None:
        """End the process that serves gateways; none starts after that."""
        self._closed = True
        if self._link is not None:
            await self._link.close()

    def after_fork_in_child(self) -> None:
        """Let go of the parent's process, without ending it."""
        self._closed = True
        if self._link is not None:
            self._link.after_fork_in_child()
