"""How a node's training jobs are wired: their folders, their worker program, and the check of their requests."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harena.core import settings
from harena.core.threads import TRAINING
from harena.jobs.training.owned_training import Workers
from harena.jobs.training.training_jobs import Hold, TrainingJobs
from harena.training.installed import missing_for_training
from harena.training.requests.acceptance import FindBlueprint, Resolve, accepted
from harena.training.requests.planned import planned_training

if TYPE_CHECKING:
    from harena.core.clock import Clock
    from harena.core.node_config import NodeConfig
    from harena.core.node_stores import TrainingStores
    from harena.core.records.training_jobs import PlannedTraining
    from harena.core.workspace import CheckRoom

_OF_CLIENTS = (settings.BASE_URL.name, settings.API_KEY.name)
WORKER = (sys.executable, "-P", "-m", "harena.training.worker.main")


def training_jobs(
    config: NodeConfig,
    stores: TrainingStores,
    resolve: Resolve,
    find_blueprint: FindBlueprint,
    hold: Hold,
    clock: Clock,
    check_room: CheckRoom,
) -> TrainingJobs:
    """Make the training jobs of a node; `resolve` and `find_blueprint` find what requests refer to, `hold` keeps
    blueprints for jobs, `check_room` raises LimitExceededError where a workspace has no room for so many bytes."""
    # a worker makes its sandboxes on a node of its own, so that it must not find the server that a client would use
    env = {name: value for name, value in os.environ.items() if name not in _OF_CLIENTS}

    async def accept(workspace: str, body: Mapping[str, Any]) -> dict[str, Any]:
        # a deployment with its own worker program knows what that needs installed
        await check_room(workspace, await TRAINING.run(_json_bytes, body))
        missing = missing_for_training if config.training_worker is None else (lambda: None)
        return await accepted(workspace, body, resolve, find_blueprint, missing)

    async def described(accepted: Mapping[str, Any]) -> PlannedTraining:
        return await TRAINING.run(planned_training, accepted)

    command = tuple(config.training_worker or WORKER)
    return TrainingJobs(
        config,
        stores,
        accept,
        described,
        clock,
        Workers(
            command=command,
            env={**env, settings.HOME.name: str(config.home.resolve())},
            limits_of=config.limits_of,
            sandbox_networks=config.sandbox_networks,
        ),
        hold,
    )


def _json_bytes(body: Mapping[str, Any]) -> int:
    """The length of its JSON, which is made value by value: other threads run between them."""
    return sum(map(len, json.JSONEncoder(default=str).iterencode(body)))
