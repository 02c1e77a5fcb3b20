"""How what a policy is told is written between two of its turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from harena.core.errors import ValidationError
from harena.training.data.conversations import Conversation
from harena.training.data.templates import ChatTemplate
from harena.training.ports import Tokenizer

_MARK = "what-the-policy-is-told"


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
    a message of this role, and what announces the next answer. Raises ValidationError for a template that writes an
    earlier answer otherwise once something follows: tokens could not grow at their end only."""
    messages = ({"role": "user", "content": "a"}, {"role": "assistant", "content": "b"})
    try:
        (pieces,) = template.pieces(Conversation(messages=messages))
        told = template.prompt(Conversation(messages=(*messages, {"role": role, "content": _MARK}))).text
    except ValueError as error:
        raise ValidationError(f"the chat template takes no {role} message after an answer: {error}") from None
    said = "".join(text for text, _ in pieces)
    if not told.startswith(said) or told[len(said) :].count(_MARK) != 1:
        raise ValidationError(
            "the chat template writes an answer otherwise once a message follows, so episodes cannot be trained token "
            "by token: use another template, or a TurnForm of your own"
        )
    before, _, after = told[len(said) :].partition(_MARK)
    return TurnForm(before=before, after=after)
