"""Rows of every form as one form of conversation."""

from __future__ import annotations

from typing import Any

import pytest

from harena.training.data.conversations import (
    Conversation,
    conversation_of,
    linearised,
    messages_of,
    prompt_conversation_of,
    text_pair_of,
    with_system,
)

USER, ASSISTANT = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}
CALL = {"id": "1", "type": "function", "function": {"name": "run", "arguments": '{"x": 1}'}}


def test_the_answer_to_a_conversation_with_examples_is_learnt_too() -> None:
    again = {"role": "user", "content": "hi again"}
    (*_, last) = conversation_of({"messages": [USER, ASSISTANT, again], "completion": "ho again"}).messages
    assert last == {"role": "assistant", "content": "ho again"}
    of_checker = conversation_of({"messages": [USER, ASSISTANT], "answer": "for whoever checks"})
    assert of_checker.messages == (USER, ASSISTANT)


@pytest.mark.parametrize(
    "row",
    [
        {"messages": [USER, ASSISTANT]},
        {"messages": [{"content": "hi"}, ASSISTANT, {"role": "user", "content": None}]},
        {"messages": [USER], "expected_output": "ho"},
        {"prompt": "hi", "completion": "ho"},
        {"prompt": [USER], "completion": [ASSISTANT]},
        {"prompt": [USER], "completion": "ho"},
        {"input": "hi", "target": "ho"},
        {"question": "hi", "answer": "ho"},
        {"task_prompt": "hi", "output": "ho"},
        {"messages": [USER, {"role": "assistant", "content": [{"type": "text", "text": "ho"}]}]},
        {"steps": [{"source": "user", "message": "hi"}, {"source": "agent", "message": "ho"}]},
        # as Parquet gives it: fields that some rows have are null in the others
        {"messages": None, "prompt": "hi", "completion": "ho", "tools": None, "steps": None},
    ],
)
def test_the_same_conversation_in_every_form(row: dict[str, Any]) -> None:
    assert conversation_of(row) == Conversation(messages=(USER, ASSISTANT))


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({}, "neither `messages` nor `steps` nor a prompt"),
        ({"prompt": "a"}, "no answer"),
        ({"prompt": 3, "completion": "a"}, "not int"),
        ({"messages": "hi"}, "list of messages"),
        ({"messages": ["hi"]}, r"messages\[0\] is an object"),
        ({"messages": [USER, {"role": "bot", "content": ""}]}, r"messages\[1\].role .* 'bot'"),
        ({"messages": [USER]}, "nothing to learn"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, r"messages\[0\]: its content"),
        ({"messages": [USER, {"role": "assistant", "tool_calls": [{}]}]}, r"tool_calls\[0\] has no name"),
        ({"messages": [USER, ASSISTANT], "tools": "no"}, "tools is no list"),
        ({"steps": [{"source": "robot"}]}, r"steps\[0\].source"),
        ({"steps": [{"source": "agent", "message": "x", "observation": {"results": 3}}]}, "results"),
    ],
)
def test_what_is_no_conversation(row: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        conversation_of(row)


def test_a_trajectory_with_tool_calls() -> None:
    """ATIF: what tools answered stands behind the step that called them."""
    steps = [
        {"step_id": 1, "source": "system", "message": "Be good."},
        {"step_id": 2, "source": "user", "message": "go"},
        {
            "step_id": 3,
            "source": "agent",
            "message": "",
            "reasoning_content": "first run",
            "tool_calls": [{"tool_call_id": "1", "function_name": "run", "arguments": {"x": 1}}],
            "observation": {"results": [{"source_call_id": "1", "content": "no such file", "is_error": True}]},
        },
        {"step_id": 4, "source": "agent", "message": "done"},
    ]
    assert list(conversation_of({"steps": steps}).messages) == [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "reasoning_content": "first run", "tool_calls": [CALL]},
        {"role": "tool", "content": "[error] no such file", "tool_call_id": "1"},
        {"role": "assistant", "content": "done"},
    ]


@pytest.mark.parametrize(
    "call",
    [
        CALL,
        {"id": "1", "name": "run", "arguments": {"x": 1}},
        {"tool_call_id": "1", "function_name": "run", "arguments": '{"x": 1}'},
        {"id": 1, "function": {"name": "run", "arguments": {"x": 1}}},
    ],
)
def test_tool_calls_have_one_form(call: dict[str, Any]) -> None:
    (message,) = messages_of([{"role": "assistant", "content": None, "tool_calls": [call]}])
    assert message == {"role": "assistant", "content": "", "tool_calls": [CALL]}


def test_what_an_assistant_did_as_a_text() -> None:
    message = {"role": "assistant", "content": "now", "reasoning_content": "hm", "tool_calls": [CALL]}
    assert linearised(message) == '<think>hm</think>\nnow\n<tool_call name="run">{"x": 1}</tool_call>'


def test_a_capability_prompt_is_merged_with_the_first_system_message() -> None:
    system = {"role": "system", "content": "old"}
    assert with_system([system, USER], "new")[0]["content"] == "new\n\nold"
    assert with_system([USER, system], "new") == ({"role": "system", "content": "new"}, USER, system)
    assert with_system([USER], None) == (USER,)


def test_prompts() -> None:
    assert prompt_conversation_of({"prompt": "hi"}).messages == (USER,)
    assert prompt_conversation_of({"prompt": [USER], "data_source": "x"}).messages == (USER,)
    for row in ({"messages": [USER, ASSISTANT]}, {"messages": []}):
        with pytest.raises(ValueError, match="before the answer"):
            prompt_conversation_of(row)
    with pytest.raises(ValueError, match="no prompt"):
        prompt_conversation_of({"text": "hi"})


def test_texts_as_they_are() -> None:
    assert text_pair_of({"prompt": "a", "completion": "b"}) == ("a", "b")
    with pytest.raises(ValueError, match="no chat template"):
        text_pair_of({"messages": [USER, ASSISTANT]})
    with pytest.raises(ValueError, match="no chat template"):
        text_pair_of({"prompt": [USER], "completion": [ASSISTANT]})
