"""One whole node: the runtime's sandboxes, blueprints and benchmark jobs behind the operations port.

Importing this loads nothing else; `open_embedded` loads what plain sandboxes need.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harena.core import settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harena.core.models import KnownProgram
    from harena.core.network_policy import Network
    from harena.core.node_config import NodeConfig
    from harena.core.ports import Operations
    from harena.core.workspace import LimitsOf, WorkspaceLimits
    from harena.node.node import Node

__all__ = ["load_embedded", "open_embedded", "open_for_runs", "open_for_server", "store_place"]


async def open_embedded() -> Operations:
    """A node inside this process: everything that it starts ends with the process.

    Blueprints, packages and results are kept in harena's home; results in PostgreSQL where `HARENA_DATABASE_URL` names
    one. Its workspace is the default one, or that of `HARENA_WORKSPACE`, and what that may use is unlimited, or what
    `HARENA_WORKSPACE_LIMITS` says; its sandboxes reach what their networks name, or less by `HARENA_SANDBOX_NETWORKS`.
    A training job's worker is told all three. Raises HostUnsupportedError where this host
    forbids what isolation needs, ValidationError.
    """
    from harena.core.node_config import NodeConfig

    limits_of, sandbox_networks = _as_given()
    home = _usable_home()
    config = NodeConfig(store_place=store_place(home), limits_of=limits_of, sandbox_networks=sandbox_networks)
    return await _open(home, config, settings.WORKSPACE.read())


def _as_given() -> tuple[LimitsOf | None, Sequence[Network] | None]:
    """What the environment says of the workspace's limits, and of the networks of its sandboxes; None = nothing. Raises
    ValidationError."""
    from harena.core.sandbox_networks import given_networks
    from harena.core.workspace import given_limits

    sandbox_networks = given_networks()

    if (limits := given_limits()) is None:
        return None, sandbox_networks

    async def limits_of(_: str) -> WorkspaceLimits:
        return limits

    return limits_of, sandbox_networks


async def open_for_runs(limits_of: LimitsOf, sandbox_networks: Sequence[Network] | None) -> Node:
    """A node inside a process that scores runs of jobs which other nodes have accepted; `limits_of`: what a workspace
    may use there; `sandbox_networks`: what sandboxes of the node that has accepted the job may reach. Raises as
    `open_embedded`."""
    from harena.core.node_config import NodeConfig

    home = _usable_home()
    config = NodeConfig(store_place=store_place(home), limits_of=limits_of, sandbox_networks=sandbox_networks)
    return await _open(home, config)


def load_embedded() -> None:
    """Load what `open_embedded` needs, which then loads nothing."""
    import harena.core.clock
    import harena.core.home
    import harena.core.node_config
    import harena.core.sandbox_networks
    import harena.egress.link
    import harena.node.gateways
    import harena.node.images
    import harena.node.node
    import harena.runtime.host.blueprints
    import harena.runtime.host.layers
    import harena.runtime.host.linux  # noqa: F401


async def open_for_server(
    *,
    keep_seconds: float | None = None,
    webhook_allow: Sequence[str] = (),
    network_allow: Sequence[str] = (),
    limits_of: LimitsOf | None = None,
    training_jobs: int = 1,
) -> Node:
    """Open a node for a server, whose jobs outlive it: jobs that an earlier server left are continued. Benchmark jobs
    are kept for `keep_seconds` after their end (None = until they are deleted); `training_jobs` run at one time.

    `webhook_allow`: addresses and networks that webhooks may go to beside the public internet;
    `network_allow`: those that sandboxes may reach beside it, where their network names them; `limits_of`: what a
    workspace may use (None = everything). Raises ValidationError.
    """
    from harena.core.node_config import NodeConfig
    from harena.core.threads import NODE
    from harena.jobs.webhooks import networks
    from harena.node.parts import load_for_server

    home = _usable_home()
    await NODE.run(load_for_server)
    node = await _open(
        home,
        NodeConfig(
            store_place=store_place(home),
            durable_jobs=True,
            keep_seconds=keep_seconds,
            webhook_networks=networks(webhook_allow),
            sandbox_networks=networks(network_allow, "sandboxes"),
            limits_of=limits_of,
            training_jobs=training_jobs,
        ),
    )
    try:
        node.remove_left()
        await node.resume_jobs()
    except BaseException:  # raised again: whatever failed, also a cancellation, a node that nobody has is closed
        await node.close()
        raise
    return node


async def _open(home: Path, config: NodeConfig, workspace: str | None = None) -> Node:
    from harena.core.clock import SystemClock
    from harena.core.workspace import DEFAULT_WORKSPACE
    from harena.egress.link import EgressLink
    from harena.node.gateways import NodeGateways
    from harena.node.images import NodeImages
    from harena.node.node import Node
    from harena.runtime.host.blueprints import Blueprints
    from harena.runtime.host.layers import LayerStore
    from harena.runtime.host.linux import LinuxRuntime

    clock = SystemClock()
    layers = LayerStore(home / "layers")
    held = settings.HELD_BLUEPRINTS.read()
    blueprints = Blueprints(clock, layers=layers, root=home / "blueprints", held=Path(held) if held else None)
    images = NodeImages(config.images_place, clock, for_server=config.works_for_server)
    gateways = NodeGateways()
    runtime = LinuxRuntime(
        layers=layers,
        images=images,
        egress=EgressLink(permitted=config.sandbox_networks),
        gateways=gateways,
        home=home,
        known_programs=_known_programs,
    )
    try:
        await runtime.start()
    except BaseException:  # also a cancellation: a spawner that was half started must not stay
        await runtime.close()
        raise
    node = Node(
        runtime,
        blueprints,
        clock,
        config,
        images,
        workspace=workspace or DEFAULT_WORKSPACE,
        open_for_runs=open_for_runs,
    )
    gateways.open_with(node.open_secret)
    return node


def _known_programs() -> Sequence[KnownProgram]:
    """What scoring starts again and again, once it is loaded: who wants sandboxes alone need not load it for this."""
    driver_boot = sys.modules.get("harena.scoring.scorers.driver_boot")
    return () if driver_boot is None else (driver_boot.known_program(),)


def _usable_home() -> Path:
    """Harena's home, which is there. Raises ValidationError where it cannot be."""
    from harena.core.errors import ValidationError
    from harena.core.home import INCOMING, SPOOL, harena_home, prepare_home

    home = harena_home()
    try:
        prepare_home(home)
        if (home / SPOOL).is_dir() or (home / INCOMING).is_dir():
            from harena.core.spool import remove_left_spools

            remove_left_spools(home)
    except OSError as error:
        why = "it is not a directory" if home.exists() else error.strerror
        raise ValidationError(
            f"harena cannot keep anything in {home}: {why}; set HARENA_HOME to a directory that you can write to"
        ) from None
    return home


def store_place(home: Path) -> Path | str:
    """Where results are kept: the PostgreSQL that `HARENA_DATABASE_URL` names, else a file in harena's home."""
    return settings.DATABASE_URL.read() or home / "harena.db"
