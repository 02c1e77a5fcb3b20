"""A job that is asked for again after the server was started anew is the one that is there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from server_world import world
from test_server_keys import key_for

from harena.core.errors import LimitExceededError
from harena.core.idempotency import IdempotencyKey
from harena.server import idempotency
from harena.server.document import openapi
from harena.server.idempotency import Idempotency, Refindable
from harena.testing import FakeClock
from harena.testing.conformance_operations import GOOD


async def create(home: Path, key: str, **more: Any) -> tuple[int, Any]:
    """One request to a server of its own life."""
    async with world(home, clock=FakeClock(auto_jump=False)) as made, aiohttp.ClientSession(made.url) as http:
        content = {"name": "job", "scenarios": [GOOD], **more}
        async with http.post("/v1/benchmark_jobs", json=content, headers={"idempotency-key": key}) as answer:
            return answer.status, await answer.json()


@pytest.mark.parametrize(
    ("path", "content", "other"),
    [
        ("/v1/sandboxes", {}, {"tags": ["x"]}),
        ("/v1/leases", {"seconds": 5}, {"seconds": 6}),
        ("/v1/blueprints", {"name": "a"}, {"name": "b"}),
        ("/v1/keys", {"name": "a", "scopes": ["read"]}, {"name": "b", "scopes": ["read"]}),
        ("/v1/benchmark_jobs", {"name": "a", "scenarios": [GOOD]}, {"name": "b", "scenarios": [GOOD]}),
    ],
)
async def test_every_creation_takes_a_key(tmp_path: Path, path: str, content: Any, other: Any) -> None:
    """With the same body it is the same thing, with another one it is refused; keys of different nouns are apart."""
    async with world(tmp_path, keyed=True) as made:
        token = await key_for(made, "ours", "admin")
        headers = {"authorization": f"Bearer {token}", "idempotency-key": "k"}
        async with aiohttp.ClientSession(made.url, headers=headers) as http:

            async def post(path: str, body: Any) -> tuple[int, Any]:
                async with http.post(path, json=body) as answer:
                    return answer.status, await answer.json(content_type=None)

            (first, one), (second, same) = await post(path, content), await post(path, content)
            assert (first, second, one["id"]) == (201, 201, same["id"])
            status, problem = await post(path, other)
            assert (status, problem["reason"]) == (422, "IDEMPOTENCY_KEY_REUSED")
            async with http.post(path, json=content, headers={"idempotency-key": "l"}) as answer:
                assert (await answer.json())["id"] != one["id"]
            if path != "/v1/leases":
                assert (await post("/v1/leases", {"seconds": 5}))[0] == 201


def test_every_route_that_creates_takes_a_key() -> None:
    """A creation answers 201."""
    creations = {
        path: {parameter["name"] for parameter in route["post"].get("parameters", ())}
        for path, route in openapi()["paths"].items()
        if "201" in route.get("post", {}).get("responses", {})
    }
    assert "/v1/sandboxes" in creations
    assert [path for path, parameters in creations.items() if "idempotency-key" not in parameters] == []


async def test_a_job_is_found_by_the_next_server(tmp_path: Path) -> None:
    """By the key and the same request; another request is refused, another key makes another job."""
    (made, job), (again, found) = await create(tmp_path, "a"), await create(tmp_path, "a")
    assert (made, again, found["id"]) == (201, 201, job["id"])
    status, problem = await create(tmp_path, "a", name="other")
    assert (status, problem["code"], problem["reason"]) == (422, "validation", "IDEMPOTENCY_KEY_REUSED")
    assert (await create(tmp_path, "b"))[1]["id"] != job["id"]


async def test_no_workspace_makes_the_server_forget_keys_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own oldest are forgotten, but none that is under way; of what expired nothing is kept."""
    monkeypatch.setattr(idempotency, "MOST_KEPT", 3)
    clock, made, go_on = FakeClock(auto_jump=False), list[str](), asyncio.Event()
    keys = Idempotency(clock)

    async def again(_reference: str) -> None:
        """What was created is nothing."""

    known: Refindable[None] = Refindable(lambda _: "", again)

    async def once(workspace: str, key: str, *, slow: bool = False) -> Any:
        async def create() -> None:
            made.append(f"{workspace} {key}")
            if slow:
                await go_on.wait()

        return await keys.once(workspace, "sandboxes", IdempotencyKey.of(key, b"x"), create, known)

    await once("victim", "ended")
    waiting = [asyncio.ensure_future(once(whose, "slow", slow=True)) for whose in ("victim", "other", "victim")]
    await asyncio.sleep(0)
    for number in range(10):
        await once("other", f"{number}")
    waiting.append(asyncio.ensure_future(once("other", "slow")))
    await once("victim", "ended")
    await asyncio.sleep(0)
    assert [each for each in made if not each[-1].isdigit()] == ["victim ended", "victim slow", "other slow"]
    await once("other", "9")
    await once("other", "0")
    assert (made.count("other 9"), made.count("other 0")) == (1, 2)
    waiting += [asyncio.ensure_future(once("full", f"{number}", slow=True)) for number in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(LimitExceededError, match="under way"):
        await once("full", "more")
    await once("victim", "one more")
    go_on.set()
    await asyncio.gather(*waiting)
    await clock.advance(idempotency.KEPT_SECONDS * 2)
    for _ in range(4):
        await once("last", "one")
    assert list(keys._kept) == ["last"]
