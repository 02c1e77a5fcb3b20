from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import (
    NotFoundError,
    PlatformError,
    SandboxNotFoundError,
    SandboxUnavailableError,
    ValidationError,
)
from harena.core.models import SandboxSpec
from harena.core.node_config import NodeConfig
from harena.core.ports import Operations
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import SandboxStatus
from harena.node import store_place
from harena.node.node import Node
from harena.runtime.host.blueprints import Blueprints
from harena.runtime.host.layers import LayerStore
from harena.testing import FakeClock, FakeRuntime

ROW = {"id": "one", "candidate": "print(1)\n", "scoring": {"type": "stdio", "cases": [{"stdout": "1"}]}}


class FakeJobs:
    """Stands for BenchmarkJobs: answers with what it was asked."""

    closed = False
    fails_to_close = False

    async def create(self, workspace: str, request: Mapping[str, Any], *, key: None) -> dict[str, Any]:
        return {"created": dict(request)}

    async def list(
        self, workspace: str, *, name: str | None = None, cursor: int | None = None, limit: int = 100
    ) -> dict[str, Any]:
        return {"of": workspace, "name": name, "before": cursor, "limit": limit}

    async def events(self, workspace: str, job: str, *, after: int = 0) -> AsyncIterator[dict[str, Any]]:
        yield {"job": job, "cursor": after + 1}

    async def close(self) -> None:
        self.closed = True
        if self.fails_to_close:
            raise PlatformError("store is gone")

    def __getattr__(self, verb: str) -> Any:
        async def answer(workspace: str, job: str) -> dict[str, Any]:
            return {verb: job}

        return answer


@pytest.fixture
def runtime() -> FakeRuntime:
    """A fake runtime."""
    return FakeRuntime()


@pytest.fixture
def node(runtime: FakeRuntime, tmp_path: Path) -> Node:
    """A node over it, in an empty home."""
    clock = FakeClock(auto_jump=False)
    blueprints = Blueprints(clock, layers=LayerStore(tmp_path / "layers"), root=tmp_path / "blueprints")
    return Node(runtime, blueprints, clock, NodeConfig(store_place=tmp_path / "harena.db"))


async def test_sandbox_operations(node: Node, runtime: FakeRuntime) -> None:
    """Sandboxes are created from blueprints, found, listed, and ended with the node."""
    operations: Operations = node
    blueprint = await operations.create_blueprint("env", env={"A": "1"})
    handle = await operations.create_sandbox(SandboxSpec(blueprint="env", tags=("t",)))
    assert runtime.created[0].blueprint == blueprint
    assert await operations.get_sandbox(handle.info.id) is handle
    assert await operations.list_sandboxes(tags=["t"]) == [handle]
    assert [found.name for found in (await operations.list_blueprints()).blueprints] == [
        "env",
        "default",
        "python-warm",
    ]
    assert await operations.get_blueprint(blueprint.id) == blueprint
    await operations.close()
    assert handle.info.status is SandboxStatus.COMPLETED
    await operations.close()


async def test_benchmark_jobs_are_passed_on(node: Node) -> None:
    """Each operation on jobs reaches the jobs, and their answers come back."""
    node._parts._jobs = FakeJobs()  # type: ignore[assignment]
    assert await node.create_benchmark_job({"name": "n"}) == {"created": {"name": "n"}}
    assert await node.get_benchmark_job("j") == {"get": "j"}
    assert await node.wait_benchmark_job("j") == {"wait": "j"}
    assert await node.benchmark_job_results("j") == {"results": "j"}
    assert await node.cancel_benchmark_job("j") == {"cancel": "j"}
    assert await node.list_benchmark_jobs() == {"of": "default", "name": None, "before": None, "limit": 100}
    found = await node.in_workspace("team-a").list_benchmark_jobs(name="n", cursor=7, limit=5)
    assert found == {"of": "team-a", "name": "n", "before": 7, "limit": 5}
    assert [event async for event in node.benchmark_job_events("j", after=4)] == [{"job": "j", "cursor": 5}]
    await node.close()


async def test_a_workspace_has_blueprints_of_its_own(node: Node, runtime: FakeRuntime) -> None:
    """Its sandboxes are made from them; what another one has is not found; the built-in ones are everybody's."""
    ours, theirs = node.in_workspace("ours"), node.in_workspace("theirs")
    made = await ours.create_blueprint("env", env={"A": "1"})
    other = await theirs.create_blueprint("env", env={"A": "2"})
    await ours.create_sandbox(SandboxSpec(blueprint="env"))
    assert runtime.created[-1].blueprint == made
    for workspace, unseen in ((ours, other), (theirs, made), (node, made)):
        with pytest.raises(NotFoundError):
            await workspace.get_blueprint(unseen.id)
        with pytest.raises(NotFoundError):
            await workspace.create_sandbox(SandboxSpec(blueprint=unseen.id))
    assert next(blueprint.id for blueprint in (await theirs.list_blueprints()).blueprints) == other.id
    assert {blueprint.name for blueprint in (await node.list_blueprints()).blueprints} == {"default", "python-warm"}
    await theirs.delete_blueprint("env")
    assert await ours.get_blueprint("env") == made
    await ours.close()
    assert (await ours.list_sandboxes())[0].info.status is SandboxStatus.RUNNING, "a view ends nothing"
    await node.close()


