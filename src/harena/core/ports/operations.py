"""The port of all ports: what a node can do for one workspace. Made by `python scripts/nouns.py`."""

from __future__ import annotations

from typing import Protocol

from harena.core.ports.benchmark_jobs import BenchmarkOperations
from harena.core.ports.blueprints import BlueprintOperations
from harena.core.ports.catalog import CatalogOperations
from harena.core.ports.image_builds import ImageBuildOperations
from harena.core.ports.images import ImageOperations
from harena.core.ports.registry import RegistryOperations
from harena.core.ports.sandboxes import SandboxOperations
from harena.core.ports.secrets import SecretOperations
from harena.core.ports.snapshots import SnapshotOperations
from harena.core.ports.training_jobs import TrainingOperations
from harena.core.ports.world_jobs import WorldJobOperations
from harena.core.ports.world_manifests import WorldManifestOperations


class Operations(
    BenchmarkOperations,
    BlueprintOperations,
    CatalogOperations,
    ImageBuildOperations,
    ImageOperations,
    RegistryOperations,
    SandboxOperations,
    SecretOperations,
    SnapshotOperations,
    TrainingOperations,
    WorldJobOperations,
    WorldManifestOperations,
    Protocol,
):
    """What a node can do for one workspace, and what a transport carries. One path for embedded and
    server."""

    async def close(self) -> None:
        """End everything that this node owns."""
