"""Agents that call tools, stream, and stop at texts: what they are answered, and what is trained on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from harena.core.errors import HarenaError, ValidationError
from harena.training.agents.rollouts import AgentRollouts
from harena.training.data.prompts import PromptRow
from harena.training.engines.tiny import byte_pair_tokenizer
from harena.training.engines.tokenizer import LocalTokenizer
from harena.training.rollouts.rollout import Policy, RolloutRequest
from harena.training.rollouts.trajectory import Sampled, SampleRequest, Sampling, StopReason, Trajectory

ROW = PromptRow(id="p", prompt="what is in it?")
TOOL = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}
WITH_TOOLS = (
    "{% if tools %}<|im_start|>system\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n{% endif %}"
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content or '' }}"
    "{% for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""writes calls with other spaces than the policy does: encoded again, they would be other tokens"""
CALL = 'I look.\n<tool_call>\n{"name":  "ls", "arguments": {"path": "é", "all": true}}\n</tool_call>'


class Scripted:
    """A sampler that says what is in its script, one token for each byte."""

    def __init__(self, *script: str) -> None:
        inner = byte_pair_tokenizer(["<tool_call>", "what is in it?", "I look."], 300)
        inner.chat_template = WITH_TOOLS
        self.tokenizer = LocalTokenizer(inner)
        self.context_length = 4096
        self.asked: list[str] = []
        self._script = list(script)

    def tokens(self, text: str) -> tuple[int, ...]:
        """One for each byte, where encoding would give fewer."""
        return tuple(token for character in text for token in self.tokenizer.encode(character))

    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        futures = []
        for request in requests:
            self.asked.append(self.tokenizer.inner.decode(list(request.prompt)))
            tokens = (*self.tokens(self._script.pop(0)), *self.tokenizer.end_tokens)
            logprobs = tuple(-0.01 * place for place in range(len(tokens)))
            future: asyncio.Future[Sampled] = asyncio.get_running_loop().create_future()
            versions = (3,) * len(tokens)
            future.set_result(Sampled(tokens=tokens, logprobs=logprobs, versions=versions, stop=StopReason.STOP))
            futures.append(future)
        return futures


def post(url: str, body: Any) -> bytes:
    """As any client would, on a thread. Raises HTTPError."""
    with urlopen(Request(url, data=json.dumps(body).encode())) as answer:
        said: bytes = answer.read()
        return said


def chat(base_url: str, *messages: Any, **more: Any) -> Any:
    return json.loads(post(f"{base_url}/chat/completions", {"model": "policy", "messages": messages, **more}))


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def one_rollout(engine: Scripted, agent: Callable[[PromptRow, str], float], **more: Any) -> Trajectory:
    policy = Policy(engine, Sampling(max_new_tokens=512), lockstep=True)
    async with AgentRollouts(agent, engine.tokenizer, **more) as rollouts:
        return await rollouts.rollout(RolloutRequest(row=ROW, prompt=(1,), sample=0, key=(0,) * 5), policy)


def learnt(got: Trajectory) -> tuple[int, ...]:
    return tuple(token for token, chosen in zip(got.tokens, got.mask, strict=True) if chosen)


async def test_a_call_of_a_tool_is_an_object_for_the_agent_and_tokens_for_the_trainer() -> None:
    """Sent back as agents do, with other spaces in its arguments, it goes on from the tokens that were sampled."""
    engine = Scripted(CALL, "Two files.")
    answers: list[Any] = []

    def agent(row: PromptRow, base_url: str) -> float:
        asked = [user(row.prompt)]
        answers.append(chat(base_url, *asked, tools=[TOOL], tool_choice="auto"))
        message = answers[0]["choices"][0]["message"]
        (call,) = message["tool_calls"]
        again = {**call, "function": {"name": "ls", "arguments": '{"all":true,"path":"\\u00e9"}'}}
        told = {"role": "tool", "tool_call_id": call["id"], "content": "a b"}
        answers.append(chat(base_url, *asked, {**message, "tool_calls": [again]}, told, tools=[TOOL]))
        return 1.0

    got = await one_rollout(engine, agent)
    first, second = (answer["choices"][0] for answer in answers)
    assert (first["finish_reason"], first["message"]["content"]) == ("tool_calls", "I look.")
    function = first["message"]["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"])) == ("ls", {"path": "é", "all": True})
    assert (second["finish_reason"], second["message"]["content"]) == ("stop", "Two files.")
    assert got.metadata == {"exchanges": 2, "segments": 1}
    end = engine.tokenizer.end_tokens
    assert learnt(got) == (*engine.tokens(CALL), *end, *engine.tokens("Two files."), *end)
    assert engine.asked[0].startswith('<|im_start|>system\n{"type": "function"')
    assert (
        engine.asked[1]
        == f"{engine.asked[0]}{CALL}<|im_end|>\n<|im_start|>tool\na b<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.parametrize(
    ("more", "calls", "content"),
    [
        ({}, 0, None),
        ({"tools": [TOOL], "tool_choice": "none"}, 0, None),
        ({"tools": [TOOL]}, 2, "then"),
        ({"tools": [TOOL], "parallel_tool_calls": False}, 1, "then"),
    ],
)
async def test_calls_are_read_where_tools_are_offered(more: dict[str, Any], calls: int, content: str | None) -> None:
    """Elsewhere they are words."""
    written = '<tool_call>{"name": "ls"}</tool_call> then <tool_call>{"name": "rm"}</tool_call>'

    def agent(row: PromptRow, base_url: str) -> float:
        [choice] = chat(base_url, user("a"), **more)["choices"]
        assert len(choice["message"].get("tool_calls", ())) == calls
        assert choice["message"]["content"] == (written if content is None else content)
        return 1.0

    assert (await one_rollout(Scripted(written), agent)).reward.value == 1.0


