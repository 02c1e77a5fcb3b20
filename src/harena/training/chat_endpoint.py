"""An OpenAI-compatible endpoint in front of a running job's policy, for agents that know nothing of training.

Each rollout has a base URL of its own, with a secret in its path; whoever has it speaks as that rollout:

    POST {base_url}/chat/completions    {"messages", ...}
    POST {base_url}/completions         {"prompt", ...}
    GET  {base_url}/models

Answers are those of the OpenAI API, and carry `prompt_token_ids` and, in each choice, `token_ids`, `policy_versions`
and `logprobs`. How tokens are drawn is the job's business: a request may ask for fewer tokens, and for nothing that
differs from the job's temperature, top_p and top_k. What is not understood is refused, in words.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

from harena.core.clock import SystemClock
from harena.core.errors import HarenaError
from harena.training.chat_exchanges import Exchanges, Question
from harena.training.rollout import Policy
from harena.training.templates import ChatTokenizer
from harena.training.trajectory import Sampled, SampleRequest, Sampling, StopReason

MODEL = "policy"
MOST_EXCHANGES = 64
"""that one rollout may ask for"""
_clock = SystemClock()
_FINISH = {StopReason.STOP: "stop", StopReason.LENGTH: "length"}
_AS_EVERYBODY = {"n": 1, "stream": False, "top_logprobs": 0, "echo": False}
"""what a request may say, as long as it says this"""
_FREE = frozenset({"model", "messages", "prompt", "logprobs", "return_token_ids", "user", "metadata", "store"})


class RefusedError(Exception):
    """A request that is not answered; an agent sees `message`."""

    def __init__(self, message: str, *, code: str = "invalid_request", status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


@dataclass(slots=True)
class AgentRun:
    """One rollout, as its agent talks to it."""

    key: tuple[int, ...]
    policy: Policy
    exchanges: Exchanges
    overflow: StopReason | None = None
    """why a request was refused that the policy had no room for"""
    seconds: float = 0.0
    """spent on sampling"""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """exchanges come one after the other"""

    async def ask(self, question: Question, most: int | None) -> tuple[Sampled, str]:
        """One exchange. Raises RefusedError where there is no room, HarenaError."""
        sampling = self.policy.sampling
        room = self.policy.context_length - len(question.tokens)
        if self.exchanges.count >= MOST_EXCHANGES:
            self.overflow = StopReason.TURN_LIMIT
            raise RefusedError(f"this rollout has had its {MOST_EXCHANGES} exchanges", code="turn_limit", status=429)
        if room < 1 or not question.tokens:
            self.overflow = StopReason.CONTEXT_OVERFLOW
            length = self.policy.context_length
            said = f"the prompt's {len(question.tokens)} tokens leave no room in a context of {length}"
            raise RefusedError(said, code="context_length_exceeded")
        limited = replace(sampling, max_new_tokens=min(room, sampling.max_new_tokens, most or room))
        key = (*self.key[:-1], self.exchanges.count)
        began = time.perf_counter()
        with self.policy.seat(begun=self.exchanges.count > 0) as seat:
            sampled = await seat.sample(SampleRequest(prompt=question.tokens, key=key, sampling=limited))
        self.seconds += time.perf_counter() - began
        return sampled, self.exchanges.record(question, sampled)


class ChatEndpoint:
    """The HTTP server. Listens on the loopback interface, on a port that is free."""

    def __init__(self, tokenizer: ChatTokenizer) -> None:
        """`tokenizer` has a chat template."""
        self._tokenizer = tokenizer
        self._runs: dict[str, AgentRun] = {}
        self._runner: web.AppRunner | None = None
        self._port = 0

    async def start(self) -> None:
        """Begin to listen. Raises OSError."""
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/{run}/v1/chat/completions", self._chat)
        app.router.add_post("/{run}/v1/completions", self._completion)
        app.router.add_get("/{run}/v1/models", self._models)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Stop listening. May be called more than once."""
        if self._runner is not None:
            await self._runner.cleanup()

    def open(self, key: tuple[int, ...], policy: Policy) -> tuple[str, AgentRun]:
        """(the base URL of a rollout, what is recorded of it). `close_run` ends it."""
        secret = secrets.token_urlsafe(16)
        run = self._runs[secret] = AgentRun(key=key, policy=policy, exchanges=Exchanges(self._tokenizer))
        return f"http://127.0.0.1:{self._port}/{secret}/v1", run

    def close_run(self, base_url: str) -> None:
        """Answer it no more."""
        self._runs.pop(base_url.rsplit("/", 2)[1], None)

    async def _chat(self, request: web.Request) -> web.Response:
        async def answered(run: AgentRun, body: Mapping[str, Any]) -> dict[str, Any]:
            messages = _messages(body)
            most = _most(body, ("max_tokens", "max_completion_tokens"), run.policy.sampling)
            try:
                question = run.exchanges.chat(messages)
            except ValueError as error:
                raise RefusedError(f"the chat template refuses these messages: {error}") from error
            sampled, text = await run.ask(question, most)
            choice = {"message": {"role": "assistant", "content": text}, "logprobs": self._chat_logprobs(sampled)}
            return _envelope("chat.completion", question, sampled, choice)

        return await self._answered(request, answered)

    async def _completion(self, request: web.Request) -> web.Response:
        async def answered(run: AgentRun, body: Mapping[str, Any]) -> dict[str, Any]:
            prompt = _prompt(body)
            most = _most(body, ("max_tokens",), run.policy.sampling)
            question = run.exchanges.question(prompt)
            sampled, text = await run.ask(question, most)
            logprobs = {
                "tokens": [self._tokenizer.decode((token,)) for token in sampled.tokens],
                "token_logprobs": sampled.logprobs,
            }
            return _envelope("text_completion", question, sampled, {"text": text, "logprobs": logprobs})

        return await self._answered(request, answered)

    async def _models(self, request: web.Request) -> web.Response:
        if request.match_info["run"] not in self._runs:
            return _problem(_over())
        return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "harena"}]})

    async def _answered(
        self, request: web.Request, answer: Callable[[AgentRun, Mapping[str, Any]], Awaitable[dict[str, Any]]]
    ) -> web.Response:
        run = self._runs.get(request.match_info["run"])
        try:
            if run is None:
                raise _over()
            body = await request.json()
            if not isinstance(body, dict):
                raise RefusedError("the body must be a JSON object")
            async with run.turn:
                return web.json_response(await answer(run, body))
        except json.JSONDecodeError as error:
            return _problem(RefusedError(f"the body is no JSON: {error}"))
        except RefusedError as error:
            return _problem(error)
        except HarenaError as error:
            return _problem(RefusedError(str(error), code="policy_failed", status=500))

    def _chat_logprobs(self, sampled: Sampled) -> dict[str, Any]:
        texts = [self._tokenizer.decode((token,)) for token in sampled.tokens]
        return {
            "content": [
                {"token": text, "logprob": logprob, "bytes": list(text.encode()), "top_logprobs": []}
                for text, logprob in zip(texts, sampled.logprobs, strict=True)
            ]
        }


