"""Contracts for answers that are text: nothing of the candidate runs, its entry's text is what is judged.

`input`, `reference` and the like are templates (`templates`): `{{ sample.output_text }}` is the answer, after a
reasoning at its beginning (`<think>..</think>`), `{{ item.x }}` is from the contract's own `item`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from harena.scoring.contracts.parts import Contract, Score, Text, regular_expression
from harena.scoring.contracts.similarity import MAX_CHARACTERS, Metric
from harena.scoring.contracts.templates import check_template, filled

ANSWER = "{{ sample.output_text }}"


class TextContract(Contract):
    """What the contracts for text share."""

    input: Text = ANSWER
    """what is judged"""
    item: dict[str, Any] = {}
    """what `{{ item... }}` names"""

    def filled(self, template: str, answer: str) -> str:
        """A template with everything put in. Raises SampleError."""
        return filled(template, self.item, answer)


def _filled_without_sample(template: str, item: dict[str, Any]) -> str:
    return filled(template, item, None, shown=lambda _: "x")


class StringCheckContract(TextContract):
    """Compare the answer with a text."""

    type: Literal["string_check"]
    reference: Text
    operation: Literal["eq", "ne", "like", "ilike"] = "eq"
    """equal, not equal; `input` holds `reference`, with or without regard to large and small letters"""

    @model_validator(mode="after")
    def _fillable(self) -> Self:
        for template in (self.input, self.reference):
            check_template(template, self.item)
        if self.operation in ("like", "ilike") and not _filled_without_sample(self.reference, self.item).strip():
            raise ValueError("`reference` is empty, which every text holds; give what `input` must hold")
        return self

    @property
    def version(self) -> str:
        """Version of the scoring rules of `string_check`."""
        return "string_check-2"


class TextSimilarityContract(TextContract):
    """How alike the answer and a text are."""

    type: Literal["text_similarity"]
    reference: Annotated[Text, Field(max_length=MAX_CHARACTERS)]
    evaluation_metric: Metric
    pass_mark: Score = 1.0
    """passed = the score is at least this"""

    @model_validator(mode="after")
    def _fillable(self) -> Self:
        for template in (self.input, self.reference):
            check_template(template, self.item)
        return self

    @property
    def version(self) -> str:
        """Version of the scoring rules of `text_similarity`."""
        return "text_similarity-3"


class RegexContract(TextContract):
    """Search the answer for a pattern, in a sandbox: an answer can make a search take for ever."""

    type: Literal["regex"]
    pattern: Annotated[str, Field(min_length=1, max_length=10_000), AfterValidator(regular_expression)]
    """a Python regular expression"""
    whole: bool = False
    """the whole of `input` must match, not some part of it"""
    multiline: bool = False
    """`^` and `$` match at the beginning and the end of each line too, not only of `input`"""

    @model_validator(mode="after")
    def _fillable(self) -> Self:
        check_template(self.input, self.item)
        return self

    @property
    def version(self) -> str:
        """Version of the scoring rules of `regex`."""
        return "regex-2"
