"""Jobs and calibrations of stored scenarios, over a real store and a scripted scorer, also where their node ends."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from data_set_rows import harbor_task
from stored_jobs import StoredJobs
from test_benchmark_jobs import Named, NoSandboxes, Recipes, Scorer

from harena.core.clock import SystemClock
from harena.core.errors import LimitExceededError, NotFoundError, ValidationError
from harena.core.idempotency import IdempotencyKey
from harena.core.node_config import NodeConfig
from harena.core.ports.image_builds import FolderBuild
from harena.core.results import RunResult
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.core.workspace import LimitsOf, WorkspaceLimits
from harena.scoring import battery
from harena.scoring.battery import BATTERY
from harena.sdk.task_archives import packed_tasks

CONTRACT = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 1}]}
RIGHT = {"id": "right", "problem": "p", "candidate": "def f(n): return n"}
PROBLEMS = {"problems": [{"id": "p", "scoring": {"contract": "same"}}]}
BATCH = {"problems": PROBLEMS["problems"], "scenarios": [RIGHT]}


class Reader(Scorer):
    """Scores real scenarios by what `does` says of them, and remembers their programs and contracts."""

    def __init__(self, hang: bool = False) -> None:
        super().__init__()
        self.hang = hang
        self.seen: list[tuple[str, Any]] = []

    async def __call__(self, scenario: Any, **more: Any) -> Any:  # type: ignore[override]
        self.seen.append((scenario.candidate.source, scenario.scoring.checks[0].expected))
        right = "return n" in scenario.candidate.source
        does = "hang" if self.hang else "pass" if right else "fail"
        return await super().__call__(Named(scenario.id, does), **more)


@asynccontextmanager
async def node(
    path: Path, scorer: Any, *, durable: bool = True, limits_of: LimitsOf | None = None, **more: Any
) -> AsyncIterator[StoredJobs]:
    """A node's jobs and catalogue."""
    config = NodeConfig(store_place=path, durable_jobs=durable, limits_of=limits_of)
    jobs = StoredJobs(config, NoSandboxes(), Recipes(), SystemClock(), score=scorer, cores=2, **more)
    await jobs.start()
    try:
        yield jobs
    finally:
        await jobs.close()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three forgeries."""
    monkeypatch.setattr(battery, "BATTERY", BATTERY[:3])


async def stored(jobs: StoredJobs, expected: int = 1) -> dict[str, Any]:
    """The contract and the batch, as the newest versions of their names."""
    contract = {**CONTRACT, "checks": [{"args": [1], "expected": expected}]}
    await jobs.catalog.create(HERE, "scoring_contracts", {"name": "same", "contract": contract})
    return await jobs.catalog.create(HERE, "scenarios", {"name": "batch", "scenarios": BATCH})


async def test_a_job_that_is_taken_over_runs_what_was_the_newest_when_it_was_accepted(tmp_path: Path) -> None:
    """Stored scenarios, stored contracts of inline scenarios, and of candidates that came with the job."""
    first, second = Reader(hang=True), Reader()
    inline = [{"id": "i", "candidate": "def f(n): return n", "scoring": {"contract": "same"}}]
    answers = [{**RIGHT, "id": "answer", "scoring": {"contract": "same"}}]
    async with node(tmp_path / "harena.db", first) as jobs:
        await stored(jobs)
        made = [
            await jobs.create(HERE, {"name": "a", "scenarios": {"ref": "batch"}, "blueprint_id": "env"}),
            await jobs.create(HERE, {"name": "b", "scenarios": inline, "blueprint_id": "env"}),
            await jobs.create(
                HERE, {"name": "c", "scenarios": {"ref": "batch@1"}, "candidates": answers, "blueprint_id": "env"}
            ),
        ]
        assert (await stored(jobs, expected=2))["ref"] == "batch@2"
    async with node(tmp_path / "harena.db", second) as jobs:
        results = [await jobs.wait(HERE, job["id"]) for job in made]
    versions = [(run["scenario_version"], run["contract_version"]) for one in results for run in one["runs"]]
    assert versions == [("batch@1", "same@1"), (None, "same@1"), ("batch@1", "same@1")]
    assert {expected for _, expected in second.seen} == {1}


async def test_workspaces_do_not_see_each_other(tmp_path: Path) -> None:
    """The same name is another thing there, and versions count for themselves."""
    async with node(tmp_path / "harena.db", Reader()) as jobs:
        await stored(jobs)
        with pytest.raises(NotFoundError):
            await jobs.catalog.get("elsewhere", "scenarios", "batch@1")
        with pytest.raises(ValidationError, match="no scoring contract 'same'"):
            await jobs.catalog.create("elsewhere", "scenarios", {"name": "batch", "scenarios": BATCH})
        with pytest.raises(NotFoundError):
            await jobs.catalog.archive("elsewhere", "scenarios", "batch")
        assert (await jobs.catalog.list("elsewhere", "scenarios"))["entries"] == []


async def test_what_json_would_change_is_not_stored(tmp_path: Path) -> None:
    """A tuple would come back as a list."""
    odd = {**CONTRACT, "checks": [{"args": (1,), "expected": 1}]}
    lonely = {"id": "a", "candidate": "x", "scoring": odd}
    async with node(tmp_path / "harena.db", Reader()) as jobs:
        with pytest.raises(ValidationError, match="JSON would change"):
            await jobs.catalog.create(HERE, "scoring_contracts", {"name": "odd", "contract": odd})
        with pytest.raises(ValidationError, match="JSON would change"):
            await jobs.catalog.create(HERE, "scenarios", {"name": "odd", "scenarios": [lonely]})


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("durable", [True, False])
async def test_a_calibration_is_kept_with_the_version(tmp_path: Path, durable: bool) -> None:
    """A right answer five times, an empty one, stubs, mutants and forgeries; its report is there for whoever asks, also
    when its job is gone, and only for the version that was calibrated."""
    async with node(tmp_path / "harena.db", Reader(), durable=durable) as jobs:
        await stored(jobs)
        begun = await jobs.calibrations.create(HERE, {"scenarios": {"ref": "batch"}, "blueprint_id": "env"})
        assert begun["scenarios"] == "batch@1"
        ended = await jobs.calibrations.wait(HERE, begun["id"])
        job = await jobs.get(HERE, begun["id"])
        assert (job["progress"]["total"], job["lineage"]["scenarios"]) == (27, "batch@1")
        assert (job["config"]["timeout_seconds"], job["config"]["concurrency"]) == (10.0, 8)
        await stored(jobs, expected=2)
        await jobs.delete(HERE, begun["id"])
    assert (ended["state"], ended["fit"], ended["report"]["gold_runs"]) == ("completed", True, 5)
    assert ended["report"]["scenarios"][0]["gold"]["passed"] == 5
    async with node(tmp_path / "harena.db", Reader()) as jobs:
        assert await jobs.calibrations.of_version(HERE, "batch", 1) == [ended]
        assert await jobs.calibrations.of_version(HERE, "batch", 2) == []
        assert await jobs.calibrations.of_version("elsewhere", "batch", 1) == []
        with pytest.raises(NotFoundError):
            await jobs.calibrations.get("elsewhere", begun["id"])


@pytest.mark.usefixtures("few")
async def test_a_calibration_outlives_a_servers_node(tmp_path: Path) -> None:
    """The next one goes on with its runs, and makes the report from what was kept."""
    async with node(tmp_path / "harena.db", Reader(hang=True)) as jobs:
        await stored(jobs)
        request = {"scenarios": PROBLEMS, "candidates": [RIGHT], "gold_runs": 2, "blueprint_id": "env"}
        begun = await jobs.calibrations.create(HERE, request)
        await stored(jobs, expected=2)
    second = Reader()
    async with node(tmp_path / "harena.db", second) as jobs:
        ended = await jobs.calibrations.wait(HERE, begun["id"])
    assert (ended["fit"], ended["scenarios"], ended["report"]["scenarios"][0]["gold"]["passed"]) == (True, None, 2)
    assert {expected for _, expected in second.seen} == {1}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("noted", [True, False])
async def test_a_calibration_is_found_by_its_key_after_its_node(tmp_path: Path, noted: bool) -> None:
    """One is begun, also where the first node ended between its job and its note; it is of the version that was the
    newest then, although another is now."""
    path, key = tmp_path / "harena.db", IdempotencyKey.of("once", b"the request")
    request = {"scenarios": {"ref": "batch"}, "gold_runs": 2, "blueprint_id": "env"}
    async with node(path, Reader(hang=True)) as jobs:
        await stored(jobs)
        begun = await jobs.calibrations.create(HERE, request, key=key)
        await stored(jobs, expected=2)
    if not noted:
        with closing(sqlite3.connect(path)) as database:
            database.execute("DELETE FROM calibrations")
            database.commit()
    second = Reader()
    async with node(path, second) as jobs:
        again = await asyncio.gather(*(jobs.calibrations.create(HERE, request, key=key) for _ in range(2)))
        ended = await jobs.calibrations.wait(HERE, begun["id"])
        assert [job["id"] for job in (await jobs.list(HERE))["benchmark_jobs"]] == [begun["id"]]
        assert await jobs.calibrations.of_version(HERE, "batch", 1) == [ended]
    assert {found["id"] for found in again} == {begun["id"]}
    assert (ended["fit"], ended["scenarios"], ended["report"]["scenarios"][0]["gold"]["passed"]) == (True, "batch@1", 2)
    assert {expected for _, expected in second.seen} == {1}


@pytest.mark.usefixtures("few")
async def test_a_calibration_without_a_report_says_why(tmp_path: Path) -> None:
    """Its job was cancelled, ended with its process, or was deleted before anybody asked."""
    async with node(tmp_path / "harena.db", Reader(hang=True), durable=False) as jobs:
        await stored(jobs)
        request = {"scenarios": {"ref": "batch"}, "blueprint_id": "env"}
        cancelled, interrupted = [(await jobs.calibrations.create(HERE, request))["id"] for _ in range(2)]
        await jobs.cancel(HERE, cancelled)
        ended = await jobs.calibrations.wait(HERE, cancelled)
        assert (ended["state"], ended["ended"], ended["report"]) == ("cancelled", True, None)
    async with node(tmp_path / "harena.db", Reader()) as jobs:
        found = await jobs.calibrations.get(HERE, interrupted)
        assert (found["state"], found["ended"], found["fit"]) == ("interrupted", True, None)
        await jobs.delete(HERE, cancelled)
        found = await jobs.calibrations.wait(HERE, cancelled)
        assert (found["state"], found["ended"], found["report"]) == (None, True, None)


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ({}, "scenarios: missing"),
        ({"scenarios": [], "retries": 1}, "retries: unknown key"),
        ({"scenarios": BATCH, "gold_runs": 1}, "gold_runs must be"),
        ({"scenarios": BATCH, "gold_runs": "5"}, "gold_runs must be"),
        ({"scenarios": BATCH, "config": {"concurency": 1}}, "concurency"),
        ({"scenarios": BATCH, "config": [1]}, "config"),
        ({"scenarios": {"problems": [], "scenarios": [{**RIGHT, "honeypot": True}]}}, "problem"),
    ],
)
async def test_bad_calibrations(tmp_path: Path, request_: dict[str, Any], says: str) -> None:
    """What is wrong is named, and no job is there."""
    async with node(tmp_path / "harena.db", Reader()) as jobs:
        await stored(jobs)
        with pytest.raises(ValidationError, match=says):
            await jobs.calibrations.create(HERE, request_)
        assert (await jobs.list(HERE))["benchmark_jobs"] == []


@pytest.mark.usefixtures("few")
async def test_another_battery_is_another_calibration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A calibration whose node has gone is not gone on with by a harena that would number its runs otherwise."""
    async with node(tmp_path / "harena.db", Reader(hang=True)) as jobs:
        await stored(jobs)
        begun = await jobs.calibrations.create(HERE, {"scenarios": {"ref": "batch"}, "blueprint_id": "env"})
    monkeypatch.setattr(battery, "BATTERY", BATTERY[:4])
    async with node(tmp_path / "harena.db", Reader()) as jobs:
        ended = await jobs.calibrations.wait(HERE, begun["id"])
        why = (await jobs.get(HERE, begun["id"]))["error"]
    assert (ended["state"], ended["fit"]) == ("failed", None)
    assert "another exploit battery" in why


