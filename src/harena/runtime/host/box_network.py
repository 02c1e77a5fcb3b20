"""The network and the gateways of one sandbox: its listeners, and who serves them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from harena.core.errors import SandboxValidationError
from harena.core.ports import Egress, Gateways, GatewaySet
from harena.runtime.kernel import network

if TYPE_CHECKING:
    from harena.core.network_policy import NetworkPolicy
    from harena.core.records.gateways import GatewayLog
    from harena.core.records.network import NetworkLog


class BoxNetwork:
    """Made with its sandbox, and ended with it. Used from one event loop."""

    def __init__(
        self,
        sandbox_id: str,
        workspace: str,
        ports: tuple[int, ...] | None,
        gateways: int,
        *,
        check_running: Callable[[], None],
        is_dead: Callable[[], bool],
    ) -> None:
        """`ports`: those of all its addresses at which it has listeners; None = it has no network. `gateways`: how many
        it has. `check_running` raises for a sandbox that has ended or is to end."""
        self._id = sandbox_id
        self._workspace = workspace
        self._ports = ports
        self._check_running = check_running
        self._is_dead = is_dead
        self._listeners: list[int] = []
        self._egress: Egress | None = None
        self._gateways: Gateways | None = None
        self.awaited = len(network.listeners(ports, gateways))
        """listeners that init has still to send"""

    @property
    def has_listeners(self) -> bool:
        """It has, or is to have, sockets in a network namespace of its own."""
        return self._ports is not None or self._gateways is not None

    def take(self, descriptors: list[int]) -> bool:
        """Keep the listeners that init has sent, which leave the list; False = they are not those that it has to
        send."""
        if not 0 < self.awaited == len(descriptors):
            return False
        self._listeners = [descriptors.pop(0) for _ in range(self.awaited)]
        self.awaited = 0
        return True

    async def begin(self, egress: Egress, policy: NetworkPolicy) -> None:
        """Have its listeners served from now on."""
        assert self._ports is not None
        self._check_running()
        listeners, self._listeners = self._listeners, []
        self._egress = egress
        await egress.admit(self._id, self._workspace, policy, listeners, self._ports)
        if self._is_dead():  # meanwhile, so that nobody has forgotten it
            egress.forget(self._id)
        self._check_running()

    async def begin_gateways(self, gateways: Gateways, bound: GatewaySet, count: int) -> None:
        """Have its last `count` listeners served as gateways; before `begin`."""
        self._check_running()
        place = len(self._listeners) - count
        listeners, self._listeners = self._listeners[place:], self._listeners[:place]
        self._gateways = gateways
        await gateways.serve(self._id, bound, listeners)
        if self._is_dead():  # meanwhile, so that nobody has forgotten it
            gateways.forget(self._id)
        self._check_running()

    async def change(self, policy: NetworkPolicy) -> None:
        """Give its listeners another policy. Raises SandboxValidationError where it has no network."""
        await self._served().change(self._id, policy)

    async def log(self, *, after: int, limit: int) -> NetworkLog:
        """Read what its programs reached. Raises SandboxValidationError where it has no network."""
        return await self._served().log(self._id, after=after, limit=limit)

    async def gateway_log(self, *, after: int, limit: int) -> GatewayLog:
        """Read what was asked of its gateways. Raises SandboxValidationError where it has none."""
        self._check_running()
        if self._gateways is None:
            raise SandboxValidationError(f"sandbox {self._id} was made without gateways")
        return await self._gateways.log(self._id, after=after, limit=limit)

    def end(self) -> None:
        """Its sandbox has ended: nobody serves it any more. May be called again."""
        self.forget()
        if self._egress is not None:
            self._egress.forget(self._id)
        if self._gateways is not None:
            self._gateways.forget(self._id)

    def forget(self) -> None:
        """Let go of the listeners that nobody serves yet; all that a forked child has of it."""
        for descriptor in self._listeners:
            os.close(descriptor)
        self._listeners = []

    def _served(self) -> Egress:
        self._check_running()
        if self._egress is None:
            raise SandboxValidationError(
                f"sandbox {self._id} was made without a network, and cannot be given one: make it with network=... "
                '({"allow": []} is one that reaches nothing until set_network allows more)'
            )
        return self._egress
