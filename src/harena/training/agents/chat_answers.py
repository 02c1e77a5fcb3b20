"""What an agent is answered, in the forms of the OpenAI API: whole, or as the events of a stream.

Beside what that API knows, an answer carries `prompt_token_ids`, and each choice `token_ids` and `policy_versions`. A
stream's answer comes in one piece, when all of it has been sampled.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from harena.scoring.formats.answers import with_opened_reasoning
from harena.training.agents.chat_exchanges import PolicyAnswer, Question
from harena.training.environments.tool_calls import ToolCall, words_and_calls
from harena.training.ports import Tokenizer
from harena.training.rollouts.trajectory import Sampled, StopReason

MODEL = "policy"
_FINISH = {StopReason.STOP: "stop", StopReason.LENGTH: "length"}
_CHUNKS = {"chat.completion": "chat.completion.chunk", "text_completion": "text_completion"}


def chat_answer(
    tokenizer: Tokenizer, question: Question, said: PolicyAnswer, *, most_calls: int | None, at: int
) -> dict[str, Any]:
    """A chat completion. `most_calls` of tools are read from it; `at`: seconds since 1970."""
    text = with_opened_reasoning(question.text, said.text)
    words, calls = words_and_calls(text) if most_calls != 0 else (text, ())
    message: dict[str, Any] = {"role": "assistant", "content": words}
    if calls:
        message = {"role": "assistant", "content": words or None, "tool_calls": _written(calls[:most_calls])}
    texts = [tokenizer.decode((token,)) for token in said.sampled.tokens]
    logprobs = {
        "content": [
            {"token": text, "logprob": logprob, "bytes": list(text.encode()), "top_logprobs": []}
            for text, logprob in zip(texts, said.sampled.logprobs, strict=True)
        ]
    }
    finish = "tool_calls" if calls else _finish(said.sampled)
    return _envelope("chat.completion", question, said, at, finish, {"message": message, "logprobs": logprobs})


def completion_answer(tokenizer: Tokenizer, question: Question, said: PolicyAnswer, *, at: int) -> dict[str, Any]:
    """A text completion. `at`: seconds since 1970."""
    tokens = [tokenizer.decode((token,)) for token in said.sampled.tokens]
    logprobs = {"tokens": tokens, "token_logprobs": said.sampled.logprobs}
    choice = {"text": said.text, "logprobs": logprobs}
    return _envelope("text_completion", question, said, at, _finish(said.sampled), choice)


def as_stream(answer: Mapping[str, Any], *, counts_usage: bool) -> str:
    """An answer as server-sent events: the answer, why it ended, what it used where that is wanted, and the end."""
    [choice] = answer["choices"]
    same = {name: answer[name] for name in ("id", "created", "model")} | {"object": _CHUNKS[answer["object"]]}
    said = {name: value for name, value in choice.items() if name not in ("message", "finish_reason")}
    last: dict[str, Any] = {"index": 0, "finish_reason": choice["finish_reason"]}
    if (message := choice.get("message")) is not None:
        calls = [{"index": place, **call} for place, call in enumerate(message.get("tool_calls", ()))]
        said["delta"] = {**message, **({"tool_calls": calls} if calls else {})}
        last["delta"] = {}
    else:
        last["text"] = ""
    chunks = [
        {**same, "choices": [{**said, "finish_reason": None}], "prompt_token_ids": answer["prompt_token_ids"]},
        {**same, "choices": [last]},
        *([{**same, "choices": [], "usage": answer["usage"]}] if counts_usage else ()),
    ]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def _written(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{secrets.token_hex(8)}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
        }
        for call in calls
    ]


def _finish(sampled: Sampled) -> str:
    return _FINISH.get(sampled.stop, "stop")


def _envelope(
    kind: str, question: Question, said: PolicyAnswer, at: int, finish: str, choice: Mapping[str, Any]
) -> dict[str, Any]:
    given, answered = len(question.tokens), len(said.sampled.tokens)
    told = {"token_ids": said.sampled.tokens, "policy_versions": said.sampled.versions}
    return {
        "id": f"{kind}-{secrets.token_hex(8)}",
        "object": kind,
        "created": at,
        "model": MODEL,
        "choices": [{"index": 0, **choice, "finish_reason": finish, **told}],
        "prompt_token_ids": question.tokens,
        "usage": {"prompt_tokens": given, "completion_tokens": answered, "total_tokens": given + answered},
    }
