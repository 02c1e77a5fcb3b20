"""Recipes that decide by looking at row and text alone."""

from __future__ import annotations

from functools import partial

from harena.scoring.formats.answers import final_answer, names_reasoning
from harena.scoring.formats.final_number import last_number
from harena.scoring.formats.gsm8k import same_number
from harena.training.data.prompts import PromptRow
from harena.training.rewards.answer_lines import asks_for_line, last_line
from harena.training.rewards.boxed import last_box, same_answer, wanted_answer
from harena.training.rewards.recipe import Rule

_rule = partial(Rule, seconds=None)
"""rules of this module take a time that grows with the text and no faster"""


def exact_match(*, expected: str | None = None) -> Rule:
    """exact_match_v1"""

    def decide(row: PromptRow, text: str) -> float:
        wanted = expected if expected is not None else row.expected_output or ""
        # what is wanted with the reasoning's own marks is the whole
        said = text if names_reasoning(wanted) else final_answer(text)
        return float(said.strip() == wanted.strip())

    return _rule(decide, name="exact_match_v1", mistakes=_nothing if expected is not None else _lacks_answer)


def contains(*, needle: str, reward_if_true: float = 1.0, reward_if_false: float = 0.0) -> Rule:
    """contains_v1"""
    # a needle of the reasoning's own marks is about the form of the whole
    said = (lambda text: text) if names_reasoning(needle) else final_answer
    return _rule(
        lambda row, text: reward_if_true if needle in said(text) else reward_if_false,
        name="contains_v1",
        minimum=min(reward_if_true, reward_if_false),
        same_for_all=lambda row: reward_if_true if not needle or reward_if_true == reward_if_false else None,
    )


def row_reward(*, default: float = 0.0) -> Rule:
    """row_reward_v1"""

    def of_row(row: PromptRow) -> float:
        return default if row.reward is None else row.reward

    return _rule(lambda row, text: of_row(row), name="row_reward_v1", same_for_all=of_row)


def trajectory_imitation(*, reward_if_true: float = 1.0, reward_if_false: float = 0.0) -> Rule:
    """trajectory_imitation_v1"""

    def decide(row: PromptRow, text: str) -> float:
        return right(row) if text.strip() == (row.expected_output or "").strip() else reward_if_false

    def right(row: PromptRow) -> float:
        return reward_if_true if row.reward is None else row.reward

    return _rule(
        decide,
        name="trajectory_imitation_v1",
        minimum=min(reward_if_true, reward_if_false),
        mistakes=_lacks_expected,
        same_for_all=lambda row: reward_if_false if right(row) == reward_if_false else None,
    )


def gsm8k() -> Rule:
    """gsm8k_v1. A text without a number gets 0; whole numbers are equal or not, others may differ by a millionth."""

    def decide(row: PromptRow, text: str) -> float:
        wanted = last_number(row.expected_output or "")
        return float(wanted is not None and same_number(last_number(final_answer(text)), wanted))

    def mistakes(row: PromptRow) -> list[str]:
        if row.expected_output is not None and row.answer_problem is None and last_number(row.expected_output) is None:
            return ["its expected_output holds no number"]
        return _lacks_expected(row)

    return _rule(decide, name="gsm8k_v1", mistakes=mistakes)


def boxed_answer() -> Rule:
    """math_v1"""

    def decide(row: PromptRow, text: str) -> float:
        answer = final_answer(text)
        said = last_box(answer)
        if said is None and asks_for_line(_asked(row)):
            said = last_line(answer)
        return float(said is not None and same_answer(wanted_answer(row.expected_output or ""), said))

    def mistakes(row: PromptRow) -> list[str]:
        if row.expected_output is not None and not wanted_answer(row.expected_output):
            return ["its expected_output is empty"]
        return _lacks_expected(row)

    return _rule(decide, name="math_v1", mistakes=mistakes)


def _asked(row: PromptRow) -> str:
    """What the row asks for, as text."""
    return row.prompt or "\n".join(str(message.get("content") or "") for message in row.messages)


def _nothing(row: PromptRow) -> list[str]:
    return []


def _lacks_expected(row: PromptRow) -> list[str]:
    if row.expected_output is None:
        return ["it has no expected_output"]
    return [row.answer_problem] if row.answer_problem is not None else []


def _lacks_answer(row: PromptRow) -> list[str]:
    if row.expected_output is not None and not row.expected_output.strip():
        return ["its expected_output is empty, which silence equals"]
    return _lacks_expected(row)
