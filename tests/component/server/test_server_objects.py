"""What a workspace may publish, what it may delete, and what of its commands' outputs is kept."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from server_world import World, world
from test_server_keys import ask, key_for
from test_server_limits import Given

from harena.core.errors import LimitExceededError, ValidationError
from harena.core.output import OutputBuffer
from harena.core.workspace import LIMITS, WorkspaceLimits
from harena.runtime.host.blueprint_files import ContentCache
from harena.runtime.host.blueprints import Blueprints
from harena.runtime.host.layers import LayerStore
from harena.sdk.http.operations import HttpOperations
from harena.server.kept_outputs import LOOK_SECONDS, KeptOutputs
from harena.server.quotas import KNOWN_SECONDS, Quotas
from harena.store.database import Database
from harena.store.workspaces import WorkspaceStore
from harena.testing import FakeClock
from harena.testing.conformance_registry import stream, tar_of
from harena.testing.conformance_training import asked

ROW = json.dumps({"prompt": "1 + 1", "expected_output": "2"}).encode() + b"\n"


@pytest.fixture
def given() -> Given:
    """Nothing was set."""
    return Given()


@pytest_asyncio.fixture
async def keyed(tmp_path: Path, given: Given) -> AsyncIterator[World]:
    """A server that asks for keys, with these limits."""
    async with world(tmp_path, keyed=True, limits=given) as made:
        yield made


async def push(world: World, token: str, version: str, rows: bytes = ROW) -> tuple[int, Any]:
    """Publish a data set."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/octet-stream"}
    query = {"kind": "dataset", "name": "d", "version": version}
    async with aiohttp.ClientSession(world.url, headers=headers) as http:
        async with http.post("/v1/objects", params=query, data=tar_of(("rows.jsonl", rows))) as answer:
            return answer.status, await answer.json()


async def test_objects_of_a_workspace(keyed: World, given: Given) -> None:
    """As many as were set; one that is deleted makes room; another workspace has its own."""
    given.kept["ours"] = {"objects": 1}
    ours, theirs = await key_for(keyed, "ours"), await key_for(keyed, "theirs")
    assert (await push(keyed, ours, "1"))[0] == 200
    status, problem = await push(keyed, ours, "2")
    assert (status, problem["code"], problem["reason"]) == (429, "limit_exceeded", "OBJECTS")
    assert (await push(keyed, theirs, "2"))[0] == 200
    assert (await ask(keyed, ours, "DELETE", "/v1/objects/dataset/d@1"))[0] == 204
    assert (await push(keyed, ours, "2"))[0] == 200


async def test_files_and_folders_of_objects_take_blocks(keyed: World, given: Given) -> None:
    """Empty files and deep folders fill a disk, too; what was published counts afterwards."""
    given.kept["ours"] = {"object_bytes": 200_000}
    ours = await key_for(keyed, "ours")
    few, many, deep = (
        [(f"{number}.txt", b"") for number in range(20)],
        [(f"{number}.txt", b"") for number in range(60)],
        [("/".join(f"{number}" for number in range(60)) + "/x.txt", b"")],
    )

    async def publish(files: list[tuple[str, bytes]], version: str) -> int:
        headers = {"authorization": f"Bearer {ours}", "content-type": "application/octet-stream"}
        query = {"kind": "dataset", "name": "d", "version": version}
        async with aiohttp.ClientSession(keyed.url, headers=headers) as http:
            async with http.post("/v1/objects", params=query, data=tar_of(("rows.jsonl", ROW), *files)) as answer:
                return answer.status

    assert [await publish(many, "1"), await publish(deep, "2")] == [429, 429]
    assert [await publish(few, "3"), await publish(few, "4"), await publish(few, "5")] == [200, 200, 429]


async def test_bytes_of_objects_of_a_workspace(keyed: World, given: Given) -> None:
    """Those that arrive at one time are counted together, and nothing of what is refused is kept."""
    given.kept["ours"] = {"object_bytes": 1_000_000}
    ours = await key_for(keyed, "ours")
    big = b'{"prompt": "%s", "expected_output": "2"}\n' % (b"x" * 700_000)
    made = await asyncio.gather(*(push(keyed, ours, str(number), big) for number in range(4)))
    assert sum(status == 200 for status, _ in made) <= 1
    assert {problem["reason"] for status, problem in made if status != 200} == {"OBJECTS"}
    given.kept["ours"] = {"object_bytes": 10}
    assert (await push(keyed, await key_for(keyed, "other"), "1"))[0] == 200


