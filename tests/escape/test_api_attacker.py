"""The API as attacker: a key of one workspace, with the scope write, against everything that another one has.

Two workspaces, every route of the table of routes, every noun, every reference in a body. Each answer is looked at for
places of the server, too.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import string
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, suppress
from pathlib import Path
from typing import Any, Protocol

import aiohttp
import pytest
from api_world import (
    BUILD,
    DOCUMENT,
    ROUTES,
    ROWS,
    Answer,
    ApiWorld,
    Caller,
    api_world,
    open_files,
    possessions,
    process_state,
)

from harena.testing.conformance_operations import GOOD
from harena.testing.conformance_registry import tar_of
from postgres_server import postgres_server

MESSAGES = int(os.environ.get("HARENA_FUZZ_MESSAGES", "600"))
"""that the fuzzer sends, 20,000 at most: a connection takes milliseconds for each; see `test_api_application.py`"""
MESSAGES = min(MESSAGES, 20_000)
GIVE_UP_SECONDS = 0.2
"""after which a caller goes away from a route that waits"""
NEVER = {
    "sandbox_id": "sb-0000000000", "exec_id": "ex_0000", "pid": "1", "lease_id": "ls_0000", "name_or_id": "bp_nobody",
    "ref": "nobody@1", "calibration": "nobody", "image": "img_000000000000000000000000", "pull": "pull_nobody",
    "build": "build_nobody", "world": "world_nobody",
    "snapshot": "snap_000000000000000000000000",
    "job": "nobody", "kind": "dataset", "key_id": "000000000000",
    "name": "NOBODYS",
}  # fmt: skip
"""what no workspace ever had"""
BODIES: dict[str, Any] = {
    "/v1/sandboxes/{sandbox_id}/execs": {"argv": ["true"]},
    "/v1/sandboxes/{sandbox_id}/execs/{exec_id}/resize": {"columns": 1, "rows": 1},
    "/v1/sandboxes/{sandbox_id}/processes/{pid}/signal": {"signal": 15},
    "/v1/sandboxes/{sandbox_id}/extend": {"seconds": 5},
    "/v1/sandboxes/{sandbox_id}/network": {"network": "none"},
    "/v1/benchmark_job_defs/{ref}/run": {"name": "run", "scenarios": [GOOD]},
}
"""of requests that need one with something in it"""
QUERIES = {
    "path": "/workspace/x", "kind": "dataset", "name": "mine", "version": "1", "reference": "localhost:1/mine",
    "sandbox": "sb-0000000000",
}  # fmt: skip


@pytest.fixture(scope="module", params=["SQLite", "PostgreSQL"])
def apart(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiWorld]:
    """The server, in a process of its own, over a store of each kind."""
    with ExitStack() as stack:
        store = None
        if request.param == "PostgreSQL":
            store = stack.enter_context(postgres_server()).create("api")
        yield stack.enter_context(api_world(tmp_path_factory.mktemp("api"), store))


def asked(path: str, method: str, parts: dict[str, str]) -> str:
    """The address of a route, with these parts and all that its query needs."""
    operation = DOCUMENT["paths"][path][method.lower()]
    needed = [
        part["name"] for part in operation.get("parameters", ()) if part["in"] == "query" and part.get("required")
    ]
    query = "&".join(f"{name}={QUERIES.get(name, 'x')}" for name in needed)
    return path.format(**parts) + (f"?{query}" if query else "")


async def snapshot(caller: Caller, theirs: dict[str, dict[str, str]]) -> dict[str, Any]:
    """All that can be seen of what a workspace has, but for what its time changes."""
    seen: dict[str, Any] = {}
    for method, path in ROUTES:
        noun = path.split("/")[2] if path.startswith("/v1/") else ""
        if method == "GET" and not path.endswith(("events", "files", "list", "stat", "archive", "file", "wait")):
            answer = await caller.ask(method, asked(path, method, {**NEVER, **theirs.get(noun, {})}))
            if answer.status != 200 or path == "/metrics":
                continue
            seen[path] = (answer.status, re.sub(r'"(?:last_|updated|used|expires)\w*":[^,}]*', "", answer.text))
    return seen


def blurred(answer: Answer, *names: str) -> tuple[int, str]:
    """An answer without the names that were asked for, and without what is drawn for each request."""
    told = answer.text.replace(str(answer.request_id), "R") if answer.request_id else answer.text
    for name in sorted({*names, *(name.partition("@")[0] for name in names)}, key=len, reverse=True):
        told = told.replace(name, "IT")
    return answer.status, re.sub(r'"request_id":"\w+"', "", told)


async def test_what_another_workspace_has_is_out_of_reach(apart: ApiWorld) -> None:
    """Every route with the names of what others have: told in the same words as of what never was; nothing changes,
    and a command of theirs runs on."""
    async with AsyncExitStack() as stack:
        owner = await apart.caller(stack, "other")
        theirs = await possessions(owner, stack)
        before = await snapshot(owner, theirs)
        for scopes in (("read", "write"), ()):
            attacker = await apart.caller(stack, "hostile", *scopes)
            for method, path in ROUTES:
                if "{" not in path:
                    continue
                there = {**NEVER, **theirs[path.split("/")[2]]}
                told = []
                for parts in (there, NEVER):
                    operation = DOCUMENT["paths"][path][method.lower()]
                    is_json = "application/json" in operation.get("requestBody", {}).get("content", {})
                    data = b"x" if "requestBody" in operation and not is_json else None
                    where = asked(path, method, parts)
                    body = BODIES.get(path, {}) if is_json else None
                    answer = await attacker.ask(method, where, body, data=data)
                    names = [value for name, value in parts.items() if name not in ("kind", "pid")]
                    told.append(blurred(answer, *names))
                assert told[0] == told[1], f"{method} {path}"
                assert told[0][0] in (403, 404), f"{method} {path}: {told[0]}"
        assert await snapshot(owner, theirs) == before
        sandbox, command = theirs["sandboxes"]["sandbox_id"], theirs["sandboxes"]["exec_id"]
        answer = await owner.ask("POST", f"/v1/sandboxes/{sandbox}/execs/{command}/stdin", data=b"alive")
        assert answer.status == 204


def _trainings(word: str) -> Iterator[dict[str, Any]]:
    """Requests for training that name what is called so."""
    dataset = {"name": word, "version": "1"}
    rl = {"trainer_type": "rl", "model": "tiny-llama"}
    for field in ("prompt_dataset_ref", "eval_dataset_ref"):
        yield {**rl, "config": {"algorithm": "grpo", field: dataset}}
    for ref in (f"{word}@1", f"other/{word}@1"):
        yield {**rl, "config": {"algorithm": "grpo", "scenarios_ref": ref}}
    sft = {"trainer_type": "sft", "model": "tiny-llama"}
    yield {**sft, "config": {"dataset_ref": dataset}}
    yield {**sft, "config": {"dataset_ref": {"name": f"other/{word}", "version": "1"}}}
    yield {"trainer_type": "sft", "model": f"{word}@1", "config": {"dataset_ref": dataset}}
    yield {**rl, "config": {"algorithm": "grpo", "task_ref": f"{word}@1"}}
    yield {**sft, "capability_ref": {"name": word, "version": "1"}, "config": {"dataset_ref": dataset}}


def references(theirs: dict[str, dict[str, str]] | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """(route, body that names what another workspace has, or where that is None what nobody has)"""
    word = "theirs" if theirs else "nobody"
    sandbox = theirs["blueprints"]["name_or_id"] if theirs else "bp_nobody"
    lease = theirs["leases"]["lease_id"] if theirs else "ls_0000"
    for name in (sandbox, word):
        yield "/v1/sandboxes", {"blueprint": name}
        yield "/v1/benchmark_jobs", {"name": "mine", "scenarios": [{**GOOD, "blueprint": name}]}
        yield "/v1/scores", {"scenario": {**GOOD, "blueprint": name}}
    yield "/v1/sandboxes", {"lease_id": lease}
    yield "/v1/world_jobs", {"world": word}
    yield f"/v1/snapshots?sandbox={theirs['sandboxes']['sandbox_id'] if theirs else NEVER['sandbox_id']}", {}
    yield "/v1/benchmark_jobs", {"name": "mine", "scenarios": {"ref": f"{word}@1"}}
    yield "/v1/benchmark_jobs", {"name": "mine", "scenarios": [{**GOOD, "scoring": f"{word}@1"}]}
    yield "/v1/scores", {"scenario": {**GOOD, "scoring": {"ref": f"{word}@1"}}}
    yield "/v1/scores", {"scenario": {"ref": f"{word}@1", "id": GOOD["id"]}}
    yield "/v1/calibrations", {"scenarios": {"ref": f"{word}@1"}}
    yield "/v1/benchmark_job_defs", {"name": "mine", "request": {"name": "job", "scenarios": {"ref": f"{word}@1"}}}
    for route in ("/v1/training_jobs", "/v1/training_jobs/plan"):
        yield from ((route, body) for body in _trainings(word))
    for image in (
        f"localhost:1/{word}",
        f"snapshot://{word}",
    ):  # see test_references.py, with real ones, and with secrets
        yield "/v1/sandboxes", {"image": image}
        yield "/v1/scores", {"scenario": {**GOOD, "image": image}}


async def test_no_reference_in_a_body_reaches_another_workspace(apart: ApiWorld) -> None:
    """Refused in the same words as a reference to what nobody has; idempotency keys and names are each workspace's."""
    async with AsyncExitStack() as stack:
        owner = await apart.caller(stack, "other")
        theirs = await possessions(owner, stack)
        attacker = await apart.caller(stack, "hostile", "read", "write")
        names = [value for parts in theirs.values() for value in parts.values() if len(value) > 8]
        for (path, body), (_, nobodys) in zip(references(theirs), references(None), strict=True):
            told = [blurred(await attacker.ask("POST", path, one), *names, "theirs", "nobody", "bp_nobody", "ls_0000")
                    for one in (body, nobodys)]  # fmt: skip
            assert told[0] == told[1], f"{path} {body}"
            # 501: a node that does not isolate runs no forgery
            assert 400 <= told[0][0] < 500 or (told[0][0], path) == (501, "/v1/calibrations"), (
                f"{path} {body}: {told[0]}"
            )
        first = await owner.ask("POST", "/v1/leases", {"seconds": 60}, idempotency_key="once")
        mine = await attacker.ask("POST", "/v1/leases", {"seconds": 60}, idempotency_key="once")
        assert (first.status, mine.status) == (201, 201)
        assert first.json()["id"] != mine.json()["id"]
        for method, path in ROUTES:
            if method == "GET" and "{" not in path:
                found = (await attacker.ask(method, asked(path, method, {}))).text
                assert [name for name in names if name in found] == [], path
                assert 'workspace="other"' not in found, path


