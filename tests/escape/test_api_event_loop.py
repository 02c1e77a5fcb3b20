"""No request makes the event loop wait for a disk: every route is asked, with what it is about being there, and whoever
calls the file system or SQLite in the loop's own thread is named. One that does would slow every workspace by what one
of them has put on the disk."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from api_world import BUILD, DOCUMENT, ROUTES, ROWS, Caller, possessions
from escape_world import seen_owners
from loop_watch import end, listen, watched
from test_api_attacker import BODIES, NEVER, QUERIES, SAME_NAMES, asked

sys.path.insert(0, str(Path(__file__).parents[1] / "component" / "server"))

from server_world import fake_node, served

import harena
from footprint import spawners
from harena.core.clock import SystemClock
from harena.core.ports import Operations
from harena.core.workspace import WorkspaceLimits
from harena.egress.link import EgressLink
from harena.runtime.host.layers import LayerStore
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring import battery
from harena.sdk import transport
from harena.sdk.portal import current_portal
from harena.server.keys import Keys
from harena.server.quotas import Quotas
from harena.testing.conformance_bad_jobs import ADDING
from harena.testing.conformance_operations import GOOD
from harena.testing.conformance_registry import tar_of

DATASET = {"name": "theirs", "version": "1"}
_TRAINING: dict[str, Any] = {
    "name": "theirs",
    "trainer_type": "rl",
    "model": "tiny-llama",
    "config": {"algorithm": "grpo", "prompt_dataset_ref": DATASET},
    "tags": ["steps:1"],
}
CONTENTS: dict[str, dict[str, Any]] = {
    **BODIES,
    **SAME_NAMES,
    "/v1/sandboxes/{sandbox_id}/processes/{pid}/signal": {"signal": signal.SIGCONT},
    "/v1/sandboxes": {"blueprint": "theirs", "files": {"/workspace/x": "YQ=="}, "network": {"allow": ["pypi"]}},
    "/v1/blueprints": {"name": "theirs", "files": {"/workspace/x": "YQ=="}, "warm": ["json"]},
    "/v1/calibrations": {"scenarios": [GOOD]},
    "/v1/scores": {"scenario": GOOD},
    "/v1/training_jobs": _TRAINING,
    "/v1/training_jobs/plan": _TRAINING,
}
MORE = {
    ("GET", "/v1/sandboxes/{sandbox_id}/wait"): "seconds=0.1",
    ("GET", "/v1/scenarios/{ref}"): "content=true",
    ("GET", "/v1/benchmark_job_defs/{ref}"): "content=true",
}
"""what a query should have although it need not"""
FOLDERS = ("/files/list", "/archive", "/directories")
REFUSED = {
    ("DELETE", "/v1/objects/{kind}/{ref}"): (204, 409),  # a job refers to it, unless it has ended
    ("POST", "/v1/image_pulls"): (422,),  # the registry is none that a server asks without a setting
    ("GET", "/v1/training_jobs/{job}/artifacts/file"): (404,),  # a job that has ended so fast has written none
    ("GET", "/v1/sandboxes/{sandbox_id}/gateway_log"): (422,),  # the sandbox has no gateway
}
"""routes whose request cannot be done in this order -> what they may answer"""


def rank(route: tuple[str, str]) -> tuple[int, str, str]:
    """Reads first, then what changes something, then what ends it."""
    method, path = route
    is_end = method == "DELETE" or path.endswith(("/cancel", "/kill", "/stop"))
    is_last = is_end and not path.endswith(("/files", "/cancel", "/kill"))
    return (is_last + is_end + (method != "GET"), method, path)


async def begun(caller: Caller, stack: AsyncExitStack, sandbox: str) -> str:
    """A command that runs on, besides that of `possessions`."""
    body = {"argv": ["sleep", "1000"]}
    stream = await stack.enter_async_context(caller.http.post(f"/v1/sandboxes/{sandbox}/execs", json=body))
    found = re.search(rb'"exec_id": ?"(\w+)"', await stream.content.readany())
    assert found is not None
    return found[1].decode()


async def everything(caller: Caller, stack: AsyncExitStack) -> list[str]:
    """One request to every route; those that did not answer as they should."""
    mine = await possessions(caller, stack)
    sandbox = mine["sandboxes"]["sandbox_id"]
    for path in ("x", "y/z"):
        where = f"/v1/sandboxes/{sandbox}/files?path=/workspace/{path}"
        assert (await caller.ask("PUT", where, data=bytes(400_000))).status == 204
    other = await begun(caller, stack, sandbox)
    processes = (await caller.ask("GET", f"/v1/sandboxes/{sandbox}/processes")).json()["processes"]
    pid = max(int(one["pid"]) for one in processes)
    calibration = (await caller.ask("POST", "/v1/calibrations", CONTENTS["/v1/calibrations"])).json()["id"]
    mine["calibrations"] = {"calibration": calibration}
    snapshot = await caller.ask("POST", f"/v1/snapshots?sandbox={sandbox}")
    mine["snapshots"] = {"snapshot": snapshot.json()["id"]}
    strange = []
    for method, path in sorted(ROUTES, key=rank):
        noun = path.split("/")[2] if path.count("/") > 1 else ""
        operation = DOCUMENT["paths"][path][method.lower()]
        is_json = "application/json" in operation.get("requestBody", {}).get("content", {})
        data = b"x" if "requestBody" in operation and not is_json else None
        if path.endswith("/archive") or path in ("/v1/objects", "/v1/images"):
            data = tar_of(("rows.jsonl", ROWS)) if data else None
        if path == "/v1/image_builds":
            data = BUILD
        body = CONTENTS.get(path, {}) if is_json else None
        parts = {**NEVER, **mine.get(noun, {}), "pid": str(pid)}
        if path.endswith("/kill"):  # the other one has ended: its input is closed
            parts["exec_id"] = other
        where = asked(path, method, parts)
        if path.endswith(FOLDERS) and "path=" in where:
            where = where.replace("/workspace/x", "/workspace/y")
        if path == "/v1/snapshots":
            where = where.replace(f"sandbox={QUERIES['sandbox']}", f"sandbox={sandbox}")
        if (method, path) in MORE:
            where += ("&" if "?" in where else "?") + MORE[method, path]
        answer = await caller.ask(method, where, body, data=data)
        if path.endswith("/cancel"):
            await caller.ask("GET", f"{where.removesuffix('/cancel')}?wait_seconds=30")
        if answer.status not in REFUSED.get((method, path), range(300)):
            strange.append(f"{method} {path}: {answer.status} {answer.text[:200]}")
    return strange


@asynccontextmanager
async def isolating(home: Path) -> AsyncIterator[tuple[str, Keys]]:
    """A server over a node that isolates: where it is, and its keys."""
    clock, layers = SystemClock(), LayerStore(home / "layers")
    quotas = Quotas(WorkspaceLimits(), None, clock)
    runtime = LinuxRuntime(layers=layers, home=home, egress=EgressLink())
    await runtime.start()
    seen_owners.extend(spawners(os.getpid()))
    node = fake_node(home, clock, runtime, quotas.limits_of, durable_jobs=True)
    try:
        await node.resume_jobs()
        async with served(node, clock, home, keyed=True, quotas=quotas) as server:
            keys = server._state.access
            assert isinstance(keys, Keys)
            yield server.url, keys
    finally:
        await node.close()


async def test_no_route_waits_for_a_disk_in_the_event_loop(tmp_path: Path) -> None:
    """Once for what is loaded and opened at first, then watched."""
    found: set[str] = set()
    async with isolating(tmp_path) as (url, keys), AsyncExitStack() as stack:
        token, _ = await keys.create(name="k", workspace="team", scopes=["admin", "publish"])
        http = aiohttp.ClientSession(url, headers={"authorization": f"Bearer {token}"})
        caller = Caller(await stack.enter_async_context(http), (str(tmp_path),))
        await everything(caller, stack)
        with watched(found):
            strange = await everything(caller, stack)
    assert (strange, sorted(found)) == ([], [])


async def test_no_verb_waits_for_a_disk_in_the_loop_of_an_embedded_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the server does is done by the same ports; the SDK adds what it does with files of its user's. Of the
    battery, which takes a minute, two forgeries are enough here."""
    monkeypatch.setattr(battery, "BATTERY", battery.BATTERY[:2])
    home, local = tmp_path / "home", tmp_path / "local"
    local.mkdir()
    (local / "a.txt").write_text("a" * 100_000)
    rows = tmp_path / "rows.jsonl"
    rows.write_bytes(ROWS)
    scenarios = tmp_path / "scenarios.json"
    scenarios.write_text(json.dumps([GOOD]))
    clock, layers = SystemClock(), LayerStore(home / "layers")

    async def opened() -> Operations:
        runtime = LinuxRuntime(layers=layers, home=home)
        await runtime.start()
        seen_owners.extend(spawners(os.getpid()))
        return fake_node(home, clock, runtime)

    def verbs(number: int) -> None:
        blueprint = harena.blueprints.create(f"b{number}", files={"/data/x": "x"}, warm=["json"])
        with harena.Sandbox.run(blueprint=blueprint.id) as sandbox:
            for text in ("a", "a" * 400_000):
                sandbox.write_file("/workspace/x", text).result()
                sandbox.append_file("/workspace/x", text).result()
                sandbox.read_file("/workspace/x").result()
            sandbox.upload_dir(local, "/workspace/local").result()
            sandbox.download_dir("/workspace/local", tmp_path / f"down{number}").result()
            sandbox.list_files("/workspace").result()
            sandbox.stat("/workspace/x").result()
            sandbox.make_dir("/workspace/y").result()
            sandbox.exec(["python3", "-c", "print(1)"]).result()
            sandbox.write_file("/workspace/x", "b").result()
            sandbox.remove("/workspace/x").result()
        done = harena.benchmark_jobs.create(name="job", scenarios=scenarios)
        harena.benchmark_jobs.wait(done)
        harena.benchmark_jobs.save_results(done, tmp_path / f"results{number}.json")
        harena.benchmark_jobs.delete(done)
        harena.calibrate(scenarios, gold_runs=2)
        harena.score("print(sum(map(int, input().split())))", ADDING)
        harena.registry.push("dataset", rows, f"rows{number}@1")
        harena.registry.pull("dataset", f"rows{number}@1", tmp_path / f"pulled{number}")
        config = {"algorithm": "grpo", "prompt_dataset_ref": str(rows)}
        job = harena.training_jobs.create(trainer_type="rl", model="tiny-llama", config=config, tags=["steps:1"])
        harena.training_jobs.wait(job.id)
        harena.training_jobs.download(job.id, tmp_path / f"files{number}")
        harena.training_jobs.delete(job.id)

    found: set[str] = set()
    harena.shutdown()
    before = transport.set_factory(opened)
    try:
        await asyncio.to_thread(verbs, 0)
        portal = current_portal()
        portal.call(listen, found)
        await asyncio.to_thread(verbs, 1)
        portal.call(end)
    finally:
        await asyncio.to_thread(harena.shutdown)
        transport.set_factory(before)
    assert "\n".join(sorted(found)) == ""


def fresh_server(home: Path) -> subprocess.Popen[str]:
    """Started."""
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("fresh_server.py")), str(home)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip


async def test_a_server_has_loaded_what_its_routes_need(tmp_path: Path) -> None:
    """A module that a request loads in the loop stops it for all workspaces: some hundred milliseconds for what scores.
    What the standard library and others load of their own on first use is theirs."""
    process = fresh_server(tmp_path)
    told = "[]"
    try:
        assert process.stdout is not None
        url, token = json.loads(next(line for line in process.stdout if line.startswith('["http')))
        async with (
            aiohttp.ClientSession(url, headers={"authorization": f"Bearer {token}"}) as http,
            AsyncExitStack() as stack,
        ):
            assert await everything(Caller(http, (str(tmp_path),)), stack) == []
    finally:
        told, _ = process.communicate(timeout=60)
    loaded = json.loads(told.splitlines()[-1])
    assert [name for name in loaded if name.startswith("harena.")] == []
