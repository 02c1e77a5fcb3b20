"""What is published to an organisation is seen by its workspaces, and by nobody else's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from server_world import World, world
from test_server_keys import ask, key_for

from harena.core.errors import AccessError, NotFoundError, ValidationError
from harena.core.models import SandboxSpec
from harena.core.registry import IN_USE, VERSION_TAKEN
from harena.node.node import Node
from harena.sdk.http.operations import HttpOperations
from harena.store.workspaces import WorkspaceStore
from harena.testing.conformance_registry import stream, tar_of

ROWS = b'{"prompt": "1 + 1", "expected_output": "2"}\n'
OTHERS = b'{"prompt": "2 + 2", "expected_output": "4"}\n'
TASK = b"name: add\nversion: %s\ninstruction: Add.\nverification: {method: flag, expected: '3'}\n"
MODEL = {
    "config_json": b'{"architectures": ["LlamaForCausalLM"], "max_position_embeddings": 256}',
    "tokenizer_json": b"{}",
    "model_safetensors": (2).to_bytes(8, "little") + b"{}",
}
CAPABILITY = b"schema: 1\nname: solver\nversion: 1.0.0\ndescription: Solves.\n"


@pytest_asyncio.fixture
async def here(tmp_path: Path) -> AsyncIterator[World]:
    """Workspaces a and b of the organisation acme, c of another one, and d of none that was named."""
    async with world(tmp_path, keyed=True) as made:
        workspaces = await _workspaces(made)
        for name, organization in (("a", "acme"), ("b", "acme"), ("c", "umbrella")):
            await workspaces.set_organization(name, organization)
        yield made


async def _workspaces(here: World) -> WorkspaceStore:
    node = here.state.operations
    assert isinstance(node, Node)
    return WorkspaceStore(await node._parts.database())


@pytest_asyncio.fixture
async def clients(here: World) -> AsyncIterator[dict[str, HttpOperations]]:
    """A client of each workspace, which may read, write and publish."""
    async with AsyncExitStack() as stack:
        made = {}
        for name in "abcd":
            made[name] = here.client(api_key=await key_for(here, name, "admin", "publish"))
            stack.push_async_callback(made[name].close)
        yield made


async def push(client: HttpOperations, kind: Any, ref: str, **files: bytes) -> None:
    name, _, version = ref.partition("@")
    tree = tar_of(*((path.replace("_", "."), content) for path, content in files.items()))
    await client.push_object(kind, name, version, stream(tree))


async def rows_of(client: HttpOperations, ref: str) -> bytes:
    return b"".join([piece async for piece in client.pull_object("dataset", ref)])


async def test_who_sees_what_was_published(clients: dict[str, HttpOperations]) -> None:
    """Its organisation does, until it is withdrawn; other organisations do not, whatever they ask."""
    a, b, c, d = (clients[name] for name in "abcd")
    await push(a, "dataset", "sums@1", rows_jsonl=ROWS)
    with pytest.raises(NotFoundError):
        await b.get_object("dataset", "sums@1")
    shown = await a.publish_object("dataset", "sums@1")
    assert shown.organization == "acme"
    assert await a.publish_object("dataset", "sums@1") == shown
    assert await b.get_object("dataset", "sums@1") == await b.get_object("dataset", "sums") == shown
    assert ROWS in await rows_of(b, "sums@1")
    assert (await b.list_objects()).objects == []
    assert (await b.list_objects(organization=True)).objects == [shown]
    for stranger in (c, d):
        for asked in (stranger.get_object, stranger.publish_object, stranger.withdraw_object, stranger.delete_object):
            with pytest.raises(NotFoundError):
                await asked("dataset", "sums@1")
        assert (await stranger.list_objects(organization=True)).objects == []
    for change in (b.publish_object, b.withdraw_object, b.delete_object):  # it is seen, and is a's
        with pytest.raises(NotFoundError):
            await change("dataset", "sums@1")
    assert (await a.withdraw_object("dataset", "sums@1")).organization is None
    with pytest.raises(NotFoundError):
        await b.get_object("dataset", "sums@1")


async def test_own_objects_come_first(clients: dict[str, HttpOperations]) -> None:
    """A name means a workspace's own object where it has one, of any version, and else its organisation's; two
    workspaces cannot publish the same name and version."""
    a, b = clients["a"], clients["b"]
    for version in ("1.0.0", "2.0.0"):
        await push(a, "task", f"add@{version}", task_yaml=TASK % version.encode())
        await a.publish_object("task", f"add@{version}")
    assert (await b.get_object("task", "add")).version == "2.0.0"
    await push(b, "task", "add@1.0.0", task_yaml=TASK % b"1.0.0" + b"# ours\n")
    assert (await b.get_object("task", "add")).version == "1.0.0"
    assert (await b.get_object("task", "add@1.0.0")).organization is None
    assert (await b.get_object("task", "add@2.0.0")).organization == "acme"
    with pytest.raises(ValidationError) as taken:
        await b.publish_object("task", "add@1.0.0")
    assert taken.value.reason == VERSION_TAKEN
    assert (await b.get_object("task", "add@1.0.0")).organization is None
    await clients["c"].push_object("task", "add", "1.0.0", stream(tar_of(("task.yaml", TASK % b"1.0.0"))))
    assert (await clients["c"].publish_object("task", "add@1.0.0")).organization == "umbrella"


async def test_a_content_named_version_is_not_published(clients: dict[str, HttpOperations]) -> None:
    """A client believes that such a version is what lies at its path: somebody else's could be anything."""
    await push(clients["a"], "dataset", "rows@sha256-0123456789abcdef", rows_jsonl=ROWS)
    with pytest.raises(ValidationError, match="was made of a path"):
        await clients["a"].publish_object("dataset", "rows@sha256-0123456789abcdef")


