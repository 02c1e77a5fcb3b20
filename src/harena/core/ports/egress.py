"""What leaves sandboxes: the process that serves their listeners, as a runtime asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from harena.core.network_policy import NetworkPolicy
from harena.core.records.network import NetworkLog

if TYPE_CHECKING:
    from harena.core.gateways import Gateway
    from harena.core.records.gateways import GatewayLog


class Egress(Protocol):
    """Serves what sandboxes with a network connect to."""

    async def admit(
        self, sandbox_id: str, workspace: str, policy: NetworkPolicy, listeners: Sequence[int], ports: Sequence[int]
    ) -> None:
        """Serve a sandbox's listeners: that of the proxy, then (where `ports` is not empty) two of DNS, by TCP and by
        UDP, then one for each of `ports`. The descriptors are its own from now on, also where this fails. Raises
        PlatformError."""

    async def change(self, sandbox_id: str, policy: NetworkPolicy) -> None:
        """Another policy; connections that it does not allow end. Raises SandboxValidationError for an entry that
        leads nowhere here, and then leaves the policy as it was; NotFoundError, PlatformError."""

    async def log(self, sandbox_id: str, *, after: int = 0, limit: int = 100) -> NetworkLog:
        """What it has done, from the entry behind number `after` on. Raises NotFoundError, PlatformError."""

    def forget(self, sandbox_id: str) -> None:
        """The sandbox has ended: so do its connections, and nothing is known of it any more."""

    async def close(self) -> None:
        """End all of it. May be called more than once."""

    def after_fork_in_child(self) -> None:
        """In a forked child: let go of what belongs to the parent, without ending it."""


class GatewaySet(Protocol):
    """The gateways of one sandbox, with credentials that nobody but who has made it reads."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables of the sandbox's programs: tokens and addresses."""


class Gateways(Protocol):
    """Serves the gateways of sandboxes."""

    async def bound(self, workspace: str, gateways: Sequence[Gateway], urls: Sequence[str]) -> GatewaySet:
        """Tokens for the gateways of a sandbox that is to be, and the secrets of its workspace for them. `urls`: where
        each will be found inside. Raises NotFoundError, ValidationError (a secret may not be sent there) and
        PlatformError."""

    async def serve(self, sandbox_id: str, bound: GatewaySet, listeners: Sequence[int]) -> None:
        """Serve them, each on a listening socket of the sandbox. The descriptors are its own from now on, also where
        this fails. Raises PlatformError."""

    def forget(self, sandbox_id: str) -> None:
        """The sandbox has ended: its tokens are good for nothing any more."""

    async def log(self, sandbox_id: str, *, after: int = 0, limit: int = 100) -> GatewayLog:
        """What its gateways have done, from the entry behind number `after` on. Raises NotFoundError, PlatformError."""

    async def close(self) -> None:
        """End all of it. May be called more than once."""

    def after_fork_in_child(self) -> None:
        """In a forked child: let go of what belongs to the parent, without ending it."""
