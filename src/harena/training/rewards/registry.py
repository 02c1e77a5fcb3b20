"""Recipes by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from harena.core.errors import ValidationError
from harena.training.data.prompts import PromptRow
from harena.training.environments.tasks import Task
from harena.training.rewards.code_tests import CodeTests
from harena.training.rewards.composite import Composite
from harena.training.rewards.judge import LLMJudge
from harena.training.rewards.param_types import wrong_types
from harena.training.rewards.recipe import RewardRecipe
from harena.training.rewards.rules import boxed_answer, contains, exact_match, gsm8k, row_reward, trajectory_imitation
from harena.training.rewards.tasks import TaskEnvAgent, TaskEnvVerifier, TaskRecipe, TaskVerifier
from harena.training.rewards.worlds import WorldEpisode

OF_EPISODES = frozenset({TaskEnvAgent.name, WorldEpisode.name})
"""recipes whose rollouts have several turns"""


def composite(*, parts: Mapping[str, Mapping[str, Any]]) -> Composite:
    """composite_v1, of parts as a request writes them: {name: {recipe, params, weight}}. Raises ValidationError."""
    if not isinstance(parts, Mapping):
        raise ValidationError("composite_v1: parts must be {name: {recipe, params, weight}}")
    made = {}
    for name, part in parts.items():
        if not isinstance(part, Mapping) or not isinstance(part.get("recipe"), str):
            raise ValidationError(f"composite_v1: part {name}: must be {{recipe, params, weight}}")
        if unknown := sorted(set(part) - {"recipe", "params", "weight"}):
            raise ValidationError(f"composite_v1: part {name}: unknown {', '.join(unknown)}")
        if part["recipe"] in OF_EPISODES:
            raise ValidationError(f"composite_v1: part {name}: {part['recipe']} is about episodes, and no part")
        made[str(name)] = (reward_recipe(part["recipe"], part.get("params", {})), part.get("weight", 1.0))
    return Composite(parts=made)


RECIPES: Mapping[str, Callable[..., RewardRecipe]] = {
    "exact_match_v1": exact_match,
    "contains_v1": contains,
    "row_reward_v1": row_reward,
    "trajectory_imitation_v1": trajectory_imitation,
    "gsm8k_v1": gsm8k,
    "math_v1": boxed_answer,
    "code_tests_v1": CodeTests,
    "task_verifier_v1": TaskVerifier,
    "task_env_verifier_v1": TaskEnvVerifier,
    "task_env_agent_v1": TaskEnvAgent,
    "llm_judge_v1": LLMJudge,
    "composite_v1": composite,
    "world_episode_v1": WorldEpisode,
}


def reward_recipe(name: str, params: Mapping[str, Any], *, task: Task | None = None) -> RewardRecipe:
    """The recipe of this name; `task` is that of the job, for recipes that need one. Raises ValidationError for an
    unknown name, and for parameters that it has not or that mean nothing."""
    if (make := RECIPES.get(name)) is None:
        raise ValidationError(f"no reward recipe is called {name!r}; there are {', '.join(sorted(RECIPES))}")
    given = {**params, "task": task} if task is not None and name in TASK_RECIPES else dict(params)
    if name in TASK_RECIPES and "task" in params:
        raise ValidationError(f"reward recipe {name}: the task is named by the job (`task_ref`), not by a parameter")
    if wrong := wrong_types(make, given):
        raise ValidationError(f"reward recipe {name}: {'; '.join(wrong)}")
    return make(**given)


def asks_judge(recipe: RewardRecipe) -> bool:
    """It, or a part of it, is a model's judgement. (Of a task's verification its own check says more.)"""
    if isinstance(recipe, Composite):
        return any(asks_judge(part) for part, _ in recipe.parts.values())
    return isinstance(recipe, LLMJudge)


TASK_RECIPES = frozenset({"task_verifier_v1", "task_env_verifier_v1", "task_env_agent_v1"})


def has_tasks(recipe: RewardRecipe) -> bool:
    """It, or a part of it, is about tasks, which rows may have of their own."""
    if isinstance(recipe, Composite):
        return any(has_tasks(part) for part, _ in recipe.parts.values())
    return isinstance(recipe, TaskRecipe)


def blueprints_of(recipe: RewardRecipe, rows: Sequence[PromptRow] = ()) -> frozenset[str]:
    """The blueprints that it, its parts, the job's task, and the tasks of these rows name."""
    if isinstance(recipe, Composite):
        return frozenset().union(*(blueprints_of(part, rows) for part, _ in recipe.parts.values()))
    named = {recipe.blueprint_id} if isinstance(recipe, CodeTests) else set()
    if isinstance(recipe, TaskRecipe):
        named |= {recipe.task.blueprint} if recipe.task is not None else set()
        for row in rows:
            with suppress(ValidationError):  # a row without a task is told of by the check of rows
                named.add(recipe.task_for(row).blueprint)
    return frozenset(filter(None, named))
