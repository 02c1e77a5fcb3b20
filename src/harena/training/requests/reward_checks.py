"""Whether a reward recipe can be applied: to the rows of its data sets, with the blueprints that it names. Told when a
job is submitted, not when its first rollout ends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harena.core.errors import NotFoundError, ValidationError
from harena.core.records.objects import ResolvedReference
from harena.core.records.training_plans import RLPlan
from harena.scoring.formats.recognise import misspelt_field
from harena.scoring.scorers.judge import missing_judge
from harena.training.data.datasets import prompt_row_of
from harena.training.data.offline import reward_of
from harena.training.data.prompts import PromptRow
from harena.training.data.row_files import Row, read_rows
from harena.training.environments.tasks import read_task
from harena.training.requests.references import ResolvedReferences
from harena.training.rewards.recipe import RewardRecipe, check_tells_apart, mistakes_of, recipe_name, rows_error
from harena.training.rewards.registry import asks_judge, blueprints_of, has_tasks, reward_recipe

MOST_ROWS = 5_000
"""a row takes up to a millisecond, and somebody waits"""


def named_blueprints(plan: RLPlan, resolved: ResolvedReferences) -> list[str]:
    """The blueprints that the recipe of a job names, its task, and the tasks of its first rows. Raises ValidationError
    where there is no such recipe."""
    if (recipe := _recipe(plan, resolved)) is None:
        return []
    rows = [
        prompt_row_of(row.values, id=row.origin)
        for ref in filter(None, (resolved.prompts, resolved.find("config.eval_dataset_ref")))
        for row in (_rows(ref) if has_tasks(recipe) else ())
    ]
    return sorted(blueprints_of(recipe, rows))


def check_rewards(plan: RLPlan, resolved: ResolvedReferences, missing_blueprints: Mapping[str, NotFoundError]) -> None:
    """Raises one ValidationError that lists the rows that the recipe cannot be applied to, of the first MOST_ROWS of
    the prompts and of the held-out ones; or says that it gives all answers the same reward; or that one of its
    blueprints is missing. All other rows the worker looks at before the first rollout."""
    if (recipe := _recipe(plan, resolved)) is None:
        return
    if asks_judge(recipe) and (missing := missing_judge()) is not None:
        raise ValidationError(f"reward recipe {recipe_name(recipe)}: {missing}, where this node runs")
    for _, error in sorted(missing_blueprints.items()):
        raise ValidationError(f"reward recipe {recipe_name(recipe)}: {error}")
    for ref in filter(None, (resolved.prompts, resolved.find("config.eval_dataset_ref"))):
        _check_rows(recipe, ref)
    try:
        check_tells_apart(recipe, _learnt_from(resolved))
    except ValidationError:
        if (meant := _misspelt(resolved)) is None:
            raise
        raise ValidationError(meant) from None


def _recipe(plan: RLPlan, resolved: ResolvedReferences) -> RewardRecipe | None:
    """Raises ValidationError."""
    if plan.reward is None:
        return None
    task = resolved.find("config.task_ref")
    given = None if task is None else read_task(Path(task.path or ""))
    return reward_recipe(plan.reward.name, plan.reward.params, task=given)


def _learnt_from(resolved: ResolvedReferences) -> list[PromptRow]:
    """The first MOST_ROWS rows, of which a recipe is told what decides whether all answers earn the same."""
    if (ref := resolved.prompts) is not None:
        return [prompt_row_of(row.values, id=row.origin) for row in _rows(ref)]
    recorded = [row for ref in resolved.trajectories for row in _rows(ref)]
    return [PromptRow(id=row.origin, prompt="", reward=reward_of(row.values)) for row in recorded[:MOST_ROWS]]


def _misspelt(resolved: ResolvedReferences) -> str | None:
    """Where the name of a field is almost that of one that would say what is right."""
    for row in () if resolved.prompts is None else _rows(resolved.prompts)[:1]:
        if "scoring" not in row.values and (meant := misspelt_field(row.values)) is not None:
            return f"{row.origin}: {meant}"
    return None


def _rows(ref: ResolvedReference) -> list[Row]:
    return [] if ref.path is None else read_rows(Path(ref.path), split=ref.split, most=MOST_ROWS)


def _check_rows(recipe: RewardRecipe, ref: ResolvedReference) -> None:
    rows = _rows(ref)
    wrong = [
        f"{row.origin}: {mistake}"
        for row in rows
        for mistake in mistakes_of(recipe, prompt_row_of(row.values, id=row.origin))
    ]
    if wrong:
        raise rows_error(recipe_name(recipe), wrong, len(rows), of=f" of {ref.ref}")