async def test_what_a_job_uses_is_not_deleted(keyed: World, tmp_path: Path) -> None:
    """Before it has ended."""
    ours = HttpOperations(keyed.url, api_key=await key_for(keyed, "ours"))
    try:
        await ours.push_object("dataset", "p", "1", stream(tar_of(("rows.jsonl", ROW))))
        request = asked(tmp_path / "none", "hang")
        request["config"]["prompt_dataset_ref"] = {"name": "p", "version": "1"}
        job = await ours.create_training_job(request)
        with pytest.raises(ValidationError, match=job["id"]) as caught:
            await ours.delete_object("dataset", "p@1")
        assert caught.value.reason == "IN_USE"
        await ours.cancel_training_job(job["id"])
        await ours.wait_training_job(job["id"])
        await ours.delete_object("dataset", "p@1")
        assert not [*(tmp_path / "objects" / "trees").glob("*/*")]
    finally:
        await ours.close()


async def test_blueprints_of_a_workspace(keyed: World, given: Given) -> None:
    """As many, and as large, as were set, also of those that come at one time; another workspace has its own."""
    given.kept["ours"] = {"blueprints": 2}
    given.kept["large"] = {"blueprint_bytes": 200_000}
    tokens = {name: await key_for(keyed, name) for name in ("ours", "theirs", "large")}

    async def create(whose: str, name: str, size: int = 1) -> tuple[int, Any]:
        files = {"/workspace/f": base64.b64encode(b"x" * size).decode()}
        return await ask(keyed, tokens[whose], "POST", "/v1/blueprints", {"name": name, "files": files})

    made = await asyncio.gather(*(create("ours", f"b{number // 2}") for number in range(4)))
    assert sorted(status for status, _ in made) == [201, 201, 429, 429]
    assert {problem["reason"] for status, problem in made if status == 429} == {"BLUEPRINTS"}
    assert (await create("theirs", "b"))[0] == 201
    assert (await create("large", "b", 100_000))[0] == 201
    status, problem = await create("large", "b", 100_000)
    assert (status, problem["reason"]) == (429, "BLUEPRINTS")
    assert "(blueprint_bytes)" in problem["detail"]
    assert (await create("large", "b", 1000))[0] == 201


async def test_no_content_of_a_blueprint_stays_in_memory_or_is_in_a_list(keyed: World) -> None:
    """Neither for its idempotency key; whoever asks for one blueprint gets all of it."""
    token = await key_for(keyed, "ours")
    operations = keyed.state.operations
    contents = operations._parts.blueprints.records.contents = ContentCache(most_bytes=10)  # type: ignore[attr-defined]
    files = {"/workspace/f": base64.b64encode(b"x" * 1000).decode()}
    body = {"name": "b", "files": files}
    headers = {"authorization": f"Bearer {token}", "idempotency-key": "once"}
    made = []
    async with aiohttp.ClientSession(keyed.url, headers=headers) as http:
        for _ in range(2):
            async with http.post("/v1/blueprints", json=body) as answer:
                made.append((answer.status, await answer.json()))
    assert [status for status, _ in made] == [201, 201]
    assert made[0][1] == made[1][1]
    assert made[0][1]["files"] == files
    (kept,) = keyed.state.idempotency._kept["ours"].values()
    assert (kept.work, kept.reference) == (None, made[0][1]["id"])
    assert contents.bytes == 0
    _, listed = await ask(keyed, token, "GET", "/v1/blueprints")
    assert (listed["blueprints"][0]["files"], listed["blueprints"][0]["file_bytes"]) == (1, 1000)
    assert (await ask(keyed, token, "GET", "/v1/blueprints/b"))[1]["files"] == files


async def test_a_deleted_blueprint_makes_room(tmp_path: Path) -> None:
    """Also where its record was removed by another process."""
    blueprints = Blueprints(FakeClock(), layers=LayerStore(tmp_path / "layers"), root=tmp_path / "blueprints")
    limits = WorkspaceLimits(blueprints=1)
    for remove in (
        lambda: blueprints.delete("w", "b"),
        lambda: next((tmp_path / "blueprints/w").glob("b@*")).unlink(),
        lambda: None,
    ):
        await blueprints.create("w", "b", room=limits)
        with pytest.raises(LimitExceededError, match="may have 1"):
            await blueprints.create("w", "b", room=limits)
        if asyncio.iscoroutine(removal := remove()):
            await removal


async def test_files_of_training_jobs_of_a_workspace(keyed: World, given: Given, tmp_path: Path) -> None:
    """With more than was set no other job is accepted, nor an ended one retried, until one is deleted."""
    given.kept["ours"] = given.kept["theirs"] = {"training_bytes": 900_000}
    ours, theirs = [HttpOperations(keyed.url, api_key=await key_for(keyed, name)) for name in ("ours", "theirs")]
    try:
        await ours.push_object("dataset", "p", "1", stream(tar_of(("rows.jsonl", ROW))))
        await theirs.push_object("dataset", "p", "1", stream(tar_of(("rows.jsonl", ROW))))
        request = asked(tmp_path / "none", "hang")
        request["config"]["prompt_dataset_ref"] = {"name": "p", "version": "1"}
        job = await ours.create_training_job(request)
        await ours.cancel_training_job(job["id"])
        await ours.wait_training_job(job["id"])
        kept = tmp_path / "training" / job["id"] / "1" / "checkpoint"
        kept.mkdir(parents=True, exist_ok=True)
        (kept / "weights").write_bytes(b"x" * 1_000_000)
        for again in (ours.create_training_job(request), ours.retry_training_job(job["id"])):
            with pytest.raises(LimitExceededError, match="training_bytes") as caught:
                await again
            assert caught.value.reason == "TRAINING_FILES"
        other = await theirs.create_training_job(request)
        await theirs.cancel_training_job(other["id"])
        await ours.delete_training_job(job["id"])
        made = await ours.create_training_job(request)
        await ours.cancel_training_job(made["id"])
    finally:
        await ours.close()
        await theirs.close()


