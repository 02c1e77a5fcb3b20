"""The table of operations: what the API can do, one module for each noun."""

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
)
from harena.core.operations.operation import Operation

__all__ = ["OPERATIONS", "Operation"]

OPERATIONS: tuple[Operation[..., Any], ...] = (
    *sandboxes.OPERATIONS,
    *sandboxes.ON_COMMANDS,
    *sandboxes.ON_FILES,
    *blueprints.OPERATIONS,
    *catalog.OPERATIONS,
    *benchmark_jobs.OPERATIONS,
    *images.OPERATIONS,
    *snapshots.OPERATIONS,
    *image_builds.OPERATIONS,
    *registry.OPERATIONS,
    *secrets.OPERATIONS,
    *training_jobs.OPERATIONS,
    *server.ON_LEASES,
    *server.ON_KEYS,
    *server.ON_HEALTH,
)
