"""The gateways of a node, before any is served."""

from __future__ import annotations

import pytest

from harena.core.errors import ValidationError
from harena.core.gateways import Gateway
from harena.core.secrets import OpenSecret
from harena.core.settings import GATEWAY_NETWORKS
from harena.node.gateways import NodeGateways


async def test_wrong_settings_are_told_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox whose listeners had been made would leave them in the node."""
    monkeypatch.setenv(GATEWAY_NETWORKS.name, "no network")
    opened = []

    async def opens(workspace: str, name: str) -> OpenSecret:
        opened.append((workspace, name))
        return OpenSecret(name=name, value="credential", hosts=("a.example:443",))

    gateways = NodeGateways()
    gateways.open_with(opens)
    gateway = Gateway(name="UP", url="https://a.example", secret="S")
    with pytest.raises(ValidationError, match=GATEWAY_NETWORKS.name):
        await gateways.bound("w_1", [gateway], ["http://127.0.0.1:1"])
    assert opened == []
    monkeypatch.delenv(GATEWAY_NETWORKS.name)
    bound = await gateways.bound("w_1", [gateway], ["http://127.0.0.1:1"])
    assert set(bound.environment) == {"UP", "UP_URL"}
