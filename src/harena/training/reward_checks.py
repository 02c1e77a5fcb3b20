"""Whether a reward recipe can be applied to the rows of a prompt data set: told when a job is submitted, not when its
first rollout ends."""

from __future__ import annotations

from pathlib import Path

from harena.core.errors import ValidationError
from harena.scoring.judge import missing_judge
from harena.training.datasets import prompt_row_of
from harena.training.plan import RLPlan
from harena.training.references import Resolved
from harena.training.rewards.recipe import mistakes_of, recipe_name, rows_error
from harena.training.rewards.registry import asks_judge, reward_recipe
from harena.training.row_files import read_rows
from harena.training.tasks import read_task

MOST_ROWS = 5_000
"""a row takes up to a millisecond, and somebody waits"""


def check_rewards(plan: RLPlan, resolved: Resolved) -> None:
    """Raises one ValidationError that lists the rows that the recipe cannot be applied to, of the first MOST_ROWS. All
    others, and what is stored elsewhere, the worker looks at before the first rollout."""
    prompts, task = resolved.find("config.prompt_dataset_ref"), resolved.find("config.task_ref")
    if plan.reward is None or prompts is None or prompts.path is None:
        return
    recipe = reward_recipe(*plan.reward, task=None if task is None else read_task(Path(task.path or "")))
    if asks_judge(recipe) and (missing := missing_judge()) is not None:
        raise ValidationError(f"reward recipe {recipe_name(recipe)}: {missing}, where this node runs")
    rows = read_rows(Path(prompts.path), split=prompts.described.get("split"))[:MOST_ROWS]
    wrong = [
        f"{row.origin}: {mistake}"
        for row in rows
        for mistake in mistakes_of(recipe, prompt_row_of(row.values, id=row.origin))
    ]
    if wrong:
        raise rows_error(recipe_name(recipe), wrong, len(rows), of=f" of {prompts.ref}")
