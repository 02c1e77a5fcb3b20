"""How a policy calls tools, in text:

    <tool_call>{"name": "run", "arguments": {"command": "python check.py"}}</tool_call>
    <tool_call name="run">{"command": "python check.py"}</tool_call>

The first form is that of Hermes and Qwen models, the second that of conversations whose template knows no tools
(`harena.training.data.conversations`). Other models need a reader of their own. A call in the policy's reasoning is a
thought, and none that it makes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harena.core.records.result_rows import writable
from harena.scoring.formats.answers import names_reasoning, reasoning_ends

_TAGGED = re.compile(r'<tool_call(?:\s+name="([^"<>]*)")?\s*>(.*?)</tool_call>', re.DOTALL)
_END = "</tool_call>"
_OPENED = re.compile(r"<tool_call\b")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the policy asks for."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """It was meant to be a call, and is none."""

    why: str


Parsed = ToolCall | Unreadable | None
"""None = there is no call: the policy has answered"""


def parse_call(text: str) -> Parsed:
    """The first call of a turn, in the format above."""
    text = text[_reasoning_ends(text) :]
    found = _TAGGED.search(text, 0, _last_end(text))
    if found is None:
        return Unreadable("a tool call must end with </tool_call>") if _OPENED.search(text) else None
    return _call(found)


def words_and_calls(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """What a turn says beside its calls, and all its calls in order. One that cannot be read makes the whole turn
    words. Reasoning is among the words."""
    begin, end = _reasoning_ends(text), _last_end(text)
    calls = [_call(found) for found in _TAGGED.finditer(text, begin, end)]
    said = _TAGGED.sub("", text[begin:end]) + text[max(begin, end) :]
    if _OPENED.search(said):
        return text, ()
    words = text[:begin] + said
    read = tuple(call for call in calls if isinstance(call, ToolCall))
    return (words.strip(), read) if read and len(read) == len(calls) else (text, ())


def _reasoning_ends(text: str) -> int:
    """Where what is said begins. The end of a reasoning that stands in a call's arguments ends none."""
    if not names_reasoning(text):
        return 0
    end = _last_end(text)
    apart = _TAGGED.sub(_masked, text[:end]) + text[end:]
    return reasoning_ends(apart)


def _masked(found: re.Match[str]) -> str:
    return "." * len(found[0]) if isinstance(_call(found), ToolCall) else found[0]


def _last_end(text: str) -> int:
    """Behind the last one: a search beyond it finds nothing, and takes quadratic time where many calls begin."""
    last = text.rfind(_END)
    return 0 if last < 0 else last + len(_END)


def _call(found: re.Match[str]) -> ToolCall | Unreadable:
    try:
        written = json.loads(found[2])
    except (ValueError, RecursionError) as error:
        return Unreadable(f"a tool call holds one JSON object: {error}")
    if writable(stated := json.dumps(written, ensure_ascii=False)) != stated:
        return Unreadable("a tool call holds half of a surrogate pair, which is no character")
    name, arguments = found[1], written
    if name is None and isinstance(written, dict):
        name, arguments = written.get("name"), written.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return Unreadable('a tool call is {"name": ..., "arguments": {...}}')
    return ToolCall(name, arguments)
