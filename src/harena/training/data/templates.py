"""Chat templates: from messages to text, and which of it the assistant says.

The template is the tokenizer's own. What is learnt is found by rendering a conversation up to each answer, once with
what announces the answer and once with the answer itself: the second must begin with the first, and what is between
them, up to and with the token that ends the turn, is what the policy would have to say. Texts that are given and texts
that are learnt are encoded apart, because at the time of sampling they are apart as well: a prompt is encoded, and what
follows comes token by token.

Some templates write earlier answers otherwise than the last one (they leave out what the model thought). Then every
answer becomes a row of its own, each with the conversation before it exactly as the model would be given it.

A template that knows no tools, no tool calls or no `reasoning_content` gets them as text: tools in the system message,
the others in the answer (see `conversations.linearised`). Nothing of a conversation is left out unseen.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from harena.core.errors import ValidationError
from harena.core.outside_json import read_outside
from harena.training.data.conversations import Conversation, Message, linearised, with_system
from harena.training.loop.batch import TrainingRow
from harena.training.ports import Tokenizer

TURN_START, TURN_END = "<|im_start|>", "<|im_end|>"
SIMPLE_TEMPLATE = (
    "{% for message in messages %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""for models that have none of their own; `<|im_start|>` and `<|im_end|>` should be tokens of their tokenizer"""

Piece = tuple[str, bool]
"""a text, and whether it is learnt"""


class ChatTokenizer(Tokenizer, Protocol):
    """A tokenizer that may have a chat template."""

    @property
    def chat_template(self) -> str | None:
        """Its source, if there is one."""

    @property
    def end_texts(self) -> tuple[str, ...]:
        """What `end_tokens` are written as."""

    @property
    def control_texts(self) -> frozenset[str]:
        """What its control tokens are written as; a text that contains one is encoded as if it controlled."""

    def render(self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]], answer_follows: bool) -> str:
        """The conversation as the template writes it; with `answer_follows`, also what announces the assistant's next
        message. Raises ValueError: what the template objects to."""


@dataclass(frozen=True, slots=True)
class EncodedPrompt:
    """What is given to the policy."""

    text: str
    tokens: tuple[int, ...]


