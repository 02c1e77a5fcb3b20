"""Networks and gateways as requests write them."""

from __future__ import annotations

from collections.abc import Mapping

from harena.core.gateways import Gateway, read_gateways
from harena.core.network_policy import NetworkPolicy, read_policy
from harena.server.shapes import GatewayShape, NetworkShape


def policy(asked: str | NetworkShape) -> NetworkPolicy:
    """What sandboxes may reach. Raises SandboxValidationError."""
    return read_policy(asked if isinstance(asked, str) else asked.model_dump())


def gateways(asked: Mapping[str, GatewayShape]) -> tuple[Gateway, ...]:
    """The gateways, by name. Raises SandboxValidationError."""
    return read_gateways({name: gateway.model_dump() for name, gateway in asked.items()})
