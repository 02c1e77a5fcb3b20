"""What runs on a cluster's nodes: a policy that is sampled from, and the rollouts that are made with it, whose
sandboxes are this process's own.

Each is an actor (`harena.cluster.workers`). It is made of a `RolloutWork`, told the job's rows once and new weights
after each step, and asked for batches of rollouts; a batch's rollouts begin together, and come back one by one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from harena.cluster.workers import Refused, node_name
from harena.core.errors import HarenaError, PlatformError
from harena.core.records.training_plans import LossSpec
from harena.training.data.prompts import PromptRow
from harena.training.data.templates import ChatTemplate
from harena.training.engines.published_sampler import PublishedSampler
from harena.training.engines.shared_gradients import GradientPart, GradientTrainer
from harena.training.engines.tokenizer import LocalTokenizer
from harena.training.environments.tasks import Task
from harena.training.loop.batch import TrainingBatch
from harena.training.loop.pauses import platform_works
from harena.training.rewards import Overlong, reward_recipe
from harena.training.rollouts.recipes import rollouts_of
from harena.training.rollouts.rollout import Policy, RolloutRequest, Rollouts
from harena.training.rollouts.trajectory import Reward, Sampled, SampleRequest, Sampling, Trajectory

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutWork:
    """What a worker is made of. It travels to other machines, so it names no file."""

    model: Any
    """what is sampled from, as it is before the first step"""
    tokenizer: Any
    """a tokenizer of transformers"""
    recipe: str
    params: Mapping[str, Any]
    """parameters of the reward recipe"""
    task: Task | None = None
    capability_prompt: str | None = None
    max_turns: int | None = None
    overlong: Overlong = field(default_factory=Overlong)
    most_at_once: int | None = None
    """episodes of one worker that may have a sandbox at one time; None = all"""
    data_parallel: bool = False
    """it computes parts of each step's gradient, too"""
    keep_reference: bool = False
    """gradients need the weights before the first step"""
    environ: Mapping[str, str] = field(default_factory=dict)
    """variables that the worker's own node of sandboxes reads"""


@dataclass(frozen=True, slots=True)
class FinishedRollout:
    """One rollout that has ended."""

    place: int
    """its place in its batch"""
    trajectory: Trajectory
    metrics: Mapping[str, float]
    """what the worker's `Rollouts` tell of all that they made so far"""
    made: int
    """rollouts that this worker has made so far"""


