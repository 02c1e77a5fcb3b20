"""Rollouts of several turns: the policy speaks, is told something, speaks again.

Tokens in, tokens out. A rollout's tokens only ever grow at their end: prompt, what was sampled, the tokens of what the
policy was told, what was sampled then. Sampled text is decoded for environments, recipes and people, and never encoded
again, so what is trained is to the token what was sampled, whatever the tokenizer makes of its own text.

Why an episode ends:

    answer              the environment says that it is over
    turn_limit          `max_turns` were said
    length              a turn was cut off at max_new_tokens
    context_overflow    what was said and told leaves no room for another turn
    parse_error         the environment could not read what was said; earns the minimum
    environment_fault   the environment raised, or was late

Who earns the minimum, or nothing because of a cut, earns the sum of the turns' rewards where that is lower; and where
no minimum was named, what turns, the environment's outcome as it stands and the recipe's lowest reward come to: an
episode that has cost something, or would at its end, does not become cheaper by breaking off.

Whose a fault is. The same actions are done once more in a fresh environment. If they go through there, the episode goes
on in it, and what it comes to counts. If there is a fault again, at whatever turn, while a fresh environment has taken
other actions before, or takes an empty one (or, where it reads what is said, one that another episode began with:
`harena.training.environments.environment.Faults`), then it follows the candidate: it earns the minimum, so that
breaking the environment, always or by chance, is no way out of a bad reward. An environment that takes no other action
either, or does not begin, is broken, which is nobody's doing: the rollout leaves its group.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from harena.training.data.prompts import PromptRow
from harena.training.environments.environment import (
    Environment,
    EnvironmentFaultError,
    FaultFollowsError,
    Faults,
    Step,
    Surroundings,
    TakenActions,
    begun,
)
from harena.training.rewards.recipe import (
    CachedRecipe,
    Overlong,
    RewardRecipe,
    can_reward,
    lowest,
    prepare,
    rewarded,
)
from harena.training.rollouts.conversation import EpisodeEndedError, Turns, trajectory
from harena.training.rollouts.rollout import Policy, RolloutRequest
from harena.training.rollouts.trajectory import (
    MINIMUM,
    Reward,
    RewardValidity,
    Sampling,
    StopReason,
    Trajectory,
)
from harena.training.rollouts.turn_forms import TurnForm


@dataclass(frozen=True, slots=True)
class _EpisodeOutcome:
    """What an episode came to, before its reward."""

    stop: StopReason
    reward: Reward | None = None
    """where there is nothing more to judge"""


class Episodes:
    """Episodes in an environment. Implements `Rollouts`.

    An episode's reward is the sum of its turns' rewards, of what the environment says of the whole (`outcome`), and of
    what `recipe` says about its answer; those that there are. Its parts are in `Reward.parts`.
    """

    def __init__(
        self,
        environment: Callable[..., Environment],
        *,
        max_turns: int,
        recipe: RewardRecipe | None = None,
        form: TurnForm | None = None,
        overlong: Overlong | None = None,
        timeout_seconds: float = 120.0,
        most_at_once: int | None = None,
        minimum: float | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`environment` makes one, for each episode: from its row where it takes an argument named `row`. `overlong`:
        what becomes of episodes that were cut off or have no room left. `timeout_seconds`: of each of the environment's
        methods. `most_at_once`: environments that are in use at one time; with it, what is sampled side by side
        depends on which episode ends first, so `sync` is then the same to the bit no more.
        `minimum`: what faults that follow the candidate, and what cannot be read, earn; the recipe's, or 0."""
        self._environment = environment
        self._places = None if most_at_once is None else asyncio.Semaphore(most_at_once)
        self._max_turns = max_turns
        self._recipe = None if recipe is None else CachedRecipe(recipe)
        self._form = form or TurnForm()
        self._lowest_of_recipe = MINIMUM if recipe is None else min(MINIMUM, lowest(recipe))
        self._minimum = self._lowest_of_recipe if minimum is None else minimum
        self._asks_outcomes = minimum is None
        self._taken = TakenActions()
        self._overlong = overlong or Overlong()
        self._timeout = timeout_seconds
        self._now = now
        self._counts = dict.fromkeys(("episodes", "faults", "following"), 0)

    async def prepare(self, rows: Sequence[PromptRow]) -> None:
        """Prepare the recipe for these rows, if there is one, and check them. Raises ValidationError."""
        if self._recipe is not None:
            await prepare(self._recipe, rows)

    async def rollout(self, request: RolloutRequest, policy: Policy) -> Trajectory:
        """Play one episode, as soon as there is a place for it."""
        async with self._places or nullcontext():
            return await self._episode(request, policy)

    async def _episode(self, request: RolloutRequest, policy: Policy) -> Trajectory:
        began = self._now()
        self._counts["episodes"] += 1
        surroundings = self._surroundings(request.row)
        faults = Faults(
            surroundings,
            partial(self._surroundings, request.row),
            request.row,
            taken=self._taken,
            asks_outcomes=self._asks_outcomes,
        )
        try:
            with policy.seat() as seat:
                turns = Turns(request, policy, seat, self._form)
                played = await self._play(request.row, turns, surroundings, faults)
            ended = self._now()
            reward = played.reward
            if reward is None:
                reward = await self._reward(request.row, turns, surroundings, faults, played.stop, policy.sampling)
        finally:
            await surroundings.close()
        seconds = {
            "generate": turns.seconds,
            "environment": ended - began - turns.seconds,
            "reward": self._now() - ended,
        }
        return trajectory(request, turns, played.stop, reward, seconds)

    async def works(self, row: PromptRow) -> bool:
        """Begin an environment and ask what judges it: whether both can be had."""
        surroundings = self._surroundings(row)
        try:
            await begun(surroundings, row)
        except EnvironmentFaultError:
            await surroundings.close()
            return False
        try:
            await surroundings.step("")
            outcome = await surroundings.outcome()
            answer = await surroundings.answer("")
        except EnvironmentFaultError:  # it takes no empty action, which says nothing of the platform
            return True
        finally:
            await surroundings.close()
        if outcome is not None and outcome.value is None:
            return False
        return self._recipe is None or await can_reward(self._recipe.recipe, row, answer)

    def metrics(self) -> Mapping[str, float]:
        """Give the shares of episodes with faults, and of rewards that were remembered."""
        episodes = max(1, self._counts["episodes"])
        found = {
            "environment_fault_share": self._counts["faults"] / episodes,
            "fault_follows_candidate_share": self._counts["following"] / episodes,
        }
        if self._recipe is not None:
            found["dedup_rate"] = self._recipe.saved / max(1, self._recipe.asked)
        return found

    def _surroundings(self, row: PromptRow) -> Surroundings:
        make = self._environment
        takes_row = "row" in inspect.signature(make).parameters
        return Surroundings(partial(make, row=row) if takes_row else make, timeout_seconds=self._timeout)

    async def _play(self, row: PromptRow, turns: Turns, surroundings: Surroundings, faults: Faults) -> _EpisodeOutcome:
        try:
            turns.tell(await begun(surroundings, row))
            for _ in range(self._max_turns):
                action = await turns.say()
                try:
                    step = await surroundings.step(action)
                except EnvironmentFaultError as fault:
                    step = await self._resumed(faults, fault, turns)
                if len(turns.said) == 1:
                    self._taken.add(row, action)
                turns.tell("" if step.done else step.observation, reward=step.reward, parts=step.parts)
                if step.done:
                    return await self._done(row, step, turns, surroundings)
        except EpisodeEndedError as ended:
            return _EpisodeOutcome(ended.stop)
        except EnvironmentFaultError as fault:
            return _EpisodeOutcome(StopReason.ENVIRONMENT_FAULT, self._faulted(fault, faults, turns))
        return _EpisodeOutcome(StopReason.TURN_LIMIT)

    def _least(self, turns: Turns, outcomes: Sequence[float] = ()) -> float:
        """What is earned where an episode is not judged: the minimum, or what its turns, the recipe's lowest reward and
        an outcome come to, where that is lower. Who has lost something on the way, or would lose it at the end, shall
        not get it back by breaking off. `outcomes`: what environments say of the whole as it stands."""
        of_turns = sum((turn.reward or 0.0 for turn in turns.conversation.turns), 0.0)
        if not self._asks_outcomes:
            return min(self._minimum, of_turns)
        return min(self._minimum, of_turns, of_turns + self._lowest_of_recipe + min((0.0, *outcomes)))

    async def _as_it_stands(self, row: PromptRow, turns: Turns, surroundings: Surroundings) -> float:
        """What is earned where an episode breaks off here: no more than by ending it here, or by doing nothing, where
        the environment cannot say any more what it has come to."""
        if not self._asks_outcomes:
            return self._least(turns)
        try:
            outcome = await surroundings.outcome()
        except EnvironmentFaultError:
            await surroundings.close()
            outcome = await self._idle_outcome(row)
        return self._least(turns, () if outcome is None or outcome.value is None else (outcome.value,))

    async def _idle_outcome(self, row: PromptRow) -> Reward | None:
        idle = self._surroundings(row)
        try:
            await idle.reset(row)
            return await idle.outcome()
        except EnvironmentFaultError:
            return None
        finally:
            await idle.close()

    async def _done(self, row: PromptRow, step: Step, turns: Turns, surroundings: Surroundings) -> _EpisodeOutcome:
        if step.stop == StopReason.PARSE_ERROR:
            least = await self._as_it_stands(row, turns, surroundings)
            return _EpisodeOutcome(step.stop, Reward(value=least, reason="parse_error"))
        return _EpisodeOutcome(StopReason.ANSWER)

    async def _resumed(self, faults: Faults, fault: EnvironmentFaultError, turns: Turns) -> Step:
        self._counts["faults"] += not faults.count
        return await faults.resumed(fault, turns.said)

    def _faulted(self, fault: EnvironmentFaultError, faults: Faults, turns: Turns) -> Reward:
        self._counts["faults"] += not faults.count  # the environment did not begin
        if isinstance(fault, FaultFollowsError):
            self._counts["following"] += 1
            least = self._least(turns, faults.outcomes)
            return Reward(value=least, reason="fault_follows_candidate", detail=str(fault))
        return Reward(value=None, validity=RewardValidity.INFRA, reason="environment_fault", detail=str(fault))

    async def _reward(
        self,
        row: PromptRow,
        turns: Turns,
        surroundings: Surroundings,
        faults: Faults,
        stop: StopReason,
        sampling: Sampling,
    ) -> Reward:
        cut_off = stop in (StopReason.LENGTH, StopReason.CONTEXT_OVERFLOW)
        last = turns.conversation.turns[-1] if turns.conversation.turns else None

        async def score() -> Reward:
            try:
                while True:
                    try:
                        return await self._scored(row, turns, surroundings)
                    except EnvironmentFaultError as fault:
                        await self._resumed(faults, fault, turns)
            except EnvironmentFaultError as fault:
                return self._faulted(fault, faults, turns)

        length = 0 if last is None else last.end - last.start
        is_unjudged = cut_off and self._overlong.policy == "zero"
        least = await self._as_it_stands(row, turns, surroundings) if is_unjudged else self._least(turns)
        return await self._overlong.applied(
            score, cut_off=cut_off, length=length, limit=sampling.max_new_tokens, minimum=least
        )

    async def _scored(self, row: PromptRow, turns: Turns, surroundings: Surroundings) -> Reward:
        rewards: dict[str, Reward] = {}
        given = [turn.reward for turn in turns.conversation.turns if turn.reward is not None]
        if given:
            rewards["turns"] = Reward(value=sum(given))
        if (outcome := await surroundings.outcome()) is not None:
            rewards["outcome"] = outcome
        if self._recipe is not None:
            answer = await surroundings.answer(turns.said[-1] if turns.said else "")
            await surroundings.close()  # what it holds is free while the answer is judged
            rewards["answer"] = await rewarded(self._recipe, row, answer)
        return summed(rewards)


def summed(rewards: Mapping[str, Reward]) -> Reward:
    """One reward of several, whose values and parts are its parts. One without a value leaves the whole without."""
    for reward in rewards.values():
        if reward.value is None:
            return reward
    if len(rewards) == 1:
        return next(iter(rewards.values()))
    parts = {name: reward.value or 0.0 for name, reward in rewards.items()}
    for name, reward in rewards.items():
        parts |= {f"{name}/{part}": value for part, value in reward.parts.items()}
    told = [reward for reward in rewards.values() if reward.reason]
    return Reward(
        value=sum(reward.value or 0.0 for reward in rewards.values()),
        parts=parts,
        reason=told[-1].reason if told else "",
        detail=told[-1].detail if told else "",
    )
