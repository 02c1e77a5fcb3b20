"""The ports: what one room asks of another without knowing it.

A runtime gives what is in `runtime`. A node gives, for one workspace, the others, one for each noun; `Operations` is
all of them, and what a transport carries. Everything here is called from one event loop and is not thread-safe; the
sdk's facade makes it so for users.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harena.core.ports.benchmark_jobs import BenchmarkOperations
from harena.core.ports.blueprints import BlueprintOperations
from harena.core.ports.catalog import CatalogOperations
from harena.core.ports.egress import Egress, Gateways, GatewaySet
from harena.core.ports.image_builds import ImageBuildOperations
from harena.core.ports.images import ImageOperations, ImageSource
from harena.core.ports.operations import Operations
from harena.core.ports.registry import RegistryOperations
from harena.core.ports.runtime import (
    Death,
    FileWatch,
    HasUpperLayer,
    HoldsFiles,
    LimitsMemoryOfAll,
    MovesTrees,
    ReadWatch,
    RunningExec,
    Runtime,
    SandboxHandle,
    SandboxMemory,
    SandboxPort,
    SandboxSource,
    UpperLayer,
    WatchesFiles,
)
from harena.core.ports.sandboxes import SandboxOperations
from harena.core.ports.secrets import SecretOperations
from harena.core.ports.snapshots import SnapshotOperations
from harena.core.ports.training_jobs import TrainingOperations
from harena.core.records.sandboxes import SandboxStatus

__all__ = [
    "BenchmarkOperations",
    "BlueprintOperations",
    "CatalogOperations",
    "Death",
    "Egress",
    "FileWatch",
    "GatewaySet",
    "Gateways",
    "HasUpperLayer",
    "HoldsFiles",
    "ImageBuildOperations",
    "ImageOperations",
    "ImageSource",
    "LimitsMemoryOfAll",
    "MovesTrees",
    "Operations",
    "ReadWatch",
    "RegistryOperations",
    "RunningExec",
    "Runtime",
    "SandboxHandle",
    "SandboxMemory",
    "SandboxOperations",
    "SandboxPort",
    "SandboxSource",
    "SecretOperations",
    "SnapshotOperations",
    "TrainingOperations",
    "UpperLayer",
    "WatchesFiles",
    "WholeNode",
]


class WholeNode(Operations, Protocol):
    """A node that several workspaces share; its own operations are the default workspace's."""

    def in_workspace(self, workspace: str) -> Operations:
        """The node as one workspace has it: other workspaces' jobs, definitions, scenarios and blueprints do not exist.
        Its `close` ends nothing. Raises ValidationError for what is no workspace's name."""

    async def organization_of(self, workspace: str) -> str:
        """The organisation that a workspace belongs to now. Raises PlatformError."""
        ...

    def all_sandboxes(
        self, *, statuses: Sequence[SandboxStatus] = (), include_terminal: bool = False
    ) -> Sequence[SandboxHandle]:
        """Sandboxes of all workspaces, for those who count them."""

    def pending_sandboxes(self, workspace: str) -> Sequence[SandboxHandle]:
        """Sandboxes that are being created for a workspace; their callers do not have their ids yet."""
