"""How a node's training jobs are wired: their folders, their worker program, and what takes requests in."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harena.core import settings
from harena.core.home import harena_home
from harena.node.owned_training import Workers
from harena.node.training_acceptance import FindBlueprint, Resolve, accepted
from harena.node.training_jobs import TrainingJobs
from harena.node.training_queue import OpenDatabase
from harena.training.installed import missing_for_training

if TYPE_CHECKING:
    from harena.core.clock import Clock
    from harena.core.workspace import LimitsOf
    from harena.node.catalog import CheckRoom

_OF_CLIENTS = (settings.BASE_URL.name, settings.API_KEY.name)
WORKER = (sys.executable, "-P", "-m", "harena.training.worker.main")


def training_jobs(
    open_database: OpenDatabase,
    store_place: Path | str,
    resolve: Resolve,
    find_blueprint: FindBlueprint,
    clock: Clock,
    *,
    durable: bool,
    most: int,
    worker: Sequence[str] | None,
    limits_of: LimitsOf | None,
    check_room: CheckRoom,
) -> TrainingJobs:
    """Make the training jobs of a node, with the arguments of `Node`; `resolve` and `find_blueprint` find what requests
    refer to. Folders of jobs are beside the store where that is a file, else in harena's home."""
    home = store_place.parent if isinstance(store_place, Path) else harena_home()
    # a worker's sandboxes are its own node's: what it is told of a server is not for it
    env = {name: value for name, value in os.environ.items() if name not in _OF_CLIENTS}

    async def accept(workspace: str, body: Mapping[str, Any]) -> dict[str, Any]:
        # whoever brings a worker of their own knows what it needs
        await check_room(workspace, len(json.dumps(body, default=str)))
        missing = missing_for_training if worker is None else (lambda: None)
        return await accepted(workspace, body, resolve, find_blueprint, missing)

    workers = Workers(command=tuple(worker or WORKER), env={**env, settings.HOME.name: str(home.resolve())})
    return TrainingJobs(
        open_database, home, accept, clock, workers=workers, durable=durable, most=most, limits_of=limits_of
    )
