"""Rollouts of a user's own function, which talks to the policy itself."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, Literal

from harena.training.data.prompts import PromptRow
from harena.training.rewards.recipe import checked, cut_off_reward
from harena.training.rollouts.conversation import EpisodeEndedError, Turns, trajectory
from harena.training.rollouts.rollout import Policy, RolloutRequest
from harena.training.rollouts.trajectory import MINIMUM, Reward, StopReason, Trajectory
from harena.training.rollouts.turn_forms import TurnForm

MOST_THREADS = 256
"""plain functions that run at one time"""


class BlockingTurns:
    """`Turns` for a plain function, on a thread of its own: `say` blocks."""

    def __init__(self, turns: Turns, loop: asyncio.AbstractEventLoop) -> None:
        self._turns = turns
        self._loop = loop
        self._asked: Future[str] | None = None
        self._over = False

    @property
    def said(self) -> list[str]:
        """What the policy said so far, turn by turn."""
        return self._turns.said

    def say(self) -> str:
        """Ask the policy for its next turn, and wait in this thread for it. Raises EpisodeEndedError also where the job
        does not want the rollout any more."""
        if self._over:
            raise EpisodeEndedError(StopReason.ABORTED)
        self._asked = asyncio.run_coroutine_threadsafe(self._turns.say(), self._loop)
        if self._over:  # since it was asked about: `end` may have looked before there was anything to cancel
            self._asked.cancel()
        try:
            return self._asked.result()
        except CancelledError:
            raise EpisodeEndedError(StopReason.ABORTED) from None

    def tell(self, observation: str, *, reward: float | None = None, parts: Mapping[str, float] | None = None) -> None:
        """Add an observation to the conversation, with the reward of the step if it has one."""
        self._turns.tell(observation, reward=reward, parts=parts)

    def end(self) -> None:
        """The function's answer is not waited for any more. On the event loop."""
        self._over = True
        if self._asked is not None:
            self._asked.cancel()


RolloutFunction = Callable[[PromptRow, Turns], Awaitable[float | Reward]]
"""Talks through `say` and `tell`, and gives the reward"""
BlockingFunction = Callable[[PromptRow, BlockingTurns], float | Reward]
"""synchronous form of the function above"""


class FunctionRollouts:
    """Rollouts of a user's own function. Implements `Rollouts`.

        async def rollout(row: PromptRow, turns: Turns) -> float:
            guess = await turns.say()
            turns.tell("higher" if int(guess) < row.metadata["secret"] else "lower")
            return float(int(await turns.say()) == row.metadata["secret"])

    A plain function (`turns.say()` without `await`) runs on a thread, and is given BlockingTurns.

    What it raises ends the job with an error that names the row: only the function knows whose doing it is. It gives a
    `Reward` without a value, and with a reason, for what the platform did.
    """

    def __init__(
        self,
        function: RolloutFunction | BlockingFunction,
        *,
        form: TurnForm | None = None,
        overlong: Literal["zero", "mask"] = "zero",
        minimum: float = MINIMUM,
    ) -> None:
        """`overlong`: what becomes of those where the policy was cut off or had no room left; the function has not
        ended then, so there is nothing that could be scored. `minimum`: the least that the function gives, where that
        is below 0; "zero" is then this, for being cut off must not pay."""
        self._function: Callable[..., Any] = function
        self._blocks = not inspect.iscoroutinefunction(function)
        self._places = asyncio.Semaphore(MOST_THREADS)
        self._threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="rollout") if self._blocks else None
        self._form = form or TurnForm()
        self._cut_off = cut_off_reward(overlong, minimum)

    async def rollout(self, request: RolloutRequest, policy: Policy) -> Trajectory:
        """Run the function on the row, and gather its turns into a trajectory."""
        async with self._places if self._blocks else nullcontext():  # before a seat: lockstep waits for every seat
            return await self._rollout(request, policy)

    async def _rollout(self, request: RolloutRequest, policy: Policy) -> Trajectory:
        began, stop = time.perf_counter(), StopReason.ANSWER
        with policy.seat() as seat:
            turns = Turns(request, policy, seat, self._form)
            try:
                who = f"the rollout function {getattr(self._function, '__name__', self._function)}"
                asked = self._asked(request.row, turns)
                reward = await checked(asked, who, request.row, let_through=EpisodeEndedError)
            except EpisodeEndedError as ended:
                stop, reward = ended.stop, self._cut_off
        seconds = {"generate": turns.seconds, "reward": time.perf_counter() - began - turns.seconds}
        return trajectory(request, turns, stop, reward, seconds)

    async def _asked(self, row: PromptRow, turns: Turns) -> Any:
        if self._threads is None:
            return await self._function(row, turns)
        blocking = BlockingTurns(turns, asyncio.get_running_loop())
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._function, row, blocking)
        finally:
            blocking.end()

    async def prepare(self, rows: Sequence[PromptRow]) -> None:
        """Return at once: a function needs nothing prepared."""

    def metrics(self) -> Mapping[str, float]:
        """Give no metrics of its own."""
        return {}
