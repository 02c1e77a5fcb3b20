from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection
from contextlib import aclosing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from server_world import World, world

from harena.core.access import NewKey, StoredKey
from harena.core.errors import AccessError, NotFoundError, PlatformError, SandboxNotFoundError, ValidationError
from harena.core.job_store import STORE_UNAVAILABLE
from harena.core.models import SandboxSpec
from harena.sdk.http.operations import HttpOperations
from harena.server.keys import KNOWN_SECONDS, MOST_AWAY_SECONDS, Keys
from harena.store.access import AccessStore
from harena.testing import FakeClock
from harena.testing.conformance_operations import GOOD


@pytest_asyncio.fixture
async def keyed(tmp_path: Path) -> AsyncIterator[World]:
    """A server that asks for keys, with a clock that stands still."""
    async with world(tmp_path, clock=FakeClock(auto_jump=False), keyed=True) as made:
        yield made


async def key_for(world: World, workspace: str = "default", *scopes: str) -> str:
    access = world.state.access
    assert isinstance(access, Keys)
    token, _ = await access.create(name="test", workspace=workspace, scopes=scopes or ("read", "write"))
    return token


async def ask(world: World, token: str | None, method: str, path: str, content: Any = None) -> tuple[int, Any]:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(world.url, headers=headers) as http:
        async with http.request(method, path, json=content) as answer:
            return answer.status, await answer.json(content_type=None) if answer.status != 204 else None


@pytest.mark.cheap
@pytest.mark.parametrize("token", [None, "", "x", "hk_000000000000_" + "a" * 43, "é"])
@pytest.mark.parametrize("path", ["/v1/sandboxes", "/metrics", "/v1/keys"])
async def test_nothing_without_a_key(keyed: World, token: str | None, path: str) -> None:
    """Every route but /healthz asks for it, before it looks at anything else."""
    status, problem = await ask(keyed, token, "GET", path)
    assert (status, problem["code"]) == (401, "access")
    assert (await ask(keyed, token, "GET", "/healthz"))[0] == 200


async def test_a_key_is_not_kept(keyed: World, tmp_path: Path) -> None:
    """Neither it nor its secret half is in any file of the server."""
    token = await key_for(keyed)
    assert (await ask(keyed, token, "GET", "/v1/sandboxes"))[0] == 200
    secret = token.split("_", 2)[2].encode()  # which may have underscores
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert kept
    assert [path for path in kept if secret in path.read_bytes()] == []


async def test_a_key_with_another_secret_is_unknown(keyed: World) -> None:
    """The id alone opens nothing."""
    token = await key_for(keyed)
    assert (await ask(keyed, token[:-1] + ("A" if token[-1] != "A" else "B"), "GET", "/v1/sandboxes"))[0] == 401


@pytest.mark.parametrize(
    ("scopes", "method", "path", "status"),
    [
        (("read",), "GET", "/v1/sandboxes", 200),
        (("read",), "POST", "/v1/sandboxes", 403),
        (("read",), "POST", "/v1/sandboxes/sb_1/stop", 403),
        (("write",), "GET", "/v1/sandboxes", 200),
        (("write",), "POST", "/v1/sandboxes", 201),
        (("read", "write"), "GET", "/v1/keys", 403),
        (("read", "write"), "DELETE", "/v1/blueprints/x", 403),
        (("admin",), "GET", "/v1/keys", 200),
        (("admin",), "POST", "/v1/sandboxes", 201),
    ],
)
async def test_scopes(keyed: World, scopes: tuple[str, ...], method: str, path: str, status: int) -> None:
    """write includes read, admin both."""
    token = await key_for(keyed, "default", *scopes)
    assert (await ask(keyed, token, method, path, {} if method == "POST" else None))[0] == status


async def test_revocation(keyed: World) -> None:
    """At once where this server is asked; a moment later where another process revoked the key."""
    admin, first, second = await key_for(keyed, "default", "admin"), await key_for(keyed), await key_for(keyed)
    assert (await ask(keyed, first, "GET", "/v1/sandboxes"))[0] == 200
    assert (await ask(keyed, admin, "DELETE", f"/v1/keys/{first.split('_')[1]}"))[0] == 204
    assert (await ask(keyed, first, "GET", "/v1/sandboxes"))[0] == 401

    assert (await ask(keyed, second, "GET", "/v1/sandboxes"))[0] == 200
    await Keys(keyed.state.store, FakeClock()).revoke(second.split("_")[1])
    clock = keyed.state.clock
    assert isinstance(clock, FakeClock)
    await clock.advance(KNOWN_SECONDS)
    assert (await ask(keyed, second, "GET", "/v1/sandboxes"))[0] == 401