class Builder:
    """Implements `BuildsFolders`: notes what lies in the context when it is asked."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def build_folder(self, workspace: str, build: FolderBuild, *, network: str) -> str:
        self.seen.append((build.context / "data").read_text())
        return f"sha256:{'0' * 64}"


async def test_a_job_of_task_directories_is_taken_over_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive is kept with the job; what it holds lies on the disk for as long as the job is here."""
    monkeypatch.setenv("HARENA_HOME", str(tmp_path / "home"))
    task = harbor_task(tmp_path / "given/one")
    (task / "environment/Dockerfile").write_text("FROM x:1\nRUN <<E\nE\n")
    (task / "environment/data").write_text("of the client")
    archive = tmp_path / "given.tar"
    archive.write_bytes(b"".join(packed_tasks(tmp_path / "given")))
    request = {"name": "a", "scenarios": archive, "format": "harbor", "candidates": "oracle"}

    async def scored(scenario: Any, *, place: Any, **more: Any) -> RunResult:
        assert place.image == f"sha256:{'0' * 64}"
        if begun.is_set():
            return await Scorer()(Named(scenario.id, "pass"), **more)
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    begun, first, second = asyncio.Event(), Builder(), Builder()
    async with node(tmp_path / "harena.db", scored, images=first) as jobs:
        made = await jobs.create(HERE, request)
        archive.unlink()
        await begun.wait()
        assert len([*tmp_path.rglob("home/**/harena-tasks-*/one/task.toml")]) == 1
    assert [*tmp_path.rglob("harena-tasks-*")] == []
    async with node(tmp_path / "harena.db", scored, images=second) as jobs:
        (run,) = (await jobs.wait(HERE, made["id"]))["runs"]
    assert (run["scenario_id"], run["score"]) == ("one/oracle", 1.0)
    assert first.seen == second.seen == ["of the client"]
    assert [*tmp_path.rglob("harena-tasks-*")] == []