class RolloutWorker:
    """One actor. Used from its event loop."""

    def __init__(self, work: RolloutWork) -> None:
        os.environ.update(work.environ)
        self._work = work
        self._tokenizer = LocalTokenizer(work.tokenizer)
        self._sampler = PublishedSampler(work.model, pad_token=self._tokenizer.pad_token, decode=self._tokenizer.decode)
        self.context_length = self._sampler.context_length
        self._trainer: GradientTrainer | None = None
        if work.data_parallel:
            self._trainer = GradientTrainer(work.model, work.tokenizer, keep_reference=work.keep_reference)
        self._rollouts: Rollouts | None = None
        self._policies: dict[tuple[Sampling, bool], Policy] = {}
        self._batches: dict[str, list[asyncio.Task[Trajectory]]] = {}
        self._made = 0

    # what `Policy` asks of a sampler
    @property
    def tokenizer(self) -> LocalTokenizer:
        """The policy's tokenizer."""
        return self._tokenizer

    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        """Begin to sample side by side."""
        return self._sampler.submit(requests)

    # what the job asks of a worker
    async def ready(self) -> Refused | None:
        """Make what makes rollouts."""
        try:
            self._rollouts = self._opened()
        except HarenaError as error:
            return Refused(error)
        return None

    async def node(self) -> str:
        """The address of the machine, and the beginning of its Ray node's id."""
        return node_name()

    async def prepare(self, rows: Sequence[PromptRow]) -> Refused | None:
        """Prepare the recipe for the job's rows, and check them."""
        return await _refusing(self._making.prepare(rows))

    async def publish(self, weights: bytes, version: int) -> Refused | None:
        """Sample from these weights from the next token on."""
        if self._trainer is not None:
            await self._trainer.take(weights, version)
        return await _refusing(asyncio.to_thread(self._sampler.publish, weights, version))

    async def gradients(self, batch: TrainingBatch, loss: LossSpec | None, version: int) -> GradientPart | Refused:
        """Compute the gradient of some of a step's rows, for the weights of this version."""
        if self._trainer is None:
            return Refused(PlatformError("a worker that computes no gradients was asked for one", step="learner"))
        return await _refusing(self._trainer.part(batch, loss, version))

    async def rollouts(
        self, batch: str, requests: Sequence[RolloutRequest], sampling: Sampling, lockstep: bool
    ) -> AsyncIterator[FinishedRollout | Refused]:
        """Make these rollouts, which begin together; each is given when it has ended. Those that are aborted are not
        given."""
        policy = self._policies.get((sampling, lockstep))
        if policy is None:
            policy = self._policies[sampling, lockstep] = Policy(self, sampling, lockstep=lockstep)
        tasks = [asyncio.ensure_future(self._making.rollout(request, policy)) for request in requests]
        self._batches[batch] = tasks
        places = {task: place for place, task in enumerate(tasks)}
        try:
            while places:
                ended, _ = await asyncio.wait(places, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(ended, key=places.__getitem__):
                    place = places.pop(task)
                    if task.cancelled():
                        continue
                    self._made += 1
                    yield _result(task, place, self._making.metrics(), self._made)
        finally:
            for task in tasks:
                task.cancel()
            self._batches.pop(batch, None)

    async def sequences(self, requests: Sequence[SampleRequest]) -> AsyncIterator[tuple[int, Sampled] | Refused]:
        """Sample these side by side; each is given with its place when it has ended."""
        places = {future: place for place, future in enumerate(self._sampler.submit(requests))}
        try:
            while places:
                ended, _ = await asyncio.wait(places, return_when=asyncio.FIRST_COMPLETED)
                for future in ended:
                    yield places.pop(future), future.result()
        finally:
            for future in places:
                future.cancel()

    async def abort(self, batch: str, place: int) -> None:
        """End one rollout of a batch."""
        if (tasks := self._batches.get(batch)) is not None:
            tasks[place].cancel()

    async def again(self, row: PromptRow, trajectory: Trajectory, sampling: Sampling) -> Reward | Refused:
        """Reward what was said once more."""
        again = getattr(self._making, "again", None)
        if again is None:
            return trajectory.reward
        asked: Awaitable[Reward] = again(row, trajectory, sampling)
        return await _refusing(asked)

    async def works(self, row: PromptRow) -> bool | Refused:
        """Tell whether rewards can be had."""
        works = getattr(self._making, "works", None)
        if works is None:
            return True
        asked: Awaitable[bool] = works(row)
        return await _refusing(asked)

    async def platform_works(self) -> bool | Refused:
        """Tell whether sandboxes can be had on this node."""
        return await _refusing(platform_works())

    @property
    def _making(self) -> Rollouts:
        if self._rollouts is None:
            raise PlatformError("a rollout worker was asked for something before it was ready", step="ray")
        return self._rollouts

    def _opened(self) -> Rollouts:
        work = self._work
        template = None
        if self._tokenizer.chat_template is not None or work.capability_prompt is not None:
            template = ChatTemplate(self._tokenizer, capability_prompt=work.capability_prompt)
        return rollouts_of(
            reward_recipe(work.recipe, work.params, task=work.task),
            max_turns=work.max_turns,
            overlong=work.overlong,
            template=template,
            most_at_once=work.most_at_once,
        )


def _result(
    task: asyncio.Task[Trajectory], place: int, metrics: Mapping[str, float], made: int
) -> FinishedRollout | Refused:
    error = task.exception()
    if isinstance(error, HarenaError):
        return Refused(error)
    return FinishedRollout(place, task.result(), dict(metrics), made)


async def _refusing(work: Awaitable[Answer]) -> Answer | Refused:
    try:
        return await work
    except HarenaError as error:
        return Refused(error)
