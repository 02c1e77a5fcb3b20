"""A tokenizer of characters with a chat template, without torch and transformers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

END = "$"


def simple(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], answer_follows: bool) -> str:
    """role: content$ for each."""
    written = "".join(f"{message['role']}:{message['content']}{END}\n" for message in messages)
    return written + ("assistant:" if answer_follows else "")


class Characters:
    """A token for each character. Implements `ChatTokenizer`."""

    end_tokens = (ord(END),)
    end_texts = (END,)
    control_texts = frozenset(END)

    def __init__(self, template: Callable[..., str] | None = simple, source: str = "messages") -> None:
        self.chat_template = None if template is None else source
        self.template = template

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(map(ord, text))

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens)).replace(END, "")

    def render(self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Any], answer_follows: bool) -> str:
        assert self.template is not None
        return self.template(messages, tools, answer_follows)


class Spaced(Characters):
    """One that writes a space before every text, as some do."""

    def encode(self, text: str) -> tuple[int, ...]:
        return (32, *map(ord, text))

    def decode(self, tokens: Sequence[int]) -> str:
        return super().decode(tokens).removeprefix(" ")
