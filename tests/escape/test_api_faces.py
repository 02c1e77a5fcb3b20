"""Wires of other clients as attackers use them. The OpenAPI document does not have their routes, and tables that are
made of it have none of them: here the table is each face's own."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from application_caller import ApplicationCaller
from server_world import World, world

from harena.server.app import create_app
from harena.server.face_routes import FACES
from harena.server.keys import Keys

TINY = {"name": "theirs", "trainer_type": "rl", "model": "tiny-llama", "tags": ["steps:1"]}
ROWS = [
    {"id": "a", "prompt": "1 + 1", "candidate": "print(2)", "scoring": {"type": "stdio", "cases": [{"stdout": "2"}]}}
]
NEVER = {"org": "acme", "ws": "nobody", "project": "p", "job": "tj_0000000000000000"}
PATIENCE_SECONDS = 60.0
ROUTES = [(operation.method, operation.path) for face in FACES for operation in face.operations]


@pytest_asyncio.fixture
async def here(tmp_path: Path) -> AsyncIterator[World]:
    """A server with keys, in this process."""
    async with world(tmp_path, keyed=True) as made:
        yield made


async def _caller(here: World, workspace: str, *scopes: str) -> ApplicationCaller:
    keys = here.state.access
    assert isinstance(keys, Keys)
    token, _ = await keys.create(name="k", workspace=workspace, scopes=[*scopes])
    return ApplicationCaller(create_app(here.state), token, PATIENCE_SECONDS)


async def test_no_route_of_a_face_reaches_another_workspace(here: World) -> None:
    """The name of another workspace, or of its job, is told in the same words as one that nobody has. A key that may
    only read changes nothing, and without a key there is no answer."""
    owner = await _caller(here, "other", "admin")
    made = await owner.ask("POST", "/v1/scenarios", {"name": "theirs", "scenarios": ROWS})
    assert made.status == 201, made
    body = {**TINY, "config": {"algorithm": "grpo", "scenarios_ref": "theirs@1"}}
    job = await owner.ask("POST", "/v1/training_jobs", body)
    assert job.status == 201, job
    theirs = job.json()["id"]
    attacker, reader = await _caller(here, "hostile", "write"), await _caller(here, "hostile", "read")
    stranger = ApplicationCaller(create_app(here.state), "hk_000000000000_" + "x" * 43, PATIENCE_SECONDS)
    pairs = (({"ws": "other"}, {"ws": "nobody"}), ({"ws": "hostile", "job": theirs}, {"ws": "hostile"}))
    for method, path in ROUTES:
        body = {} if method == "POST" else None
        for real, nobodys in pairs:
            told = [
                _blurred(
                    (await attacker.ask(method, path.format(**{**NEVER, **names}), body)).text, theirs, *names.values()
                )
                for names in (real, nobodys)
            ]
            assert told[0] == told[1], f"{method} {path} {real}"
        where = path.format(**{**NEVER, "ws": "hostile"})
        assert theirs not in (await attacker.ask(method, where, body)).text, path
        assert (await stranger.ask(method, where, body)).status == 401, path
        if method != "GET":
            assert (await reader.ask(method, where, body)).status == 403, path
    found = (await owner.ask("GET", f"/v1/training_jobs/{theirs}")).json()
    assert found["cancel_requested_at"] is None


def _blurred(text: str, *names: str) -> str:
    for name in (*names, NEVER["job"]):
        text = text.replace(name, "IT")
    return re.sub(r'"request_id":"\w+"', "", text)
