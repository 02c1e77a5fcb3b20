"""Folders of training jobs that are being accepted or deleted, where their process lives and where it was killed."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "server"))

from server_world import fake_node

from harena.core.clock import SystemClock
from harena.jobs.training.unsettled_folders import MARK, UnsettledFolders
from harena.store.training_jobs import TrainingStore
from harena.testing import FakeClock
from harena.testing.conformance_training import asked

PROGRAM = Path(__file__).with_name("unsettled_lives.py")


@pytest.fixture
def request_(tmp_path: Path) -> dict[str, Any]:
    """A job that names a blueprint, `told`."""
    contract = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 1}]}
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text(json.dumps({"prompt": "1>", "scoring": contract}) + "\n")
    recipe = {"name": "code_tests_v1", "params": {"template": "def f(x):\n    {completion}", "blueprint_id": "told"}}
    request = asked(prompts, "steps:1")
    return {**request, "config": {**request["config"], "reward_recipe": recipe}}


def folders(home: Path) -> list[str]:
    """What is below the folder of training jobs."""
    return sorted(path.name for path in (home / "training").iterdir())


@pytest.mark.parametrize(("doing", "stay"), [("accept", 1), ("delete", 0)])
async def test_what_a_killed_process_leaves(tmp_path: Path, request_: dict[str, Any], doing: str, stay: int) -> None:
    """A process that is killed between a job's folder and its row leaves a folder that the next one removes; those of
    jobs stay."""
    home = tmp_path / "home"
    process = await asyncio.create_subprocess_exec(sys.executable, PROGRAM, home, json.dumps(request_), doing)
    assert await process.wait() == -signal.SIGKILL
    left = folders(home)
    (orphan,) = [name for name in left if (home / "training" / name / MARK).exists()]
    assert len(left) == stay + 1
    assert (home / "training" / orphan / "blueprints" / "told@000001.json").exists()
    (home / "training" / ".removed-0123" / "blueprints").mkdir(parents=True)  # as one that was killed while it removed
    node = fake_node(home, SystemClock(), durable_jobs=True)
    made = (await node.create_training_job(request_))["id"]
    await node.wait_training_job(made)  # begun when what was left had gone
    assert folders(home) == sorted([*(name for name in left if name != orphan), made])
    assert not (home / "training" / made / MARK).exists()
    await node.close()


async def test_a_folder_of_a_job_that_is_being_inserted(
    tmp_path: Path, request_: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server that starts meanwhile leaves it alone, and so does one that starts when the job has been
    accepted."""
    insert_job = TrainingStore.insert_job
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def held(*given: Any, **named: Any) -> str:
        if not reached.is_set():
            reached.set()
            await go_on.wait()
        return await insert_job(*given, **named)

    monkeypatch.setattr(TrainingStore, "insert_job", held)
    first = fake_node(tmp_path, SystemClock(), durable_jobs=True)
    await first.create_blueprint("told", env={"SAID": "right"})
    making = asyncio.create_task(first.create_training_job(request_))
    await reached.wait()
    (job,) = folders(tmp_path)
    second = fake_node(tmp_path, SystemClock(), durable_jobs=True)
    plain = {**request_, "config": {k: v for k, v in request_["config"].items() if k != "reward_recipe"}}
    await second.wait_training_job((await second.create_training_job(plain))["id"])  # begun after its look around
    assert (tmp_path / "training" / job / "blueprints" / "told@000001.json").exists()
    go_on.set()
    assert (await making)["id"] == job
    await first.wait_training_job(job)
    assert (tmp_path / "training" / job / "blueprints" / "told@000001.json").exists()
    await first.close()
    await second.close()


async def test_whose_marks_are_left_over(tmp_path: Path) -> None:
    """Folders with a mark of another store, and those whose mark somebody holds, are nobody's to remove."""
    clock = FakeClock()
    here, elsewhere = (UnsettledFolders(tmp_path / "t", place, clock) for place in (tmp_path / "a.db", "x://u:p@h/b"))
    asked_for: list[str] = []

    async def is_there(job_id: str) -> bool:
        asked_for.append(job_id)
        return job_id == "stands"

    async with here.making("held") as folder:
        assert folder == tmp_path / "t" / "held"
        await here.remove_left(is_there)
        assert asked_for == []
        mark = (folder / MARK).read_bytes()
    for job_id in ("stands", "orphan", "theirs"):
        async with elsewhere.making(job_id) as folder:
            theirs = (folder / MARK).read_bytes()
        assert not (folder / MARK).exists()
        (folder / MARK).write_bytes(theirs if job_id == "theirs" else mark)
    assert b"p@" not in theirs
    await here.remove_left(is_there)
    assert sorted(asked_for) == ["orphan", "stands"]
    assert folders_in(tmp_path / "t") == ["held", "stands", "theirs", f"theirs/{MARK}"]
    with pytest.raises(RuntimeError):
        async with here.removing("held"):
            raise RuntimeError("the job has not ended")
    assert (tmp_path / "t" / "held").exists()
    async with here.removing("held"), here.removing("held"):
        pass
    assert not (tmp_path / "t" / "held").exists()


def folders_in(place: Path) -> list[str]:
    """The paths below a folder."""
    return sorted(path.relative_to(place).as_posix() for path in place.rglob("*"))
