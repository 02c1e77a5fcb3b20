"""Names of the fields in which a row asks for something and says what is right: one list, for training and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

PROMPT_FIELDS = ("prompt", "input", "question", "task_prompt")
ANSWER_FIELDS = ("completion", "expected_output", "target", "answer", "output")


def given(values: Mapping[str, Any], fields: Sequence[str]) -> tuple[str, Any] | None:
    """(name, value) of the first of these fields that the row has; null is not there."""
    return next(((name, values[name]) for name in fields if values.get(name) is not None), None)


def asked_in(values: Mapping[str, Any]) -> tuple[str, Any] | None:
    """(name, value) of a row's prompt; None = it has none. What a row calls `instruction` and has an `input` beside is
    asked as a whole, with an empty line between."""
    instruction, beside = values.get("instruction"), values.get("input")
    if (
        isinstance(instruction, str)
        and instruction.strip()
        and values.get("prompt") is None
        and (beside is None or isinstance(beside, str))
    ):
        return "instruction", "\n\n".join(filter(None, (instruction, beside)))
    return given(values, PROMPT_FIELDS)


def right_answer_in(values: Mapping[str, Any]) -> Any:
    """What a row says is right, in one of its own fields or as verl writes it; None = it says nothing."""
    answer = given(values, ANSWER_FIELDS)
    if answer is not None:
        return answer[1]
    rewarded_by = values.get("reward_model")
    return rewarded_by.get("ground_truth") if isinstance(rewarded_by, Mapping) else None
