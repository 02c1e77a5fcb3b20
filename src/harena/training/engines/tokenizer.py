"""A Hugging Face tokenizer, as the training room sees one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import jinja2

from harena.training.data.time_limit import OverdueError, time_limit

RENDER_SECONDS = 10.0
"""for one conversation; templates come with a model, and transformers compiles them in a sandbox of jinja's"""
_NAMED = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
_PROBE = ({"role": "user", "content": "a"}, {"role": "assistant", "content": "b"})


class LocalTokenizer:
    """Implements `harena.training.data.templates.ChatTokenizer`, and with it `harena.training.ports.Tokenizer`."""

    def __init__(self, tokenizer: Any) -> None:
        self.inner = tokenizer

    @property
    def pad_token(self) -> int:
        """What fills rows up; masked, so any token would do."""
        pad = self.inner.pad_token_id
        return int(self.inner.eos_token_id if pad is None else pad)

    @cached_property
    def end_tokens(self) -> tuple[int, ...]:
        """The end-of-sequence token, and the one that the chat template ends an answer with, where it is another."""
        of_turn = self._end_of_turn()
        end = self.inner.eos_token_id
        return (end,) if of_turn in (None, end) else (end, of_turn)

    @property
    def end_texts(self) -> tuple[str, ...]:
        """Texts of the tokens that end an answer."""
        return tuple(self.inner.convert_ids_to_tokens(list(self.end_tokens)))

    @cached_property
    def control_texts(self) -> frozenset[str]:
        """Texts of the tokenizer's special tokens, which no message may forge."""
        return frozenset(str(token) for token in self.inner.added_tokens_decoder.values() if token.special)

    @property
    def chat_template(self) -> str | None:
        """The tokenizer's own chat template; None = it has none, or several under names."""
        template = self.inner.chat_template
        return template if isinstance(template, str) else None

    def encode(self, text: str) -> tuple[int, ...]:
        """Turn a text into tokens, without a begin token; special tokens that are spelt out in it count."""
        return tuple(self.inner.encode(text, add_special_tokens=False))

    def encode_plain(self, text: str) -> tuple[int, ...]:
        """Turn a text into tokens, none of them special: one that is spelt out is plain text."""
        return tuple(self.inner.encode(text, add_special_tokens=False, split_special_tokens=True))

    def decode(self, tokens: Sequence[int]) -> str:
        """Turn tokens into a text, without those that end or fill up a turn. Other special tokens stand as they are
        written: marks of reasoning, channels and calls of tools are a part of what was said. Decoders of the
        SentencePiece family take a first space away, as if the text began there: of an indentation, which goes on with
        what stands before, all is given."""
        said = [token for token in tokens if token not in self._silent]
        text = self._text(said)
        if not text.startswith(" "):
            return text
        begun, whole = self._text(self._letter), self._text([*self._letter, *said])
        return whole[len(begun) :] if begun and whole.startswith(begun) else text

    def spelt(self, tokens: Sequence[int]) -> list[str]:
        """Write each token by itself, those that end a turn included. A part of a character is U+FFFD."""
        begun = self._text(self._letter)
        texts: dict[int, str] = {}
        for token in tokens:
            if token not in texts:
                whole = self._text([*self._letter, token])
                texts[token] = whole[len(begun) :] if begun and whole.startswith(begun) else self._text([token])
        return [texts[token] for token in tokens]

    def _text(self, tokens: Sequence[int]) -> str:
        kept = {"skip_special_tokens": False, "spaces_between_special_tokens": False}
        return str(self.inner.decode(list(tokens), **kept))

    @cached_property
    def _silent(self) -> frozenset[int]:
        """Tokens that say nothing: the named ones (begin, end, padding, unknown and so on), and what ends a turn."""
        named = (getattr(self.inner, f"{name}_token_id", None) for name in _NAMED)
        return frozenset(token for token in (*named, *self.end_tokens) if token is not None)

    @cached_property
    def _letter(self) -> tuple[int, ...]:
        """Tokens of a letter, behind which others do not begin a text."""
        return self.encode("a")

    def render(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]], answer_follows: bool
    ) -> str:
        """Apply the model's chat template, within a time limit. Raises ValueError where it is overdue or cannot be
        applied."""
        try:
            with time_limit(RENDER_SECONDS):
                text = self.inner.apply_chat_template(
                    list(messages), tools=list(tools) or None, tokenize=False, add_generation_prompt=answer_follows
                )
        except OverdueError:
            raise ValueError(f"the chat template takes longer than {RENDER_SECONDS:g} seconds") from None
        except (jinja2.TemplateError, TypeError, ValueError, LookupError) as error:
            raise ValueError(f"the chat template does not take it: {error}") from None
        return str(text)

    def _end_of_turn(self) -> int | None:
        """The special token that the template writes after what an assistant said."""
        if self.chat_template is None:
            return None
        try:
            before = self.render(_PROBE[:1], tools=(), answer_follows=True)
            after = self.render(_PROBE, tools=(), answer_follows=False)
        except ValueError:  # a template that wants a system message, say: then the end of a sequence ends an answer
            return None
        special = set(self.inner.all_special_ids) | set(self.inner.added_tokens_decoder)
        said = self.encode(after[len(before) :]) if after.startswith(before) else ()
        return next((token for token in reversed(said) if token in special), None)
