"""The table of operations: what the API can do, one module for each noun. Made by `python scripts/nouns.py`."""

from __future__ import annotations

from typing import Any

from harena.core.operations import (
    benchmark_jobs,
    blueprints,
    catalog,
    image_builds,
    images,
    registry,
    sandboxes,
    secrets,
    server,
    snapshots,
    training_jobs,
    world_jobs,
    world_manifests,
)
from harena.core.operations.operation import Operation

__all__ = ["OPERATIONS", "Operation"]

OPERATIONS: tuple[Operation[..., Any], ...] = (
    *benchmark_jobs.OPERATIONS,
    *blueprints.OPERATIONS,
    *catalog.OPERATIONS,
    *image_builds.OPERATIONS,
    *images.OPERATIONS,
    *registry.OPERATIONS,
    *sandboxes.OPERATIONS,
    *sandboxes.ON_COMMANDS,
    *sandboxes.ON_FILES,
    *secrets.OPERATIONS,
    *server.ON_LEASES,
    *server.ON_KEYS,
    *server.ON_HEALTH,
    *snapshots.OPERATIONS,
    *training_jobs.OPERATIONS,
    *world_jobs.OPERATIONS,
    *world_manifests.OPERATIONS,
)