def _envelope(kind: str, question: Question, sampled: Sampled, choice: Mapping[str, Any]) -> dict[str, Any]:
    told = {"token_ids": sampled.tokens, "policy_versions": sampled.versions}
    finish = _FINISH.get(sampled.stop, "stop")
    given, said = len(question.tokens), len(sampled.tokens)
    return {
        "id": f"{kind}-{secrets.token_hex(8)}",
        "object": kind,
        "created": int(_clock.utcnow().timestamp()),
        "model": MODEL,
        "choices": [{"index": 0, **choice, "finish_reason": finish, **told}],
        "prompt_token_ids": question.tokens,
        "usage": {"prompt_tokens": given, "completion_tokens": said, "total_tokens": given + said},
    }


def _most(body: Mapping[str, Any], limits: tuple[str, ...], sampling: Sampling) -> int | None:
    """The fewest tokens that it asks for. While an evaluation answers greedily, agents go on asking for the job's
    temperature. Raises RefusedError that lists every field that is not understood."""
    mistakes = []
    as_job = {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": sampling.top_k}
    for name, value in body.items():
        if name in _FREE or value is None:
            continue
        if name in limits:
            if type(value) is not int or value < 1:
                mistakes.append(f"{name} must be an integer from 1 (got {value!r})")
        elif name in as_job:
            greedy = name == "temperature" and sampling.temperature == 0
            if value != as_job[name] and not greedy:
                mistakes.append(f"{name}: this policy is being trained at {as_job[name]} (got {value!r}); leave it out")
        elif name not in _AS_EVERYBODY or value != _AS_EVERYBODY[name]:
            mistakes.append(f"{name}={value!r} is not supported by this policy; leave it out")
    if mistakes:
        raise RefusedError("; ".join(mistakes))
    return min((body[name] for name in limits if body.get(name) is not None), default=None)


def _messages(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise RefusedError("messages must be a list with at least one message")
    return [_message(number, message) for number, message in enumerate(messages)]


def _message(number: int, message: Any) -> Mapping[str, Any]:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise RefusedError(f"messages[{number}] must be an object with a role")
    content = message.get("content") or ""
    if isinstance(content, list):  # parts, as newer clients send them
        if not all(isinstance(part, dict) and part.get("type") == "text" for part in content):
            raise RefusedError(f"messages[{number}]: only text can be read")
        content = "".join(str(part.get("text", "")) for part in content)
    if not isinstance(content, str) or message.get("tool_calls"):
        raise RefusedError(f"messages[{number}]: content must be text; describe tools and their calls in words")
    return {**{name: value for name, value in message.items() if value is not None}, "content": content}


def _prompt(body: Mapping[str, Any]) -> str:
    prompt = body.get("prompt")
    if not isinstance(prompt, str) or not prompt:
        raise RefusedError("prompt must be a text, and not empty")
    return prompt


def _over() -> RefusedError:
    return RefusedError("there is no such rollout, or it has ended", code="rollout_ended", status=404)


def _problem(error: RefusedError) -> web.Response:
    said = {"message": str(error), "type": "invalid_request_error", "code": error.code, "param": None}
    return web.json_response({"error": said}, status=error.status)
