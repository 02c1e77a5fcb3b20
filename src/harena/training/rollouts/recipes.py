"""From a reward recipe to rollouts: which recipes are about single answers, and which about episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harena.core.errors import ValidationError
from harena.training.data.prompts import PromptRow
from harena.training.data.templates import ChatTemplate
from harena.training.environments.task_episodes import inputs_of
from harena.training.rewards.recipe import Overlong, RewardRecipe, prepare, recipe_name, rows_error
from harena.training.rewards.tasks import TaskEnvAgent, TaskRecipe
from harena.training.rewards.worlds import WorldEpisode
from harena.training.rollouts.rollout import Rollouts, SingleTurn
from harena.training.rollouts.turn_forms import TurnForm, turn_form
from harena.training.rollouts.turns import Episodes

INSTRUCTION = "{{instruction}}"
"""in a prompt: here is the task's"""


def rollouts_of(
    recipe: RewardRecipe,
    *,
    max_turns: int | None = None,
    overlong: Overlong | None = None,
    template: ChatTemplate | None = None,
    most_at_once: int | None = None,
) -> Rollouts:
    """Rollouts that are rewarded by this recipe. Of episodes are `max_turns` (else the recipe's), `template`, which
    writes what a policy is told, and `most_at_once`: how many may have a sandbox at one time (None = all). Raises
    ValidationError for a template that cannot be used turn by turn."""
    if not isinstance(recipe, TaskEnvAgent | WorldEpisode):
        return SingleTurn(recipe, overlong=overlong)
    form = None if template is None else turn_form(template)
    if isinstance(recipe, WorldEpisode):
        return WorldEpisodes(recipe, max_turns=max_turns, overlong=overlong, form=form)
    return AgentEpisodes(recipe, max_turns=max_turns, overlong=overlong, form=form, most_at_once=most_at_once)


def instructed(recipe: RewardRecipe, rows: Sequence[PromptRow]) -> list[PromptRow]:
    """The rows, with `{{instruction}}` of their prompts replaced by that of their task, its variables filled in. Raises
    one ValidationError for all rows whose task says nothing."""
    made, wrong = [], []
    for row in rows:
        try:
            made.append(_instructed(recipe, row))
        except ValidationError as error:
            wrong.append(f"row {row.id}: {error}")
    if wrong:
        raise rows_error(recipe_name(recipe), wrong, len(rows))
    return made


def _instructed(recipe: RewardRecipe, row: PromptRow) -> PromptRow:
    if not isinstance(recipe, TaskRecipe) or INSTRUCTION not in row.prompt:
        return row
    instruction = recipe.task_for(row).instructed(inputs_of(row))
    return replace(row, prompt=row.prompt.replace(INSTRUCTION, instruction))


class AgentEpisodes(Episodes):
    """Episodes of task_env_agent_v1."""

    def __init__(
        self,
        recipe: TaskEnvAgent,
        *,
        max_turns: int | None = None,
        overlong: Overlong | None = None,
        form: TurnForm | None = None,
        most_at_once: int | None = None,
    ) -> None:
        """`max_turns` and `most_at_once` bound the recipe's own numbers; `overlong` and `form` are those of
        Episodes."""
        asked = [most for most in (recipe.max_concurrent_rollouts, most_at_once) if most is not None]
        super().__init__(
            recipe.environment,
            max_turns=max_turns or recipe.max_turns,
            overlong=overlong,
            form=form,
            timeout_seconds=recipe.env_timeout_sec,
            most_at_once=min(asked, default=None),
            minimum=recipe.minimum,
        )
        self._agent = recipe

    async def prepare(self, rows: Sequence[PromptRow]) -> None:
        """Prepare the agent's recipe for these rows, and check them. Raises ValidationError."""
        await prepare(self._agent, rows)


class WorldEpisodes(Episodes):
    """Episodes of world_episode_v1."""

    def __init__(
        self,
        recipe: WorldEpisode,
        *,
        max_turns: int | None = None,
        overlong: Overlong | None = None,
        form: TurnForm | None = None,
    ) -> None:
        """`max_turns` is in place of the recipe's own number; `overlong` and `form` are those of Episodes."""
        super().__init__(recipe.environment, max_turns=max_turns or recipe.max_turns, overlong=overlong, form=form)
        self._world = recipe

    async def prepare(self, rows: Sequence[PromptRow]) -> None:
        """Check these rows. Raises ValidationError."""
        await prepare(self._world, rows)
