"""From a rollout to its reward: recipes by name. What each needs and gives: docs/reference/reward-recipes.md."""

from __future__ import annotations

from harena.training.rewards.code_tests import CodeTests
from harena.training.rewards.composite import Composite
from harena.training.rewards.judge import LLMJudge
from harena.training.rewards.recipe import (
    CachedRecipe,
    Overlong,
    RewardRecipe,
    Rule,
    prepare,
    rewarded,
)
from harena.training.rewards.registry import RECIPES, reward_recipe
from harena.training.rewards.rules import boxed_answer, contains, exact_match, gsm8k, row_reward, trajectory_imitation
from harena.training.rewards.tasks import TaskEnvAgent, TaskEnvVerifier, TaskVerifier
from harena.training.rewards.worlds import WorldEpisode
from harena.training.rollouts.trajectory import MINIMUM, Candidate

__all__ = [
    "MINIMUM",
    "RECIPES",
    "CachedRecipe",
    "Candidate",
    "CodeTests",
    "Composite",
    "LLMJudge",
    "Overlong",
    "RewardRecipe",
    "Rule",
    "TaskEnvAgent",
    "TaskEnvVerifier",
    "TaskVerifier",
    "WorldEpisode",
    "boxed_answer",
    "contains",
    "exact_match",
    "gsm8k",
    "prepare",
    "reward_recipe",
    "rewarded",
    "row_reward",
    "trajectory_imitation",
]
