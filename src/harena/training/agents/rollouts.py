"""Rollouts of agents that speak to the policy over HTTP: whoever can change an agent's base URL can train it.

    async def agent(row: PromptRow, base_url: str) -> float:
        client = AsyncOpenAI(base_url=base_url, api_key="none")
        ...                                          # as many calls as it likes
        return 1.0 if solved else 0.0

What it asked and was answered becomes one trajectory, to the token (see `harena.training.agents.chat_exchanges`). What
an agent does between two calls has no bound, so nobody waits for it: unlike in other rollouts, which sequences are
sampled side by side depends on time, and a `sync` run is repeated up to the rounding of floats only.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from harena.core.errors import HarenaError
from harena.training.agents.chat_endpoint import AgentRun, ChatEndpoint
from harena.training.agents.chat_requests import checked_overruled
from harena.training.data.prompts import PromptRow
from harena.training.data.templates import ChatTemplate, ChatTokenizer
from harena.training.rewards.recipe import checked
from harena.training.rollouts.rollout import Policy, RolloutRequest
from harena.training.rollouts.trajectory import MINIMUM, Reward, StopReason, Trajectory

MOST_THREADS = 4096
_REASONS = {
    StopReason.TURN_LIMIT: "turn_limit",
    StopReason.CONTEXT_OVERFLOW: "cut_off",
    StopReason.PARSE_ERROR: "control_text",
}
Agent = Callable[[PromptRow, str], Awaitable[float | Reward] | float | Reward]
"""(row, base URL) -> the reward of what it did. A plain function runs on a thread of its own"""


class AgentRollouts:
    """Implements `Rollouts`. An async context manager: the endpoint listens between its two ends.

    What an agent raises ends the job with an error that names the row: only the agent knows whose doing it is. It gives
    a `Reward` without a value for what the platform did; a PlatformError that it raises is one. An agent that was told
    that the policy has no room left, that it asked too often, or that what came of the policy's words cannot be read,
    and raises for it, earns the minimum.
    """

    def __init__(
        self, agent: Agent, tokenizer: ChatTokenizer, *, overrule: Collection[str] = (), minimum: float = MINIMUM
    ) -> None:
        """`tokenizer` is the engine's. `overrule`: fields of a request in whose place the job's own settings stand
        ("temperature", "seed"); any other that differs from what the job does is refused. `minimum`: the least that
        the agent gives, where that is below 0. Raises ValidationError where there is no chat template that can be used,
        and for a field that cannot be overruled."""
        self._minimum = min(0.0, minimum)
        self._agent = agent
        self._endpoint = ChatEndpoint(ChatTemplate(tokenizer), overruled=checked_overruled(overrule))
        # rollouts under way are bounded by the schedule; with fewer threads some would wait for others to end
        self._threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="agent")
        self._counts = {"rollouts": 0, "exchanges": 0, "segments": 0}

    async def __aenter__(self) -> AgentRollouts:
        """Begin to listen. Raises OSError."""
        await self._endpoint.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening. An agent on a thread is answered no more, and ends by itself."""
        await self._endpoint.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def prepare(self, rows: Sequence[PromptRow]) -> None:
        """Return at once: an agent's rollouts need nothing prepared."""

    async def rollout(self, request: RolloutRequest, policy: Policy) -> Trajectory:
        """Run the agent on the row, and gather what it asked the policy into a trajectory. Raises HarenaError where the
        agent raises."""
        began = time.perf_counter()
        base_url, run = self._endpoint.open(request.key, policy)
        try:
            reward = await self._reward(request.row, base_url, run)
        finally:
            self._endpoint.close_run(base_url)
        exchanges = run.exchanges
        self._counts["rollouts"] += 1
        self._counts["exchanges"] += exchanges.count
        self._counts["segments"] += len(exchanges.segments)
        seconds = {"generate": run.seconds, "reward": time.perf_counter() - began - run.seconds}
        return exchanges.trajectory(
            request.row, request.sample, stop=run.overflow or exchanges.stop, reward=reward, seconds=seconds
        )

    def metrics(self) -> Mapping[str, float]:
        """Means over all rollouts so far: exchanges, and segments, of which there is one where every prompt went on
        from what was said before."""
        rollouts = max(1, self._counts["rollouts"])
        return {name: self._counts[name] / rollouts for name in ("exchanges", "segments")}

    async def _reward(self, row: PromptRow, base_url: str, run: AgentRun) -> Reward:
        try:
            return await checked(self._run(row, base_url), "the agent", row)
        except HarenaError as error:
            if run.overflow is None:
                raise
            return Reward(value=self._minimum, reason=_REASONS[run.overflow], detail=str(error))

    async def _run(self, row: PromptRow, base_url: str) -> object:
        if inspect.iscoroutinefunction(self._agent):
            return await self._agent(row, base_url)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._agent, row, base_url)
