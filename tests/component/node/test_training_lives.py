"""Nodes that are killed and closed while their training jobs run."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "server"))

from server_world import fake_node

from footprint import command_line, processes, wait_ended
from harena.core.clock import SystemClock
from harena.core.errors import NotFoundError
from harena.node.node import Node
from harena.testing.conformance_training import asked, until

PROGRAM = Path(__file__).with_name("training_lives.py")
END_SECONDS = 60.0


@pytest.fixture
def request_(tmp_path: Path) -> dict[str, Any]:
    """Three steps, each of which waits to be told."""
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": "1+1=", "answer": "2"}\n')
    return asked(prompts, "steps:3", "held")


async def folder_of(node: Node, job: str) -> Path:
    return Path((await node.training_job_artifacts(job))["folder"])


def let(folder: Path, *steps: int) -> None:
    for step in steps:
        (folder / f"go-{step}").touch()


def workers_in(folder: Path) -> list[int]:
    return [pid for pid in processes() if str(folder) in command_line(pid)]


async def test_a_server_that_is_killed(tmp_path: Path, request_: dict[str, Any]) -> None:
    """Its worker ends with it, and the next server goes on from the checkpoint."""
    words = (sys.executable, str(PROGRAM), str(tmp_path / "home"), json.dumps(request_))
    first = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    assert first.stdout is not None
    folder = Path(json.loads(await first.stdout.readline()))
    folder.mkdir(parents=True, exist_ok=True)
    let(folder, 1)
    while json.loads(await first.stdout.readline())["kind"] != "checkpoint_saved":
        pass
    workers = workers_in(folder)
    assert len(workers) == 1
    first.kill()
    await first.communicate()
    assert wait_ended(workers, END_SECONDS) == []
    second = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    let(folder, 2, 3)
    said, _ = await asyncio.wait_for(second.communicate(), END_SECONDS)
    ended = json.loads(said.splitlines()[-1])
    assert (ended["state"], ended["restarts"], ended["progress"]["step"]) == ("completed", 1, 3)
    node = fake_node(tmp_path / "home", SystemClock(), durable_jobs=True)
    events = [event async for event in node.training_job_events(ended["id"])]
    assert [event["data"]["from"] for event in events if event["kind"] == "training_start"] == [0, 1]
    assert [event["cursor"] for event in events] == [*range(1, len(events) + 1)]
    (resumed,) = [event for event in events if event["kind"] == "job_resumed"]
    assert f"pid {first.pid}) has gone" in resumed["error"]
    assert (await node.training_job_metrics(ended["id"]))["metrics"]["steps"] == [1, 2, 3]
    await node.close()


async def test_a_server_that_is_stopped(tmp_path: Path, request_: dict[str, Any]) -> None:
    """It lets go of its jobs, and that costs them none of their restarts; those that wait keep their place."""
    first = fake_node(tmp_path, SystemClock(), durable_jobs=True)
    await first.resume_jobs()
    job = (await first.create_training_job(request_))["id"]
    behind = (await first.create_training_job({**request_, "tags": ["steps:1"]}))["id"]
    await until(first, job, "training_start")
    folder = tmp_path / "training" / job / "1"  # which a server does not tell
    let(folder, 1)
    await until(first, job, "checkpoint_saved")
    await first.close()
    assert workers_in(folder) == []
    second = fake_node(tmp_path, SystemClock(), durable_jobs=True)
    assert (await second.get_training_job(job))["state"] == "running"
    await second.resume_jobs()
    let(folder, 2, 3)
    ended = await second.wait_training_job(job)
    assert (ended["state"], ended["restarts"]) == ("completed", 0)
    kinds = [event["kind"] async for event in second.training_job_events(job)]
    assert [kind for kind in kinds if kind in ("job_released", "job_resumed")] == ["job_released", "job_resumed"]
    after = await second.wait_training_job(behind)
    assert (after["state"], after["started_at"] >= ended["ended_at"]) == ("completed", True)
    await second.close()


async def test_a_job_of_an_embedded_node_ends_with_it(tmp_path: Path, request_: dict[str, Any]) -> None:
    """As failed; a retry goes on where it was."""
    first = fake_node(tmp_path, SystemClock())
    job = (await first.create_training_job(request_))["id"]
    await until(first, job, "training_start")
    folder = await folder_of(first, job)
    let(folder, 1)
    await until(first, job, "checkpoint_saved")
    await first.close()
    second = fake_node(tmp_path, SystemClock())
    failed = await second.get_training_job(job)
    assert (failed["state"], failed["progress"]["step"]) == ("failed", 1)
    assert "harena train retry" in failed["error"]
    let(folder, 2, 3)
    await second.retry_training_job(job)
    assert (await second.wait_training_job(job))["state"] == "completed"
    start = await until(second, job, "training_start", after=failed["cursor"])
    assert start["data"]["from"] == 1
    await second.close()


async def test_a_node_of_one_workspace(tmp_path: Path) -> None:
    """As a worker has it: what is made there belongs to the workspace of its job."""
    node = fake_node(tmp_path, SystemClock(), workspace="team")
    await node.create_blueprint("theirs")
    assert (await node.in_workspace("team").get_blueprint("theirs")).name == "theirs"
    with pytest.raises(NotFoundError):
        await node.in_workspace("default").get_blueprint("theirs")
    await node.close()


async def test_several_at_a_time(tmp_path: Path, request_: dict[str, Any]) -> None:
    """As many as the node is told, no more."""
    node = fake_node(tmp_path, SystemClock(), training_jobs=2)
    jobs = [(await node.create_training_job(request_))["id"] for _ in range(3)]
    for job in jobs[:2]:
        await until(node, job, "training_start")
    assert (await node.get_training_job(jobs[2]))["state"] == "queued"
    await node.cancel_training_job(jobs[0])
    await until(node, jobs[2], "training_start")
    await node.close()
    again = fake_node(tmp_path, SystemClock())
    assert [(await again.get_training_job(job))["state"] for job in jobs] == ["cancelled", "failed", "failed"]
    await again.close()
