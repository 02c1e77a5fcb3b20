"""How what a policy is told is written between two of its turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from harena.core.errors import ValidationError
from harena.training.data.conversations import Conversation
from harena.training.data.templates import ChatTemplate
from harena.training.ports import Tokenizer

_SAID = ("what-the-policy-has-said", "and-what-it-says-then")
_TOLD = ("what-the-policy-is-told", "and-what-it-is-told-then")


@runtime_checkable
class PlainTokenizer(Protocol):
    """A tokenizer that can take a text for nothing but text."""

    def encode_plain(self, text: str) -> tuple[int, ...]:
        """The tokens of a text in which the names of special tokens are characters like any others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnForm:
    """What is written before and after an observation. The three pieces are encoded each by itself, and special tokens
    are only in those around it: a file that holds `<|im_end|>` ends no turn."""

    before: str = ""
    after: str = ""

    def tokens(self, tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
        """Token ids of an observation, with the text around it."""
        encode = tokenizer.encode_plain if isinstance(tokenizer, PlainTokenizer) else tokenizer.encode
        around = [tokenizer.encode(piece) if piece else () for piece in (self.before, self.after)]
        return (*around[0], *encode(text), *around[1])


def turn_form(template: ChatTemplate, *, role: str = "user") -> TurnForm:
    """The form of a turn that a chat template writes: what follows the token that ended the answer, the observation as
    a message of this role, and what announces the next answer. A template that leaves out the reasoning of earlier
    answers, or announces them otherwise than the one to come, has one, too: nothing that was said is written anew.
    Raises ValidationError for a template that has not all earlier answers, or that writes later turns otherwise."""
    asked = {"role": "user", "content": "a"}
    answers = [{"role": "assistant", "content": text} for text in _SAID]
    observed = [{"role": role, "content": text} for text in _TOLD]
    try:
        answered = template.text(Conversation(messages=(asked, answers[0])))
        told = template.prompt_text(Conversation(messages=(asked, answers[0], observed[0])))
        told_again = template.prompt_text(
            Conversation(messages=(asked, answers[0], observed[0], answers[1], observed[1]))
        )
    except ValueError as error:
        raise ValidationError(f"the chat template takes no {role} message after an answer: {error}") from None
    ending = _ending(answered, template.tokenizer.end_texts)
    forms = [_form(told, 0, ending), _form(told_again, 1, ending)]
    if ending is None or forms[0] is None or forms[0] != forms[1]:
        raise ValidationError(
            "the chat template writes an answer otherwise once a message follows, so episodes cannot be trained token "
            "by token: use another template, or a TurnForm of your own"
        )
    return forms[0]


def _ending(answered: str, end_texts: Sequence[str]) -> str | None:
    """What stands behind the first answer, up to and with the token that ends its turn; None = there is no such token,
    or not one answer."""
    _, answer, after = answered.rpartition(_SAID[0])
    end = max((after.rfind(text) + len(text) for text in end_texts if text and text in after), default=None)
    return None if not answer or end is None else after[:end]


def _form(told: str, number: int, ending: str | None) -> TurnForm | None:
    """What stands around the last observation; None where the answer before it has not this ending, or one of both is
    not there once."""
    if ending is None or told.count(_SAID[number]) != 1 or told.count(_TOLD[number]) != 1:
        return None
    before, _, after = told.partition(_SAID[number])[2].partition(_TOLD[number])
    return TurnForm(before=before[len(ending) :], after=after) if before.startswith(ending) else None