def _sft(**config: Any) -> Any:
    return {"name": "j", "trainer_type": "sft", "model": "tiny-llama", "config": config, "tags": ["steps:1"]}


async def test_jobs_use_what_was_published(clients: dict[str, HttpOperations]) -> None:
    """The record of a job says whose it was; a job keeps it until its end, and its owner from nothing."""
    a, b, c = (clients[name] for name in "abc")
    await push(a, "dataset", "sums@1", rows_jsonl=b'{"prompt": "1+1=", "answer": "2"}\n' * 3)
    await a.publish_object("dataset", "sums@1")
    for named in ("sums", "acme/sums"):
        asked = _sft(dataset_ref={"name": named, "version": "1"})
        ref = (await b.plan_training_job(asked)).resolved[1]
        assert (ref.name, ref.version, ref.organization) == ("sums", "1", "acme")
        with pytest.raises(NotFoundError):
            await c.plan_training_job(asked)
    own = await a.plan_training_job(_sft(dataset_ref={"name": "sums", "version": "1"}))
    assert own.resolved[1].organization is None
    waiting = await b.create_training_job({**_sft(dataset_ref={"name": "sums", "version": "1"}), "tags": ["held"]})
    # a key that may write and not publish takes nothing from others
    with pytest.raises(ValidationError, match="published to the organisation acme: withdraw it first"):
        await a.delete_object("dataset", "sums@1")
    # no job of others keeps it from being hidden and deleted at once, and each that was there keeps its files
    await a.withdraw_object("dataset", "sums@1")
    with pytest.raises(NotFoundError):
        await b.plan_training_job(_sft(dataset_ref={"name": "sums", "version": "1"}))
    await a.delete_object("dataset", "sums@1")
    assert (await b.get_training_job(waiting.id)).state in ("queued", "running")
    await b.cancel_training_job(waiting.id)
    await b.wait_training_job(waiting.id)
    with pytest.raises(NotFoundError, match="deleted since"):
        await b.retry_training_job(waiting.id)


def _trees(home: Path) -> list[str]:
    """The digests of the trees that lie on the disk."""
    return sorted(place.name for place in (home / "objects" / "trees").glob("*/*"))


