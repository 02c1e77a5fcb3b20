"""An RL job whose rollouts are made on the nodes of a Ray cluster: its workers, its engine and its `Rollouts`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from harena.cluster.address import cluster_address
from harena.cluster.connection import connect, shared, slots
from harena.cluster.workers import Workers
from harena.core import settings
from harena.core.errors import ValidationError
from harena.training.engines.ray import RayEngine, RayRollouts
from harena.training.engines.rollout_worker import RolloutWork, RolloutWorker

_OF_WORKERS = (settings.WORKSPACE_LIMITS, settings.TRAINING_MEMORY_BYTES)
"""what a job's own process was told that holds for its workers, too"""


class JobOnCluster:
    """What one job has of a cluster. `open`, then `engine`, then `rollouts`; `close` at the end."""

    def __init__(self, count: int, on_change: Callable[[str], object]) -> None:
        self._work: Any = None
        self._model: Any = None
        self._tokenizer: Any = None
        self._workers = Workers(RolloutWorker, lambda: (self._work,), count, on_change=on_change)
        self._rollouts: RayRollouts | None = None
        self._engine: RayEngine | None = None

    @classmethod
    async def open(cls, count: int | None, on_change: Callable[[str], object]) -> JobOnCluster:
        """Join the cluster, for so many workers; None = as many as its nodes have slots for. `on_change` is told in a
        sentence of workers that are lost and that join. Raises ValidationError where the cluster has not the slots that
        the job asks for, PlatformError."""
        address = cluster_address()
        if address is None:
            raise ValidationError(
                "this job was accepted for a Ray cluster, and there is none now: set HARENA_RAY_ADDRESS where its node "
                "runs, and retry the job"
            )
        await asyncio.to_thread(connect, address)
        there = await asyncio.to_thread(slots)
        wanted = count or there
        if wanted > there:
            raise ValidationError(
                f"config.num_rollout_workers: {wanted}, and the nodes of the Ray cluster have {there} slots: ask for "
                "fewer, or add nodes"
            )
        return cls(wanted, on_change)

    @property
    def count(self) -> int:
        """Workers of this job."""
        return self._workers.count

    def engine(self, model: Any, tokenizer: Any, **given: Any) -> RayEngine:
        """The engine that trains this model, and samples on the workers."""
        self._model, self._tokenizer = deepcopy(model).to("cpu"), tokenizer
        self._engine = RayEngine(model, tokenizer, workers=self._workers, **given)
        return self._engine

    async def rollouts(self, *, single_turn: bool, **work: Any) -> RayRollouts:
        """Start the workers, and give what has them make rollouts; `work` are fields of `RolloutWork`. Raises
        HarenaError where no worker can be made."""
        environ = {one.name: text for one in _OF_WORKERS if (text := one.read(os.environ)) is not None}
        made = RolloutWork(model=self._model, tokenizer=self._tokenizer, environ=environ, **work)
        self._work = await asyncio.to_thread(shared, made)
        self._model = None
        await self._workers.start()
        self._rollouts = RayRollouts(self._workers, single_turn=single_turn)
        return self._rollouts

    async def close(self) -> None:
        """End the workers."""
        if self._rollouts is not None:
            await self._rollouts.close()
        await self._workers.close()
