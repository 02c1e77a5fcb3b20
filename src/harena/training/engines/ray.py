"""An engine that trains here and samples on the nodes of a Ray cluster, and the rollouts that are made there.

What is trained is put into Ray's object store after each step, once, and each worker takes it from there.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from safetensors.torch import save as safetensors_bytes

from harena.cluster.connection import shared
from harena.cluster.workers import Worker, WorkerLostError, Workers, split_evenly
from harena.core.errors import PlatformError
from harena.core.records.training_plans import LossSpec
from harena.training.data.prompts import PromptRow
from harena.training.engines.local import LocalTrainer
from harena.training.engines.policy_folder import trained_weights
from harena.training.engines.shared_gradients import GradientPart, add_gradients, together
from harena.training.loop.batch import TrainingBatch
from harena.training.ports import LossReport
from harena.training.rollouts.rollout import Policy, RolloutRequest
from harena.training.rollouts.trajectory import Reward, Sampled, SampleRequest, Sampling, Trajectory


class RayEngine(LocalTrainer):
    """Implements `Engine`: trains in this process, and samples on workers of a cluster."""

    def __init__(
        self, model: Any, tokenizer: Any, *, workers: Workers, data_parallel: bool = False, **settings: Any
    ) -> None:
        """`workers` are of the class `RolloutWorker`, and hold the same policy; `data_parallel`: they compute parts of
        each step's gradient, too. `settings` as of LocalTrainer."""
        super().__init__(model, tokenizer, **settings)
        self._workers = workers
        self._data_parallel = data_parallel
        self._version = 0
        self._asking: set[asyncio.Task[None]] = set()

    @property
    def version(self) -> int:
        """Version of the weights that the workers have."""
        return self._version

    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        """Have a worker sample the requests side by side; another one where it is lost. Raises ValidationError for a
        prompt that leaves no room for an answer."""
        self._check(requests)
        futures: list[asyncio.Future[Sampled]] = [asyncio.get_running_loop().create_future() for _ in requests]
        if requests:
            task = asyncio.ensure_future(self._ask(list(requests), futures))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        return futures

    async def forward_backward(self, batch: TrainingBatch, loss: LossSpec | None) -> LossReport:
        """Add the gradient of the batch's loss; in parallel with the workers where that is asked for, each with a part
        of the rows. A part whose worker is lost is computed by another one. Raises TrainingError."""
        parts = split_evenly(batch.rows, 1 + len(self._workers.live)) if self._data_parallel else [[*batch.rows]]
        own, *others = (TrainingBatch(rows=tuple(rows), denominator=batch.denominator) for rows in parts)
        asked = [
            asyncio.ensure_future(self._part(worker, other, loss))
            for worker, other in zip([*self._workers.live], others, strict=False)
        ]
        try:
            reports = [await super().forward_backward(own, loss)]
            for future in asked:  # in order: sums of floats depend on it
                part: GradientPart = await future
                await self._on_thread(partial(add_gradients, self._model, part.gradients))
                reports.append(part.report)
        except BaseException:  # raised again: what has arrived of this step's gradient is no part of the next
            for future in asked:
                future.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
            self._optimizer.zero_grad()
            raise
        return together(reports)

    async def _part(self, worker: Worker, batch: TrainingBatch, loss: LossSpec | None) -> GradientPart:
        part: GradientPart
        try:
            part = await self._workers.ask(worker, "gradients", batch, loss, self._version)
        except WorkerLostError:
            part = await self._workers.ask_any("gradients", batch, loss, self._version)
        return part

    async def close(self) -> None:
        """End the training thread. The workers are whoever's who made them."""
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)
        await super().close()

    async def _ask(self, requests: list[SampleRequest], futures: list[asyncio.Future[Sampled]]) -> None:
        places = [*range(len(requests))]
        try:
            while places := [place for place in places if not futures[place].done()]:
                asked = [requests[place] for place in places]
                worker = await self._workers.least_busy()
                try:
                    async for place, sampled in self._workers.answers(worker, "sequences", asked, count=len(asked)):
                        if not futures[places[place]].done():
                            futures[places[place]].set_result(sampled)
                except WorkerLostError:
                    pass  # another one is asked for what is missing
        except Exception as error:  # noqa: BLE001 - whoever waits for a sequence is told, by the error itself
            for future in futures:
                if not future.done():
                    future.set_exception(error)

    async def _publish(self, version: int) -> None:
        weights = shared(await self._on_thread(self._weights))
        await self._workers.tell_all("publish", weights, version)
        self._version = version

    def _weights(self) -> bytes:
        with torch.no_grad():
            return safetensors_bytes(trained_weights(self._model))


