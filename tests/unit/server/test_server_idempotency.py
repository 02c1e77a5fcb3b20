"""A job that is asked for again after the server was started anew is the one that is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
import pytest
from server_world import world
from test_server_keys import key_for

from harena.server.document import openapi
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