async def test_training_jobs_that_are_asked_for_at_one_time(keyed: World, given: Given, tmp_path: Path) -> None:
    """All of them are looked at before one is there, and again before it is: of what is left, one gets the last."""
    given.kept["ours"] = {"open_jobs": 1}
    ours = HttpOperations(keyed.url, api_key=await key_for(keyed, "ours"))
    try:
        await ours.push_object("dataset", "p", "1", stream(tar_of(("rows.jsonl", ROW))))
        request = asked(tmp_path / "none", "held")
        request["config"]["prompt_dataset_ref"] = {"name": "p", "version": "1"}
        made = await asyncio.gather(*(ours.create_training_job(request) for _ in range(6)), return_exceptions=True)
        refused = [one for one in made if isinstance(one, LimitExceededError)]
        assert {one.reason for one in refused} == {"OPEN_JOBS"}
        (job,) = (one for one in made if not isinstance(one, BaseException))
        assert len(refused) == 5
        await ours.cancel_training_job(job["id"])
        assert len([*(tmp_path / "training").iterdir()]) == 1
    finally:
        await ours.close()


async def test_every_limit_can_be_one_workspaces(tmp_path: Path) -> None:
    """Kept in the store, and taken back there; others stay."""
    database = await Database.open(tmp_path / "harena.db")
    store = WorkspaceStore(database)
    wanted = dict.fromkeys(LIMITS, 1)
    await store.set_limits("ours", wanted)
    assert await store.limits("ours") == wanted
    await store.set_limits("ours", {"sandbox_pids": None, "runs": None, "objects": 7})
    left = {name: 1 for name in LIMITS if name not in ("sandbox_pids", "runs")} | {"objects": 7}
    assert await store.limits("ours") == left
    assert await store.limits("theirs") == {}
    await database.close()


async def test_ceilings_of_one_workspace(keyed: World, given: Given) -> None:
    """Its sandboxes meet those that were set for it, and nobody else's do."""
    given.kept["ours"] = {"sandbox_memory_bytes": 2**25, "sandbox_lifetime_seconds": 60.0}
    wanted = {"limits": {"memory_bytes": 2**26}}
    assert (await ask(keyed, await key_for(keyed, "ours"), "POST", "/v1/sandboxes", wanted))[0] == 422
    assert (await ask(keyed, await key_for(keyed, "theirs"), "POST", "/v1/sandboxes", wanted))[0] == 201


class Printing:
    """A command that has printed so much."""

    def __init__(self, size: int) -> None:
        self.stdout, self.stderr = OutputBuffer(10**6), OutputBuffer(10**6)
        self.stdout.append(b"x" * size)
        self.is_killed = False

    def kill(self) -> None:
        self.is_killed = True


async def test_outputs_of_a_workspace() -> None:
    """Where the server keeps too much, the commands that hold most are ended, and what they held is gone; commands of
    another workspace go on."""
    clock, given = FakeClock(auto_jump=False), Given()
    given.kept["ours"] = {"output_bytes": 1000}
    outputs = KeptOutputs(Quotas(WorkspaceLimits(), given, clock), clock)
    small, large, theirs = Printing(300), Printing(900), Printing(5000)
    outputs.add("ours", small)
    outputs.add("ours", large)
    outputs.add("theirs", theirs)
    await clock.advance(LOOK_SECONDS)
    assert (small.is_killed, large.is_killed, theirs.is_killed) == (False, True, False)
    assert (large.stdout.size_bytes, large.stdout.getvalue(), large.stdout.dropped_bytes) == (0, b"", 900)
    large.stdout.append(b"more")
    assert large.stdout.getvalue() == b""
    outputs.check(small)
    with pytest.raises(LimitExceededError, match="output_bytes"):
        outputs.check(large)
    small.stderr.append(b"y" * 800)
    await clock.advance(LOOK_SECONDS + KNOWN_SECONDS)
    assert small.is_killed
    for workspace, command in (("ours", small), ("ours", large), ("theirs", theirs)):
        outputs.remove(workspace, command)
    await clock.advance(LOOK_SECONDS)
    assert outputs._looking is not None
    assert outputs._looking.done()
