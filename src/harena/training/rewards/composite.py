"""composite_v1: several recipes, weighted."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harena.core.errors import ValidationError
from harena.training.data.prompts import PromptRow
from harena.training.rewards.recipe import (
    CachedRecipe,
    RewardRecipe,
    constant_reward,
    lowest,
    mistakes_of,
    rewarded,
)
from harena.training.rollouts.trajectory import Candidate, Reward


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """The sum of its parts' rewards, each times its weight. A part without a reward leaves the whole without one."""

    parts: Mapping[str, tuple[RewardRecipe, float]]
    """by name: (recipe, weight)"""

    name = "composite_v1"

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValidationError("composite_v1 needs at least one part")
        for name, (_, weight) in self.parts.items():
            number = isinstance(weight, int | float) and not isinstance(weight, bool) and math.isfinite(weight)
            if not number or weight <= 0:  # what a part gives at most is not known, so there would be no minimum
                raise ValidationError(
                    f"composite_v1: part {name}: weight must be a number above 0 (got {weight!r}); a penalty is a "
                    "part that gives less than 0"
                )

    @property
    def deterministic(self) -> bool:
        """Each part is asked once for twins that is; the whole is made anew."""
        return all(recipe.deterministic for recipe, _ in self.parts.values())

    @property
    def minimum(self) -> float:
        """The weighted sum of the parts' minima."""
        return sum(weight * lowest(recipe) for recipe, weight in self.parts.values())

    def check(self, row: PromptRow) -> list[str]:
        """List the mistakes that any part finds in the row."""
        return [f"{name}: {wrong}" for name, (recipe, _) in self.parts.items() for wrong in mistakes_of(recipe, row)]

    def constant(self, row: PromptRow) -> float | None:
        """The weighted sum of the parts' constant rewards; None = the reward of one of them depends on the answer."""
        total = 0.0
        for recipe, weight in self.parts.values():
            if (value := constant_reward(recipe, row)) is None:
                return None
            total += weight * value
        return total

    async def prepare(self, rows: Sequence[PromptRow]) -> None:
        """Prepare each part."""
        for recipe, _ in self.parts.values():
            await CachedRecipe(recipe).prepare(rows)

    async def try_out(self, rows: Sequence[PromptRow]) -> None:
        """Let each part try whether anybody can be rewarded."""
        for recipe, _ in self.parts.values():
            await CachedRecipe(recipe).try_out(rows)

    async def reward(self, row: PromptRow, text: Candidate) -> Reward:
        """Sum the parts' rewards by their weights; a part without a value leaves the whole without one."""
        given = await asyncio.gather(*(rewarded(recipe, row, text) for recipe, _ in self.parts.values()))
        for reward in given:
            if reward.value is None:
                return reward
        values = {name: reward.value or 0.0 for name, reward in zip(self.parts, given, strict=True)}
        inner = {
            f"{name}/{part}": value
            for name, reward in zip(self.parts, given, strict=True)
            for part, value in reward.parts.items()
        }
        told = [f"{name}: {reward.reason}" for name, reward in zip(self.parts, given, strict=True) if reward.reason]
        return Reward(
            value=sum(self.parts[name][1] * value for name, value in values.items()),
            parts={**values, **inner},
            reason=", ".join(told),
        )
