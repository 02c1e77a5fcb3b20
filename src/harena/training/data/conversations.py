"""From rows of many forms to one form of conversation. Pure: no files, no tokens.

A message is {role, content, reasoning_content?, tool_calls?, tool_call_id?, name?}; a tool call is
{id, type: "function", function: {name, arguments}}, its arguments JSON text. Every function that reads a row raises
ValueError, whose text says what is wrong with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harena.core.outside_json import read_outside
from harena.scoring.formats.asked_fields import ANSWER_FIELDS, PROMPT_FIELDS, asked_in, given

Message = Mapping[str, Any]

WITHOUT_TEMPLATE = (
    "it is a conversation, and the tokenizer has no chat template: add chat_template.jinja to the model's directory, "
    "or give rows of text (as `harena sft validate --form prompt-completion` writes them)"
)
_REQUEST = "it is a request to run a grader over an answer, and has no prompt: give it `messages`"
ROLES = ("system", "developer", "user", "assistant", "tool")
_OF_SOURCE = {"agent": "assistant", "user": "user", "system": "system"}
_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])")
_KEPT = ("reasoning_content", "tool_call_id", "name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Messages in order, and the tools that the assistant was offered."""

    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...] = ()

    @property
    def answers(self) -> list[int]:
        """The places of what assistants say."""
        return [place for place, message in enumerate(self.messages) if message["role"] == "assistant"]


def of_mathematics(values: Mapping[str, Any], *, to_learn: bool = False) -> Mapping[str, Any]:
    r"""A row as MATH has them, with usual names: `problem`, and a worked `solution` whose last box is the right answer
    unless `answer` is; or `problem` and `answer`. `to_learn`: it is answered by the solution. Others as they are."""
    problem, solution, answer = (values.get(name) for name in ("problem", "solution", "answer"))
    is_solved = isinstance(solution, str) and _BOX.search(solution) is not None
    is_answered = isinstance(answer, str) and bool(answer.strip())
    is_asked = any(values.get(name) is not None for name in ("messages", "steps", "instruction", *PROMPT_FIELDS))
    if not isinstance(problem, str) or not problem.strip() or is_asked or not (is_solved or is_answered):
        return values
    rest = {name: value for name, value in values.items() if name not in ("problem", "solution", "answer")}
    if not is_solved:
        return {**rest, "prompt": problem, "answer": answer}
    if to_learn:
        return {**rest, "prompt": problem, "completion": solution}
    boxed = f"\\boxed{{{answer}}}" if is_answered else solution
    return {**rest, "prompt": problem, "expected_output": boxed, "own_solution": solution}


def conversation_of(values: Mapping[str, Any]) -> Conversation:
    """A row to learn from: ATIF `steps`, chat `messages`, or a prompt and its answer."""
    tools = _tools(values.get("tools"))
    if values.get("steps") is not None:
        messages = messages_of_steps(values["steps"])
    elif values.get("messages") is not None:
        messages = messages_of(values["messages"])
        answer = given(values, ANSWER_FIELDS)
        unanswered = bool(messages) and messages[-1]["role"] == "user"
        if answer is not None and (unanswered or not any(message["role"] == "assistant" for message in messages)):
            messages += _as_messages(*answer, role="assistant")
    else:
        prompt, answer = _prompt_and_answer(values)
        messages = [*_as_messages(*prompt, role="user"), *_as_messages(*answer, role="assistant")]
    made = Conversation(messages=tuple(messages), tools=tools)
    if not made.answers:
        raise ValueError("no assistant says anything in it: there is nothing to learn")
    return made


def text_pair_of(values: Mapping[str, Any]) -> tuple[str, str]:
    """A row to learn from, for a tokenizer without chat template: (prompt, completion) as they are."""
    prompt, answer = None, None
    if values.get("steps") is None and values.get("messages") is None:
        prompt, answer = _prompt_and_answer(values)
    if prompt is None or answer is None or not isinstance(prompt[1], str) or not isinstance(answer[1], str):
        raise ValueError(WITHOUT_TEMPLATE)
    return prompt[1], answer[1]


