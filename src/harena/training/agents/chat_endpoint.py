"""An OpenAI-compatible endpoint in front of a running job's policy, for agents that know nothing of training.

Each rollout has a base URL of its own, with a secret in its path; whoever has it speaks as that rollout:

    POST {base_url}/chat/completions    {"messages", ...}
    POST {base_url}/completions         {"prompt", ...}
    GET  {base_url}/models

What a request may ask is in `harena.training.agents.chat_requests`, how it is answered in
`harena.training.agents.chat_answers`. What is not understood is refused, in words.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

from harena.core.clock import SystemClock
from harena.core.errors import HarenaError
from harena.training.agents.chat_answers import MODEL, as_stream, chat_answer, completion_answer
from harena.training.agents.chat_exchanges import Exchanges, PolicyAnswer, Question
from harena.training.agents.chat_requests import AnswerOptions, RefusedError, chat_asked, completion_asked
from harena.training.data.templates import ChatTemplate
from harena.training.rollouts.rollout import Policy
from harena.training.rollouts.trajectory import SampleRequest, StopReason

MOST_EXCHANGES = 64
"""most exchanges that one rollout may ask for"""
_clock = SystemClock()


@dataclass(slots=True)
class AgentRun:
    """One rollout, as its agent talks to it."""

    key: tuple[int, ...]
    policy: Policy
    exchanges: Exchanges
    overflow: StopReason | None = None
    """why a request was refused by the policy's doing"""
    seconds: float = 0.0
    """spent on sampling"""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """exchanges come one after the other"""

    async def ask(self, question: Question, asked: AnswerOptions) -> PolicyAnswer:
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
        limited = replace(sampling, max_new_tokens=min(room, sampling.max_new_tokens, asked.most or room))
        key = (*self.key[:-1], self.exchanges.count)
        began = time.perf_counter()
        with self.policy.seat(begun=self.exchanges.count > 0) as seat:
            sampled = await seat.sample(SampleRequest(prompt=question.tokens, key=key, sampling=limited))
        self.seconds += time.perf_counter() - began
        return self.exchanges.record(question, sampled, asked.stops)

    def unreadable(self, error: ValueError) -> RefusedError:
        """What is said of messages that the template refuses. The first are the agent's own; what is in later ones may
        come of what the policy said, which must not be able to end the job."""
        if self.exchanges.count > 0:
            self.overflow = StopReason.PARSE_ERROR
        return RefusedError(f"the chat template refuses these messages: {error}")


class ChatEndpoint:
    """The HTTP server. Listens on the loopback interface, on a port that is free."""

    def __init__(self, template: ChatTemplate, *, overruled: Collection[str] = ()) -> None:
        """`overruled`: fields of a request whose values the job's take the place of."""
        self._template = template
        self._overruled = overruled
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
        run = self._runs[secret] = AgentRun(key=key, policy=policy, exchanges=Exchanges(self._template))
        return f"http://127.0.0.1:{self._port}/{secret}/v1", run

    def close_run(self, base_url: str) -> None:
        """Answer it no more."""
        self._runs.pop(base_url.rsplit("/", 2)[1], None)

    async def _chat(self, request: web.Request) -> web.Response:
        async def answered(run: AgentRun, body: Mapping[str, Any]) -> tuple[AnswerOptions, dict[str, Any]]:
            conversation, asked = chat_asked(body, run.policy.sampling, self._overruled)
            try:
                question = run.exchanges.chat(conversation)
            except ValueError as error:
                raise run.unreadable(error) from error
            said = await run.ask(question, asked)
            answer = chat_answer(self._template.tokenizer, question, said, most_calls=asked.most_calls, at=_now())
            run.exchanges.answered(answer["choices"][0]["message"], said)
            return asked, answer

        return await self._answered(request, answered)

    async def _completion(self, request: web.Request) -> web.Response:
        async def answered(run: AgentRun, body: Mapping[str, Any]) -> tuple[AnswerOptions, dict[str, Any]]:
            prompt, asked = completion_asked(body, run.policy.sampling, self._overruled)
            question = run.exchanges.question(prompt)
            said = await run.ask(question, asked)
            return asked, completion_answer(self._template.tokenizer, question, said, at=_now())

        return await self._answered(request, answered)

    async def _models(self, request: web.Request) -> web.Response:
        if request.match_info["run"] not in self._runs:
            return _problem(_over())
        return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "harena"}]})

    async def _answered(
        self,
        request: web.Request,
        answer: Callable[[AgentRun, Mapping[str, Any]], Awaitable[tuple[AnswerOptions, dict[str, Any]]]],
    ) -> web.Response:
        run = self._runs.get(request.match_info["run"])
        try:
            if run is None:
                raise _over()
            body = await request.json()
            if not isinstance(body, dict):
                raise RefusedError("the body must be a JSON object")
            async with run.turn:
                asked, said = await answer(run, body)
            if asked.streamed:
                return web.Response(
                    text=as_stream(said, counts_usage=asked.counts_usage), content_type="text/event-stream"
                )
            return web.json_response(said)
        except json.JSONDecodeError as error:
            return _problem(RefusedError(f"the body is no JSON: {error}"))
        except RefusedError as error:
            return _problem(error)
        except HarenaError as error:
            return _problem(RefusedError(str(error), code="policy_failed", status=500))


def _now() -> int:
    return int(_clock.utcnow().timestamp())


def _over() -> RefusedError:
    return RefusedError("there is no such rollout, or it has ended", code="rollout_ended", status=404)


def _problem(error: RefusedError) -> web.Response:
    said = {"message": str(error), "type": "invalid_request_error", "code": error.code, "param": None}
    return web.json_response({"error": said}, status=error.status)