@dataclass(eq=False, slots=True)
class _PendingRollout:
    """One rollout that somebody waits for."""

    request: RolloutRequest
    future: asyncio.Future[Trajectory]
    at: tuple[Worker, str, int] | None = None
    """who makes it, in which batch, at which place there"""


@dataclass(slots=True)
class _WorkerReport:
    """What one worker said of all that it made."""

    made: int = 0
    metrics: Mapping[str, float] = field(default_factory=dict)


class RayRollouts:
    """Implements `Rollouts`: each is made by a worker of the cluster, from its first token to its reward.

    What is asked for in one turn of the event loop is shared out in the order of keys, one piece for each worker, so
    that siblings stay together. A rollout whose worker is lost is begun anew by another one, with the weights of then.
    """

    def __init__(self, workers: Workers, *, single_turn: bool) -> None:
        """`workers` are of the class `RolloutWorker`; `single_turn`: a rollout is a prompt and its one answer."""
        self.single_turn = single_turn
        self.repeated = 0
        """rollouts that were begun anew because their worker was lost"""
        self._workers = workers
        self._waiting: dict[tuple[Sampling, bool], list[_PendingRollout]] = defaultdict(list)
        self._sending: set[asyncio.Task[None]] = set()
        self._told: dict[int, _WorkerReport] = {}

    async def prepare(self, rows: Sequence[PromptRow]) -> None:
        """Have each worker prepare for these rows, and check them. Raises ValidationError."""
        await self._workers.tell_all("prepare", shared(list(rows)))

    async def rollout(self, request: RolloutRequest, policy: Policy) -> Trajectory:
        """Have a worker make this rollout. Cancelling it ends it there."""
        asked = _PendingRollout(request, asyncio.get_running_loop().create_future())
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._send)
        self._waiting[policy.sampling, policy.lockstep].append(asked)
        try:
            return await asked.future
        finally:
            if asked.future.cancelled() and asked.at is not None:
                worker, batch, place = asked.at
                worker.actor.abort.remote(batch, place)

    async def again(self, row: PromptRow, trajectory: Trajectory, sampling: Sampling) -> Reward:
        """Have any worker reward what was said once more."""
        reward: Reward = await self._workers.ask_any("again", row, trajectory, sampling)
        return reward

    async def works(self, row: PromptRow) -> bool:
        """Ask any worker whether rewards can be had."""
        return bool(await self._workers.ask_any("works", row))

    async def platform_works(self) -> bool:
        """Ask any worker whether sandboxes can be had."""
        return bool(await self._workers.ask_any("platform_works"))

    def metrics(self) -> Mapping[str, float]:
        """Give the workers' own metrics, each weighted by how many rollouts it made, and how many workers there are."""
        told = [entry for entry in self._told.values() if entry.made]
        whole = sum(entry.made for entry in told)
        names = {name for entry in told for name in entry.metrics}
        found = {name: sum(entry.made * entry.metrics.get(name, 0.0) for entry in told) / whole for name in names}
        cluster = {"rollout_workers": float(len(self._workers.live)), "workers_lost": float(self._workers.lost)}
        return {**found, **cluster, "rollouts_repeated": float(self.repeated)}

    async def close(self) -> None:
        """Let go of what is being made."""
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, defaultdict(list)
        for (sampling, lockstep), asked in waiting.items():
            asked.sort(key=lambda entry: entry.request.key)
            for piece in split_evenly(asked, max(1, len(self._workers.live))):
                task = asyncio.ensure_future(self._make(piece, sampling, lockstep))
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)

    async def _make(self, asked: list[_PendingRollout], sampling: Sampling, lockstep: bool) -> None:
        try:
            while asked := [entry for entry in asked if not entry.future.done()]:
                try:
                    await self._make_on(await self._workers.least_busy(), asked, sampling, lockstep)
                except WorkerLostError:
                    self.repeated += sum(not entry.future.done() for entry in asked)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whoever waits for a rollout is told, by the error itself
            for entry in asked:
                if not entry.future.done():
                    entry.future.set_exception(error)

    async def _make_on(
        self, worker: Worker, asked: Sequence[_PendingRollout], sampling: Sampling, lockstep: bool
    ) -> None:
        batch = secrets.token_hex(8)
        for place, entry in enumerate(asked):
            entry.at = (worker, batch, place)
        requests = [entry.request for entry in asked]
        answers = self._workers.answers(worker, "rollouts", batch, requests, sampling, lockstep, count=len(asked))
        async for made in answers:
            self._told[id(worker)] = _WorkerReport(made.made, made.metrics)
            future = asked[made.place].future
            if not future.done():
                future.set_result(made.trajectory)
        if any(not entry.future.done() for entry in asked):
            raise PlatformError(
                f"the worker on node {worker.node} gave fewer rollouts than it was asked for", step="ray"
            )