def prompt_conversation_of(values: Mapping[str, Any]) -> Conversation:
    """A row to be answered: chat `messages`, or a prompt (text, or messages)."""
    tools = _tools(values.get("tools"))
    if values.get("messages") is not None:
        messages = messages_of(values["messages"])
    elif (prompt := asked_in(values)) is not None:
        messages = _as_messages(*prompt, role="user")
    else:
        if "grader" in values:
            raise ValueError(_REQUEST)
        raise ValueError(f"it has no prompt: give it `messages`, or one of {', '.join(PROMPT_FIELDS)}")
    if not messages or messages[-1]["role"] == "assistant":
        raise ValueError("its messages end with the assistant's answer, or there are none: end them before the answer")
    return Conversation(messages=tuple(messages), tools=tools)


def _prompt_and_answer(values: Mapping[str, Any]) -> tuple[tuple[str, Any], tuple[str, Any]]:
    values = of_mathematics(values, to_learn=True)
    prompt, answer = asked_in(values), given(values, ANSWER_FIELDS)
    if prompt is None and "grader" in values:
        raise ValueError(_REQUEST)
    if prompt is None:
        there_are = f"; its fields are {_fields(values)}" if values else ""
        raise ValueError(f"it has neither `messages` nor `steps` nor a prompt ({', '.join(PROMPT_FIELDS)}){there_are}")
    if answer is None:
        raise ValueError(
            f"it has a prompt and no answer ({', '.join(ANSWER_FIELDS)}, solution): give it one, or learn from "
            f"candidates that pass (`harena sft validate` writes them); its fields are {_fields(values)}"
        )
    return prompt, answer


def _fields(values: Mapping[str, Any]) -> str:
    return ", ".join([*map(str, values)][:8])


def _as_messages(name: str, value: Any, *, role: str) -> list[Message]:
    if isinstance(value, str):
        return [{"role": role, "content": value}]
    if isinstance(value, list):
        return messages_of(value, name=name)
    raise ValueError(f"{name} is a text or a list of messages, not {type(value).__name__}")


def messages_of(entries: Any, *, name: str = "messages") -> list[Message]:
    """Messages of the OpenAI form, and near it: the role is "user" where there is none, what has no content is left
    out, unless it calls tools."""
    if not isinstance(entries, list):
        raise ValueError(f"{name} is a list of messages, not {type(entries).__name__}")
    messages: list[Message] = []
    for place, entry in enumerate(entries):
        where = f"{name}[{place}]"
        if not isinstance(entry, Mapping):
            raise ValueError(f"{where} is an object with role and content, not {type(entry).__name__}")
        role = entry.get("role") or "user"
        if role not in ROLES:
            raise ValueError(f"{where}.role is one of {', '.join(ROLES)}, not {role!r}")
        content, calls = _text(entry.get("content"), where), _tool_calls(entry.get("tool_calls"), where)
        if content is None and not calls:
            continue
        kept = {field: entry[field] for field in _KEPT if isinstance(entry.get(field), str) and entry[field]}
        messages.append({"role": role, "content": content or "", **kept, **({"tool_calls": calls} if calls else {})})
    return messages


def messages_of_steps(steps: Any) -> list[Message]:
    """The steps of an ATIF trajectory: the agent's are the assistant's, what tools answered follows as tools' messages,
    errors marked "[error] "."""
    if not isinstance(steps, list):
        raise ValueError(f"steps is a list of steps, not {type(steps).__name__}")
    messages: list[Message] = []
    for place, step in enumerate(steps):
        where = f"steps[{place}]"
        if not isinstance(step, Mapping):
            raise ValueError(f"{where} is an object, not {type(step).__name__}")
        source = step.get("source")
        if (role := _OF_SOURCE.get(str(source))) is None:
            raise ValueError(f"{where}.source is one of {', '.join(_OF_SOURCE)}, not {source!r}")
        content, calls = _text(step.get("message"), where), _tool_calls(step.get("tool_calls"), where)
        reasoning = _text(step.get("reasoning_content"), where)
        if content or calls or reasoning:
            thought = {"reasoning_content": reasoning} if reasoning and role == "assistant" else {}
            messages.append(
                {"role": role, "content": content or "", **thought, **({"tool_calls": calls} if calls else {})}
            )
        messages += _observed(step.get("observation"), where)
    return messages