async def test_what_belongs_to_others_is_as_unknown_as_what_never_was(keyed: World) -> None:
    """The same answer, word for word but for the name that was asked for."""
    ours = await key_for(keyed, "ours", "admin")
    theirs = await key_for(keyed, "theirs", "admin")
    made = {
        "sandboxes": await ask(keyed, ours, "POST", "/v1/sandboxes", {}),
        "leases": await ask(keyed, ours, "POST", "/v1/leases", {"seconds": 60}),
        "benchmark_jobs": await ask(keyed, ours, "POST", "/v1/benchmark_jobs", {"name": "n", "scenarios": [GOOD]}),
        "keys": await ask(keyed, ours, "POST", "/v1/keys", {"name": "k", "scopes": ["read"]}),
        "blueprints": await ask(keyed, ours, "POST", "/v1/blueprints", {"name": "ours-only"}),
    }
    verbs = {
        "sandboxes": ["GET /", "GET /processes", "GET /files?path=/x", "POST /stop", "GET /wait?seconds=0"],
        "leases": ["POST /renew", "DELETE /"],
        "benchmark_jobs": ["GET /", "GET /results", "GET /results/page", "GET /events", "POST /cancel", "DELETE /"],
        "keys": ["DELETE /"],
        "blueprints": ["GET /", "DELETE /"],
    }
    for noun, (status, content) in made.items():
        assert status == 201, content
        name = content["id"]
        for method, _, verb in (verb.partition(" ") for verb in verbs[noun]):
            answers = []
            for asked in (name, "x" * len(name)):
                path = f"/v1/{noun}/{asked}{verb}".rstrip("/")
                status, problem = await ask(keyed, theirs, method, path, {} if verb == "/stop" else None)
                problem.pop("request_id")
                answers.append((status, json.loads(json.dumps(problem).replace(asked, "NAME"))))
            assert answers[0] == answers[1]
            assert answers[0][0] == 404, verb


