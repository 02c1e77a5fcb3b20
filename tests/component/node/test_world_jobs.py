"""Jobs of worlds whose nodes are killed, closed and cancelled, and the bounds of what a workspace may have."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

sys.path.append(str(Path(__file__).parents[1] / "server"))

from server_world import fake_node

from harena.core.clock import SystemClock
from harena.core.errors import (
    LimitExceededError,
    NotFoundError,
    PlatformError,
    SandboxUnavailableError,
    ValidationError,
)
from harena.core.file_trees import files_of, pack_files, unpack
from harena.core.settings import HOME
from harena.core.spool import remove_left_spools
from harena.node import world_agents
from harena.node.node import Node
from harena.worlds import jobs, manifests
from harena.worlds.atif import replayed
from harena.worlds.known import network_of

PROGRAM = Path(__file__).with_name("world_lives.py")
END_SECONDS = 60.0


async def rows_of(node: Node, ref: str, folder: Path) -> list[Any]:
    """The rows of a data set."""
    folder.mkdir()
    with (folder / "tree.tar").open("wb") as out:
        async for piece in node.pull_object("dataset", ref):
            out.write(piece)
    with (folder / "tree.tar").open("rb") as packed:
        unpack(packed, folder / "tree")
    (file,) = (folder / "tree").iterdir()
    return [json.loads(line) for line in file.read_text().splitlines()]


async def test_a_server_that_is_killed(tmp_path: Path) -> None:
    """Between the data set and the word of it: the next server makes the same rows, and none twice; what was behind it
    is done, too; and nothing of the killed one stays on the disk."""
    home = tmp_path / "home"
    first = await asyncio.create_subprocess_exec(
        sys.executable,
        str(PROGRAM),
        str(home),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, HOME.name: str(home)},
    )
    assert first.stdout is not None
    job, behind = (await first.stdout.readline()).decode().split()
    assert (await asyncio.wait_for(first.stdout.readline(), END_SECONDS)).strip() == b"published"
    assert [*home.glob("spool/*/harena-world-*")] != []
    first.kill()
    await first.communicate()
    node = fake_node(home, SystemClock(), durable_jobs=True)
    (before,) = (await node.list_objects("dataset")).objects
    await node.resume_jobs()
    ended = await asyncio.wait_for(node.wait_world_job(job), END_SECONDS)
    assert (ended.state, ended.played, ended.rows) == ("completed", 3, 3)
    assert before.ref == ended.dataset
    rows = await rows_of(node, ended.dataset, tmp_path / "rows")
    assert len(rows) == 3
    assert len({row["trajectory_id"] for row in rows}) == 3
    for row in rows:
        replayed(network_of(ended.manifest), row)
    assert (await asyncio.wait_for(node.wait_world_job(behind), END_SECONDS)).state == "completed"
    assert len((await node.list_objects("dataset")).objects) == 2
    await node.close()
    remove_left_spools(home)  # as every start of a node does
    assert [*home.glob("spool/*/harena-world-*")] == []


async def test_a_job_that_nobody_does_is_done_when_somebody_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whichever node is asked, also one whose jobs end with it."""
    first = fake_node(tmp_path, SystemClock())
    world = await first.create_world_manifest("w")
    with monkeypatch.context() as patched:
        patched.setattr(jobs.WorldJobs, "_do", lambda self, workspace, job: None)
        job = await first.create_world_job(world.id, max_steps=50)
    assert job.state == "queued"
    await first.close()
    with pytest.raises(SandboxUnavailableError):
        await first.wait_world_job(job.id)
    second = fake_node(tmp_path, SystemClock())
    assert (await second.get_world_job(job.id)).state in ("queued", "running")
    assert (await asyncio.wait_for(second.wait_world_job(job.id), END_SECONDS)).state == "completed"
    await second.close()


