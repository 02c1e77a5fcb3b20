"""Benchmark jobs of a node, over a real store and a scripted scorer."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from stored_jobs import StoredJobs

from harena.core.blueprint_source import BlueprintSource
from harena.core.catalog import NO_LINEAGE, Lineage
from harena.core.clock import SystemClock
from harena.core.errors import NotFoundError, PlatformError, ValidationError
from harena.core.leases import Owner
from harena.core.models import SandboxSpec
from harena.core.node_config import NodeConfig
from harena.core.ports import SandboxPort, SandboxSource
from harena.core.records.blueprints import Blueprint
from harena.core.results import Reason, RunResult, Trust, Validity
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.store.benchmark_jobs import JobStore


@dataclass(frozen=True)
class Contract:
    """A scoring contract, as far as a job sees it."""

    trust: Trust = Trust.SEPARATE


@dataclass(frozen=True)
class Named:
    """A scenario as a job sees it; `does` tells the scripted scorer what to do."""

    id: str
    does: str = "pass"
    problem_id: str | None = "p"
    honeypot: bool = False
    lineage: Lineage = NO_LINEAGE
    expected: None = None
    scoring: Contract = Contract()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    image: None = None
    blueprint: None = None
    build: None = None
    yields_place: bool = False


def load(source: Sequence[str]) -> list[Named]:
    """Scenarios from words: "pass", "fail", "lost", "hang", "shared"."""
    trusts = {"shared": Trust.SHARED}
    return [
        Named(f"s{index}", does, scoring=Contract(trusts.get(does, Trust.SEPARATE)))
        for index, does in enumerate(source)
    ]


@dataclass
class Scorer:
    """Scores as the scenario says, and remembers what it was given."""

    calls: list[tuple[str, int, float, SandboxSpec]] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    hangs: bool = True
    """"hang" hangs; else it fails"""

    async def __call__(
        self,
        scenario: Named,
        *,
        sandboxes: SandboxSource,
        base_spec: SandboxSpec,
        timeout_seconds: float,
        attempt: int = 1,
        require_trust: Trust | None = None,
        alone: bool = False,
    ) -> RunResult:
        self.calls.append((scenario.id, attempt, timeout_seconds, base_spec))
        if scenario.does == "lost":
            raise PlatformError("the node was lost")
        if scenario.does == "hang" and self.hangs:
            self.hanging.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.append(scenario.id)
        passed = scenario.does == "pass"
        return RunResult(
            scenario_id=scenario.id,
            score=float(passed),
            passed=passed,
            validity=Validity.VALID,
            trust=Trust.SEPARATE,
            reason=Reason.PASSED if passed else Reason.WRONG_ANSWER,
            duration_seconds=0.25,
        )


class NoSandboxes:
    """The scripted scorer needs none."""

    def source(self, workspace: str) -> SandboxSource:
        return self

    def sandbox(self, spec: SandboxSpec) -> AbstractAsyncContextManager[SandboxPort]:
        raise AssertionError("the scripted scorer asks for no sandbox")


class Recipes(BlueprintSource):
    """One blueprint, the default workspace's."""

    def find(self, workspace: str, name_or_id: str) -> Blueprint:
        if workspace == HERE and name_or_id in ("env", "bp_1"):
            return Blueprint(id="bp_1", name="env", image="python:3.11")
        raise NotFoundError(f"no blueprint {name_or_id}")


Open = Callable[[Scorer], Awaitable[StoredJobs]]


@asynccontextmanager
async def opened(path: Path | str, scorer: Scorer) -> AsyncIterator[StoredJobs]:
    """Jobs over the database at `path`, on a host with two cores."""
    jobs = StoredJobs(
        NodeConfig(store_place=path),
        NoSandboxes(),
        Recipes(),
        SystemClock(),
        score=scorer,
        load=load,  # type: ignore[arg-type]  # `expected` is None here, so its type does not matter
        cores=2,
    )
    try:
        yield jobs
    finally:
        await jobs.close()


def request(*does: str, name: str = "n", **config: Any) -> dict[str, Any]:
    """A request for scenarios that do these things."""
    return {"name": name, "scenarios": list(does), "blueprint_id": "env", "config": config}