async def test_what_is_half_a_call_is_words() -> None:
    def agent(row: PromptRow, base_url: str) -> float:
        [choice] = chat(base_url, user("a"), tools=[TOOL])["choices"]
        assert (choice["message"]["content"], choice["finish_reason"]) == ('<tool_call>{"name": "ls"', "stop")
        return 1.0

    assert (await one_rollout(Scripted('<tool_call>{"name": "ls"'), agent)).reward.value == 1.0


async def test_a_call_that_the_agent_made_up_is_written_by_the_template() -> None:
    engine = Scripted("yes")

    def agent(row: PromptRow, base_url: str) -> float:
        call = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        made_up = {"role": "assistant", "content": None, "tool_calls": [call]}
        told = {"role": "tool", "tool_call_id": "1", "content": "a"}
        chat(base_url, user("a"), made_up, told, tools=[TOOL])
        return 1.0

    await one_rollout(engine, agent)
    written = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'
    assert written in engine.asked[0]


async def test_a_text_to_stop_at() -> None:
    """What was sampled after it is no part of the answer, nor trained on; the agent's history goes on all the same."""
    engine = Scripted("Action: ls\nObservation: I make it up", "done")
    answers: list[Any] = []

    def agent(row: PromptRow, base_url: str) -> float:
        answers.append(chat(base_url, user("a"), stop=["never", "\nObs"]))
        message = answers[0]["choices"][0]["message"]
        answers.append(chat(base_url, user("a"), message, user("Observation: b"), stop="never"))
        return 1.0

    got = await one_rollout(engine, agent)
    [choice] = answers[0]["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Action: ls", "stop")
    said = engine.tokens("Action: ls\nObs")
    assert learnt(got) == (*said, *engine.tokens("done"), *engine.tokenizer.end_tokens)
    assert [logprob for logprob, chosen in zip(got.logprobs, got.mask, strict=True) if chosen][: len(said)] == [
        -0.01 * place for place in range(len(said))
    ]
    assert got.metadata == {"exchanges": 2, "segments": 1}
    assert answers[0]["usage"]["completion_tokens"] == len(said)


async def test_a_stream_says_what_an_answer_says() -> None:
    engine, told = Scripted(CALL, "yes", "no"), []

    def agent(row: PromptRow, base_url: str) -> float:
        body = {"messages": [user("a")], "stream": True}
        told.append(post(f"{base_url}/chat/completions", {**body, "tools": [TOOL]}))
        told.append(post(f"{base_url}/chat/completions", {**body, "stream_options": {"include_usage": True}}))
        told.append(post(f"{base_url}/completions", {"prompt": "a", "stream": True}))
        return 1.0

    got = await one_rollout(engine, agent)
    calls, words, text = ([line[6:] for line in one.decode().split("\n\n")] for one in told)
    assert [one[-2:] for one in (calls, words, text)] == [["[DONE]", ""]] * 3
    first, last = (json.loads(chunk) for chunk in calls[:-2])
    assert first["object"] == "chat.completion.chunk"
    [delta] = (choice["delta"] for choice in first["choices"])
    assert (delta["role"], delta["content"], delta["tool_calls"][0]["index"]) == ("assistant", "I look.", 0)
    assert last["choices"] == [{"index": 0, "finish_reason": "tool_calls", "delta": {}}]
    first, last, usage = (json.loads(chunk) for chunk in words[:-2])
    assert first["choices"][0]["delta"]["content"] == "yes"
    assert tuple(first["choices"][0]["token_ids"]) == (*engine.tokens("yes"), *engine.tokenizer.end_tokens)
    assert (usage["choices"], usage["usage"]["completion_tokens"]) == ([], 4)
    assert json.loads(text[0])["choices"][0]["text"] == "no"
    assert got.metadata["exchanges"] == 3


async def test_fields_that_the_job_overrules() -> None:
    engine = Scripted("yes")

    def agent(row: PromptRow, base_url: str) -> float:
        chat(base_url, user("a"), temperature=0, seed=7)
        with pytest.raises(HTTPError, match="400"):
            chat(base_url, user("a"), temperature=0, top_p=0.5)
        return 1.0

    await one_rollout(engine, agent, overrule=("temperature", "seed"))
    with pytest.raises(ValidationError, match="messages, stop cannot be"):
        AgentRollouts(agent, engine.tokenizer, overrule=("stop", "messages", "seed"))


@pytest.mark.parametrize("first", [True, False])
async def test_what_comes_of_the_policys_words_cannot_end_the_job(first: bool) -> None:
    """A control token's text in the agent's own first message is its mistake; in a later one it may come of what the
    policy said, and the rollout earns nothing."""
    engine = Scripted("print('<|im_' + 'end|>')")

    def agent(row: PromptRow, base_url: str) -> float:
        if not first:
            chat(base_url, user("a"))
        chat(base_url, user("it printed <|im_end|>"))
        return 1.0

    if first:
        with pytest.raises(HarenaError, match="agent raised"):
            await one_rollout(engine, agent)
        return
    got = await one_rollout(engine, agent, minimum=-0.5)
    assert (got.reward.value, got.reward.reason, got.stop) == (-0.5, "control_text", StopReason.PARSE_ERROR)
