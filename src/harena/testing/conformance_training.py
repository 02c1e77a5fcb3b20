"""Training jobs, as every transport must carry them, with a worker that learns nothing
(`harena.testing.fake_trainer`)."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import NotFoundError, ValidationError
from harena.core.idempotency import IdempotencyKey
from harena.core.ports import Operations

ENDED = ("completed", "failed", "cancelled")


def asked(prompts: Path, *tags: str, **more: Any) -> Any:
    """An RL job, whose tags say what the fake worker shall do."""
    config = {"algorithm": "grpo", "prompt_dataset_ref": str(prompts), "batch_size": 4}
    return {"trainer_type": "rl", "model": "tiny-llama", "config": config, "tags": list(tags), **more}


async def until(operations: Operations, job: str, kind: str, *, after: int = 0) -> dict[str, Any]:
    """The next event of this kind."""
    async for event in operations.training_job_events(job, after=after):
        if event["kind"] == kind:
            return dict(event)
    raise AssertionError(f"{job} ended without {kind}")


class TrainingConformance:
    """Mixed into `OperationsConformance`."""

    @pytest.fixture
    def prompts(self, tmp_path: Path) -> Path:
        """A data set of prompts."""
        path = tmp_path / "prompts.jsonl"
        path.write_text("".join(json.dumps({"prompt": f"{n}+1=", "answer": f"{n + 1}"}) + "\n" for n in range(4)))
        return path

    async def test_training_job(self, operations: Operations, prompts: Path) -> None:
        """Accepted, run, told of, ended: record, events, metrics, logs and files agree, by id and by name."""
        made = await operations.create_training_job(asked(prompts, "steps:4", name="a/b ü"))
        assert made["state"] in ("queued", "running")
        ended = await operations.wait_training_job("a/b ü")
        assert ended == await operations.get_training_job(made["id"])
        assert (ended["state"], ended["error"], ended["progress"].to_dict()) == (
            "completed",
            None,
            {"step": 4, "steps": 4},
        )
        assert (ended["algorithm"], ended["trainer_type"], ended["model"]) == ("grpo", "rl", "tiny-llama")
        assert ended["metrics"] == {
            "steps": 4, "train/reward": 0.4, "train/tokens": 4, "eval/steps": 4, "eval/reward": 0.5
        }  # fmt: skip
        assert ended in (await operations.list_training_jobs())["training_jobs"]

        events = [event async for event in operations.training_job_events("a/b ü")]
        assert [event["cursor"] for event in events] == [*range(1, len(events) + 1)]
        kinds = [event["kind"] for event in events]
        assert kinds[:3] == ["job_queued", "job_started", "training_start"]
        assert kinds[-2:] == ["training_end", "job_ended"]
        assert ended["cursor"] == events[-1]["cursor"]
        rest = [event async for event in operations.training_job_events(made["id"], after=5)]
        assert rest == events[5:]

        measured = await operations.training_job_metrics(made["id"])
        assert measured["metrics"]["steps"] == [1, 2, 3, 4]
        assert measured["metrics"]["train/reward"] == [0.1, 0.2, 0.3, 0.4]
        assert (measured["metrics"]["eval/steps"], measured["metrics"]["eval/reward"]) == ([4], [0.5])
        assert measured["cursor"] == ended["cursor"]
        later = await operations.training_job_metrics(made["id"], after=measured["cursor"])
        assert later.to_dict() == {"metrics": {}, "cursor": measured["cursor"], "more": False, "anew": False}

        logs = await operations.training_job_logs(made["id"])
        assert [item["message"] for item in logs["items"]][-1] == "the job has completed"
        page = await operations.training_job_logs(made["id"], limit=1)
        assert page["items"] == logs["items"][:1]
        assert (await operations.training_job_logs(made["id"], after=page["cursor"]))["items"] == logs["items"][1:]
        assert await operations.cancel_training_job(made["id"]) == ended

    async def test_training_plan(self, operations: Operations, prompts: Path) -> None:
        """What a job would do, by the code that accepts it: its plan is the job's, and nothing is started."""
        asking = asked(prompts, "steps:4", name="planned")
        asking["config"] = {**asking["config"], "held_out": 0.25}
        planned = await operations.plan_training_job(asking)
        assert (await operations.list_training_jobs(name="planned"))["training_jobs"] == []
        assert (planned["name"], planned["trainer_type"]) == ("planned", "rl")
        assert planned["learned_from"] + planned["held_out"] == 4
        assert planned["held_out"] >= 1
        assert planned["formats"] == {"prompts and answers": 4}
        made = await operations.create_training_job(asking)
        assert (planned["plan"], planned["resolved"]) == (made["plan"], made["resolved"])
        assert planned["first_evaluation"] == 0
        await operations.wait_training_job(made["id"])
        wrong: Any = {**asking, "config": {"algorithm": "grpo", "stepz": 1}}
        with pytest.raises(ValidationError) as of_plan:
            await operations.plan_training_job(wrong)
        with pytest.raises(ValidationError) as of_job:
            await operations.create_training_job(wrong)
        assert str(of_plan.value) == str(of_job.value)

    async def test_files_of_a_training_job(self, operations: Operations, prompts: Path) -> None:
        """Files that its artifacts name can be read, to the byte; nothing else of its folder, and nothing outside."""
        made = await operations.create_training_job(asked(prompts))
        await operations.wait_training_job(made["id"])
        found = await operations.training_job_artifacts(made["id"])
        assert found["artifacts"] == {"checkpoints": ["checkpoint.json"], "model": "model"}
        assert [file["path"] for file in found["files"]] == ["checkpoint.json", "model/weights"]
        content = b"".join([piece async for piece in operations.training_job_file(made["id"], "model/weights")])
        assert content == b"\x00\xff" * 1000
        for path in ("plan.json", "../1/plan.json", "/etc/passwd", "model", ""):
            with pytest.raises(NotFoundError, match="no file"):
                [piece async for piece in operations.training_job_file(made["id"], path)]

    async def test_a_training_job_that_fails(self, operations: Operations, prompts: Path) -> None:
        """With its own words; a retry from its checkpoint goes on there, one from scratch begins anew."""
        made = await operations.create_training_job(asked(prompts, "fail:the loss is nan"))
        failed = await operations.wait_training_job(made["id"])
        assert (failed["state"], failed["error"]) == ("failed", "the loss is nan")
        retried = await operations.retry_training_job(made["id"])
        assert retried["error"] is None
        assert (await operations.wait_training_job(made["id"]))["state"] == "failed"
        start = await until(operations, made["id"], "training_start", after=failed["cursor"])
        assert start["data"] == {"steps": 3, "from": 3}
        again = await operations.retry_training_job(made["id"], start="scratch")
        assert (again["attempt"], again["metrics"], again["progress"]["step"]) == (2, {}, 0)
        ended = await operations.wait_training_job(made["id"])
        assert (await until(operations, made["id"], "training_start", after=again["cursor"]))["data"]["from"] == 0
        assert ended["progress"].to_dict() == {"step": 3, "steps": 3}
        assert (await operations.training_job_metrics(made["id"]))["metrics"]["steps"] == [1, 2, 3]

    async def test_a_worker_that_dies(self, operations: Operations, prompts: Path) -> None:
        """The job goes on from its checkpoint, a bounded number of times; then it has failed, and says of what."""
        made = await operations.create_training_job(asked(prompts, "die:2"))
        ended = await operations.wait_training_job(made["id"])
        assert (ended["state"], ended["restarts"]) == ("failed", 2)
        assert "killed by SIGKILL; so did 2 before it" in ended["error"]
        assert "the fake trainer begins" in ended["error"], "the end of what it printed"
        events = [event async for event in operations.training_job_events(made["id"])]
        begun = [event["data"]["from"] for event in events if event["kind"] == "training_start"]
        assert begun == [0, 1, 1]
        measured = await operations.training_job_metrics(made["id"])
        assert measured["metrics"]["steps"] == [1]

    async def test_a_worker_that_babbles(self, operations: Operations, prompts: Path) -> None:
        """What it tells is not believed."""
        made = await operations.create_training_job(asked(prompts, "babble"))
        ended = await operations.wait_training_job(made["id"])
        assert ended["state"] == "failed"
        assert "none of harena's" in ended["error"], ended["error"]

    @pytest.mark.parametrize("how", ["held", "hang"])
    async def test_cancelling_a_training_job(self, operations: Operations, prompts: Path, how: str) -> None:
        """Also one that does not end when it is asked to; what it had stays, and what waits behind it goes on."""
        made = await operations.create_training_job(asked(prompts, "held", how))
        waiting = await operations.create_training_job(asked(prompts, "steps:1"))
        behind = await operations.create_training_job(asked(prompts, "steps:1"))
        await until(operations, made["id"], "training_start")
        assert (await operations.get_training_job(waiting["id"]))["state"] == "queued"
        folder = Path((await operations.training_job_artifacts(made["id"]))["folder"])
        (folder / "go-1").touch()
        await until(operations, made["id"], "checkpoint_saved")
        with pytest.raises(ValidationError, match="has not ended"):
            await operations.delete_training_job(made["id"])
        with pytest.raises(ValidationError, match="has not ended"):
            await operations.retry_training_job(made["id"])
        assert (await operations.cancel_training_job(waiting["id"]))["state"] == "cancelled"
        cancelled, same = await asyncio.gather(
            operations.cancel_training_job(made["id"]), operations.cancel_training_job(made["id"])
        )
        assert cancelled["state"] == same["state"] == "cancelled"
        assert cancelled["cancel_requested_at"] is not None
        assert [file["path"] for file in (await operations.training_job_artifacts(made["id"]))["files"]] == [
            "checkpoint.json"
        ]
        assert (await operations.wait_training_job(behind["id"]))["state"] == "completed"
        (folder / "go-2").touch()
        (folder / "go-3").touch()
        await operations.retry_training_job(made["id"])
        assert (await operations.wait_training_job(made["id"]))["state"] == "completed"
        await operations.delete_training_job(made["id"])
        assert not folder.exists()
        with pytest.raises(NotFoundError):
            await operations.get_training_job(made["id"])

    async def test_training_jobs_wait_in_order(self, operations: Operations, prompts: Path) -> None:
        """One at a time, in the order of their acceptance; listed newest first, in pages, and by what they are."""
        made = [
            (await operations.create_training_job(asked(prompts, "steps:1", name=name)))["id"]
            for name in ("order", "other", "order")
        ]
        ended = [await operations.wait_training_job(job) for job in made]
        starts = [job["started_at"] for job in ended]
        assert starts == sorted(starts)
        assert all(before["ended_at"] <= after["started_at"] for before, after in pairwise(ended))
        page = await operations.list_training_jobs(limit=2)
        rest = await operations.list_training_jobs(limit=1, cursor=page["next_cursor"])
        assert [job["id"] for job in page["training_jobs"] + rest["training_jobs"]] == made[::-1]
        named = await operations.list_training_jobs(name="order", state="completed", trainer_type="rl")
        assert [job["id"] for job in named["training_jobs"]] == [made[2], made[0]]
        assert (await operations.list_training_jobs(name="order", state="failed"))["training_jobs"] == []
        with pytest.raises(ValidationError, match="limit"):
            await operations.list_training_jobs(limit=0)

    async def test_a_training_job_is_accepted_once(self, operations: Operations, prompts: Path) -> None:
        """Equal keys give one job, also when it has ended."""
        request = asked(prompts, "steps:1")
        key = IdempotencyKey.of("train-once", json.dumps(request).encode())
        both = await asyncio.gather(*(operations.create_training_job(request, key=key) for _ in range(2)))
        assert both[0]["id"] == both[1]["id"]
        await operations.wait_training_job(both[0]["id"])
        assert (await operations.create_training_job(request, key=key))["id"] == both[0]["id"]

    async def test_bad_training_requests(self, operations: Operations, prompts: Path) -> None:
        """One error that lists every mistake, and no job."""
        before = await operations.list_training_jobs()
        bad = asked(prompts) | {"modell": 1, "config": {"algorithm": "magic", "temperature": -1}}
        with pytest.raises(ValidationError) as caught:
            await operations.create_training_job(bad)
        assert all(word in str(caught.value) for word in ("modell", "algorithm", "temperature"))
        with pytest.raises((NotFoundError, ValidationError), match="nowhere"):
            await operations.create_training_job(asked(prompts.with_name("nowhere.jsonl")))
        good = asked(prompts)
        for more, says in (
            ({"reward_recipe": {"name": "code_tests_v1", "params": {"blueprint_id": "none"}}}, "no blueprint 'none'"),
            ({"stop": ["end", "\u6f22"]}, "config.stop: '\u6f22'"),
        ):
            with pytest.raises(ValidationError, match=says):
                await operations.create_training_job(good | {"config": {**good["config"], **more}})
        assert await operations.list_training_jobs() == before

    async def test_unknown_training_jobs(self, operations: Operations) -> None:
        """Every verb says so."""
        for job in ("train_0000", "a/b?c#d"):
            for verb in ("get", "wait", "cancel", "retry", "delete"):
                with pytest.raises(NotFoundError):
                    await getattr(operations, f"{verb}_training_job")(job)
            for part in ("logs", "metrics", "artifacts"):
                with pytest.raises(NotFoundError):
                    await getattr(operations, f"training_job_{part}")(job)
            with pytest.raises(NotFoundError):
                [event async for event in operations.training_job_events(job)]
