"""What an agent may ask of a policy over the OpenAI API. Pure: from a body to what it means, or to a refusal in words.

How tokens are drawn is the job's business. A request may ask for fewer tokens, and to stop at a text; a field that the
job does not do, and that nobody said may be overruled, is refused with all others that are wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.training.data.conversations import Conversation, messages_of
from harena.training.rollouts.trajectory import Sampling

MOST_STOPS = 4
"""texts to stop at, as in the OpenAI API"""
_FREE = frozenset({"model", "logprobs", "return_token_ids", "user", "metadata", "store"})
_AS_EVERYBODY = {"n": 1, "best_of": 1, "top_logprobs": 0, "echo": False, "frequency_penalty": 0, "presence_penalty": 0}
"""what a request may say, as long as it says this"""
_CHAT = ("messages", "max_tokens", "max_completion_tokens", "tools", "tool_choice", "parallel_tool_calls")
_COMPLETION = ("prompt", "max_tokens")
_BOTH = ("stop", "stream", "stream_options")
_CHOICES = ("auto", "none")


class RefusedError(Exception):
    """A request that is not answered; an agent sees `message`."""

    def __init__(self, message: str, *, code: str = "invalid_request", status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """How a request wants to be answered."""

    most: int | None = None
    """tokens; None = as many as the job allows"""
    stops: tuple[str, ...] = ()
    """the answer ends before the first of these texts"""
    streamed: bool = False
    counts_usage: bool = False
    """a stream ends with what was used"""
    most_calls: int | None = 0
    """calls of tools that the answer may have; None = any number"""


def checked_overruled(names: Collection[str]) -> frozenset[str]:
    """Fields whose values the job overrules. Raises ValidationError for one that decides what is asked."""
    wrong = sorted(set(names) & {*_CHAT, *_COMPLETION, *_BOTH})
    if wrong:
        raise ValidationError(f"overrule: {', '.join(wrong)} cannot be: without it, the answer is to another question")
    return frozenset(names)


def chat_asked(
    body: Mapping[str, Any], sampling: Sampling, overruled: Collection[str] = ()
) -> tuple[Conversation, AnswerOptions]:
    """Read the body of a request for /chat/completions. Raises RefusedError that lists every field that is not
    understood."""
    mistakes: list[str] = []
    asked = _asked(body, sampling, _CHAT, overruled, mistakes)
    conversation = _conversation(body, mistakes)
    if mistakes:
        raise RefusedError("; ".join(mistakes))
    return conversation, asked


def completion_asked(
    body: Mapping[str, Any], sampling: Sampling, overruled: Collection[str] = ()
) -> tuple[str, AnswerOptions]:
    """Read the prompt from the body of a request for /completions. Raises RefusedError that lists every field that is
    not understood."""
    mistakes: list[str] = []
    asked = _asked(body, sampling, _COMPLETION, overruled, mistakes)
    prompt = body.get("prompt")
    if not isinstance(prompt, str) or not prompt:
        mistakes.append("prompt must be a text, and not empty")
    if mistakes:
        raise RefusedError("; ".join(mistakes))
    return str(prompt), asked


def _asked(
    body: Mapping[str, Any], sampling: Sampling, known: Collection[str], overruled: Collection[str], mistakes: list[str]
) -> AnswerOptions:
    given = {name: value for name, value in body.items() if value is not None and name not in overruled}
    as_job = {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": sampling.top_k}
    for name, value in given.items():
        if name in as_job:
            # while an evaluation answers greedily, agents go on asking for the job's temperature
            is_greedy = name == "temperature" and sampling.temperature == 0
            if value != as_job[name] and not is_greedy:
                mistakes.append(f"{name}: this policy is trained at {as_job[name]} (got {quote(value)}); leave it out")
        elif name not in {*known, *_BOTH, *_FREE} and (name not in _AS_EVERYBODY or value != _AS_EVERYBODY[name]):
            mistakes.append(f"{name}={quote(value)} is not supported by this policy; leave it out")
    options = given.get("stream_options", {})
    if not isinstance(options, dict):
        mistakes.append(f"stream_options must be an object (got {quote(options)})")
        options = {}
    return AnswerOptions(
        most=_most(given, known, mistakes),
        stops=_stops(given.get("stop"), mistakes),
        streamed=_flag(given, "stream", False, mistakes),
        counts_usage=_flag(options, "include_usage", False, mistakes),
        most_calls=_most_calls(given, mistakes) if "tools" in known else 0,
    )


def _most(given: Mapping[str, Any], known: Collection[str], mistakes: list[str]) -> int | None:
    limits = {name: given[name] for name in ("max_tokens", "max_completion_tokens") if name in given and name in known}
    wrong = {name: value for name, value in limits.items() if type(value) is not int or value < 1}
    mistakes += (f"{name} must be an integer from 1 (got {quote(value)})" for name, value in wrong.items())
    return None if wrong else min(limits.values(), default=None)


def _stops(stop: Any, mistakes: list[str]) -> tuple[str, ...]:
    stops = [stop] if isinstance(stop, str) else [] if stop is None else stop
    if isinstance(stops, list) and len(stops) <= MOST_STOPS and all(isinstance(text, str) and text for text in stops):
        return tuple(stops)
    mistakes.append(f"stop must be a text, or at most {MOST_STOPS} texts, none of them empty (got {quote(stop)})")
    return ()


def _flag(given: Mapping[str, Any], name: str, otherwise: bool, mistakes: list[str]) -> bool:
    value = given.get(name, otherwise)
    if isinstance(value, bool):
        return value
    mistakes.append(f"{name} must be true or false (got {quote(value)})")
    return otherwise


def _most_calls(given: Mapping[str, Any], mistakes: list[str]) -> int | None:
    choice = given.get("tool_choice", "auto")
    if choice not in _CHOICES:
        mistakes.append(
            f"tool_choice={quote(choice)} is not supported: what this policy says cannot be forced; "
            f"it is {' or '.join(_CHOICES)}"
        )
    many = _flag(given, "parallel_tool_calls", True, mistakes)
    if not given.get("tools") or choice == "none":
        return 0
    return None if many else 1


def _conversation(body: Mapping[str, Any], mistakes: list[str]) -> Conversation:
    messages, tools = body.get("messages"), body.get("tools") or []
    if not isinstance(tools, list) or not all(_is_tool(tool) for tool in tools):
        mistakes.append('tools must be a list of {"type": "function", "function": {"name": ...}}')
        tools = []
    if not isinstance(messages, list) or not messages:
        mistakes.append("messages must be a list with at least one message")
        return Conversation(messages=())
    try:
        return Conversation(messages=tuple(messages_of(messages)), tools=tuple(tools))
    except ValueError as error:
        mistakes.append(str(error))
        return Conversation(messages=())


def _is_tool(tool: Any) -> bool:
    function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
    return isinstance(function, dict) and isinstance(function.get("name"), str)