async def test_a_job_from_acceptance_to_results(tmp_path: Path) -> None:
    """Every run is there with its envelope, and the summary, the progress and the events agree."""
    scorer = Scorer()
    async with opened(tmp_path / "harena.db", scorer) as jobs:
        job = await jobs.create(HERE, request("pass", "fail", "lost", attempts=2, timeout_seconds=7, concurrency=200))
        assert job["id"].startswith("job_")
        assert job["progress"]["total"] == 6
        assert job["progress"]["effective_concurrency"] == 6
        results = await jobs.wait(HERE, job["id"])
        assert (results["job_id"], results["name"], results["state"]) == (job["id"], "n", "completed")
        assert [(run["scenario_id"], run["attempt"], run["score"]) for run in results["runs"]] == [
            ("s0", 1, 1.0),
            ("s0", 2, 1.0),
            ("s1", 1, 0.0),
            ("s1", 2, 0.0),
            ("s2", 1, None),
            ("s2", 2, None),
        ]
        assert results["runs"][5]["platform_retries"] == 1
        assert results["runs"][0]["problem"] == "p"
        assert {key: results["summary"][key] for key in ("total", "scored", "passed", "pass_rate", "infra")} == {
            "total": 6,
            "scored": 4,
            "passed": 2,
            "pass_rate": 0.5,
            "infra": 2,
        }
        progress = (await jobs.get(HERE, "n"))["progress"]
        assert (progress["done"], progress["passed"], progress["failed"], progress["infra"]) == (6, 2, 2, 2)
        events = [event async for event in jobs.events(HERE, job["id"])]
    assert [event["cursor"] for event in events] == list(range(1, len(events) + 1))
    kinds = [event["kind"] for event in events]
    assert (kinds[0], kinds[-1]) == ("job_started", "job_ended")
    assert (kinds.count("run_started"), kinds.count("run_retried"), kinds.count("run_finished")) == (8, 2, 6)
    name, _, timeout, spec = scorer.calls[0]
    assert (name, timeout, spec.blueprint, spec.image) == ("s0", 7.0, "bp_1", "python:3.11")


async def test_events_are_followed_live_and_from_a_cursor(tmp_path: Path) -> None:
    """A reader who comes back with its cursor misses nothing and sees nothing twice."""
    async with opened(tmp_path / "harena.db", Scorer()) as jobs:
        job = await jobs.create(HERE, request(*["pass"] * 30, concurrency=1))
        first: list[int] = []
        async for event in jobs.events(HERE, job["id"]):
            first.append(event["cursor"])
            if len(first) == 7:
                break
        rest = [event["cursor"] async for event in jobs.events(HERE, job["id"], after=first[-1])]
    assert first + rest == list(range(1, 63))