async def test_jobs_of_others_bind_nobody(here: World, clients: dict[str, HttpOperations], tmp_path: Path) -> None:
    """What is deleted under jobs of other workspaces counts for these, once for each content, until they have ended;
    then its files are gone with the next push or deletion. Jobs of its own workspace keep a version."""
    a, b, c = (clients[name] for name in "abc")
    rows = b'{"prompt": "1+1=", "answer": "2"}\n' * 3
    node = here.state.operations
    assert isinstance(node, Node)
    store = await node._parts.registry()._store()
    sft = _sft(dataset_ref={"name": "sums", "version": "1"}) | {"tags": ["held"]}

    async def end(client: HttpOperations, job: str) -> None:
        await client.cancel_training_job(job)
        await client.wait_training_job(job)

    await push(a, "dataset", "sums@1", rows_jsonl=rows)
    (tree,) = _trees(tmp_path)
    size = await store.usage("a")
    await a.publish_object("dataset", "sums@1")
    jobs = [(await b.create_training_job(sft)).id for _ in range(2)]
    own = (await a.create_training_job(sft)).id
    await a.withdraw_object("dataset", "sums@1")
    with pytest.raises(ValidationError, match=f"used by 1 training jobs that have not ended .{own}.: cancel") as used:
        await a.delete_object("dataset", "sums@1")
    assert used.value.reason == IN_USE
    await end(a, own)
    await a.delete_object("dataset", "sums@1")
    assert [await store.usage(name) for name in "abc"] == [(0, 0), size, (0, 0)]
    assert (await b.list_objects()).objects == (await b.list_objects(organization=True)).objects == []
    with pytest.raises(NotFoundError):
        await rows_of(b, "sums@1")
    # the version is free for another content, and the same content again is kept once
    await push(a, "dataset", "sums@1", rows_jsonl=rows + rows)
    await a.delete_object("dataset", "sums@1")
    assert _trees(tmp_path) == [tree]
    await push(a, "dataset", "again@1", rows_jsonl=rows)
    await a.delete_object("dataset", "again@1")
    await end(b, jobs[0])
    await push(b, "dataset", "other@1", rows_jsonl=OTHERS)
    assert tree in _trees(tmp_path)
    assert (await store.usage("b"))[0] == 2
    await end(b, jobs[1])
    await push(c, "dataset", "other@1", rows_jsonl=OTHERS)  # whose look is at what is kept for its own jobs
    assert tree in _trees(tmp_path)
    await push(b, "dataset", "other@2", rows_jsonl=OTHERS)
    assert tree not in _trees(tmp_path)
    assert (await store.usage("b"))[0] == 2


async def test_a_job_trains_on_what_was_deleted(clients: dict[str, HttpOperations], tmp_path: Path) -> None:
    """Also one that begins after its data set was deleted; where somebody else shows the same, nothing is kept."""
    a, b = clients["a"], clients["b"]
    rows = b'{"prompt": "1+1=", "answer": "2"}\n' * 3
    await push(a, "dataset", "sums@1", rows_jsonl=rows)
    (tree,) = _trees(tmp_path)
    await a.publish_object("dataset", "sums@1")
    sft = _sft(dataset_ref={"name": "sums", "version": "1"})
    first, waits = [(await b.create_training_job(sft | {"tags": tags})).id for tags in (["held"], ["steps:1"])]
    await a.withdraw_object("dataset", "sums@1")
    await a.delete_object("dataset", "sums@1")
    await b.cancel_training_job(first)
    assert (await b.wait_training_job(waits)).state == "completed"
    assert _trees(tmp_path) == [tree]
    await push(a, "dataset", "other@1", rows_jsonl=OTHERS)
    await a.delete_object("dataset", "other@1")  # which looks at what is kept for all
    assert _trees(tmp_path) == []


