"""How one rollout is made: from a prompt row to a trajectory with its reward.

The loop decides which rollouts begin and what is learnt from them; a `Rollouts` makes one. `SingleTurn` is a prompt and
its one answer. Whoever makes rollouts samples through a seat of `SideBySide`, which asks the engine for many sequences
in one call.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from harena.training.data.prompts import PromptRow, as_judged
from harena.training.ports import Sampler
from harena.training.rewards.recipe import CachedRecipe, Overlong, RewardRecipe, can_reward, prepare, rewarded
from harena.training.rollouts.trajectory import (
    Reward,
    Sampled,
    SampleRequest,
    Sampling,
    StopReason,
    Trajectory,
    single_turn,
)

MOST_CALLS = 4
"""most calls for later turns under way at one time; turns that arrive meanwhile share the next call"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutRequest:
    """One rollout to be made."""

    row: PromptRow
    prompt: tuple[int, ...]
    """the row's prompt in tokens"""
    sample: int
    """its place among its siblings"""
    key: tuple[int, ...]
    """the source of its first turn's randomness (`sample_key`); the last number counts turns"""


class Rollouts(Protocol):
    """Makes rollouts, many at a time. Three more members are looked at where they are there:

    single_turn  True: a rollout is a prompt and its one answer
    works(row)   whether rewards can be had, as far as an empty answer to this row tells: asked while a job pauses
    again(row, trajectory, sampling)
                 the reward of what was said, asked for once more: of a rollout that lost it to the platform
    """

    async def prepare(self, rows: Sequence[PromptRow]) -> None:
        """Awaited before the first rollout. Raises ValidationError that lists every row of which none can be made."""

    async def rollout(self, request: RolloutRequest, policy: Policy) -> Trajectory:
        """One rollout with its reward. What the policy said never raises. Raises HarenaError where none can be made
        of this row at all; the job ends then. Cancelling it ends all that it began."""

    def metrics(self) -> Mapping[str, float]:
        """What a researcher wants to know of all rollouts so far."""


class Policy:
    """The policy of a running job, as those see it who make rollouts."""

    def __init__(self, engine: Sampler, sampling: Sampling, *, lockstep: bool) -> None:
        """`sampling` is what a turn is sampled with. `lockstep`: see SideBySide."""
        self.tokenizer = engine.tokenizer
        self.context_length = engine.context_length
        self.sampling = sampling
        self.lockstep = lockstep
        self._sequences = SideBySide(engine, lockstep=lockstep)

    @contextmanager
    def seat(self, *, begun: bool = False) -> Iterator[Seat]:
        """Held by a rollout for as long as it may ask for tokens, or for one request, where what it does between two is
        nothing that the others could wait for. `begun`: it has had its first turn."""
        with self._sequences.seat(begun=begun) as seat:
            yield seat


class Seat:
    """One rollout's place among those that are sampled side by side."""

    def __init__(self, ask: Callable[[SampleRequest, bool], asyncio.Future[Sampled]], *, begun: bool) -> None:
        self._ask = ask
        self._first = not begun

    async def sample(self, request: SampleRequest) -> Sampled:
        """One sequence; one at a time. Cancelling it ends the sequence."""
        first, self._first = self._first, False
        return await self._ask(request, first)