async def test_figures_are_of_the_callers_workspace(keyed: World) -> None:
    """Nobody counts what others do; the operator, with an admin key of the default workspace, sees all."""

    async def page(token: str) -> str:
        headers = {"authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession(keyed.url, headers=headers) as http, http.get("/metrics") as answer:
            assert answer.status == 200
            return await answer.text()

    theirs, mine = await key_for(keyed, "theirs", "admin"), await key_for(keyed, "mine", "read", "write")
    await ask(keyed, theirs, "POST", "/v1/sandboxes", {})
    await ask(keyed, theirs, "GET", "/v1/blueprints")
    told = await page(mine)
    assert "harena_sandboxes_running 0.0" in told
    assert "harena_sandboxes_created_total 0.0" in told
    assert "/v1/blueprints" not in told
    for token in (theirs, await key_for(keyed, "default", "admin")):
        told = await page(token)
        assert "harena_sandboxes_running 1.0" in told
        assert "harena_sandboxes_created_total 1.0" in told
        assert "/v1/blueprints" in told
    assert "/v1/blueprints" not in await page(await key_for(keyed, "default", "read", "write"))


async def test_a_revoked_key_is_as_unknown_as_one_that_never_was(keyed: World) -> None:
    """For every route, and before anything else is looked at."""
    revoked = await key_for(keyed)
    access = keyed.state.access
    assert isinstance(access, Keys)
    await access.revoke(revoked.split("_")[1])
    for method, path, content in (
        ("GET", "/v1/sandboxes", None),
        ("POST", "/v1/benchmark_jobs", {"unknown": "field"}),
        ("POST", "/v1/sandboxes/sb_1/execs", {}),
        ("DELETE", "/v1/blueprints/x", None),
        ("GET", "/metrics", None),
    ):
        answers = []
        for token in (revoked, "hk_000000000000_" + "a" * 43):
            status, problem = await ask(keyed, token, method, path, content)
            answers.append((status, problem["code"], problem["detail"]))
        assert answers[0] == answers[1]
        assert answers[0][0] == 401


async def test_a_store_that_is_away_shuts_nobody_out_at_once() -> None:
    """Who was known stays known for a while; nobody else is let in, and a fault of another kind is one."""
    clock, store = FakeClock(auto_jump=False), Shelf()
    keys = Keys(store, clock)
    known, unknown = [f"Bearer {(await keys.create(name='n', workspace='w', scopes=['read']))[0]}" for _ in range(2)]
    caller = await keys.identify(known)
    store.fault = PlatformError("away", reason=STORE_UNAVAILABLE)
    await clock.advance(KNOWN_SECONDS)
    assert await keys.identify(known) == caller
    with pytest.raises(PlatformError, match="away"):
        await keys.identify(unknown)
    await clock.advance(MOST_AWAY_SECONDS + 1)
    with pytest.raises(PlatformError, match="away"):
        await keys.identify(known)
    store.fault = None
    assert await keys.identify(known) == caller
    store.fault = PlatformError("broken")
    await clock.advance(KNOWN_SECONDS)
    with pytest.raises(PlatformError, match="broken"):
        await keys.identify(known)
    store.fault = None
    await keys.revoke(known.split("_")[1])
    store.fault = PlatformError("away", reason=STORE_UNAVAILABLE)
    with pytest.raises(PlatformError, match="away"):
        await keys.identify(known)


class Shelf(AccessStore):
    """Keys in memory, and a fault when they are looked for."""

    def __init__(self) -> None:
        self.keys: dict[str, StoredKey] = {}
        self.fault: PlatformError | None = None

    async def insert_key(self, key: NewKey) -> None:
        self.keys[key.id] = StoredKey(**asdict(key), revoked_at=None)

    async def find_keys(self, ids: Collection[str]) -> dict[str, StoredKey]:
        if self.fault is not None:
            raise self.fault
        return {key_id: self.keys[key_id] for key_id in ids if key_id in self.keys}

    async def revoke_key(self, key_id: str, at: str) -> bool:
        self.keys[key_id] = replace(self.keys[key_id], revoked_at=at)
        return True


async def test_admins_make_keys_for_their_own_workspace(keyed: World) -> None:
    """And see and revoke no others."""
    admin, other = await key_for(keyed, "ours", "admin"), await key_for(keyed, "theirs", "admin")
    status, made = await ask(keyed, admin, "POST", "/v1/keys", {"name": "ci", "scopes": ["read"]})
    assert (status, made["workspace"], made["scopes"]) == (201, "ours", ["read"])
    assert (await ask(keyed, made["key"], "GET", "/v1/sandboxes"))[0] == 200
    _, listed = await ask(keyed, admin, "GET", "/v1/keys")
    assert sorted(key["name"] for key in listed["keys"]) == ["ci", "test"]
    assert "key" not in listed["keys"][1]
    assert "hash" not in listed["keys"][1]
    assert (await ask(keyed, other, "DELETE", f"/v1/keys/{made['id']}"))[0] == 404
    assert (await ask(keyed, admin, "POST", "/v1/keys", {"name": "x", "scopes": ["root"]}))[0] == 422


async def test_keys_that_cannot_be_made(keyed: World) -> None:
    """Names and scopes are checked."""
    access = keyed.state.access
    assert isinstance(access, Keys)
    for name, workspace, scopes in (("a b", "w", ["read"]), ("a", "../w", ["read"]), ("a", "w", []), ("a", "w", ["x"])):
        with pytest.raises(ValidationError):
            await access.create(name=name, workspace=workspace, scopes=scopes)


async def test_workspaces_do_not_see_each_other(keyed: World) -> None:
    """What belongs to another one does not exist: sandboxes, their files and commands, leases, jobs."""
    ours = HttpOperations(keyed.url, api_key=await key_for(keyed, "ours"))
    token = await key_for(keyed, "theirs")
    theirs = HttpOperations(keyed.url, api_key=token)
    sandbox = await ours.create_sandbox(SandboxSpec(tags=("x",)))
    job = await ours.create_benchmark_job({"name": "job", "scenarios": [GOOD]})
    recipe = await ours.create_blueprint("env")

    assert await theirs.list_sandboxes() == []
    with pytest.raises(SandboxNotFoundError):
        await theirs.get_sandbox(sandbox.info.id)
    at = f"/v1/sandboxes/{sandbox.info.id}"
    for method, path, content in (
        ("POST", f"{at}/stop", {}),
        ("GET", f"{at}/files?path=/etc/passwd", None),
        ("POST", f"{at}/execs", {"argv": ["true"]}),
        ("GET", f"{at}/processes", None),
        ("POST", f"/v1/leases/{await ours._lease.id()}/renew", None),
        ("DELETE", f"/v1/leases/{await ours._lease.id()}", None),
    ):
        assert (await ask(keyed, token, method, path, content))[0] == 404, path
    assert (await sandbox.refresh()).status == "running"

    assert (await theirs.list_benchmark_jobs())["benchmark_jobs"] == []
    assert recipe.id not in {blueprint.id for blueprint in (await theirs.list_blueprints()).blueprints}
    for wanted in (recipe.id, "env"):
        with pytest.raises(NotFoundError):
            await theirs.get_blueprint(wanted)
        with pytest.raises(NotFoundError):
            await theirs.create_benchmark_job({"name": "job", "scenarios": [GOOD], "blueprint_id": wanted})
    for name in (job["id"], "job"):
        for verb in (
            theirs.get_benchmark_job(name),
            theirs.benchmark_job_results(name),
            theirs.cancel_benchmark_job(name),
        ):
            with pytest.raises(NotFoundError):
                await verb
        async with aclosing(theirs.benchmark_job_events(name)) as events:  # type: ignore[type-var]
            with pytest.raises(NotFoundError):
                await anext(events)
    await ours.cancel_benchmark_job("job")
    await ours.close()
    await theirs.close()


async def test_the_sdk_says_what_is_wrong_with_a_key(keyed: World) -> None:
    """An AccessError that says what to set."""
    for api_key, says in ((None, "HARENA_API_KEY"), ("hk_no", "unknown or was revoked")):
        client = HttpOperations(keyed.url, api_key=api_key)
        with pytest.raises(AccessError, match=says):
            await client.list_sandboxes()
        await client.close()
