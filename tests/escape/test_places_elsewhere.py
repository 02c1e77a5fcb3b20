"""Sandboxes that are not the server's own, and do its work: those of its workers for training jobs, and of its workers
on the nodes of a cluster. What the server lets its sandboxes reach holds for them."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from harena.core import settings
from harena.core.errors import ValidationError
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.network_policy import Network, read_policy
from harena.core.ports import SandboxSource
from harena.core.sandbox_networks import given_networks, written_networks
from harena.core.workspace import LimitsOf, WorkspaceLimits
from harena.jobs.training.owned_training import Workers
from harena.node import open_embedded, open_for_runs
from harena.node.node import Node

LOOPBACK = (ip_network("127.0.0.0/8"),)
ASKS = """
import socket, sys
with socket.create_connection(("127.0.0.1", 3128), 20) as proxy:
    place = f"127.0.0.1:{sys.argv[1]}"
    proxy.sendall(f"CONNECT {place} HTTP/1.1\\r\\nHost: {place}\\r\\n\\r\\n".encode())
    print(proxy.recv(65536).decode(), flush=True)
"""


async def _limits_of(_: str) -> WorkspaceLimits:
    return WorkspaceLimits()


@pytest.fixture
def of_the_host() -> Iterator[int]:
    """A port of the host's loopback on which something listens, as the API of a cluster does."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARENA_HOME", str(tmp_path))


async def _said(runs: SandboxSource, port: int) -> str:
    """What a sandbox is answered that asks its proxy for this port of the host. Its policy names all addresses, which a
    server takes, because no entry is wholly special."""
    async with runs.sandbox(SandboxSpec(network=read_policy({"allow": [f"0.0.0.0/0:{port}"]}))) as sandbox:
        request = ExecRequest(argv=("python3", "-c", ASKS, str(port)), timeout_seconds=60)
        return (await (await sandbox.exec(request)).wait()).stdout.decode()


async def test_a_worker_of_a_cluster_reaches_what_its_server_may(of_the_host: int) -> None:
    """Its node is opened with what the server's operator has allowed, and neither its own loopback nor the address of a
    cloud's credentials is a part of that. Where it is, it is reached: the test would know."""
    said = {}
    for permitted in ((), LOOPBACK):
        node = await open_for_runs(_limits_of, permitted)
        runs = node.sandbox_source("hostile")
        try:
            said[permitted] = await _said(runs, of_the_host)
            with pytest.raises(ValidationError, match="may not be pulled here"):
                await runs.sandbox(SandboxSpec(image=f"127.0.0.1:{of_the_host}/mine:1")).__aenter__()
        finally:
            await node.close()
    assert said[LOOPBACK].startswith("HTTP/1.1 200"), said
    assert "is not a public one" in said[()], said


async def test_a_training_worker_reaches_what_its_server_may(of_the_host: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has an embedded node, which is told by its environment."""
    for name, value in (await Workers(command=(), env={}, sandbox_networks=()).env_of("hostile")).items():
        monkeypatch.setenv(name, value)
    node = await open_embedded()
    assert isinstance(node, Node)
    try:
        assert "is not a public one" in await _said(node.sandbox_source("hostile"), of_the_host)
    finally:
        await node.close()


async def test_a_cluster_is_told_what_the_server_is() -> None:
    """A worker opens its node with the networks that it was made with; one that makes rollouts has the environment of
    its job's process, the workspace included: whose images it may name, and whose limits hold."""
    pytest.importorskip("ray")
    from harena.node.cluster_scores import ScoringWorker

    opened: list[object] = []

    async def open_node(_: LimitsOf, networks: Sequence[Network] | None) -> Any:
        opened.append(networks)

    await ScoringWorker(open_node, LOOPBACK).ready()
    assert opened == [LOOPBACK]
    env = await Workers(command=(), env={}, limits_of=_limits_of, sandbox_networks=()).env_of("hostile")
    assert env.keys() <= {setting.name for setting in settings.OF_WORKERS}


@pytest.mark.parametrize("networks", [(), LOOPBACK, (*LOOPBACK, ip_network("fd00::/8"))])
def test_networks_are_read_as_they_were_written(networks: Sequence[Network]) -> None:
    """None beside the public internet is something else than nothing said, which is all."""
    assert given_networks({"HARENA_SANDBOX_NETWORKS": written_networks(networks)}) == tuple(networks)
    assert given_networks({}) is None
    with pytest.raises(ValidationError, match="HARENA_SANDBOX_NETWORKS"):
        given_networks({"HARENA_SANDBOX_NETWORKS": "10.0.0.1/8"})