def _observed(observation: Any, where: str) -> list[Message]:
    if observation is None:
        return []
    results = observation.get("results") if isinstance(observation, Mapping) else None
    if not isinstance(results, list) or not all(isinstance(result, Mapping) for result in results):
        raise ValueError(f"{where}.observation is an object with a list of `results`")
    messages: list[Message] = []
    for place, result in enumerate(results):
        content = _text(result.get("content"), f"{where}.observation.results[{place}]") or ""
        message = {"role": "tool", "content": f"[error] {content}" if result.get("is_error") else content}
        if (call := given(result, ("source_call_id", "tool_call_id"))) is not None:
            message["tool_call_id"] = str(call[1])
        messages.append(message)
    return messages


def _text(content: Any, where: str) -> str | None:
    """The text of a content, which is a text or a list of text parts."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list):
        parts: list[Any] = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        if all(isinstance(part, str) for part in parts):
            return "".join(parts)
    raise ValueError(f"{where}: its content is a text or a list of texts; nothing else is trained on")


def _tool_calls(calls: Any, where: str) -> list[Mapping[str, Any]]:
    if calls is None:
        return []
    if not isinstance(calls, list) or not all(isinstance(call, Mapping) for call in calls):
        raise ValueError(f"{where}.tool_calls is a list of objects")
    made: list[Mapping[str, Any]] = []
    for place, call in enumerate(calls):
        function = call.get("function") if isinstance(call.get("function"), Mapping) else call
        name = given(function, ("name", "function_name"))
        if name is None or not isinstance(name[1], str):
            raise ValueError(f"{where}.tool_calls[{place}] has no name of a function")
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
        number = given(call, ("id", "tool_call_id"))
        identity = {} if number is None else {"id": str(number[1])}
        made.append({**identity, "type": "function", "function": {"name": name[1], "arguments": text}})
    return made


def _tools(tools: Any) -> tuple[Mapping[str, Any], ...]:
    """A list of descriptions, or JSON text of one, as Parquet files carry it."""
    if isinstance(tools, str):
        try:
            tools = read_outside(tools)
        except (ValueError, RecursionError):
            raise ValueError("tools is no list of objects, and no JSON text of one") from None
    if tools is None:
        return ()
    if not isinstance(tools, list) or not all(isinstance(tool, Mapping) for tool in tools):
        raise ValueError("tools is a list of objects, each the description of a tool")
    return tuple(tools)


def with_system(messages: Sequence[Message], prompt: str | None) -> tuple[Message, ...]:
    """A capability's prompt before all: merged with the first system message where there is one."""
    if not prompt:
        return tuple(messages)
    if messages and messages[0]["role"] in ("system", "developer"):
        first = {**messages[0], "content": f"{prompt}\n\n{messages[0]['content']}"}
        return (first, *messages[1:])
    return ({"role": "system", "content": prompt}, *messages)


def linearised(message: Message) -> str:
    """What an assistant did, as one text: its thoughts, its words, its calls."""
    parts = []
    if message.get("reasoning_content"):
        parts.append(f"<think>{message['reasoning_content']}</think>")
    if message["content"]:
        parts.append(message["content"])
    for call in message.get("tool_calls", ()):
        function = call["function"]
        parts.append(f'<tool_call name="{function["name"]}">{function["arguments"]}</tool_call>')
    return "\n".join(parts)
