"""Contracts that ask a model for its judgement of a text: `score_model` and `label_model`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from harena.scoring.contracts.parts import Contract, Score, Seconds, Strict, Text
from harena.scoring.contracts.templates import check_template

MOST_LABELS, MAX_LABEL = 100, 256
"""number of labels, and characters of one: each is looked for in what is judged"""


class JudgeMessage(Strict):
    """One message of what the judge is asked."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Text
    """a template"""


class SamplingParams(Strict):
    """How the judge samples; what is not given is as its server has it."""

    temperature: Annotated[float, Field(ge=0)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: int | None = None
    max_completion_tokens: Annotated[int, Field(gt=0)] | None = None
    reasoning_effort: str | None = None


class JudgeContract(Contract):
    """What both share."""

    model: Annotated[str, Field(min_length=1)]
    """name by which the judge's server knows the model"""
    messages: Annotated[tuple[JudgeMessage, ...], Field(strict=False, min_length=1)]
    """what it is asked; how to write its answer is added"""
    item: dict[str, Any] = {}
    """what `{{ item... }}` names"""
    sampling_params: SamplingParams = SamplingParams()
    judge_timeout_seconds: Seconds = 120.0
    """wall time of one request"""

    @model_validator(mode="after")
    def _fillable(self) -> Self:
        for message in self.messages:
            check_template(message.content, self.item)
        return self


class ScoreModelContract(JudgeContract):
    """A model gives a number."""

    type: Literal["score_model"]
    range: Annotated[tuple[float, float], Field(strict=False)] = (0.0, 1.0)
    """[lowest, highest]; the score is where in it the number is"""
    pass_mark: Score = 1.0
    """passed = the score is at least this"""

    @model_validator(mode="after")
    def _wide(self) -> Self:
        if self.range[0] >= self.range[1]:
            raise ValueError("the first end of `range` must be less than the second")
        return self

    @property
    def version(self) -> str:
        """Version of the scoring rules, with the judge's model."""
        return f"score_model-4({self.model})"


Labels = Annotated[
    tuple[Annotated[str, Field(max_length=MAX_LABEL)], ...], Field(strict=False, min_length=1, max_length=MOST_LABELS)
]


class LabelModelContract(JudgeContract):
    """A model chooses a label: 1 if it is a passing one, else 0."""

    type: Literal["label_model"]
    labels: Labels
    passing_labels: Labels

    @model_validator(mode="after")
    def _known(self) -> Self:
        unknown = [label for label in self.passing_labels if label not in self.labels]
        if unknown:
            raise ValueError(f"`passing_labels` has {unknown[0]!r}, which is not among `labels`")
        return self

    @property
    def version(self) -> str:
        """Version of the scoring rules, with the judge's model."""
        return f"label_model-4({self.model})"
