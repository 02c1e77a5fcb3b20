"""A model behind a server with OpenAI's interface: what it is asked, and what is made of a server that fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from harena.core.errors import PlatformError, ValidationError
from harena.training.data.conversations import Conversation
from harena.training.data.prompts import PromptRow
from harena.training.model_eval import served_model
from harena.training.model_eval.answers_file import ModelAnswer
from harena.training.model_eval.models import Asking
from harena.training.model_eval.served_model import ServedModel

ASKING = Asking(samples=2, temperature=0.5, top_p=0.9, max_new_tokens=7, seed=3, at_once=4)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_model, "FIRST_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(served_model, "LONGEST_PAUSE_SECONDS", 0.0)


def completion(text: Any, **more: Any) -> web.Response:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop", **more}
    return web.json_response({"choices": [choice], "usage": {"completion_tokens": 5}})


def asked(handler: Handler, problems: int = 3, *, key: str | None = None, path: str = "/v1") -> list[ModelAnswer]:
    """What a model of that server answers."""

    async def run() -> list[ModelAnswer]:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", handler)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        model = ServedModel(f"http://127.0.0.1:{port}{path}", "small", api_key=key)
        rows = [
            model.with_prompt(
                PromptRow(id=f"p{n}", prompt=f"say {n}"),
                Conversation(messages=({"role": "user", "content": f"say {n}"},)),
            )
            for n in range(problems)
        ]
        try:
            return [
                one async for some in model.answers([(row, n) for row in rows for n in (0, 1)], ASKING) for one in some
            ]
        finally:
            await model.close()
            await runner.cleanup()

    return asyncio.run(run())


def test_each_question_is_a_conversation_with_its_seed() -> None:
    bodies: list[dict[str, Any]] = []

    async def handler(request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer secret"
        bodies.append(json.loads(await request.text()))
        return completion("yes", finish_reason="length")

    answers = asked(handler, 1, key="secret")
    assert sorted(answers, key=lambda one: one.sample) == [
        ModelAnswer(problem="p0", sample=n, text="yes", tokens=5, cut_off=True) for n in (0, 1)
    ]
    drawn = {"model": "small", "max_tokens": 7, "temperature": 0.5, "top_p": 0.9}
    messages = [{"role": "user", "content": "say 0"}]
    assert sorted(bodies, key=lambda body: body["seed"]) == [{**drawn, "messages": messages, "seed": s} for s in (3, 4)]


def test_no_more_are_asked_at_once_than_may_be() -> None:
    now, most = 0, 0

    async def handler(request: web.Request) -> web.Response:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return completion("x")

    assert len(asked(handler, 20)) == 40
    assert 1 < most <= ASKING.at_once


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/chat/completions"])
def test_its_url_may_be_written_with_the_route(path: str) -> None:
    async def handler(request: web.Request) -> web.Response:
        return completion(None)

    assert [one.text for one in asked(handler, 1, path=path)] == ["", ""]


FAILURES: dict[str, Callable[[], web.StreamResponse]] = {
    "too many": lambda: web.Response(status=429, headers={"Retry-After": "3600"}),
    "broken": lambda: web.Response(status=500, text="out of memory"),
    "no JSON": lambda: web.Response(text="<html>"),
    "deep JSON": lambda: web.Response(text="[" * 100_000),
    "no choices": lambda: web.json_response({"choices": []}),
    "no object": lambda: web.json_response([1]),
    "no text": lambda: completion([{"type": "text"}]),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_failure_is_asked_again_and_then_told(failure: Callable[[], web.StreamResponse]) -> None:
    seen = 0

    async def once(request: web.Request) -> web.StreamResponse:
        nonlocal seen
        seen += 1
        return failure() if seen == 1 else completion("x")

    assert [one.text for one in asked(once, 1)] == ["x", "x"]
    assert seen == 3

    async def always(request: web.Request) -> web.StreamResponse:
        return failure()

    with pytest.raises(PlatformError, match=r"small at http://127.0.0.1:\d+/v1: .+, 6 times"):
        asked(always, 1)


def test_a_refusal_for_good_is_told_at_once() -> None:
    seen = 0

    async def handler(request: web.Request) -> web.StreamResponse:
        nonlocal seen
        seen += 1
        return web.Response(status=404, text="the model `small` does not exist")

    with pytest.raises(ValidationError, match=r"refuses to answer: status 404: the model `small` does not exist"):
        asked(handler, 1)
    assert seen <= 2


def test_the_key_is_not_taken_to_where_a_redirect_leads() -> None:
    seen = 0

    async def handler(request: web.Request) -> web.StreamResponse:
        nonlocal seen
        seen += 1
        raise web.HTTPTemporaryRedirect("/v1/chat/completions?again=1")

    with pytest.raises(ValidationError, match="status 307"):
        asked(handler, 1, key="secret")
    assert seen <= 2


def test_an_endless_answer_is_not_read() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 1_000_000)

    with pytest.raises(PlatformError, match="more than 16777216 bytes"):
        asked(handler, 1)


def test_a_server_that_is_not_there() -> None:
    async def run() -> None:
        model = ServedModel("http://127.0.0.1:9/v1", "small")
        try:
            async for _ in model.answers([(PromptRow(id="p", prompt="x"), 0)], ASKING):
                pass
        finally:
            await model.close()

    with pytest.raises(PlatformError, match=r"it cannot be reached \(ClientConnectorError\), 6 times: check the URL"):
        asyncio.run(run())


def test_a_name_that_is_no_url() -> None:
    with pytest.raises(ValidationError, match="is no http"):
        ServedModel("file:///etc/passwd", "small")
