"""How good a policy is on prompts that it does not learn from.

Each prompt is answered once as rollouts are (their temperature), and once greedily. A rollout passes when its reward is
at least `pass_mark`; those that the platform lost count neither way, and are told.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from harena.core.errors import ValidationError
from harena.training.data.prompts import PromptRow, sample_key
from harena.training.ports import Sampler
from harena.training.rollouts.rollout import Policy, RolloutRequest, Rollouts
from harena.training.rollouts.trajectory import Sampling, Trajectory

HELD_OUT = 2**31
"""added to the sample numbers of evaluations, so that no training rollout draws from the same stream"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Prompts that are held out, and how often they are asked."""

    rows: Sequence[PromptRow]
    every: int
    """steps; and after the last"""
    pass_mark: float = 1.0

    def __post_init__(self) -> None:
        """Raises ValidationError."""
        if not self.rows or self.every < 1:
            raise ValidationError(
                f"an evaluation needs rows and an interval of at least 1 step (got {len(self.rows)} rows, {self.every})"
            )

    def is_due(self, step: int, *, steps: int) -> bool:
        """After step `step` (from 0) of so many."""
        return (step + 1) % self.every == 0 or step + 1 == steps

    async def run(self, sampler: Sampler, rollouts: Rollouts, sampling: Sampling, *, seed: int) -> dict[str, float]:
        """{"eval/pass_rate", "eval/reward", "eval/masked_share", "eval/greedy_pass_rate", ...} of the weights that are
        sampled from now. The same weights and seed give the same answers."""
        sampled = await self._answers(sampler, rollouts, sampling, seed)
        greedy = await self._answers(sampler, rollouts, replace(sampling, temperature=0.0), seed)
        return {**self._measured("eval/", sampled), **self._measured("eval/greedy_", greedy)}

    async def _answers(self, sampler: Sampler, rollouts: Rollouts, sampling: Sampling, seed: int) -> list[Trajectory]:
        policy = Policy(sampler, sampling, lockstep=True)
        requests = [
            RolloutRequest(
                row=row,
                prompt=sampler.tokenizer.encode(row.prompt),
                sample=0,
                key=sample_key(seed, place=place, sample=HELD_OUT),
            )
            for place, row in enumerate(self.rows)
        ]
        tasks = [asyncio.ensure_future(rollouts.rollout(request, policy)) for request in requests]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    def _measured(self, prefix: str, answers: Sequence[Trajectory]) -> dict[str, float]:
        rewards = [answer.reward.value for answer in answers if answer.reward.value is not None]
        return {
            f"{prefix}pass_rate": fmean(value >= self.pass_mark for value in rewards) if rewards else math.nan,
            f"{prefix}reward": fmean(rewards) if rewards else math.nan,
            f"{prefix}masked_share": 1 - len(rewards) / len(answers),
        }