@dataclass(slots=True)
class SideBySide:
    """Gathers what rollouts ask for into calls of `Engine.sample`, whose sequences advance together.

    lockstep      a call is made when every seat waits for one, in the order of keys: what is asked for together depends
                  on the rollouts and on nothing else, so the same weights give the same tokens, to the bit
    otherwise     a call is made at once for first turns; later turns wait while MOST_CALLS calls are under way
    """

    engine: Sampler
    lockstep: bool
    _seats: int = 0
    _calls: int = 0
    _scheduled: bool = False
    _waiting: list[tuple[SampleRequest, bool, asyncio.Future[Sampled]]] = field(default_factory=list)

    @contextmanager
    def seat(self, *, begun: bool) -> Iterator[Seat]:
        """Hold a seat, for which a call in lockstep waits until it asks or is given back."""
        self._seats += 1
        try:
            yield Seat(self._ask, begun=begun)
        finally:
            self._seats -= 1
            self._look()

    def _ask(self, request: SampleRequest, first: bool) -> asyncio.Future[Sampled]:
        future: asyncio.Future[Sampled] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, first, future))
        self._look()
        return future

    def _look(self) -> None:
        """After all that is ready to run now: others may be about to ask too."""
        if self._waiting and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._call)

    def _call(self) -> None:
        self._scheduled = False
        self._waiting = [entry for entry in self._waiting if not entry[2].done()]
        if not self._waiting or not self._may_call():
            return
        asked, self._waiting = sorted(self._waiting, key=lambda entry: entry[0].key), []
        try:
            sequences = self.engine.sample([request for request, _, _ in asked])
        except Exception as error:  # noqa: BLE001 - whoever waits for the call is told, by the error itself
            for _, _, future in asked:
                future.set_exception(error)
            return
        self._calls += 1
        left = set(sequences)

        def ended(future: asyncio.Future[Sampled], sequence: asyncio.Future[Sampled]) -> None:
            _hand_over(sequence, future)
            left.discard(sequence)
            if not left:
                self._calls -= 1
                self._look()

        for (_, _, future), sequence in zip(asked, sequences, strict=True):
            future.add_done_callback(partial(_cancel_with, sequence))
            sequence.add_done_callback(partial(ended, future))

    def _may_call(self) -> bool:
        if self.lockstep:
            return len(self._waiting) == self._seats
        return self._calls < MOST_CALLS or any(first for _, first, _ in self._waiting)


def _hand_over(sequence: asyncio.Future[Sampled], future: asyncio.Future[Sampled]) -> None:
    if future.done():
        if not sequence.cancelled():
            sequence.exception()  # nobody waits for it any more
    elif sequence.cancelled():
        future.cancel()
    elif (error := sequence.exception()) is not None:
        future.set_exception(error)
    else:
        future.set_result(sequence.result())


def _cancel_with(sequence: asyncio.Future[Any], future: asyncio.Future[Any]) -> None:
    if future.cancelled():
        sequence.cancel()


class SingleTurn:
    """A prompt, its one answer, and what a recipe rewards it with. Implements `Rollouts`."""

    single_turn = True

    def __init__(
        self,
        recipe: RewardRecipe,
        *,
        overlong: Overlong | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`overlong`: what becomes of answers that were cut off at max_new_tokens."""
        self._recipe = CachedRecipe(recipe)
        self._overlong = overlong or Overlong()
        self._now = now

    async def prepare(self, rows: Sequence[PromptRow]) -> None:
        """Prepare the recipe for these rows, and check them. Raises ValidationError."""
        await prepare(self._recipe, rows)

    async def rollout(self, request: RolloutRequest, policy: Policy) -> Trajectory:
        """Sample one answer, and reward it."""
        began = self._now()
        with policy.seat() as seat:
            sampled = await seat.sample(SampleRequest(prompt=request.prompt, key=request.key, sampling=policy.sampling))
        generated = self._now()
        text = policy.tokenizer.decode(sampled.tokens)
        reward = await self._reward(request.row, text, sampled.stop, len(sampled.tokens), policy.sampling)
        return single_turn(
            prompt_id=request.row.id,
            sample=request.sample,
            prompt=request.prompt,
            sampled=sampled,
            text=text,
            reward=reward,
            seconds={"generate": generated - began, "reward": self._now() - generated},
        )

    async def _reward(self, row: PromptRow, said: str, stop: StopReason, length: int, sampling: Sampling) -> Reward:
        text = as_judged(row, said)
        return await self._overlong.applied(
            partial(rewarded, self._recipe, row, text),
            cut_off=stop == StopReason.LENGTH,
            length=length,
            limit=sampling.max_new_tokens,
            minimum=self._recipe.minimum,
        )

    async def again(self, row: PromptRow, trajectory: Trajectory, sampling: Sampling) -> Reward:
        """Reward the trajectory's text once more."""
        return await self._reward(row, trajectory.text, trajectory.stop, sum(trajectory.mask), sampling)

    async def works(self, row: PromptRow) -> bool:
        """Ask the recipe itself for a reward, past what is remembered: whether it can give one."""
        return await can_reward(self._recipe.recipe, row, "")

    def metrics(self) -> Mapping[str, float]:
        """Give the share of rewards that were remembered."""
        return {"dedup_rate": self._recipe.saved / max(1, self._recipe.asked)}
