"""Every route that names something: what another workspace has does not exist, whatever is asked of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from server_world import World, world
from test_server_keys import ask, key_for

from harena.core.models import SandboxSpec
from harena.node.node import NodeInWorkspace
from harena.scoring import battery
from harena.sdk.http.operations import HttpOperations
from harena.server.document import openapi
from harena.testing.conformance_operations import GOOD
from harena.testing.conformance_registry import stream, tar_of
from harena.testing.conformance_training import asked

BODIES: dict[str, Any] = {
    "/v1/sandboxes/{sandbox_id}/execs": {"argv": ["true"]},
    "/v1/sandboxes/{sandbox_id}/execs/{exec_id}/resize": {"columns": 1, "rows": 1},
    "/v1/sandboxes/{sandbox_id}/processes/{pid}/signal": {"signal": 15},
    "/v1/sandboxes/{sandbox_id}/extend": {"seconds": 5},
    "/v1/sandboxes/{sandbox_id}/network": {"network": "none"},
    "/v1/benchmark_job_defs/{ref}/run": {"name": "run", "scenarios": [GOOD]},
}
"""of requests that need one with something in it"""

ROUTES = [(method, path) for path, route in openapi()["paths"].items() for method in route if "{" in path]


@pytest_asyncio.fixture
async def keyed(tmp_path: Path) -> AsyncIterator[World]:
    """A server that asks for keys."""
    async with world(tmp_path, keyed=True) as made:
        yield made


@dataclass
class WrittenLayer:
    """Implements `UpperLayer`."""

    folder: int
    image: str
    users: int = -1
    below: list[int] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    async def close(self) -> None:
        """Whoever made it closes its descriptor."""


async def id_of_ours(keyed: World, ours: HttpOperations, owner: str, path: str, folder: Path) -> tuple[str, str]:
    """(the first parameter of the path, what it may be): one that is made for it. A new noun is added here."""
    noun = path.split("/")[2]
    if noun == "sandboxes":
        return "sandbox_id", (await ours.create_sandbox(SandboxSpec())).info.id
    if noun == "leases":
        return "lease_id", await ours._lease.id()
    if noun == "keys":
        return "key_id", owner.split("_")[1]
    if noun == "blueprints":
        return "name_or_id", (await ours.create_blueprint("env")).id
    if noun == "benchmark_jobs":
        job = await ours.create_benchmark_job({"name": "job", "scenarios": [GOOD]})
        await ours.wait_benchmark_job(job["id"])
        return "job", job["id"]
    if noun == "training_jobs":
        prompts = folder / "prompts.jsonl"
        prompts.write_text('{"prompt": "1+1=", "expected_output": "2"}\n')
        made = await ours.create_training_job(asked(prompts, "steps:1"))
        await ours.wait_training_job(made["id"])
        return "job", made["id"]
    if noun == "calibrations":
        await ours.create_catalog_entry("scenarios", {"name": "kept", "scenarios": [GOOD]})
        begun = await ours.create_calibration({"scenarios": {"ref": "kept"}, "gold_runs": 2})
        await ours.wait_calibration(begun["id"])
        return "calibration", begun["id"]
    if noun == "objects":
        tree = tar_of(("rows.jsonl", b'{"prompt": "1 + 1", "answer": "2"}'))
        return "ref", (await ours.push_object("dataset", "kept", "1", stream(tree)))["ref"]
    if noun in ("images", "image_pulls"):
        tree = tar_of(("etc/hostname", b"box"))
        image = await ours.import_image("kept/image:1", stream(tree))
        if noun == "images":
            return "image", image.id
        return "pull", (await ours.pull_image("kept/image:1", refresh=False)).id  # of what is here: it has ended
    if noun == "world_manifests":
        return "world", (await ours.create_world_manifest("kept")).id
    if noun == "world_jobs":
        begun_job = await ours.create_world_job((await ours.create_world_manifest("kept")).id)
        return "job", (await ours.wait_world_job(begun_job.id)).id
    if noun == "secrets":
        return "name", (await ours.set_secret("KEPT", "value", hosts=["example.com"])).name
    if noun == "image_builds":
        request = b'{"dockerfile": "FROM scratch\\nCOPY a /a", "references": ["kept/built:1"]}'
        build = await ours.build_image(stream(tar_of(("build.json", request), ("context/a", b"1"))))
        await ours.wait_image_build(build.id)
        return "build", build.id
    if noun == "snapshots":  # no sandbox of this node has a layer: it is one of a folder
        image = await ours.import_image("kept/image:1", stream(tar_of(("etc/hostname", b"box"))))
        node = keyed.state.operations.in_workspace("ours")
        assert isinstance(node, NodeInWorkspace)
        with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
            (Path(name) / "upper").mkdir()
            layer = WrittenLayer(os.open(name, os.O_PATH), image.digest)
            made = await node._parts.images("ours").snapshot("ours", layer, "kept/image:1", "sb_1", None, None)
            os.close(layer.folder)
        return "snapshot", made.id
    requests: dict[str, dict[str, Any]] = {
        "scenarios": {"name": "kept", "scenarios": [GOOD]},
        "scoring_contracts": {"name": "kept", "contract": GOOD["scoring"]},
        "benchmark_job_defs": {"name": "kept", "request": {"name": "job", "scenarios": [GOOD]}},
    }
    made = await ours.create_catalog_entry(noun, requests[noun])  # type: ignore[arg-type]
    return "ref", made["ref"]


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_what_another_workspace_has_does_not_exist(
    keyed: World, method: str, path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """404 for an admin of another one, in the words in which one is told of what was never there; and it stays."""
    monkeypatch.setattr(battery, "BATTERY", ())  # a node that does not isolate runs no forgery
    owner, stranger = [await key_for(keyed, name, "admin", "publish") for name in ("ours", "theirs")]
    ours = HttpOperations(keyed.url, api_key=owner)
    try:
        parameter, there = await id_of_ours(keyed, ours, owner, path, tmp_path)
        query = "?path=/workspace" if path.endswith(("files", "archive", "list", "stat", "directories")) else ""
        if path.endswith("artifacts/file"):
            query = "?path=model/weights"
        if "archive" in path and "sandboxes" not in path:
            query = ""
        never = {"name_or_id": "bp_nobody", "ref": "nobody@1"}.get(parameter, "nobody")
        told = []
        for named in (there, never):
            where = path.format(**{parameter: named, "exec_id": "ex_1", "pid": "2", "kind": "dataset"}) + query
            status, problem = await ask(keyed, stranger, method, where, BODIES.get(path, {}))
            assert status == 404, problem
            told.append(problem["detail"].replace(named, "it").replace(named.partition("@")[0], "it"))
        assert told[0] == told[1]
        status, _ = await ask(keyed, owner, "GET", f"/v1/{path.split('/')[2]}")
        assert status in (200, 405)
        if "get" in openapi()["paths"].get(f"/v1/{path.split('/')[2]}/{{{parameter}}}", {}):
            assert (await ask(keyed, owner, "GET", f"/v1/{path.split('/')[2]}/{there}"))[0] == 200
    finally:
        await ours.close()
