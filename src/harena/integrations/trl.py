"""harena's rewards in TRL's trainers (`pip install 'harena[trl]'`).

    from harena.integrations.trl import reward_function
    trainer = GRPOTrainer(..., reward_funcs=[reward_function("code_tests_v1", {"blueprint_id": "python-warm"})])

All completions of a call are rewarded at the same time, each in a fresh sandbox. A dataset's columns reach the recipe
as a prompt row: `expected_output`, `reward` and `scoring` by name, the others as metadata. `scoring` is best given as
JSON text: a column of objects gets every object's keys, filled up with None.

Where the platform failed there is no reward, and the function gives None. TRL leaves such a completion out of its group
from 1.6.0 on; before, it became a reward of 0, so older versions are refused.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from harena.core.errors import ValidationError
from harena.sdk.twins import Twin
from harena.training.data.datasets import as_text, problem_of_answer
from harena.training.data.prompts import PromptRow, as_judged, digest
from harena.training.rewards import CachedRecipe, RewardRecipe, reward_recipe, rewarded
from harena.training.rewards.recipe import mistakes_of, recipe_name, rows_error

OLDEST_TRL = (1, 6)
"""the first that leaves completions without a reward out of their group"""
Rewards = list[float | None]
_NOT_COLUMNS = frozenset({"trainer_state", "log_extra", "log_metric", "environments", "completion_ids"})
_FIELDS = frozenset({"expected_output", "reward", "scoring"})


def reward_function(
    recipe: RewardRecipe | str, params: Mapping[str, Any] | None = None, *, name: str | None = None
) -> Callable[..., Rewards]:
    """A reward function for TRL, of a recipe or of a recipe's name and parameters. `name`: what TRL's logs call it.
    Raises ValidationError for an unknown recipe, and where TRL is missing or too old."""
    ask = _Rewards(recipe, params, name)
    wait = Twin(ask.rewards)

    def rewards(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> Rewards:
        return wait(prompts, completions, **columns)

    rewards.__name__ = ask.name
    return rewards


def async_reward_function(
    recipe: RewardRecipe | str, params: Mapping[str, Any] | None = None, *, name: str | None = None
) -> Callable[..., Awaitable[Rewards]]:
    """Like `reward_function`, awaited by TRL beside its other asynchronous reward functions."""
    ask = _Rewards(recipe, params, name)

    async def rewards(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> Rewards:
        return await ask.rewards(prompts, completions, **columns)

    rewards.__name__ = ask.name
    return rewards


class _Rewards:
    def __init__(self, recipe: RewardRecipe | str, params: Mapping[str, Any] | None, name: str | None) -> None:
        check_version(_installed())
        if isinstance(recipe, str):
            self.name = name or recipe
            recipe = reward_recipe(recipe, params or {})
        elif params:
            raise ValidationError("params belong to a recipe's name; a recipe that is made has its own")
        else:
            self.name = name or recipe_name(recipe)
        self._recipe = CachedRecipe(recipe)

    async def rewards(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> Rewards:
        """One for each completion, None where the platform failed. Raises HarenaError where a recipe cannot be applied
        to a row: a broken dataset is no reward."""
        rows = [prompt_row(prompt, columns, place) for place, prompt in enumerate(prompts)]
        wrong = [f"row {row.id}: {mistake}" for row in rows for mistake in mistakes_of(self._recipe, row)]
        if wrong:
            raise rows_error(recipe_name(self._recipe), list(dict.fromkeys(wrong)), len(rows))
        texts = [as_judged(row, completion_text(completion)) for row, completion in zip(rows, completions, strict=True)]
        found = await asyncio.gather(
            *(rewarded(self._recipe, row, text) for row, text in zip(rows, texts, strict=True))
        )
        values = [reward.value for reward in found]
        if (log := columns.get("log_metric")) is not None and values:
            log("harena/masked_share", sum(value is None for value in values) / len(values))
        return values


def prompt_row(prompt: Any, columns: Mapping[str, Any], place: int) -> PromptRow:
    """The row of a dataset that TRL gave column by column. Raises ValidationError for a contract that is no JSON."""
    given = {name: values[place] for name, values in columns.items() if name not in _NOT_COLUMNS}
    scoring = given.get("scoring")
    if isinstance(scoring, str):
        try:
            scoring = json.loads(scoring)
        except ValueError as error:
            raise ValidationError(f"column `scoring`, completion {place}: no JSON ({error})") from error
    text = prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False, default=str)
    return PromptRow(
        id=digest(json.dumps([text, {name: given[name] for name in sorted(given)}], default=str)),
        prompt=text,
        expected_output=None if (wanted := given.get("expected_output")) is None else as_text(wanted),
        answer_problem=problem_of_answer(given.get("expected_output"), given, text),
        reward=given.get("reward"),
        scoring=scoring,
        metadata={name: value for name, value in given.items() if name not in _FIELDS},
    )


def completion_text(completion: Any) -> str:
    """What was said: the text itself, or of a conversation the contents of the assistant's messages, one per line."""
    if isinstance(completion, str):
        return completion
    said = (message.get("content") for message in completion if message.get("role", "assistant") == "assistant")
    return "\n".join(map(_content_text, said))


def _content_text(content: Any) -> str:
    """A message's content as a text, also where it is a list of parts."""
    if isinstance(content, str) or not content:
        return content or ""
    parts = (part if isinstance(part, str) else str(part.get("text") or "") for part in content)
    return "".join(parts)


def check_version(installed: str | None) -> None:
    """Raises ValidationError for no TRL, and for one that turns None into a reward of 0."""
    oldest = ".".join(map(str, OLDEST_TRL))
    if installed is None:
        raise ValidationError(f"TRL is not installed: pip install 'harena[trl]' (TRL {oldest} or newer)")
    found = re.match(r"(\d+)\.(\d+)", installed)
    if found is None or tuple(map(int, found.groups())) < OLDEST_TRL:
        raise ValidationError(
            f"TRL {installed} turns a missing reward into 0, so that faults of the platform would be learnt: "
            f"pip install 'trl>={oldest}'"
        )


def _installed() -> str | None:
    try:
        return version("trl")
    except PackageNotFoundError:
        return None
