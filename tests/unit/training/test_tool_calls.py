"""How a policy calls tools, in text."""

from __future__ import annotations

from typing import Any

import pytest

from harena.training.environments.tool_calls import ToolCall, Unreadable, parse_call, words_and_calls


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('I look.<tool_call>{"name": "run", "arguments": {"command": "ls"}}</tool_call>', ("run", {"command": "ls"})),
        ('<tool_call name="run">\n{"command": "ls"}\n</tool_call>', ("run", {"command": "ls"})),
        ('<tool_call>{"name": "list_files"}</tool_call>', ("list_files", {})),
        ('<tool_call name="a">{}</tool_call><tool_call name="b">{}</tool_call>', ("a", {})),
        ('<tool_call>{"name": "say", "arguments": {"a": "\\ud83d\\ude00"}}</tool_call>', ("say", {"a": "\U0001f600"})),
    ],
)
def test_calls_of_tools(text: str, call: tuple[str, dict[str, Any]]) -> None:
    assert parse_call(text) == ToolCall(*call)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "run"',
        "<tool_call>run ls</tool_call>",
        '<tool_call>["run"]</tool_call>',
        '<tool_call>{"arguments": {}}</tool_call>',
        '<tool_call>{"name": "run", "arguments": "ls"}</tool_call>',
        '<tool_call>{"name": "run", "arguments": {"command": "\\ud83d"}}</tool_call>',
        '<tool_call>{"name": "\\ude00"}</tool_call>',
        '<tool_call name="run">{"\\ud83d": 1}</tool_call>',
        "<tool_call>" + "[" * 100_000 + "</tool_call>",
    ],
)
def test_what_is_meant_to_be_a_call_and_is_none(text: str) -> None:
    assert isinstance(parse_call(text), Unreadable)


def test_an_answer_is_no_call() -> None:
    assert parse_call("it is done") is None


THOUGHT = '<tool_call>{"name": "thought"}</tool_call>'
CALL = '<tool_call>{"name": "act", "arguments": {"text": "a </think> b"}}</tool_call>'


@pytest.mark.parametrize(
    "reasoning",
    [
        f"<think>I may say {THOUGHT}.</think>\n",
        f"I may say {THOUGHT}.\n</think>\n\n",
        f"<think>{THOUGHT}</think><think>{CALL}</think>",
        "<think>I begin with <tool_call> and {</think>",
        '<think>So <tool_call>{"name": "thought"}</think>',
    ],
)
def test_a_call_in_a_reasoning_is_none(reasoning: str) -> None:
    """Whatever is rehearsed there; and an answer after it stays one."""
    act = ToolCall("act", {"text": "a </think> b"})
    assert parse_call(reasoning + CALL) == parse_call(f"{reasoning}So: {CALL}{THOUGHT}") == act
    assert parse_call(f"{reasoning}42") is None
    assert words_and_calls(reasoning + CALL) == (reasoning.strip(), (act,))
    assert words_and_calls(f"{reasoning}42") == (f"{reasoning}42", ())


def test_a_reasoning_that_never_ends_calls_nothing() -> None:
    """It says nothing at all, as everywhere."""
    assert parse_call(f"<think>{THOUGHT}") is None
    assert words_and_calls(f"<think>{THOUGHT}") == (f"<think>{THOUGHT}", ())


@pytest.mark.parametrize(
    ("text", "words", "names"),
    [
        ("it is done", "it is done", []),
        ('I look. <tool_call>{"name": "ls"}</tool_call>', "I look.", ["ls"]),
        ('<tool_call>{"name": "a"}</tool_call> then\n<tool_call name="b">{}</tool_call>', "then", ["a", "b"]),
        ('<tool_call>{"name": "a"}</tool_call><tool_call>{"name"', None, []),
        ('<tool_call>{"name": "a"}</tool_call><tool_call>[]</tool_call>', None, []),
        (" spaces stay where nothing is called ", None, []),
    ],
)
def test_words_and_calls(text: str, words: str | None, names: list[str]) -> None:
    """All calls or none: what is half a call is given to the agent as it was said."""
    said, calls = words_and_calls(text)
    assert (said, [call.name for call in calls]) == (text if words is None else words, names)
