"""What worlds and their jobs do over every transport."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import NotFoundError, ValidationError
from harena.core.file_trees import unpack
from harena.core.ports import Operations
from harena.core.records.training_plans import RLPlan
from harena.core.requests import TrainingJobFields
from harena.core.worlds import ROW_FORMS, RowForm
from harena.testing.conformance_registry import chat_model


class WorldsConformance:
    """Every verb of both nouns."""

    async def test_the_life_of_a_world(self, operations: Operations) -> None:
        """It is made, found by its id and by its name, listed, drawn, and deleted; equal manifests are equal worlds."""
        made = await operations.create_world_manifest("life", seed=3)
        again = await operations.create_world_manifest("life", seed=3, domains=["alpha"])
        assert made.id != again.id
        assert (made.digest, made.manifest, made.goals) == (again.digest, again.manifest, again.goals)
        assert (made.manifest.num_hosts, made.manifest.preset, made.manifest.domains) == (10, "small", ["alpha"])
        assert await operations.get_world_manifest(made.id) == made
        assert await operations.get_world_manifest("life") == again
        assert [one.id for one in (await operations.list_world_manifests(name="life")).worlds] == [again.id, made.id]
        assert all(one.steps <= other.steps for one, other in pairwise(made.goals))
        drawn = await operations.world_manifest_map(made.id)
        assert drawn.world == made.id
        assert "alpha: 10 hosts, 20 principals" in drawn.text
        assert drawn.svg.startswith("<svg ")
        for world in (made.id, again.id):
            await operations.delete_world_manifest(world)
            with pytest.raises(NotFoundError):
                await operations.get_world_manifest(world)

    async def test_pages_of_worlds(self, operations: Operations) -> None:
        """The newest first; the last one says that it is the last."""
        made = [(await operations.create_world_manifest("paged", seed=seed)).id for seed in range(3)]
        first = await operations.list_world_manifests(name="paged", limit=2)
        assert [one.id for one in first.worlds] == [made[2], made[1]]
        last = await operations.list_world_manifests(name="paged", limit=2, cursor=first.next_cursor)
        assert ([one.id for one in last.worlds], last.next_cursor) == ([made[0]], None)
        for world in made:
            await operations.delete_world_manifest(world)

    async def test_a_bad_manifest_is_named_field_by_field(self, operations: Operations) -> None:
        """All of its mistakes, and nothing is kept."""
        wrong: Any = {"preset": "huge", "seed": -1, "num_users": 1, "num_hosts": 1, "domains": ["UPPER"]}
        with pytest.raises(ValidationError) as refused:
            await operations.create_world_manifest("bad manifest", **wrong)
        for field in ("name", "preset", "seed", "num_users", "num_hosts", "domains"):
            assert field in str(refused.value)
        with pytest.raises(ValidationError, match="num_hosts: must be a whole number from 8"):
            await operations.create_world_manifest("bad", domains=["a", "b"], num_hosts=7, num_users=100)
        assert (await operations.list_world_manifests(name="bad")).worlds == []

    async def test_trajectories_become_a_data_set(self, operations: Operations, tmp_path: Path) -> None:
        """A job plays, and publishes what it has played; its world may be gone by then."""
        world = await operations.create_world_manifest("played", seed=5)
        job = await operations.create_world_job(world.id, count=3, max_steps=1000, threads=2, dataset="episodes")
        await operations.delete_world_manifest(world.id)
        ended = await operations.wait_world_job(job.id)
        assert (ended.state, ended.error, ended.played, ended.rows) == ("completed", None, 3, 3)
        assert ended.ended_at is not None
        assert ended.dataset.startswith("episodes@")
        assert await operations.get_world_job(job.id) == ended
        assert [one.id for one in (await operations.list_world_jobs(world=world.id)).world_jobs] == [job.id]
        with (tmp_path / "tree.tar").open("wb") as out:
            async for piece in operations.pull_object("dataset", ended.dataset):
                out.write(piece)
        with (tmp_path / "tree.tar").open("rb") as packed:
            unpack(packed, tmp_path / "tree")
        (file,) = (tmp_path / "tree").iterdir()
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        assert [row["success"] for row in rows].count(True) == ended.reached
        assert {row["extra"]["world"]["digest"] for row in rows} == {world.digest}
        stored = await operations.get_object("dataset", ended.dataset)
        assert {"sft", "trajectories"} <= {*stored.described["parts"][""]["uses"]}
        assert await operations.cancel_world_job(job.id) == ended
        await operations.delete_world_job(job.id)
        with pytest.raises(NotFoundError):
            await operations.get_world_job(job.id)
        assert (await operations.get_object("dataset", ended.dataset)).files == 1

    async def test_the_way_of_an_episode_is_drawn(self, operations: Operations) -> None:
        """By its number; a job of another world draws nothing here."""
        world = await operations.create_world_manifest("drawn", seed=5)
        other = await operations.create_world_manifest("other", seed=6)
        job = await operations.create_world_job(world.id, max_steps=1000, form="text")
        drawn = await operations.world_manifest_map(world.id, job=job.id, episode=0)
        assert "episode 0, " in drawn.text
        with pytest.raises(ValidationError, match="episodes 0 to 0"):
            await operations.world_manifest_map(world.id, job=job.id, episode=1)
        with pytest.raises(NotFoundError):
            await operations.world_manifest_map(other.id, job=job.id)
        await operations.wait_world_job(job.id)

    async def test_a_job_without_a_row_fails(self, operations: Operations) -> None:
        """It says why, and publishes nothing."""
        world = await operations.create_world_manifest("hopeless", seed=5)
        job = await operations.create_world_job(world.id, count=2, max_steps=1, only_successful=True)
        ended = await operations.wait_world_job(job.id)
        assert (ended.state, ended.played, ended.rows) == ("failed", 2, 0)
        assert "none of the 2 episodes reached the goal within 1 steps" in (ended.error or "")
        with pytest.raises(NotFoundError):
            await operations.get_object("dataset", ended.dataset)

    @pytest.mark.parametrize("form", ROW_FORMS)
    async def test_rows_of_every_form_are_learnt_from(
        self, operations: Operations, tmp_path: Path, form: RowForm
    ) -> None:
        """Each is a data set of conversations, and of trajectories."""
        world = await operations.create_world_manifest("learnt", seed=5)
        job = await operations.create_world_job(world.id, count=2, max_steps=30, form=form)
        name, _, version = (await operations.wait_world_job(job.id)).dataset.partition("@")
        source = {"name": name, "version": version}
        model = str(chat_model(tmp_path / "model"))
        for config in ({"dataset_ref": source}, {"trajectory_dataset_refs": [source]}):
            request: Any = {"trainer_type": "sft", "model": model, "tags": ["steps:1"], "config": config}
            made = await operations.create_training_job(request)
            (rows,) = (ref for ref in made.resolved if ref.kind == "dataset")
            assert rows.rows == 2
            assert (await operations.wait_training_job(made.id)).state == "completed"

    async def test_a_training_job_plays_a_world(self, operations: Operations, tmp_path: Path) -> None:
        """Its beginning is the job's one prompt, which stays when the world is gone; what is wrong with the reference
        is said at submission."""
        world = await operations.create_world_manifest("trained", seed=5)
        config: dict[str, Any] = {"algorithm": "grpo", "world_manifest_id": "trained", "max_turns": 3}
        config["world_reward"] = {"name": "goal_only_v1", "params": {"terminal_stall_penalty": -0.5}}
        request: TrainingJobFields = {
            "trainer_type": "rl", "model": str(chat_model(tmp_path / "model")), "tags": ["steps:1"], "config": config,
        }  # fmt: skip
        for wrong, error in (
            ({"world_manifest_id": "nobodys"}, NotFoundError),
            ({"world_goal": "Kings"}, ValidationError),
            ({"world_reward": {"name": "best"}}, ValidationError),
        ):
            with pytest.raises(error, match=f"config.{next(iter(wrong)).replace('world_goal', 'world_manifest_id')}: "):
                await operations.create_training_job({**request, "config": {**config, **wrong}})
        job = await operations.create_training_job(request)
        await operations.delete_world_manifest(world.id)
        (prompt,) = (ref for ref in job.resolved if ref.where == "config.world_manifest_id")
        assert (prompt.kind, prompt.rows) == ("dataset", 1)
        assert isinstance(job.plan, RLPlan)
        assert job.plan.reward is not None
        assert job.plan.reward.name == "world_episode_v1"
        assert job.plan.reward.params == {"policy": "goal_only_v1", "values": {"terminal_stall_penalty": -0.5}}
        assert job.plan.max_turns == 3
        assert (await operations.wait_training_job(job.id)).state == "completed"

    async def test_what_no_job_can_be(self, operations: Operations) -> None:
        """A world that is not there, a goal that the world does not have, numbers out of range."""
        with pytest.raises(NotFoundError):
            await operations.create_world_job("nobodys")
        world = await operations.create_world_manifest("refused", seed=5)
        with pytest.raises(ValidationError, match="has no group 'Kings'"):
            await operations.create_world_job(world.id, goal="Kings")
        for bad in ({"count": 0}, {"max_steps": 1001}, {"threads": 17}, {"seed": -1}, {"strategy": "best"}):
            with pytest.raises(ValidationError, match=next(iter(bad))):
                await operations.create_world_job(world.id, **bad)
        with pytest.raises(ValidationError, match=r"dataset|name"):
            await operations.create_world_job(world.id, dataset="a b")
