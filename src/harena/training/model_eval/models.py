"""Models that can be asked: one that is loaded here, and one behind an OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from harena.training.data.conversations import Conversation
from harena.training.data.prompts import PromptRow
from harena.training.model_eval.answers_file import ModelAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How answers are drawn."""

    samples: int
    """answers to each problem"""
    temperature: float
    """0 = the most probable token each time"""
    top_p: float
    max_new_tokens: int
    seed: int
    at_once: int
    """answers that are sampled side by side"""


class AskedModel(Protocol):
    """Answers problems. Used from one event loop."""

    @property
    def name(self) -> str:
        """What it is called in errors."""

    @property
    def in_chat(self) -> bool:
        """It answers conversations, with explanations and fenced code; else it goes on with a text."""

    def with_prompt(self, problem: PromptRow, conversation: Conversation) -> PromptRow:
        """The problem with the text that the model reads. Raises ValueError where it cannot read it."""

    def most_new_tokens(self, problems: Sequence[PromptRow]) -> int:
        """Length of an answer that nobody has named: what fits behind the longest of the prompts."""

    def check(self, problems: Sequence[PromptRow], asking: Asking) -> None:
        """Raises ValidationError that names the problems that do not fit."""

    def answers(self, wanted: Sequence[tuple[PromptRow, int]], asking: Asking) -> AsyncIterator[list[ModelAnswer]]:
        """Answers to (problem, number of the sample), some at a time, as they come. The same model, seed and problem
        give the same answer where the model is loaded here. Raises PlatformError."""

    async def close(self) -> None:
        """Give back what it holds."""