async def test_every_kind_is_published(clients: dict[str, HttpOperations]) -> None:
    """Capabilities, tasks, data sets, models and checkpoints alike."""
    a, b = clients["a"], clients["b"]
    made: tuple[tuple[Any, str, dict[str, bytes]], ...] = (
        ("capability", "solver@1.0.0", {"capability_yaml": CAPABILITY}),
        ("task", "add@1.0.0", {"task_yaml": TASK % b"1.0.0"}),
        ("dataset", "sums@1", {"rows_jsonl": ROWS}),
        ("model", "small@1", MODEL),
        ("checkpoint", "small@1", MODEL),
    )
    for kind, ref, files in made:
        await push(a, kind, ref, **files)
        await a.publish_object(kind, ref)
        assert (await b.get_object(kind, ref)).organization == "acme"


async def test_a_workspace_that_moves(here: World, clients: dict[str, HttpOperations]) -> None:
    """It sees what its new organisation has; what it published stays where that was, until it withdraws it."""
    a, b, c = (clients[name] for name in "abc")
    await push(a, "dataset", "sums@1", rows_jsonl=ROWS)
    await a.publish_object("dataset", "sums@1")
    await push(c, "dataset", "theirs@1", rows_jsonl=OTHERS)
    await c.publish_object("dataset", "theirs@1")
    await (await _workspaces(here)).set_organization("a", "umbrella")
    assert (await a.get_object("dataset", "theirs@1")).organization == "umbrella"
    assert (await b.get_object("dataset", "sums@1")).organization == "acme"
    with pytest.raises(NotFoundError):
        await c.get_object("dataset", "sums@1")
    assert (await a.publish_object("dataset", "sums@1")).organization == "umbrella"
    assert (await c.get_object("dataset", "sums@1")).organization == "umbrella"
    with pytest.raises(NotFoundError):
        await b.get_object("dataset", "sums@1")


async def test_who_may_publish(here: World) -> None:
    """A key with that scope, which an admin's has not, and which only a key that has it can give."""
    writer, admin = await key_for(here, "a", "read", "write"), await key_for(here, "a", "admin")
    publisher = await key_for(here, "a", "admin", "publish")
    client = here.client(api_key=writer)
    try:
        await push(client, "dataset", "sums@1", rows_jsonl=ROWS)
        with pytest.raises(AccessError, match="scope 'publish'"):
            await client.publish_object("dataset", "sums@1")
    finally:
        await client.close()
    for path in ("objects/dataset/sums@1", "blueprints/default"):
        for key in (writer, admin):
            for verb in ("publish", "withdraw"):
                assert (await ask(here, key, "POST", f"/v1/{path}/{verb}"))[0] == 403
    wanted = {"name": "k", "scopes": ["publish"]}
    assert (await ask(here, admin, "POST", "/v1/keys", wanted))[0] == 403
    status, made = await ask(here, publisher, "POST", "/v1/keys", wanted)
    assert (status, made["scopes"]) == (201, ["publish"])
    assert (await ask(here, made["key"], "POST", "/v1/objects/dataset/sums@1/publish"))[0] == 200
    assert (await ask(here, made["key"], "GET", "/v1/objects"))[0] == 403  # it reads nothing


