"""What is learnt of a conversation: what its assistants say, to the end of the turn, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from chat_tokenizer import END, Characters, Spaced, simple

from harena.core.errors import ValidationError
from harena.training.data.conversations import Conversation, conversation_of
from harena.training.data.templates import ChatTemplate

TWO_TURNS = [
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": "b"},
    {"role": "user", "content": "c"},
    {"role": "assistant", "content": "d"},
]
CALLING = [
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": "",
        "reasoning_content": "hm",
        "tool_calls": [{"name": "f", "arguments": {"x": 1}}],
    },
    {"role": "tool", "content": "3"},
    {"role": "assistant", "content": "three"},
]


def conversation(messages: Sequence[Mapping[str, Any]], **more: Any) -> Conversation:
    return conversation_of({"messages": list(messages), **more})


def without_thoughts(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], answer_follows: bool) -> str:
    """Only the last message keeps what was thought, as Qwen3's template has it."""
    last = len(messages) - 1
    kept = [
        {**m, "content": f"<{m['role']}>{m['content']}" if n == last else m["content"]} for n, m in enumerate(messages)
    ]
    return simple(kept, tools, False) + ("assistant:" if answer_follows else "")


def test_answers_and_the_ends_of_their_turns_are_learnt() -> None:
    template = ChatTemplate(Characters(), capability_prompt="s")
    (pieces,) = template.pieces(conversation([*TWO_TURNS, {"role": "user", "content": "never answered"}]))
    assert pieces == [
        ("system:s$\nuser:a$\nassistant:", False),
        ("b$", True),
        ("\nuser:c$\nassistant:", False),
        ("d$", True),
    ]
    (row,) = template.rows(conversation(TWO_TURNS))
    assert "".join(chr(t) for t, learnt in zip(row.tokens, row.mask, strict=True) if learnt) == "b$d$"
    assert "".join(map(chr, row.tokens)) == "".join(text for text, _ in pieces)


def test_what_the_policy_is_given_is_what_stands_before_the_answer() -> None:
    """Else it would be trained after other tokens than it is sampled after."""
    template = ChatTemplate(Characters(), capability_prompt="s")
    (row,) = template.rows(conversation(TWO_TURNS[:2]))
    prompt = template.prompt(Conversation(messages=tuple(TWO_TURNS[:1])))
    assert row.tokens[: len(prompt.tokens)] == prompt.tokens
    assert not any(row.mask[: len(prompt.tokens)])
    assert all(row.mask[len(prompt.tokens) :])


def test_a_template_that_rewrites_earlier_answers_gives_a_row_for_each() -> None:
    def rewriting(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], answer_follows: bool) -> str:
        last = len(messages) - 1
        kept = [
            {**m, "content": f"<t>{m['content']}" if m["role"] == "assistant" and n == last else m["content"]}
            for n, m in enumerate(messages)
        ]
        return simple(kept, tools, answer_follows)

    rows = ChatTemplate(Characters(rewriting)).pieces(conversation(TWO_TURNS))
    assert rows == [
        [("user:a$\nassistant:", False), ("<t>b$", True)],
        [("user:a$\nassistant:b$\nuser:c$\nassistant:", False), ("<t>d$", True)],
    ]


def test_a_template_that_rewrites_what_stands_before_is_refused() -> None:
    with pytest.raises(ValueError, match="message 2: the chat template writes what stands before"):
        ChatTemplate(Characters(without_thoughts)).rows(conversation(TWO_TURNS))


def test_a_template_that_ends_no_turn_is_refused() -> None:
    def endless(*arguments: Any) -> str:
        return simple(*arguments).replace(END, "")

    with pytest.raises(ValueError, match="none of the tokens that end one"):
        ChatTemplate(Characters(endless)).rows(conversation(TWO_TURNS))


@pytest.mark.parametrize("place", [0, 1])
def test_control_tokens_in_a_text_are_refused(place: int) -> None:
    """They would end a turn, and what follows would pass for another's."""
    messages = [dict(message) for message in TWO_TURNS]
    messages[place]["content"] = f"a{END}\nuser:b"
    with pytest.raises(ValueError, match=rf"message {place + 1} contains \{END}, which this tokenizer takes"):
        ChatTemplate(Characters()).rows(conversation(messages))


def test_tokenizers_that_cannot_tell() -> None:
    with pytest.raises(ValidationError, match="no chat template"):
        ChatTemplate(Characters(None))
    with pytest.raises(ValidationError, match="adds a space"):
        ChatTemplate(Spaced())


def test_what_a_template_does_not_know_it_gets_as_text() -> None:
    tools = [{"name": "f"}]
    (pieces,) = ChatTemplate(Characters()).pieces(conversation(CALLING, tools=tools))
    assert pieces[0][0].startswith('system:Tools:\n{"name": "f"}$')
    assert pieces[1] == ('<think>hm</think>\n<tool_call name="f">{"x": 1}</tool_call>$', True)
    assert pieces[2] == ("\ntool:3$\nassistant:", False)


def test_what_a_template_knows_it_gets_as_it_is() -> None:
    seen: list[Any] = []

    def knowing(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], answer_follows: bool) -> str:
        seen.append((messages, tools))
        return simple(messages, tools, answer_follows)

    template = ChatTemplate(Characters(knowing, "tools tool_calls reasoning_content"))
    template.rows(conversation(CALLING, tools=[{"name": "f"}]))
    messages, tools = seen[-1]
    assert tools == ({"name": "f"},)
    assert messages[1]["reasoning_content"] == "hm"
    assert messages[1]["tool_calls"][0]["function"] == {"name": "f", "arguments": {"x": 1}}


def test_what_the_policy_would_have_to_say() -> None:
    template = ChatTemplate(Characters(), capability_prompt="s")
    assert [template.answer(conversation(CALLING), place) for place in (1, 3)] == [
        '<think>hm</think>\n<tool_call name="f">{"x": 1}</tool_call>',
        "three",
    ]
