"""The package's face, imported when a command needs it: `harena --help` loads no node.

This is the only place where the command line takes hold of the package; it uses

    benchmark_jobs.create/events/results_pages/summary/save_results/diff/get/list/cancel/delete,
    benchmark_job_defs.create/run/get/list/archive/delete, blueprints.build/create/get/list/export_archive,
    Sandbox.run/list/from_id/delete,
    doctor(),
    training_jobs.create/plan/events/logs/metrics/artifacts/download/wait/get/list/cancel/retry/delete,
    images.pull/prefetch/list/delete/collect/import_archive/export_archive, secrets.set/list/delete,
    snapshots.list/delete/export_archive/lines_of_tree,
    world_manifests.create/list/get/map/delete, world_jobs.create/wait/list/get/cancel/delete,
    registry.push/pull/list, load_scenarios(source), scenario_schema(), calibrate, audit, audits.write_*,
    sft.validate/verify, __version__
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any

from harena.core.network_policy import NetworkPolicy


def load() -> Any:
    """`import harena`."""
    return importlib.import_module("harena")


def plain(value: Any) -> Any:
    """What the sdk gives, as JSON types: its objects as dicts of their fields, bytes as their number."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, NetworkPolicy):
        return value.to_json()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return plain(value.to_dict())