async def test_blueprints_are_published(here: World, clients: dict[str, HttpOperations]) -> None:
    """By name and by id, with the contents of their files; sandboxes are made of them."""
    a, b, c = (clients[name] for name in "abc")
    first = await a.create_blueprint("env", files={"/data/x": b"1"}, env={"A": "1"})
    for asked in (b.get_blueprint, c.get_blueprint, b.publish_blueprint, b.withdraw_blueprint):
        with pytest.raises(NotFoundError):
            await asked("env")
    assert (await a.publish_blueprint("env")).id == first.id
    second = await a.create_blueprint("env", env={"A": "2"})
    assert (await b.get_blueprint("env")).id == first.id  # the newest that was published
    assert dict((await b.get_blueprint(first.id)).files) == {"/data/x": b"1"}
    with pytest.raises(NotFoundError):
        await b.get_blueprint(second.id)
    await a.publish_blueprint(second.id)
    assert (await b.get_blueprint("env")).id == second.id
    listed = await b.list_blueprints(organization=True)
    assert [one.id for one in listed.blueprints] == [second.id]
    assert len((await b.list_blueprints(organization=True, name="env")).blueprints) == 2
    assert "env" not in {one.name for one in (await b.list_blueprints()).blueprints}
    sandbox = await b.create_sandbox(SandboxSpec(blueprint="env"))
    await sandbox.stop()
    for missing in (c.get_blueprint, c.publish_blueprint):
        with pytest.raises(NotFoundError):
            await missing(first.id)
    assert (await c.list_blueprints(organization=True)).blueprints == []
    own = await b.create_blueprint("env")
    assert (await b.get_blueprint("env")).id == own.id
    with pytest.raises(ValidationError, match="another workspace of the organisation") as taken:
        await b.publish_blueprint("env")
    assert taken.value.reason == VERSION_TAKEN
    await b.delete_blueprint("env")
    await a.withdraw_blueprint(second.id)
    assert (await b.get_blueprint("env")).id == first.id
    await a.delete_blueprint("env")  # what is deleted is shown to nobody any more
    with pytest.raises(NotFoundError):
        await b.get_blueprint("env")
    for name, says in (("default", "everybody has it"), ("of-image", "default image can be published")):
        if name == "of-image":
            await a.create_blueprint(name, image="python:3.12")
        with pytest.raises(ValidationError, match=says):
            await a.publish_blueprint(name)


async def test_a_published_name_belongs_to_a_workspace(clients: dict[str, HttpOperations]) -> None:
    """Nobody else's higher version becomes the newest one of it, and no model comes in place of a checkpoint."""
    a, b = clients["a"], clients["b"]
    await push(a, "task", "add@1.0.0", task_yaml=TASK % b"1.0.0")
    await push(b, "task", "add@9.0.0", task_yaml=TASK % b"9.0.0")
    await push(a, "checkpoint", "small@1", **MODEL)
    await push(b, "model", "small@2", **MODEL)
    await a.publish_object("task", "add@1.0.0")
    await a.publish_object("checkpoint", "small@1")
    for kind, ref in (("task", "add@9.0.0"), ("model", "small@2")):
        with pytest.raises(ValidationError) as taken:
            await b.publish_object(kind, ref)  # type: ignore[arg-type]
        assert taken.value.reason == VERSION_TAKEN
    assert (await a.get_object("task", "add")).version == "1.0.0"
    await a.withdraw_object("task", "add@1.0.0")
    assert (await b.publish_object("task", "add@9.0.0")).organization == "acme"


async def test_an_own_checkpoint_comes_before_a_published_model(clients: dict[str, HttpOperations]) -> None:
    """Whoever publishes a model of that name does not change what the jobs of others begin with."""
    a, b = clients["a"], clients["b"]
    await push(a, "model", "small@2", **MODEL)
    await push(b, "checkpoint", "small@1", **MODEL)
    await push(b, "dataset", "sums@1", rows_jsonl=ROWS)
    await a.publish_object("model", "small@2")
    asked = _sft(dataset_ref={"name": "sums", "version": "1"})
    asked["model"] = "small"
    kept = (await b.plan_training_job(asked)).resolved[0]
    assert (kept.kind, kept.version, kept.organization) == ("checkpoint", "1", None)


async def test_an_owner_in_a_reference_is_meant(clients: dict[str, HttpOperations]) -> None:
    """WORKSPACE/NAME is not what the organisation has of that name."""
    a, b = clients["a"], clients["b"]
    await push(a, "dataset", "sums@1", rows_jsonl=ROWS)
    await a.publish_object("dataset", "sums@1")
    with pytest.raises(NotFoundError):
        await b.plan_training_job(_sft(dataset_ref={"name": "b/sums", "version": "1"}))


