"""`harena world`."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from harena import TrajectoryOrder, World, WorldGoal, WorldJob, WorldJobState, WorldManifest, WorldMap
from harena.cli import face, world

MANIFEST = WorldManifest.checked({"name": "lab", "seed": 7})
WORLD = World(
    id="world_1",
    manifest=MANIFEST,
    digest="d" * 64,
    groups=6,
    edges=52,
    sessions=9,
    open_credentials=3,
    goals=[WorldGoal(name="Domain Admins@alpha", steps=15, optimal_return=0.985)],
    created_at="2030-01-01T00:00:00",
)


def job(state: str, **order: Any) -> WorldJob:
    return WorldJob(
        id="wjob_1",
        world="world_1",
        manifest=MANIFEST,
        order=TrajectoryOrder.checked(order),
        dataset="lab-trajectories@1",
        state=WorldJobState(state),
        played=4,
        reached=3,
        rows=3,
        error="it broke" if state == "failed" else None,
        created_at="2030-01-01T00:00:00",
        ended_at=None,
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the package was asked, and the state in which jobs end."""
    known: dict[str, Any] = {"ends": "completed"}

    def create(name: str, **given: Any) -> World:
        known["manifest"] = {"name": name, **given}
        return WORLD

    def order(name: str, **given: Any) -> WorldJob:
        known["order"] = {"world": name, **given}
        return job("queued")

    def drawn(name: str, **given: Any) -> WorldMap:
        known["map"] = {"world": name, **given}
        return WorldMap(world="world_1", text="a map\n", svg="<svg/>\n")

    manifests = SimpleNamespace(
        create=create,
        list=lambda name=None: [WORLD],
        get=lambda name: WORLD,
        map=drawn,
        delete=lambda name: known.update(removed=name),
    )
    jobs = SimpleNamespace(
        create=order,
        wait=lambda made: job(known["ends"]),
        list=lambda: [job("completed")],
        get=lambda name: job("running"),
        cancel=lambda name: job("cancelled"),
        delete=lambda name: known.update(removed=name),
    )
    package: Any = SimpleNamespace(world_manifests=manifests, world_jobs=jobs)
    monkeypatch.setattr(face, "load", lambda: package)
    monkeypatch.delenv("HARENA_BASE_URL", raising=False)
    return known


def run(*words: str) -> Any:
    return CliRunner().invoke(world.app, [*words])


def test_a_world_is_made_as_it_is_asked_for(asked: dict[str, Any]) -> None:
    assert run("create", "lab").output == "world_1\n"
    assert asked["manifest"] == {
        "name": "lab", "preset": "small", "seed": 0, "num_users": None, "num_hosts": None, "domains": None,
    }  # fmt: skip
    words = ("--preset", "large", "--seed", "7", "--num-users", "99", "--num-hosts", "33", "--domain", "a")
    made = run("create", "lab", *words, "--domain", "b", "--json")
    assert json.loads(made.output)["digest"] == WORLD.digest
    assert asked["manifest"] == {
        "name": "lab", "preset": "large", "seed": 7, "num_users": 99, "num_hosts": 33, "domains": ["a", "b"],
    }  # fmt: skip
    assert run("create", "lab", "--preset", "huge").exit_code == 2


def test_worlds_are_listed_shown_and_removed(asked: dict[str, Any], tmp_path: Path) -> None:
    assert "world_1" in run("ls").output
    assert json.loads(run("get", "lab").output)["goals"][0]["steps"] == 15
    assert run("show", "lab").output == "a map\n"
    picture = tmp_path / "lab.svg"
    assert run("show", "lab", "--svg", str(picture), "--job", "wjob_1", "--episode", "2").exit_code == 0
    assert picture.read_text() == "<svg/>\n"
    assert asked["map"] == {"world": "lab", "job": "wjob_1", "episode": 2}
    assert run("rm", "lab").output == "lab: removed\n"
    assert asked["removed"] == "lab"


def test_trajectories_are_waited_for_where_the_job_ends_with_the_process(asked: dict[str, Any]) -> None:
    told = run("trajectories", "lab", "--count", "4", "--strategy", "greedy", "--only-successful", "--form", "text")
    assert told.output == "wjob_1: completed, 3 of 4 reached the goal, 3 rows in lab-trajectories@1\n"
    assert asked["order"] == {
        "world": "lab", "goal": "Domain Admins", "count": 4, "strategy": "greedy", "max_steps": 100, "seed": 42,
        "threads": 1, "only_successful": True, "form": "text", "dataset": None,
        "mode": "scripted", "agent_model": None, "capability": None,
    }  # fmt: skip
    run("trajectories", "lab", "--model", "job:teacher@40", "--capability", "solver@1.0.0")
    played = {name: asked["order"][name] for name in ("mode", "agent_model", "capability", "strategy")}
    assert played == {
        "mode": "agent", "agent_model": "job:teacher@40", "capability": "solver@1.0.0", "strategy": "recon-first",
    }  # fmt: skip


def test_failed_episodes_in_a_data_set_are_told(asked: dict[str, Any]) -> None:
    told = run("trajectories", "lab")
    assert "1 of 4 episodes failed" in told.stderr
    assert "--only-successful" in told.stderr
    assert "episodes failed" not in run("trajectories", "lab", "--only-successful").output


def test_a_server_s_job_goes_on_alone(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARENA_BASE_URL", "http://127.0.0.1:1")
    assert run("trajectories", "lab").output == "wjob_1: queued, 3 of 4 reached the goal\n"
    asked["ends"] = "failed"
    failed = run("trajectories", "lab", "--wait")
    assert (failed.exit_code, failed.output.splitlines()[-1]) == (1, "it broke")


def test_jobs_are_listed_shown_cancelled_and_removed(asked: dict[str, Any]) -> None:
    assert "recon-first" in run("jobs").output
    assert json.loads(run("job", "wjob_1").output)["state"] == "running"
    cancelled = run("cancel", "wjob_1")
    assert (cancelled.exit_code, cancelled.output.startswith("wjob_1: cancelled")) == (0, True)
    assert run("rm-job", "wjob_1").output == "wjob_1: removed\n"