SAME_NAMES: dict[str, dict[str, Any]] = {
    "/v1/blueprints": {"name": "theirs"},
    "/v1/scenarios": {"name": "theirs", "scenarios": [GOOD]},
    "/v1/scoring_contracts": {"name": "theirs", "contract": GOOD["scoring"]},
    "/v1/benchmark_job_defs": {"name": "theirs", "request": {"name": "job", "scenarios": [GOOD]}},
    "/v1/benchmark_jobs": {"name": "theirs", "scenarios": [GOOD]},
    "/v1/leases": {"seconds": 60},
    "/v1/objects": {},
    "/v1/images": {},
    "/v1/image_pulls": {},
    "/v1/image_builds": {},
    "/v1/images/collect": {},
    "/v1/secrets": {"name": "THEIRS", "value": "mine", "hosts": ["example.com"]},
    "/v1/world_manifests": {"name": "theirs"},
    "/v1/world_jobs": {"world": "theirs", "dataset": "theirs-played"},
    "/v1/keys": {"name": "theirs", "scopes": ["read"]},
}
"""routes that make something -> a body with the name of what another workspace has"""
FOR_ADMINS = {"/v1/keys", "/v1/images/collect", "/v1/secrets"}


async def test_the_names_of_another_workspace_are_free(apart: ApiWorld) -> None:
    """Whoever makes what another one has, by its name, gets the first version of their own, and changes nothing."""
    async with AsyncExitStack() as stack:
        owner = await apart.caller(stack, "other")
        theirs = await possessions(owner, stack)
        before = await snapshot(owner, theirs)
        attacker = await apart.caller(stack, "hostile", "read", "write")
        for path, body in SAME_NAMES.items():
            if path in ("/v1/objects", "/v1/images"):
                query = "kind=dataset&name=theirs&version=1" if path == "/v1/objects" else "reference=theirs"
                answer = await attacker.ask("POST", f"{path}?{query}", data=tar_of(("rows.jsonl", ROWS)))
            elif path == "/v1/image_builds":
                answer = await attacker.ask("POST", path, data=BUILD)
            elif path == "/v1/image_pulls":
                answer = await attacker.ask("POST", f"{path}?reference=theirs&refresh=false")
            else:
                answer = await attacker.ask("POST", path, body)
            assert answer.status in ((403,) if path in FOR_ADMINS else (200, 201)), f"{path}: {answer}"
            if (version := answer.json().get("version")) is not None:
                assert str(version) == "1", path
        assert await snapshot(owner, theirs) == before


