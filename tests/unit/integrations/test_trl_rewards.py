"""What TRL gives becomes rows and texts, and rewards become what TRL wants. Without TRL's trainer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harena.core.errors import HarenaError, PlatformError, ValidationError
from harena.integrations.trl import (
    async_reward_function,
    check_version,
    completion_text,
    prompt_row,
    reward_function,
)
from harena.training.data.prompts import PromptRow
from harena.training.rollouts.trajectory import Reward


class Recipe:
    """The platform fails for what begins with "lost"; a text earns its length otherwise."""

    deterministic = True

    def __init__(self) -> None:
        self.asked: list[tuple[PromptRow, str]] = []

    async def reward(self, row: PromptRow, text: str) -> Reward:
        self.asked.append((row, text))
        if text.startswith("lost"):
            raise PlatformError("the node was lost", step="create")
        return Reward(value=float(len(text)))


def test_faults_are_none_and_twins_are_asked_once() -> None:
    recipe, told = Recipe(), []
    function = reward_function(recipe, name="length")
    given = function(
        prompts=["p", "p", "p", "q"],
        completions=["ab", "lost", "ab", "ab"],
        completion_ids=[[1], [2], [1], [1]],
        level=[1, 1, 1, 2],
        trainer_state=object(),
        log_metric=lambda name, value: told.append((name, value)),
    )
    assert given == [2.0, None, 2.0, 2.0]
    assert function.__name__ == "length"
    assert told == [("harena/masked_share", 0.25)]
    assert [(row.prompt, row.metadata, text) for row, text in recipe.asked] == [
        ("p", {"level": 1}, "ab"), ("p", {"level": 1}, "lost"), ("q", {"level": 2}, "ab"),
    ]  # fmt: skip


async def test_asynchronously_and_by_name() -> None:
    function = async_reward_function("exact_match_v1")
    assert asyncio.iscoroutinefunction(function)
    given = await function(["p", "p"], ["right", "wrong"], expected_output=["right", "right"])
    assert given == [1.0, 0.0]
    assert function.__name__ == "exact_match_v1"


def test_a_conversation() -> None:
    said = [
        {"role": "assistant", "content": "a"},
        {"role": "tool", "content": "b"},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": "c"},
    ]
    assert completion_text(said) == "a\n\nc"
    row = prompt_row([{"role": "user", "content": "x"}], {"scoring": ['{"type": "tests"}']}, 0)
    assert row.scoring == {"type": "tests"}
    assert '"content": "x"' in row.prompt


@pytest.mark.parametrize(
    ("recipe", "expected"), [("exact_match_v1", 18), ("gsm8k_v1", 18), ("gsm8k_v1", 18.0), ("gsm8k_v1", "#### 18")]
)
def test_columns_of_numbers_and_contents_of_parts_are_read(recipe: str, expected: Any) -> None:
    """As a training job reads them: they ended the training in a TypeError."""
    parts = [{"role": "assistant", "content": [{"type": "text", "text": "1"}, {"type": "image"}, "8"]}]
    function = reward_function(recipe)
    assert function(["p"] * 3, ["18", parts, "17"], expected_output=[expected] * 3) == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("recipe", "columns", "said"),
    [
        ("exact_match_v1", {}, "expected_output"),
        ("code_tests_v1", {"scoring": ["{"]}, "completion 0: no JSON"),
        ("code_tests_v1", {}, "scoring contract"),
    ],
)
def test_a_broken_dataset_is_an_error(recipe: str, columns: dict[str, Any], said: str) -> None:
    with pytest.raises(HarenaError, match=said):
        reward_function(recipe)(["p"], ["x"], **columns)


def test_bad_recipes() -> None:
    with pytest.raises(ValidationError, match="no reward recipe"):
        reward_function("nothing_v1")
    with pytest.raises(ValidationError, match="params belong to"):
        reward_function(Recipe(), {"a": 1})


@pytest.mark.parametrize("installed", ["1.6.0", "1.16.0", "2.0.0.dev0", "1.10rc1"])
def test_versions_that_honour_none(installed: str) -> None:
    check_version(installed)


@pytest.mark.parametrize(
    ("installed", "said"), [("1.5.1", "into 0"), ("0.29.0", "into 0"), ("x", "into 0"), (None, "not installed")]
)
def test_versions_that_do_not(installed: str | None, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        check_version(installed)