async def test_who_follows_a_job_of_this_process_does_not_ask_for_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job tells what it records: after each change one page of events is read, and the state when it has ended."""
    asked: list[tuple[asyncio.Task[Any] | None, str]] = []
    has_read = asyncio.Event()
    for name in ("find_job", "events_after"):
        monkeypatch.setattr(JobStore, name, _noted(getattr(JobStore, name), asked, has_read))
    scorer = Scorer()
    async with opened(tmp_path / "harena.db", scorer) as jobs:
        job = await jobs.create(HERE, request("hang"))
        await scorer.hanging.wait()
        following = asyncio.create_task(_kinds(jobs, job["id"]))
        await has_read.wait()
        await jobs.cancel(HERE, job["id"])
        assert (await following)[-1] == "job_ended"
    names = [name for task, name in asked if task is following]
    assert (names[:2], names[-2:]) == (["find_job", "events_after"], ["find_job", "events_after"])
    assert names.count("find_job") == 2


def _noted(
    method: Callable[..., Awaitable[Any]], asked: list[tuple[asyncio.Task[Any] | None, str]], has_read: asyncio.Event
) -> Callable[..., Awaitable[Any]]:
    async def noted(*args: Any, **options: Any) -> Any:
        asked.append((asyncio.current_task(), method.__name__))
        answer = await method(*args, **options)
        if method.__name__ == "events_after":
            has_read.set()
        return answer

    return noted


async def test_what_an_event_tells_is_in_the_database(tmp_path: Path) -> None:
    """When a finished run is told of, another reader of the same file finds its result."""
    scorer = Scorer()
    async with opened(tmp_path / "harena.db", scorer) as jobs, opened(tmp_path / "harena.db", Scorer()) as reader:
        job = await jobs.create(HERE, request("pass", "hang"))
        async for event in jobs.events(HERE, job["id"]):
            if event["kind"] == "run_finished":
                break
        results = await reader.results(HERE, job["id"])
        assert [run["scenario_id"] for run in results["runs"]] == ["s0"]
        assert results["state"] == "running"


async def test_nothing_runs_when_the_request_is_wrong(tmp_path: Path) -> None:
    """Bad keys, an unknown blueprint, no scenarios, too little trust: refused, and no job is left behind."""
    scorer = Scorer()
    async with opened(tmp_path / "harena.db", scorer) as jobs:
        with pytest.raises(ValidationError, match="did you mean 'attempts'"):
            await jobs.create(HERE, request("pass", atempts=2))
        with pytest.raises(NotFoundError, match="no blueprint other"):
            await jobs.create(HERE, {**request("pass"), "blueprint_id": "other"})
        with pytest.raises(ValidationError, match="would have 0"):
            await jobs.create(HERE, request())
        with pytest.raises(ValidationError, match="the verdict of s1 is computed"):
            await jobs.create(HERE, request("pass", "shared", require_trust="separate"))
        assert (await jobs.list(HERE))["benchmark_jobs"] == []
    assert scorer.calls == []


async def test_a_data_set_is_read_with_its_answers(tmp_path: Path) -> None:
    """By the scoring room, which is told format and grader; a contract for text needs no sandbox."""
    jobs = StoredJobs(NodeConfig(store_place=tmp_path / "harena.db"), NoSandboxes(), Recipes(), SystemClock(), cores=2)
    row = {"messages": [], "answer": "42"}
    grader = {"type": "string_check", "input": "{{ sample.output_text }}", "reference": "{{ item.answer }}"}
    asked = {"name": "n", "scenarios": [row], "candidates": [{"output": "42"}], "format": "rft", "grader": grader}
    try:
        with pytest.raises(ValidationError, match="operation"):
            await jobs.create(HERE, asked)
        made = await jobs.create(HERE, {**asked, "grader": {**grader, "operation": "eq"}})
        results = await jobs.wait(HERE, made["id"])
    finally:
        await jobs.close()
    assert [(run["scenario_id"], run["problem"], run["score"]) for run in results["runs"]] == [("0/1", "0", 1.0)]


async def test_a_share_of_the_runs_is_scored_again(tmp_path: Path) -> None:
    """In sandboxes of their own; the summary says how many agree, by both denominators."""
    scorer = Scorer()
    async with opened(tmp_path / "harena.db", scorer) as jobs:
        job = await jobs.create(HERE, request(*["pass", "fail"] * 5, rescore_fraction=0.4))
        results = await jobs.wait(HERE, job["id"])
    assert len(scorer.calls) == 14
    again = [run["rescore"] for run in results["runs"] if run["rescore"]]
    assert [entry["agrees"] for entry in again] == [True] * 4
    assert results["summary"]["rescored"].to_dict() == {
        "runs": 4, "scored": 4, "disagreed": 0, "disagreement_rate": 0.0, "disagreement_rate_of_all": 0.0,
    }  # fmt: skip
    assert job["config"]["rescore_fraction"] == 0.4


async def test_the_default_blueprint_needs_no_creation(tmp_path: Path) -> None:
    """Without a blueprint the bare image is used."""
    scorer = Scorer()
    async with opened(tmp_path / "harena.db", scorer) as jobs:
        await jobs.wait(HERE, (await jobs.create(HERE, {"name": "n", "scenarios": ["pass"]}))["id"])
    assert scorer.calls[0][3] == SandboxSpec()


async def test_names_mean_the_newest_job(tmp_path: Path) -> None:
    """Two jobs of one name: the name finds the second, ids find each; an unknown one is an error that says where."""
    async with opened(tmp_path / "harena.db", Scorer()) as jobs:
        first = await jobs.create(HERE, request("pass"))
        second = await jobs.create(HERE, request("fail"))
        await jobs.wait(HERE, first["id"])
        assert (await jobs.wait(HERE, "n"))["job_id"] == second["id"]
        assert [job["id"] for job in (await jobs.list(HERE))["benchmark_jobs"]] == [second["id"], first["id"]]
        with pytest.raises(NotFoundError, match="benchmark ls"):
            await jobs.get(HERE, "other")


async def test_cancel_stops_what_runs_and_keeps_results(tmp_path: Path) -> None:
    """Running candidates are ended, results so far stay, and a second cancel changes nothing."""
    scorer = Scorer()
    async with opened(tmp_path / "harena.db", scorer) as jobs:
        job = await jobs.create(HERE, request("pass", "hang", "hang", "pass", concurrency=2))
        await scorer.hanging.wait()
        cancelled = await jobs.cancel(HERE, job["id"])
        assert cancelled["state"] == "cancelled"
        assert (await jobs.cancel(HERE, job["id"]))["ended_at"] == cancelled["ended_at"]
        results = await jobs.results(HERE, job["id"])
    assert "s1" in scorer.cancelled
    assert [run["reason"] for run in results["runs"]] == ["passed", "cancelled", "cancelled", "cancelled"]
    assert (results["summary"]["cancelled"], results["summary"]["infra"]) == (3, 0)


async def test_a_cancelled_wait_leaves_the_job_alone(tmp_path: Path) -> None:
    """Whoever stops waiting does not stop the job."""
    scorer = Scorer()
    async with opened(tmp_path / "harena.db", scorer) as jobs:
        job = await jobs.create(HERE, request("hang"))
        waiting = asyncio.create_task(jobs.wait(HERE, job["id"]))
        await scorer.hanging.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert (await jobs.get(HERE, job["id"]))["ended_at"] is None
        assert scorer.cancelled == []


async def test_close_interrupts_and_keeps_results(tmp_path: Path) -> None:
    """A node that is closed ends its candidates; the next one finds the job interrupted, with what it had."""
    scorer = Scorer()
    async with opened(tmp_path / "harena.db", scorer) as jobs:
        job = await jobs.create(HERE, request("pass", "hang", "pass", concurrency=2))
        await scorer.hanging.wait()
    assert scorer.cancelled == ["s1"]
    async with opened(tmp_path / "harena.db", Scorer()) as later:
        results = await later.wait(HERE, job["id"])
        progress = (await later.get(HERE, job["id"]))["progress"]
    assert results["state"] == "interrupted"
    assert all(run["score"] == 1.0 for run in results["runs"])
    assert (progress["running"], progress["queued"] + progress["done"]) == (0, 3)


async def test_another_process_can_follow_and_cancel(tmp_path: Path) -> None:
    """A second node over the same file reads the job's events live, and its cancel reaches the owner."""
    scorer = Scorer()
    async with opened(tmp_path / "harena.db", scorer) as jobs, opened(tmp_path / "harena.db", Scorer()) as other:
        job = await jobs.create(HERE, request("pass", "hang"))
        await scorer.hanging.wait()
        following = asyncio.create_task(_kinds(other, job["id"]))
        assert (await other.cancel(HERE, "n"))["state"] == "cancelled"
        assert (await following)[-1] == "job_ended"
        assert (await other.wait(HERE, job["id"]))["summary"]["passed"] == 1
    assert scorer.cancelled == ["s1"]