async def test_a_workspace_has_sandboxes_of_its_own(node: Node) -> None:
    """Another one's are not found and not listed, neither living nor ended; the whole node counts them all."""
    ours, theirs = node.in_workspace("ours"), node.in_workspace("theirs")
    living, ended = [await ours.create_sandbox(SandboxSpec()) for _ in range(2)]
    await ended.stop()
    for stranger in (theirs, node):
        assert await stranger.list_sandboxes(include_terminal=True) == []
        for handle in (living, ended):
            with pytest.raises(SandboxNotFoundError, match="no sandbox"):
                await stranger.get_sandbox(handle.info.id)
    assert await ours.get_sandbox(living.info.id) is living
    assert await ours.list_sandboxes(include_terminal=True) == [ended, living]
    assert list(node.all_sandboxes(include_terminal=True)) == [ended, living]
    await node.close()


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "a@1.json", "é", "a" * 65, None])
def test_workspaces_have_plain_names(node: Node, name: Any) -> None:
    """They are names of directories, too."""
    with pytest.raises(ValidationError, match="workspace"):
        node.in_workspace(name)


def test_the_store_is_a_file_unless_a_database_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty variable names none."""
    for value in (None, ""):
        monkeypatch.delenv("HARENA_DATABASE_URL", raising=False)
        if value is not None:
            monkeypatch.setenv("HARENA_DATABASE_URL", value)
        assert store_place(tmp_path) == tmp_path / "harena.db"
    monkeypatch.setenv("HARENA_DATABASE_URL", "postgresql://host/x")
    assert store_place(tmp_path) == "postgresql://host/x"


async def test_close_goes_on_after_a_failure(node: Node, runtime: FakeRuntime) -> None:
    """Sandboxes and runtime are ended although the jobs could not be closed."""
    jobs = FakeJobs()
    jobs.fails_to_close = True
    node._parts._jobs = jobs  # type: ignore[assignment]
    await node.create_sandbox(SandboxSpec())
    with pytest.raises(PlatformError, match="store is gone"):
        await node.close()
    assert jobs.closed
    assert runtime.sandboxes == {}


async def test_closed_node_refuses(node: Node) -> None:
    """A closed node starts neither sandboxes nor jobs."""
    await node.close()
    with pytest.raises(SandboxUnavailableError, match="closed"):
        await node.create_sandbox(SandboxSpec())
    with pytest.raises(SandboxUnavailableError, match="closed"):
        await node.list_benchmark_jobs()


async def test_after_fork(node: Node, runtime: FakeRuntime) -> None:
    """In a forked child the node lets go of everything and ends nothing."""
    let_go: list[bool] = []
    runtime.after_fork_in_child = lambda: let_go.append(True)  # type: ignore[attr-defined]
    handle = await node.create_sandbox(SandboxSpec())
    node.after_fork_in_child()
    assert let_go == [True]
    assert handle.info.status is SandboxStatus.RUNNING
    with pytest.raises(SandboxUnavailableError):
        await node.create_sandbox(SandboxSpec())
    assert await node.list_sandboxes(include_terminal=True) == []
    await runtime.close()


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"scenarios": "rows.jsonl", "candidates": "answers.jsonl"}, "python-warm"),
        ({"scenarios": "rows.jsonl", "format": "humaneval"}, "python-warm"),
        ({"scenarios": "scenarios.yaml"}, "default"),
        ({"scenarios": "rows.jsonl", "candidates": "answers.jsonl", "blueprint_id": "default"}, "default"),
    ],
)
async def test_the_first_job_has_its_blueprint_prepared(
    node: Node, runtime: FakeRuntime, request_: dict[str, Any], expected: str
) -> None:
    """The runtime is told before the request is read, once, and also where the request turns out to be wrong."""
    told: list[tuple[str, str, str]] = []

    def prepare(image: str, blueprint: Blueprint, *, workspace: str) -> None:
        told.append((image, blueprint.name, workspace))

    runtime.prepare = prepare  # type: ignore[attr-defined]
    for _ in range(2):
        with pytest.raises(ValidationError):
            await node.create_benchmark_job({"name": "", **request_})
    assert told == [("default", expected, "default")]
    await node.close()


async def test_a_blueprint_that_is_not_there_is_told_by_the_job(node: Node, runtime: FakeRuntime) -> None:
    """Preparing it fails in silence."""
    runtime.prepare = NotImplemented  # type: ignore[attr-defined] # it is not called
    with pytest.raises(NotFoundError, match="none"):
        await node.score({"scenario": ROW, "blueprint_id": "none"})
    await node.close()


def test_node_is_light() -> None:
    """A node for plain sandboxes is loaded without any of the libraries that only jobs need."""
    code = "import json, sys, harena.node.node; print(json.dumps(sorted(sys.modules)))"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    loaded = set(json.loads(finished.stdout))
    heavy = {"pydantic", "sqlalchemy", "aiosqlite", "yaml", "typer", "rich", "harena.store", "harena.jobs"}
    assert loaded & heavy == set()
    assert "harena.jobs.benchmark.benchmark_jobs" not in loaded