async def test_a_move_takes_nothing_from_jobs(here: World, clients: dict[str, HttpOperations]) -> None:
    """Jobs of the old organisation go on with what is shown to the new one instead, and a workspace that has left
    begins no job anew with what the old one has."""
    a, b, c = (clients[name] for name in "abc")
    await push(a, "dataset", "sums@1", rows_jsonl=b'{"prompt": "1+1=", "answer": "2"}\n' * 3)
    await a.publish_object("dataset", "sums@1")
    waiting = await b.create_training_job(_sft(dataset_ref={"name": "sums", "version": "1"}) | {"tags": ["held"]})
    workspaces = await _workspaces(here)
    await workspaces.set_organization("a", "umbrella")
    with pytest.raises(ValidationError, match="withdraw it first"):
        await a.delete_object("dataset", "sums@1")
    await b.cancel_training_job(waiting.id)
    await b.wait_training_job(waiting.id)
    await workspaces.set_organization("b", "elsewhere")
    with pytest.raises(NotFoundError, match="since the job was accepted"):
        await b.retry_training_job(waiting.id)
    await workspaces.set_organization("b", "acme")
    assert (await b.retry_training_job(waiting.id)).id == waiting.id
    assert (await a.publish_object("dataset", "sums@1")).organization == "umbrella"  # although b's job uses it
    for client in (b, c):
        found = [one.ref for one in (await client.list_objects(organization=True)).objects]
        assert found == (["sums@1"] if client is c else [])
    assert (await b.get_training_job(waiting.id)).state in ("queued", "running")
    await b.cancel_training_job(waiting.id)
    await b.wait_training_job(waiting.id)
    with pytest.raises(NotFoundError, match="since the job was accepted"):
        await b.retry_training_job(waiting.id)


async def test_what_was_withdrawn_stays_for_jobs(here: World, clients: dict[str, HttpOperations]) -> None:
    """Wherever its owner has moved since; jobs that use what another workspace shows elsewhere are none of its."""
    a, b, c, d = (clients[name] for name in "abcd")
    rows = b'{"prompt": "1+1=", "answer": "2"}\n' * 3
    held = _sft(dataset_ref={"name": "sums", "version": "1"}) | {"tags": ["held"]}
    for owner in (a, c):
        await push(owner, "dataset", "sums@1", rows_jsonl=rows)
        await owner.publish_object("dataset", "sums@1")
    workspaces = await _workspaces(here)
    await workspaces.set_organization("d", "umbrella")
    waiting, elsewhere = await b.create_training_job(held), await d.create_training_job(held)
    await workspaces.set_organization("a", "third")
    await a.withdraw_object("dataset", "sums@1")
    await a.delete_object("dataset", "sums@1")
    node = here.state.operations
    assert isinstance(node, Node)
    store = await node._parts.registry()._store()
    assert [(await store.usage(name))[0] for name in "abcd"] == [0, 1, 1, 0]
    await c.withdraw_object("dataset", "sums@1")
    await c.delete_object("dataset", "sums@1")
    assert [(await store.usage(name))[0] for name in "abcd"] == [0, 1, 0, 1]
    for client, job in ((b, waiting), (d, elsewhere)):
        await client.cancel_training_job(job.id)
        await client.wait_training_job(job.id)


async def test_hosted_training_knows_the_organisation(here: World, clients: dict[str, HttpOperations]) -> None:
    """The stock client names one: that of a workspace that was put into it, and any where it was put into none."""
    for workspace, organization, status in (("a", "acme", 200), ("a", "umbrella", 404), ("d", "acme", 200)):
        key = await key_for(here, workspace, "read")
        for path in ("", "/ws", f"/ws/{workspace}", f"/ws/{workspace}/training/jobs"):
            found, _ = await _hosted(here, key, f"/api/v1/org/{organization}{path}")
            assert found == status, path


async def _hosted(here: World, key: str, path: str) -> tuple[int, Any]:
    import aiohttp

    async with aiohttp.ClientSession(here.url, headers={"x-api-key": key}) as http, http.get(path) as answer:
        return answer.status, await answer.json()