async def test_task_directories_of_a_workspace_have_a_bound_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted until their jobs have ended; a mistake in one is told without the place where it lies."""
    monkeypatch.setenv("HARENA_HOME", str(tmp_path / "home"))
    task = harbor_task(tmp_path / "given/one")
    archive = tmp_path / "given.tar"
    request = {"name": "a", "scenarios": archive, "format": "harbor", "candidates": "nop"}
    archive.write_bytes(b"".join(packed_tasks(tmp_path / "given")))
    size = 4096 * (1 + 2 * sum(1 for _ in task.rglob("*")))

    async def limits_of(workspace: str) -> WorkspaceLimits:
        return WorkspaceLimits(request_disk_bytes=size)

    async with node(tmp_path / "harena.db", Reader(hang=True), limits_of=limits_of) as jobs:
        made = await jobs.create(HERE, request)
        with pytest.raises(LimitExceededError, match="request_disk_bytes"):
            await jobs.create(HERE, request)
        await jobs.create("elsewhere", request)
        await jobs.cancel(HERE, made["id"])
        await jobs.create(HERE, request)
        (task / "task.toml").write_text("version = 9\n")
        archive.write_bytes(b"".join(packed_tasks(tmp_path / "given")))
        with pytest.raises(ValidationError, match=r"^[^/]*\bone/task\.toml: schema_version") as told:
            await jobs.create("third", request)
        assert "spool" not in str(told.value)