def test_every_route_has_an_attack() -> None:
    """By a name in its path, by a reference or a name in its body, or by what it lists."""
    bodies = {path.partition("?")[0] for path, _ in references(None)} | set(SAME_NAMES)
    missing = [
        (method, path)
        for method, path in ROUTES
        if "{" not in path and not (method == "GET" or (method == "POST" and path in bodies))
    ]
    assert missing == [], "give each of these a row in `references` or SAME_NAMES"
    for table in (bodies, set(BODIES)):
        assert table <= {path for method, path in ROUTES if method in ("POST", "PUT")}, "a row for a route that is gone"


def nonsense(draw: random.Random, depth: int = 0) -> Any:
    """A value that no schema foresaw."""
    kind = draw.randrange(9 if depth < 4 else 6)
    if kind < 2:
        return "".join(draw.choices(string.printable + "äß\u0000\ud7ff💥", k=draw.choice((0, 1, 7, 300))))
    if kind == 2:
        return draw.choice((0, -1, 2**31, 2**63, -(2**70), 10**40, 1e308, 5e-324, 0.5))
    if kind == 3:
        return draw.choice((None, True, False))
    if kind < 6:
        return draw.choice(
            ("../../etc/passwd", "theirs@1", "%00", "${HOME}", "{{7*7}}", "file:///etc/passwd", "x" * 5000)
        )
    if kind == 6:
        return [nonsense(draw, depth + 1) for _ in range(draw.choice((0, 1, 3, 40)))]
    return {str(nonsense(draw, 9))[:50]: nonsense(draw, depth + 1) for _ in range(draw.choice((0, 1, 3, 20)))}