async def test_a_cancelled_job_publishes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for it is told; it can be deleted then, and not before."""
    node = fake_node(tmp_path, SystemClock())
    world = await node.create_world_manifest("w")
    begun, go = asyncio.Event(), asyncio.Event()

    async def held(self: Any, *given: Any) -> None:
        begun.set()
        await go.wait()

    monkeypatch.setattr(jobs.WorldJobs, "_play", held)
    job = await node.create_world_job(world.id)
    waiting = asyncio.create_task(node.wait_world_job(job.id))
    await begun.wait()
    with pytest.raises(ValidationError, match="has not ended"):
        await node.delete_world_job(job.id)
    cancelled = await node.cancel_world_job(job.id)
    assert (cancelled.state, cancelled.ended_at is None) == ("cancelled", False)
    assert await asyncio.wait_for(waiting, END_SECONDS) == cancelled
    assert (await node.list_objects("dataset")).objects == []
    await node.delete_world_job(job.id)
    await node.close()


async def test_a_workspace_may_have_so_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Worlds, and jobs that have not ended; what is deleted makes room."""
    monkeypatch.setattr(manifests, "MOST_WORLDS", 2)
    monkeypatch.setattr(jobs, "MOST_OPEN_JOBS", 1)
    node = fake_node(tmp_path, SystemClock())
    other = node.in_workspace("other")
    world = await node.create_world_manifest("a")
    await node.create_world_manifest("b")
    with pytest.raises(LimitExceededError) as refused:
        await node.create_world_manifest("c")
    assert refused.value.reason == "WORLDS"
    await other.create_world_manifest("c")
    await node.delete_world_manifest("b")
    await node.create_world_manifest("c")
    with monkeypatch.context() as patched:
        patched.setattr(jobs.WorldJobs, "_do", lambda self, workspace, job: None)
        job = await node.create_world_job(world.id, max_steps=9)
        with pytest.raises(LimitExceededError) as refused:
            await node.create_world_job(world.id)
    assert refused.value.reason == "WORLD_JOBS"
    await node.wait_world_job(job.id)
    await node.wait_world_job((await node.create_world_job(world.id, max_steps=9)).id)
    await node.close()


async def test_a_job_that_cannot_publish_fails_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the disk is full, or the workspace has published all that it may."""
    node = fake_node(tmp_path, SystemClock())
    world = await node.create_world_manifest("w")
    for error in (OSError(28, "No space left on device"), LimitExceededError("all that it may", reason="OBJECTS")):

        async def refused(self: Any, *given: Any, error: Exception = error) -> None:
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(jobs.WorldJobs, "_play", refused)
            job = await node.create_world_job(world.id)
            ended = await asyncio.wait_for(node.wait_world_job(job.id), END_SECONDS)
        assert ended.state == "failed"
        assert ended.error == str(error)
    await node.close()


async def test_a_node_does_so_many_jobs_of_worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one workspace one, of all two; the next begins when one has ended."""
    node = fake_node(tmp_path, SystemClock())
    spaces = [node.in_workspace(name) for name in ("a", "b", "c")]
    begun: list[str] = []
    go = asyncio.Event()
    changed = asyncio.Condition()

    async def held(self: Any, row: Any, *given: Any) -> None:
        async with changed:
            begun.append(row.workspace)
            changed.notify_all()
        await go.wait()
        raise ValidationError("enough")

    monkeypatch.setattr(jobs.WorldJobs, "_play", held)
    made = []
    for space in spaces:
        world = await space.create_world_manifest("w")
        made += [(space, (await space.create_world_job(world.id)).id) for _ in range(2)]
    async with changed:
        await asyncio.wait_for(changed.wait_for(lambda: len(begun) == 2), END_SECONDS)
    for space, job in made:  # time for others to begin, if they could
        await space.get_world_job(job)
    assert sorted(begun) == ["a", "b"]
    go.set()
    ended = [await asyncio.wait_for(space.wait_world_job(job), END_SECONDS) for space, job in made]
    assert [job.state for job in ended] == ["failed"] * 6
    assert sorted(begun) == ["a", "a", "b", "b", "c", "c"]
    await node.close()


