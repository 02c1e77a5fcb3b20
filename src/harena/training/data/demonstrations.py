"""Rows to learn from: conversations, prompts with their answers, and problems of a data set with a right solution.

Problems are read as prompts for RL are (`harena.training.data.imported_rows`), so that SFT and RL ask the same. What
follows is the solution: where the prompt is the beginning of the program, a tokenizer without chat template learns the
rest of it, as an answer continues the prompt there; in a conversation the answer is the whole program.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harena.scoring.formats.asked_fields import ANSWER_FIELDS, asked_in, given
from harena.training.data.conversations import Conversation, conversation_of, of_mathematics, text_pair_of
from harena.training.data.imported_rows import OWN_SOLUTION, imported

_WRITTEN = ("solution", "canonical_solution")
SOLUTION_FIELDS = (OWN_SOLUTION, *_WRITTEN)
"""where a problem says what solves it"""
_OF_PROBLEMS = frozenset({"scoring", "program", *SOLUTION_FIELDS})


def conversation_to_learn(values: Mapping[str, Any]) -> Conversation:
    """A row to learn from, for a tokenizer with a chat template. Raises ValueError."""
    return conversation_of(_answered(values, as_texts=False))


def text_pair_to_learn(values: Mapping[str, Any]) -> tuple[str, str]:
    """A row to learn from, for a tokenizer without one: (prompt, completion). Raises ValueError."""
    return text_pair_of(_answered(values, as_texts=True))


def _answered(values: Mapping[str, Any], *, as_texts: bool) -> Mapping[str, Any]:
    """The row with the solution of its problem as its answer; others, and those that have an answer, as they are."""
    if _has_answer(values) or of_mathematics(values, to_learn=True) is not values:
        return values
    made = imported(values)
    solution = given(made, SOLUTION_FIELDS) or given(values, SOLUTION_FIELDS)
    asks = made.get("messages") is not None or asked_in(made) is not None
    if solution is None and asks and asked_in(values) is None and values.get("messages") is None:
        raise ValueError(
            f"it is a problem without a right answer: give it one in {' or '.join(_WRITTEN)}, or learn from candidates "
            "that pass (`harena sft validate` writes them)"
        )
    if solution is None or not asks or not isinstance(solution[1], str) or not solution[1].strip():
        return values
    text = _rest(made, solution[1]) if as_texts else solution[1]
    return {**{name: value for name, value in made.items() if name not in _OF_PROBLEMS}, "completion": text}


def _has_answer(values: Mapping[str, Any]) -> bool:
    messages = values.get("messages")
    said = [entry.get("role") for entry in messages if isinstance(entry, Mapping)] if isinstance(messages, list) else []
    return values.get("steps") is not None or given(values, ANSWER_FIELDS) is not None or "assistant" in said


def _rest(made: Mapping[str, Any], solution: str) -> str:
    """What follows the prompt, where that begins the program. Raises ValueError where the solution does not."""
    program = made.get("program")
    prefix = program.get("prefix") if isinstance(program, Mapping) else None
    if not prefix or not isinstance(prefix, str):
        return solution
    if not solution.startswith(prefix):
        raise ValueError("its solution does not begin with the `prefix` of its program, which answers continue")
    return solution.removeprefix(prefix)