def body_of(draw: random.Random, path: str, method: str, nonsense: Callable[[random.Random], Any] = nonsense) -> Any:
    """Fields of the route's own schema with wrong values, a good body with one of them changed, or anything."""
    content = DOCUMENT["paths"][path][method.lower()].get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    schema = DOCUMENT["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
    fields = list(schema.get("properties", {}))
    if not fields or draw.random() < 0.1:
        return nonsense(draw)
    good = dict(BODIES.get(path, {"name": "fuzz", "scenarios": [GOOD]} if draw.random() < 0.3 else {}))
    return {**good, **{name: nonsense(draw) for name in draw.sample(fields, min(len(fields), draw.randint(1, 4)))}}


class Asks(Protocol):
    """Who sends requests, over whatever leads to the application."""

    async def ask(
        self, method: str, path: str, content: Any = None, *, data: bytes | None = None, **headers: str
    ) -> Answer:
        """One request."""


async def fuzzed(
    caller: Asks,
    draw: random.Random,
    mine: dict[str, dict[str, str]],
    value_of: Callable[[random.Random], Any] = nonsense,
) -> Answer | None:
    """One request of a fuzzer, about what it has made itself or what nobody has; None where it did not wait for an
    answer, or sent nothing."""
    method, path = draw.choice(ROUTES)
    if path == "/v1/keys/{key_id}" or draw.random() < 0.02:
        method = draw.choice(("PATCH", "OPTIONS", "TRACE", "HEAD", "PUT"))
    parts = {**NEVER, **mine.get(path.split("/")[2] if path.count("/") > 1 else "", {})}
    if draw.random() < 0.5:
        parts = {name: re.sub(r"[/?#\s]", "x", str(nonsense(draw, 9)))[:80] or "x" for name in parts}
    with suppress(KeyError):
        where = asked(path, method, parts) if draw.random() < 0.8 else path.format(**parts)
        where += ("&" if "?" in where else "?") + f"limit={draw.choice((0, 1, -1, 'x', 10**9))}" * (draw.random() < 0.1)
        headers = {}
        if draw.random() < 0.1:
            headers["idempotency_key"] = draw.choice(("a", "a" * 300, "b"))
        if draw.random() < 0.3:
            return await caller.ask(method, where, data=draw.randbytes(draw.choice((0, 1, 100, 70_000))), **headers)
        if path.endswith("/wait"):
            with suppress(TimeoutError):
                return await asyncio.wait_for(caller.ask(method, where, **headers), GIVE_UP_SECONDS)
            return None
        takes_body = method in ("POST", "PUT") and "requestBody" in DOCUMENT["paths"][path].get(method.lower(), {})
        text = json.dumps(body_of(draw, path, method, value_of) if takes_body else None)
        if draw.random() < 0.1:
            text = text[: draw.randrange(len(text) + 1)]
        return await caller.ask(method, where, data=text.encode(), content_type="application/json", **headers)
    return None


@pytest.mark.timeout(0 if MESSAGES > 10_000 else 300)
async def test_requests_of_a_fuzzer_leave_nothing(apart: ApiWorld) -> None:
    """No crash, no answer of 500, and when all that was made is gone no descriptor, process or memory; the same
    messages on every run."""
    async with AsyncExitStack() as stack:
        caller = await apart.caller(stack, "hostile", keeps_connections=False)
        mine = await possessions(caller, stack)

        async def send(seed: int, count: int) -> None:
            draw = random.Random(seed)
            for number in range(count):
                try:
                    answer = await fuzzed(caller, draw, mine)
                except (aiohttp.InvalidURL, ValueError):  # it never left this machine
                    continue
                except aiohttp.ClientError as error:
                    job = await caller.ask("GET", f"/v1/benchmark_jobs/{mine['benchmark_jobs']['job']}")
                    if isinstance(error, aiohttp.ClientPayloadError) and job.status == 404:
                        continue  # another message has deleted it while its results were sent
                    raise AssertionError(f"seed {seed}, message {number}: {error!r}") from error
                assert answer is None or answer.status < 500 or answer.status == 501, f"seed {seed}, {number}: {answer}"

        async def send_all(seeds: range, count: int) -> None:
            async with asyncio.TaskGroup() as sending:
                for seed in seeds:
                    sending.create_task(send(seed, count))
            await all_ended(caller)

        await send_all(range(4), MESSAGES // 16)  # a server keeps some connections to its store
        before = process_state(apart.pid)
        await send_all(range(4, 8), MESSAGES * 3 // 16)
        for _ in range(100):  # threads and connections end when they have been idle for seconds
            after = process_state(apart.pid)
            beyond = {name for name in ("descriptors", "threads", "processes") if after[name] > before[name] + 6}
            if not beyond:
                break
            await asyncio.sleep(0.2)
        assert not beyond, (before, after, open_files(apart.pid))
        assert after["kibibytes"] < before["kibibytes"] + 100_000 + MESSAGES // 10, (before, after)
        assert (await caller.ask("GET", "/healthz")).status == 200


async def all_ended(caller: Asks) -> None:
    """Sandboxes, jobs and blueprints."""
    while found := (await caller.ask("GET", "/v1/sandboxes?limit=100")).json()["sandboxes"]:
        for sandbox in found:
            await caller.ask("POST", f"/v1/sandboxes/{sandbox['id']}/stop", {})
    for noun in ("benchmark_jobs", "training_jobs", "world_jobs"):
        for job in (await caller.ask("GET", f"/v1/{noun}?limit=100")).json()[noun if noun != "" else "jobs"]:
            await caller.ask("POST", f"/v1/{noun}/{job['id']}/cancel", {})


def test_the_table_of_routes_is_whole(tmp_path: Path) -> None:
    """Each noun of a path has something that was made for it above."""
    nouns = {path.split("/")[2] for _, path in ROUTES if "{" in path}
    assert nouns == {
        "sandboxes", "leases", "blueprints", "scenarios", "scoring_contracts", "benchmark_job_defs", "calibrations",
        "benchmark_jobs", "training_jobs", "objects", "keys", "images", "image_pulls", "secrets",
        "image_builds",
        "snapshots", "world_manifests", "world_jobs",
    }  # fmt: skip