async def test_models_that_play_keep_nobody_else_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many workspaces have one that plays, and however long it does: a strategy's job is done meanwhile."""
    node = fake_node(tmp_path, SystemClock())
    playing, go = asyncio.Queue[str](), asyncio.Event()

    async def pinned(self: Any, workspace: str, world: str, order: Any) -> Any:
        return order

    async def played(self: Any, workspace: str, *given: Any) -> Any:
        playing.put_nowait(workspace)
        await go.wait()
        raise PlatformError(f"{tempfile.gettempdir()}/harena-work-1 ended\nTraceback of a worker", step="worker")

    monkeypatch.setattr(world_agents.WorldAgents, "pinned", pinned)
    monkeypatch.setattr(world_agents.WorldAgents, "played", played)
    made = []
    for name in map(str, range(jobs.MOST_AT_ONCE)):
        space = node.in_workspace(name)
        world = await space.create_world_manifest("w")
        made.append((space, (await space.create_world_job(world.id, mode="agent", agent_model="m")).id))
    begun = [await asyncio.wait_for(playing.get(), END_SECONDS) for _ in made]
    assert sorted(begun) == ["0", "1"]
    assert {(await space.get_world_job(job)).state for space, job in made} == {"running"}
    scripted = await node.create_world_job((await node.create_world_manifest("w")).id, max_steps=9)
    assert (await asyncio.wait_for(node.wait_world_job(scripted.id), END_SECONDS)).ended_at is not None
    go.set()
    ended = [await asyncio.wait_for(space.wait_world_job(job), END_SECONDS) for space, job in made]
    assert {(job.state, job.error) for job in ended} == {("failed", "(a path of the server) ended")}
    await node.close()


def a_model(folder: Path) -> Path:
    """The files of a model with room for a world; nobody loads its weights."""
    folder.mkdir()
    tokens = ["<pad>", "<end>", "<unknown>", *map(chr, range(32, 127)), "\n"]
    tokenizer = Tokenizer(WordLevel({token: number for number, token in enumerate(tokens)}, unk_token="<unknown>"))
    tokenizer.pre_tokenizer = Split(Regex(r"[\s\S]"), behavior="isolated")
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<end>"}))
    described = {"architectures": ["LlamaForCausalLM"], "max_position_embeddings": 8192}
    (folder / "config.json").write_text(json.dumps(described))
    (folder / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    return folder


async def test_a_model_plays(tmp_path: Path) -> None:
    """In place of a strategy: its actions are played in the world, and its rows name it; what cannot play is refused
    before there is a job."""
    node = fake_node(tmp_path / "home", SystemClock())
    world = await node.create_world_manifest("lab", seed=5)

    async def tree() -> AsyncIterator[bytes]:
        for piece in pack_files(files_of(a_model(tmp_path / "model"))):
            yield piece

    await node.push_object("model", "small", "1", tree())
    asked: dict[str, Any] = {"mode": "agent", "agent_model": "small", "count": 2, "max_steps": 5}
    job = await node.wait_world_job((await node.create_world_job(world.id, **asked)).id)
    assert (job.state, job.error, job.played, job.reached, job.rows) == ("completed", None, 2, 0, 2)
    assert job.order.agent_model == "small@1"
    rows = await rows_of(node, job.dataset, tmp_path / "rows")
    assert [row["agent"] for row in rows] == [{"name": "agent", "version": "1", "model_name": "small@1"}] * 2
    assert {(row["step_count"], row["termination_reason"]) for row in rows} == {(2, "stalled")}
    assert len(replayed(network_of(job.manifest), rows[0])) == 3
    with pytest.raises(ValidationError, match="the way of a model is in its data set"):
        await node.world_manifest_map(world.id, job=job.id)
    before = len((await node.list_world_jobs()).world_jobs)
    for wrong, says in (
        ({"agent_model": None}, "agent_model: missing"),
        ({"agent_model": "/etc"}, "agent_model: '/etc' is a path, and a world's job keeps none"),
        ({"agent_model": "nobodys"}, "no model or checkpoint 'nobodys'"),
        ({"capability": "solver@1.0.0"}, "no capability 'solver@1.0.0'"),
        ({"capability": "solver"}, "capability: must name a version"),
        ({"strategy": "greedy"}, "strategy: belongs to mode 'scripted'"),
        ({"mode": "scripted"}, "agent_model: belongs to mode 'agent'"),
        ({"mode": "kali"}, "mode: must be one of scripted, agent"),
    ):
        with pytest.raises((ValidationError, NotFoundError), match=says):
            await node.create_world_job(world.id, **{**asked, **wrong})
    assert len((await node.list_world_jobs()).world_jobs) == before
    await node.close()