class ChatTemplate:
    """The template of one tokenizer, with a capability's prompt before every conversation."""

    def __init__(self, tokenizer: ChatTokenizer, *, capability_prompt: str | None = None) -> None:
        """Raises ValidationError for a tokenizer that has no template, or that writes a space before each text."""
        if not tokenizer.chat_template:
            raise ValidationError(
                "the tokenizer has no chat template, so conversations cannot be trained on: add chat_template.jinja to "
                "the model's directory, or give rows of prompt and completion (text) and no capability prompt"
            )
        once = tokenizer.encode("a")
        if tokenizer.decode(once + once) != tokenizer.decode(once) * 2:
            raise ValidationError(
                "the tokenizer does not give back two texts that are encoded one after the other (it adds a space): "
                "an answer cannot be told from what stands before it; use one that keeps texts as they are"
            )
        self.tokenizer = tokenizer
        self.capability_prompt = capability_prompt
        self._knows_tools = "tools" in tokenizer.chat_template
        self._knows_calls = "tool_calls" in tokenizer.chat_template
        self._knows_reasoning = "reasoning_content" in tokenizer.chat_template

    def prompt(self, conversation: Conversation) -> EncodedPrompt:
        """A conversation to be answered. Raises ValueError."""
        text = self.prompt_text(conversation)
        return EncodedPrompt(text, self.tokenizer.encode(text))

    def prompt_text(self, conversation: Conversation, said: Collection[int] = ()) -> str:
        """The prompt's text as the policy reads it; `said`: places of messages that the policy wrote, whose control
        tokens it has said itself. Raises ValueError."""
        return self._render(self._prepared(conversation, said), conversation.tools, answer_follows=True)

    def text(self, conversation: Conversation) -> str:
        """A whole conversation, with nothing that announces another answer. Raises ValueError."""
        return self._render(self._prepared(conversation), conversation.tools, answer_follows=False)

    def rows(self, conversation: Conversation) -> list[TrainingRow]:
        """One row, in which every answer is learnt; or one for each answer (see above). Raises ValueError."""
        return [self._row(pieces) for pieces in self.pieces(conversation)]

    def pieces(self, conversation: Conversation) -> list[list[Piece]]:
        """Texts of each row, in order; what follows the last answer is left out. Raises ValueError."""
        messages = self._prepared(conversation)
        turns = [self._turn(messages, place, conversation.tools) for place in conversation_answers(messages)]
        whole = self._render(messages, conversation.tools, answer_follows=False)
        together: list[Piece] = []
        end = 0
        for start, text in turns:
            if not whole.startswith(text) or start < end:
                return [[(text[:start], False), (text[start:], True)] for start, text in turns]
            together += [(text[end:start], False), (text[start:], True)]
            end = len(text)
        return [together]

    def answer(self, conversation: Conversation, place: int) -> str:
        """What the policy has to say for the message at this place to come of it, without the token that ends it.
        Raises ValueError."""
        start, text = self._turn(self._prepared(conversation), self._place(conversation, place), conversation.tools)
        return self.tokenizer.decode(self.tokenizer.encode(text[start:]))

    def _place(self, conversation: Conversation, place: int) -> int:
        """A message's place once the capability's prompt is there."""
        return place + len(self._prepared(conversation)) - len(conversation.messages)

    def _turn(self, messages: Sequence[Message], place: int, tools: Sequence[Mapping[str, Any]]) -> tuple[int, str]:
        """(where the answer begins, the text up to its end)."""
        before = self._render(messages[:place], tools, answer_follows=True)
        after = self._render(messages[: place + 1], tools, answer_follows=False)
        if not after.startswith(before):
            raise ValueError(
                f"message {place + 1}: the chat template writes what stands before this answer otherwise with it than "
                "without, so that what the assistant says cannot be told: use another template"
            )
        found = [(after.rfind(text, len(before)), text) for text in self.tokenizer.end_texts if text]
        end = max((start + len(text) for start, text in found if start >= 0), default=None)
        if end is None:
            raise ValueError(
                f"message {place + 1}: the chat template ends the answer with none of the tokens that end one "
                f"({', '.join(self.tokenizer.end_texts)}): a model would not learn to stop"
            )
        return len(before), after[:end]

    def _row(self, pieces: Sequence[Piece]) -> TrainingRow:
        tokens: tuple[int, ...] = ()
        mask: tuple[int, ...] = ()
        for text, learnt in pieces:
            encoded = self.tokenizer.encode(text)
            tokens += encoded
            mask += (int(learnt),) * len(encoded)
        return TrainingRow(tokens=tokens, mask=mask)

    def _prepared(self, conversation: Conversation, said: Collection[int] = ()) -> list[Message]:
        """With the capability's prompt, and as far as the template knows what is in it."""
        prompt = self.capability_prompt or ""
        if conversation.tools and not self._knows_tools:
            prompt += "\n\nTools:\n" + "\n".join(json.dumps(tool, ensure_ascii=False) for tool in conversation.tools)
        for place, message in enumerate(conversation.messages):
            if place not in said:
                self._check_text(place, linearised(message))
        return [self._known(message) for message in with_system(conversation.messages, prompt.strip())]

    def _check_text(self, place: int, text: str) -> None:
        found = sorted(control for control in self.tokenizer.control_texts if control in text)
        if found:
            raise ValueError(
                f"message {place + 1} contains {', '.join(found)}, which this tokenizer takes for a control token: it "
                "would begin or end turns that nobody took. Take it out"
            )

    def _known(self, message: Message) -> Message:
        calls, reasoning = message.get("tool_calls", ()), message.get("reasoning_content")
        if (calls and not self._knows_calls) or (reasoning and not self._knows_reasoning):
            kept_calls = {"tool_calls": calls} if calls and self._knows_calls else {}
            kept_thought = {"reasoning_content": reasoning} if reasoning and self._knows_reasoning else {}
            as_text = {name: value for name, value in message.items() if name not in {*kept_calls, *kept_thought}}
            plain = {name: message[name] for name in ("name", "tool_call_id") if name in message}
            message = {"role": message["role"], "content": linearised(as_text), **plain, **kept_calls, **kept_thought}
        if message.get("tool_calls"):
            message = {**message, "tool_calls": [for_template(call) for call in message["tool_calls"]]}
        return message

    def _render(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, answer_follows: bool) -> str:
        return self.tokenizer.render(messages, tools=tools, answer_follows=answer_follows)


def conversation_answers(messages: Sequence[Message]) -> list[int]:
    """The places of what assistants say."""
    return Conversation(messages=tuple(messages)).answers


def for_template(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Templates write arguments as JSON themselves, so they get the object, not its text."""
    function = call["function"]
    try:
        arguments = read_outside(function["arguments"])
    except (ValueError, RecursionError):
        arguments = function["arguments"]
    return {**call, "function": {**function, "arguments": arguments}}
