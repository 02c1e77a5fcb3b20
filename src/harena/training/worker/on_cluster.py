"""An RL job whose rollouts are made on the nodes of a Ray cluster: its workers, its engine and its `Rollouts`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from harena.cluster.address import cluster_address
from harena.cluster.connection import connect, room, shared
from harena.cluster.workers import Workers
from harena.core import settings
from harena.core.errors import ValidationError
from harena.training.engines.ray import RayEngine, RayRollouts
from harena.training.engines.rollout_worker import RolloutWork, RolloutWorker

_OF_WORKERS = (*settings.OF_WORKERS, settings.TRAINING_MEMORY_BYTES)
"""what a job's own process was told that holds for its workers, too"""


class JobOnCluster:
    """What one job has of a cluster. `open`, then `engine`, then `rollouts`; `close` at the end."""

    def __init__(self, count: int, least: int, on_change: Callable[[str], object]) -> None:
        self._work: Any = None
        self._least = least
        self._given: dict[str, Any] = {}
        self._workers = Workers(RolloutWorker, lambda: (self._work,), count, on_change=on_change)
        self._rollouts: RayRollouts | None = None

    @classmethod
    async def open(
        cls, count: int | None, on_change: Callable[[str], object], *, goes_on: bool = False
    ) -> JobOnCluster:
        """Join the cluster, for so many workers; None = as many as its nodes have slots for. A job that `goes_on` does
        so with what there is, since nodes may have been lost meanwhile; others join later. `on_change` is told in a
        sentence of workers that are lost and that join. Raises ValidationError where the cluster has not the slots that
        the job asks for, PlatformError."""
        address = cluster_address()
        if address is None:
            raise ValidationError(
                "this job was accepted for a Ray cluster, and there is none now: set HARENA_RAY_ADDRESS where its node "
                "runs, and retry the job"
            )
        await asyncio.to_thread(connect, address)
        there = (await asyncio.to_thread(room)).slots
        wanted = count or there
        if wanted > there and not goes_on:
            raise ValidationError(
                f"config.num_rollout_workers: {wanted}, and the nodes of the Ray cluster have {there} slots: ask for "
                "fewer, or add nodes"
            )
        return cls(wanted, min(wanted, there), on_change)

    @property
    def count(self) -> int:
        """Workers of this job."""
        return self._workers.count

    def engine(
        self, model: Any, tokenizer: Any, *, data_parallel: bool = False, keep_reference: bool = False, **given: Any
    ) -> RayEngine:
        """The engine that trains this model, and samples on the workers; `data_parallel`: they compute parts of each
        step's gradient. `given` are other settings of `RayEngine`."""
        self._given.update(
            model=deepcopy(model).to("cpu"),
            tokenizer=tokenizer,
            data_parallel=data_parallel,
            keep_reference=keep_reference,
        )
        both = {"data_parallel": data_parallel, "keep_reference": keep_reference}
        return RayEngine(model, tokenizer, workers=self._workers, **both, **given)

    async def rollouts(self, *, single_turn: bool, **work: Any) -> RayRollouts:
        """Start the workers, and give what has them make rollouts; `work` are fields of `RolloutWork`. Raises
        HarenaError where no worker can be made."""
        environ = {one.name: text for one in _OF_WORKERS if (text := one.read(os.environ)) is not None}
        made = RolloutWork(**self._given, environ=environ, **work)
        self._work = await asyncio.to_thread(shared, made)
        self._given.clear()  # the object store has it now
        await self._workers.start(self._least)
        self._rollouts = RayRollouts(self._workers, single_turn=single_turn)
        return self._rollouts

    async def close(self) -> None:
        """End the workers."""
        if self._rollouts is not None:
            await self._rollouts.close()
        await self._workers.close()
