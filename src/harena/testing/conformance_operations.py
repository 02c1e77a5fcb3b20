"""What every transport must do, as tests: `Operations` in this process, and over a wire. Needs pytest, pytest-asyncio.

    class TestMyTransport(OperationsConformance):
        @classmethod
        async def open_operations(cls, stack: AsyncExitStack) -> Operations:
            return await stack.enter_async_context(my_server_and_client())

The whole suite of runtimes (commands, files, lives) runs through the transport, and then what only a node has: records,
lists, lifetimes, blueprints. The node behind it must be fresh, with the images that FakeRuntime knows and the worker
`harena.testing.fake_trainer`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from harena.core.daemons import read_daemons
from harena.core.errors import (
    NotFoundError,
    SandboxNotFoundError,
    SandboxTerminatedError,
    SandboxValidationError,
    ValidationError,
)
from harena.core.idempotency import IdempotencyKey
from harena.core.models import DEFAULT_ORIGIN_IMAGE, ExecRequest, SandboxSpec
from harena.core.network_policy import read_policy
from harena.core.ports import Operations, SandboxPort
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits, SandboxStatus
from harena.core.requests import BenchmarkJobFields
from harena.core.workspace import DEFAULT_WORKSPACE
from harena.testing.conformance import RuntimeConformance
from harena.testing.conformance_bad_jobs import ADDING, BAD, GOOD, BadJobConformance
from harena.testing.conformance_base import run
from harena.testing.conformance_catalog import CatalogConformance
from harena.testing.conformance_definitions import DefinitionsConformance
from harena.testing.conformance_images import ImagesConformance
from harena.testing.conformance_registry import RegistryConformance
from harena.testing.conformance_secrets import SecretsConformance
from harena.testing.conformance_snapshots import SnapshotsConformance
from harena.testing.conformance_table import TableConformance
from harena.testing.conformance_training import TrainingConformance
from harena.testing.conformance_worlds import WorldsConformance

__all__ = ["ADDING", "BAD", "GOOD", "OperationsConformance", "OperationsRuntime"]


class OperationsRuntime:
    """`Runtime` over a node's operations, so that one suite is for both. Not for more: a blueprint is created anew."""

    isolates = True

    def __init__(self, operations: Operations) -> None:
        self.operations = operations

    async def start(self) -> None:
        """It runs."""

    async def create(
        self, spec: SandboxSpec, blueprint: Blueprint | None = None, *, workspace: str = DEFAULT_WORKSPACE
    ) -> SandboxPort:
        """A sandbox of the node."""
        if blueprint is not None:
            await self.operations.create_blueprint(blueprint.name, files=blueprint.files, env=blueprint.env)
        return (await self.operations.create_sandbox(spec)).port

    def prepare(self, image: str, blueprint: Blueprint | None, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """A node does so itself."""

    def after_fork_in_child(self) -> None:
        """A node does so itself."""

    def forget_blueprint(self, blueprint_id: str, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """A node does so itself."""

    def forget_image(self, digest: str, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """A node does so itself."""

    def forget_held(self, identity: str, *, workspace: str = DEFAULT_WORKSPACE) -> bool:
        """A node does so itself."""
        return False

    async def close(self) -> None:
        """Whoever opened the operations closes them."""


@pytest.mark.asyncio(loop_scope="class")
class OperationsConformance(
    BadJobConformance,
    CatalogConformance,
    DefinitionsConformance,
    RegistryConformance,
    ImagesConformance,
    SecretsConformance,
    SnapshotsConformance,
    TableConformance,
    TrainingConformance,
    WorldsConformance,
    RuntimeConformance,
):
    """All of it."""

    @classmethod
    async def open_operations(cls, stack: AsyncExitStack) -> Operations:
        """The operations under test; what must be closed after them goes onto the stack."""
        raise NotImplementedError(f"{cls.__name__} must override open_operations()")

    @pytest_asyncio.fixture(scope="class", loop_scope="class")
    @classmethod
    async def runtime(cls) -> AsyncIterator[OperationsRuntime]:
        """The operations, as a runtime."""
        async with AsyncExitStack() as stack:
            operations = await cls.open_operations(stack)
            yield OperationsRuntime(operations)
            await operations.close()
            await operations.close()

    @pytest.fixture
    def operations(self, runtime: OperationsRuntime) -> Operations:
        """The operations under test."""
        return runtime.operations

    async def test_record(self, operations: Operations) -> None:
        """A record says what was asked for, and is the same for whoever finds it by its id."""
        spec = SandboxSpec(
            tags=("a", "b"),
            annotations={"who": "å"},
            limits=Limits(memory_bytes=1 << 28, pids=77, lifetime_seconds=60.0),
        )
        made = await operations.create_sandbox(spec)
        found = await operations.get_sandbox(made.info.id)
        info = await found.refresh()
        await made.stop()
        assert info == made.info or info.status is not made.info.status
        assert (info.status, info.tags, info.annotations, info.limits, info.image) == (
            SandboxStatus.RUNNING,
            spec.tags,
            spec.annotations,
            spec.limits,
            "default",
        )
        assert info.expires_at is not None
        assert info.created_at.tzinfo is not None
        assert info.stopped_at is None

    async def test_stop(self, operations: Operations) -> None:
        """A stopped sandbox is COMPLETED for everybody, refuses work, and may be stopped again."""
        made = await operations.create_sandbox(SandboxSpec())
        other = await operations.get_sandbox(made.info.id)
        waiting = asyncio.ensure_future(other.wait_terminal())
        await asyncio.sleep(0)
        await asyncio.gather(made.stop(), made.stop(grace_seconds=0.1))
        await made.stop()
        assert (await waiting).status is SandboxStatus.COMPLETED
        assert made.info.status is SandboxStatus.COMPLETED
        assert (await made.refresh()).stopped_at is not None
        with pytest.raises(SandboxTerminatedError):
            _ = made.port

    async def test_unknown_sandbox(self, operations: Operations) -> None:
        """An id that nobody has is SandboxNotFoundError, also one that looks like a path."""
        for name in ("sb_0000", "../sb", "a b?c#d", "é"):
            with pytest.raises(SandboxNotFoundError) as caught:
                await operations.get_sandbox(name)
            assert caught.value.sandbox_id == name

    async def test_list_sandboxes(self, operations: Operations) -> None:
        """By all of some tags and by one of some statuses; ended ones only where they are asked for."""
        made = [
            await operations.create_sandbox(
                SandboxSpec(tags=("list", f"{number}", "even" if number % 2 == 0 else "odd"))
            )
            for number in range(5)
        ]
        await made[4].stop()

        async def ids(*tags: str, terminal: bool = False, statuses: tuple[SandboxStatus, ...] = ()) -> list[str]:
            found = await operations.list_sandboxes(tags=("list", *tags), statuses=statuses, include_terminal=terminal)
            return sorted(handle.info.id for handle in found)

        names = [handle.info.id for handle in made]
        assert await ids() == sorted(names[:4])
        assert await ids("even") == sorted([names[0], names[2]])
        assert await ids("even", "odd") == []
        assert await ids(terminal=True) == sorted(names)
        assert await ids(statuses=(SandboxStatus.COMPLETED,)) == [names[4]]
        await asyncio.gather(*(handle.stop() for handle in made))

    async def test_lifetime(self, operations: Operations) -> None:
        """A lifetime ends a sandbox; one that was extended lives on, and is never shortened."""
        short = await operations.create_sandbox(SandboxSpec(limits=Limits(lifetime_seconds=0.2)))
        assert (await short.wait_terminal()).status is SandboxStatus.TERMINATED
        made = await operations.create_sandbox(SandboxSpec(limits=Limits(lifetime_seconds=60.0)))
        before = made.info.expires_at
        later = (await made.extend_lifetime(3600)).expires_at
        assert before is not None
        assert later is not None
        assert (later - before).total_seconds() > 3000
        assert (await made.extend_lifetime(1)).expires_at == later
        await made.stop()

    async def test_network(self, operations: Operations) -> None:
        """A sandbox that was made with a network takes another policy and has a log; others say that they have none."""
        made = await operations.create_sandbox(SandboxSpec(network=read_policy({"allow": []})))
        assert (await made.port.network_log()).policy == {"allow": []}
        policy = {"allow": ["pypi", "*.example.org:8443"], "deny": ["x.example.org"], "proxy_only": True}
        await made.port.set_network(read_policy(policy))
        log = await made.port.network_log(after=3, limit=5)
        assert (log.policy, list(log.entries), log.next_after, log.refused) == (policy, [], 3, 0)
        await made.stop()
        without = await operations.create_sandbox(SandboxSpec())
        with pytest.raises(SandboxValidationError, match="without a network"):
            await without.port.set_network(read_policy("open"))
        with pytest.raises(SandboxValidationError, match="without a network"):
            await without.port.network_log()
        await without.stop()

    async def test_many_commands_of_one_client(self, operations: Operations) -> None:
        """Two hundred commands at the same time, all of which are there before the first one ends."""
        made = await operations.create_sandbox(SandboxSpec(limits=Limits(pids=1000, memory_bytes=None)))
        request = ExecRequest(argv=("sh", "-c", "echo up; read line; echo $line"), stdin_stream=True)
        running = await asyncio.gather(*(made.port.exec(request) for _ in range(200)))
        for one in running:
            assert await one.stdout.next_chunk(0) == b"up\n"
        await asyncio.gather(*(one.write_stdin(b"%d\n" % number) for number, one in enumerate(running)))
        results = await asyncio.gather(*(one.wait() for one in running))
        await made.stop()
        assert [result.stdout for result in results] == [b"up\n%d\n" % number for number in range(200)]

    async def test_a_source_that_fails(self, operations: Operations) -> None:
        """Its own error comes back, not one of the transport, and the sandbox is none the worse."""

        async def broken() -> AsyncIterator[bytes]:
            yield bytes(3 * 1024 * 1024)
            raise RuntimeError("no more of it")

        made = await operations.create_sandbox(SandboxSpec())
        for _ in range(2):
            with pytest.raises(RuntimeError, match="no more of it"):
                await made.port.write_file("/workspace/x", broken())
        await made.port.write_file("/workspace/x", b"whole")
        assert await made.port.read_file("/workspace/x", max_bytes=1 << 20) == b"whole"
        await made.stop()

    async def test_blueprints(self, operations: Operations) -> None:
        """Created, found by name and by id, listed, used, deleted."""
        made = await operations.create_blueprint(
            "by-suite",
            files={"/data/x": b"\x00\xff"},
            env={"COLOUR": "blå"},
            warm=["json"],
            network=read_policy({"allow": ["pypi"]}),
            daemons=read_daemons([{"name": "starts", "command": ["true"]}]),
            limits=Limits(pids=100),
            recipe='{"name": "by-suite"}',
            log="STEP 1\nå\n",
        )
        assert (made.limits, made.recipe, made.log) == (Limits(pids=100), '{"name": "by-suite"}', "STEP 1\nå\n")
        assert made.daemons[0].command == ("true",)
        assert (made.name, made.files, made.env, made.warm) == (
            "by-suite",
            {"/data/x": b"\x00\xff"},
            {"COLOUR": "blå"},
            ("json",),
        )
        assert await operations.get_blueprint("by-suite") == made
        assert await operations.get_blueprint(made.id) == made
        assert {"by-suite", "default", "python-warm"} <= {
            one.name for one in (await operations.list_blueprints()).blueprints
        }
        newer = await operations.create_blueprint("by-suite")
        versions = (await operations.list_blueprints(name="by-suite")).blueprints
        assert [one.id for one in versions] == [newer.id, made.id]
        await operations.delete_blueprint(newer.id)
        sandbox = await operations.create_sandbox(SandboxSpec(blueprint="by-suite"))
        assert sandbox.info.blueprint == "by-suite"
        assert sandbox.info.limits.pids == 100
        assert len(made.digest) == 64
        assert (await sandbox.port.network_log()).policy == {"allow": ["pypi"]}
        assert (sandbox.info.image_digest, sandbox.info.blueprint_digest) == (DEFAULT_ORIGIN_IMAGE, made.digest)
        assert (await run(sandbox.port, "sh", "-c", "echo $COLOUR")).stdout.decode() == "blå\n"
        await sandbox.stop()
        await operations.delete_blueprint("by-suite")
        with pytest.raises(NotFoundError, match="by-suite"):
            await operations.get_blueprint("by-suite")

    async def test_bad_blueprints(self, operations: Operations) -> None:
        """What is malformed, built in or unknown."""
        with pytest.raises(ValidationError, match="name"):
            await operations.create_blueprint("no spaces please")
        with pytest.raises(ValidationError, match="built in"):
            await operations.delete_blueprint("default")
        with pytest.raises(NotFoundError, match="nothing-like-it"):
            await operations.create_sandbox(SandboxSpec(blueprint="nothing-like-it"))

    async def test_direct_scores(self, operations: Operations) -> None:
        """One scenario, its envelope, and nothing stored; also many at a time."""
        before = await operations.list_benchmark_jobs()
        asked = [operations.score({"scenario": row}) for row in [GOOD, BAD] * 8]
        answers = await asyncio.gather(*asked)
        assert [(answer["score"], answer["validity"]) for answer in answers] == [(1.0, "valid"), (0.0, "valid")] * 8
        assert answers[0]["scenario_id"] == GOOD["id"]
        assert await operations.list_benchmark_jobs() == before

    @pytest.mark.parametrize(
        ("request_", "says"),
        [
            ({}, "scenario"),
            ({"scenario": {"id": "x"}}, "candidate"),
            ({"scenario": GOOD, "timeout_seconds": 0}, "timeout_seconds"),
            ({"scenario": GOOD, "retries": 1}, "retries"),
        ],
    )
    async def test_bad_direct_scores(self, operations: Operations, request_: Any, says: str) -> None:
        """One error that names the field."""
        with pytest.raises(ValidationError, match=says):
            await operations.score(request_)
        with pytest.raises(NotFoundError, match="nowhere"):
            await operations.score({"scenario": GOOD, "blueprint_id": "nowhere"})

    async def test_benchmark_job(self, operations: Operations, tmp_path: Path) -> None:
        """A scenario file is run and scored; job, results, list and events say so, by id and by name."""
        file = tmp_path / "scenarios.json"
        file.write_text(json.dumps([GOOD, BAD]))
        job = await operations.create_benchmark_job({"name": "a/b ü", "scenarios": str(file)})
        results = await operations.wait_benchmark_job("a/b ü")
        assert results == await operations.benchmark_job_results(job["id"])
        assert {run["scenario_id"]: (run["score"], run["passed"]) for run in results["runs"]} == {
            "good": (1.0, True),
            "bad": (0.0, False),
        }
        ended = await operations.get_benchmark_job(job["id"])
        assert (ended["state"], ended["progress"]["passed"], ended["progress"]["total"]) == ("completed", 1, 2)
        assert ended in (await operations.list_benchmark_jobs())["benchmark_jobs"]
        events = [event async for event in operations.benchmark_job_events("a/b ü")]
        assert ended["cursor"] == events[-1]["cursor"]
        assert [event["cursor"] for event in events] == sorted({event["cursor"] for event in events})
        assert (events[0]["kind"], events[-1]["kind"]) == ("job_started", "job_ended")
        rest = [event async for event in operations.benchmark_job_events(job["id"], after=events[2]["cursor"])]
        assert rest == events[3:]
        assert await operations.cancel_benchmark_job(job["id"]) == ended

    async def test_benchmark_jobs_are_listed_in_pages(self, operations: Operations) -> None:
        """Newest first, each once; of one name where it is asked for."""
        made = []
        for name in ("page", "other", "page", "page"):
            made.append((await operations.create_benchmark_job({"name": name, "scenarios": [GOOD]}))["id"])
            await operations.wait_benchmark_job(made[-1])
        first = await operations.list_benchmark_jobs(name="page", limit=2)
        rest = await operations.list_benchmark_jobs(name="page", limit=2, cursor=first["next_cursor"])
        pages = [[job["id"] for job in page["benchmark_jobs"]] for page in (first, rest)]
        assert pages == [[made[3], made[2]], [made[0]]]
        assert rest["next_cursor"] is None
        everything = await operations.list_benchmark_jobs(limit=4)
        assert [job["id"] for job in everything["benchmark_jobs"]] == made[::-1]
        assert everything["benchmark_jobs"][0] == await operations.get_benchmark_job(made[3])
        with pytest.raises(ValidationError, match="limit"):
            await operations.list_benchmark_jobs(limit=0)

    async def test_a_benchmark_job_is_created_once_with_a_key(self, operations: Operations) -> None:
        """Asked for at the same time, or when it has ended: it is the same one, as it is then."""
        key = IdempotencyKey.of("once", b"the same")
        request: BenchmarkJobFields = {"name": "once", "scenarios": [GOOD]}
        made = await asyncio.gather(*(operations.create_benchmark_job(request, key=key) for _ in range(3)))
        assert len({job["id"] for job in made}) == 1
        await operations.wait_benchmark_job(made[0]["id"])
        again = await operations.create_benchmark_job(request, key=key)
        assert (again["id"], again["state"]) == (made[0]["id"], "completed")
        other = await operations.create_benchmark_job(request, key=IdempotencyKey.of("another", b"the same"))
        assert other["id"] != again["id"]
        await operations.wait_benchmark_job(other["id"])

    async def test_results_by_page_and_in_sum(self, operations: Operations) -> None:
        """Pages hold every run once, with its number; the summary is that of the results."""
        job = await operations.create_benchmark_job(
            {"name": "pages/1", "scenarios": [GOOD, BAD], "config": {"attempts": 3, "concurrency": 2}}
        )
        whole = await operations.wait_benchmark_job(job["id"])
        runs: list[Any] = []
        cursor = 0
        while (page := await operations.benchmark_job_results_page("pages/1", after=cursor, limit=4))["runs"]:
            assert page["cursor"] > cursor
            cursor = page["cursor"]
            runs += page["runs"]
        assert sorted(runs, key=lambda run: run["run"]) == whole["runs"]
        assert [run["run"] for run in whole["runs"]] == list(range(6))
        told = await operations.benchmark_job_summary(job["id"])
        assert told.to_dict() == {name: value for name, value in whole.to_dict().items() if name != "runs"}
        await operations.delete_benchmark_job("pages/1")
        with pytest.raises(NotFoundError):
            await operations.benchmark_job_summary(job["id"])

    async def test_cancelled_benchmark_job(self, operations: Operations) -> None:
        """Its running sandboxes end, and whoever follows it sees its end."""
        slow = {**GOOD, "candidate": {"files": {"solution.py": "import time; time.sleep(3600)"}}}
        job = await operations.create_benchmark_job({"name": "slow", "scenarios": [slow]})
        async for event in operations.benchmark_job_events(job["id"]):
            if event["kind"] == "run_started":
                so_far = await operations.benchmark_job_results("slow")
                assert (so_far["runs"], so_far["summary"]["total"], so_far["state"]) == ([], 1, "running")
                assert (await operations.cancel_benchmark_job("slow"))["state"] == "cancelled"
        assert event["kind"] == "job_ended"
        assert (await operations.wait_benchmark_job(job["id"]))["state"] == "cancelled"

    async def test_mistakes_in_a_file_have_their_lines(self, operations: Operations, tmp_path: Path) -> None:
        """The line and the file's name are told, wherever the file is read."""
        file = tmp_path / "broken.yaml"
        file.write_text("- id: one\n  candidat: 5\n  scoring: {type: stdio, cases: [{stdout: x}]}\n")
        with pytest.raises(ValidationError, match=r"broken.yaml:2: .*candidat"):
            await operations.create_benchmark_job({"name": "x", "scenarios": str(file)})

    async def test_unknown_benchmark_job(self, operations: Operations) -> None:
        """NotFoundError, from every verb."""
        for name in ("job_none", "a/none"):
            for verb in (
                operations.get_benchmark_job(name),
                operations.wait_benchmark_job(name),
                operations.benchmark_job_results(name),
                operations.benchmark_job_results_page(name),
                operations.benchmark_job_summary(name),
                operations.delete_benchmark_job(name),
                operations.cancel_benchmark_job(name),
                anext(aiter(operations.benchmark_job_events(name))),
            ):
                with pytest.raises(NotFoundError, match=name):
                    await verb