async def _kinds(jobs: StoredJobs, job_id: str) -> list[str]:
    return [event["kind"] async for event in jobs.events(HERE, job_id)]


async def test_a_store_that_fails_ends_the_job_with_an_error(tmp_path: Path) -> None:
    """Results that cannot be recorded are not reported: wait raises instead."""
    scorer = Scorer()
    async with opened(tmp_path / "harena.db", scorer) as jobs:
        job = await jobs.create(HERE, request("pass", "hang"))
        await scorer.hanging.wait()
        store = await jobs._store()
        async with store._database.transaction() as connection:
            await connection.exec_driver_sql("DROP TABLE events")
        await jobs.cancel(HERE, job["id"])
        with pytest.raises(PlatformError, match="no such table: events"):
            await jobs.wait(HERE, job["id"])


async def test_a_job_of_a_dead_process_is_interrupted(tmp_path: Path) -> None:
    """An owner that no longer lives is noticed on reading, once and for good."""
    path = tmp_path / "harena.db"
    async with opened(path, Scorer()) as jobs:
        jobs._owner = Owner(pid=os.getpid(), started="1", boot=jobs._owner.boot)
        jobs._acceptance = replace(jobs._acceptance, owner=jobs._owner)
        job = await jobs.create(HERE, request("hang"))
        await anext(jobs.events(HERE, job["id"]))  # its owner has written, and writes nothing more until a run ends
        store = await jobs._store()
        async with opened(path, Scorer()) as reader:
            seen = await reader.get(HERE, job["id"])
            assert (seen["state"], seen["progress"]["running"]) == ("interrupted", 0)
            assert "has gone" in seen["error"]
            assert "a job that `harena serve` runs goes on" in seen["error"]
        row = await store.read_job(job["id"])
        assert row is not None
        assert row.state == "interrupted"


KILLED = """
import asyncio, pathlib, sys
sys.path.insert(0, sys.argv[2])
from test_benchmark_jobs import HERE, Scorer, opened, request

async def main():
    async with opened(pathlib.Path(sys.argv[1]), Scorer()) as jobs:
        job = await jobs.create(HERE, request(*["pass"] * 20, "hang"))
        async for event in jobs.events(HERE, job["id"]):
            if event["kind"] == "run_finished":
                print(event["scenario_id"], flush=True)

asyncio.run(main())
"""


async def test_results_survive_kill_9(tmp_path: Path) -> None:
    """Whatever a killed process had reported as finished is in the database, and the job is interrupted."""
    path = tmp_path / "harena.db"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, str(path), str(Path(__file__).parent), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    reported = {(await process.stdout.readline()).decode().strip() for _ in range(20)}
    process.kill()
    await process.wait()
    async with opened(path, Scorer()) as jobs:
        results = await jobs.wait(HERE, "n")
    assert results["state"] == "interrupted"
    assert {run["scenario_id"] for run in results["runs"]} == reported == {f"s{index}" for index in range(20)}


def test_a_node_that_runs_no_jobs_does_not_load_the_store() -> None:
    """The database library is imported on first use only."""
    imported = "import sys, harena.jobs.benchmark.benchmark_jobs, harena.node.database"
    code = f"{imported}; sys.exit(any(m in sys.modules for m in ('sqlalchemy', 'pydantic')))"
    subprocess.run([sys.executable, "-c", code], check=True)
