"""A node without processes: every step happens when a test says so, or at once."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fake_answers import filled
from harena.core.catalog import CatalogKind
from harena.core.errors import (
    NotFoundError,
    SandboxExecutionError,
    SandboxFileError,
    SandboxNotFoundError,
    SandboxTerminatedError,
)
from harena.core.idempotency import IdempotencyKey
from harena.core.models import ExecOutcome, ExecRequest, ExecResult, FileInfo, SandboxSpec
from harena.core.network_policy import NetworkPolicy
from harena.core.output import OutputBuffer
from harena.core.records.benchmark_jobs import (
    BenchmarkEvent,
    BenchmarkJob,
    BenchmarkJobsPage,
    BenchmarkResults,
    BenchmarkRun,
    JobSummary,
    ResultsPage,
)
from harena.core.records.blueprints import Blueprint, BlueprintsPage, BlueprintSummary
from harena.core.records.catalog import ENTRIES, ArchivedVersions, CatalogEntry, CatalogPage
from harena.core.records.network import NetworkLog
from harena.core.records.sandbox_answers import CommandOutput
from harena.core.records.sandboxes import ProcessInfo, SandboxInfo, SandboxStatus
from harena.core.results import RunResult
from harena.sdk import portal, transport


class FakeExec:
    """A command: `program(self)` is what it does, and returns its exit code."""

    def __init__(self, port: FakePort, request: ExecRequest) -> None:
        self.port = port
        self.request = request
        self.stdout = OutputBuffer(1 << 20 if request.output_bytes is None else request.output_bytes)
        self.stderr = OutputBuffer(1 << 20)
        self.stdin: list[bytes] = [] if request.stdin is None else [request.stdin]
        self.stdin_closed = asyncio.Event()
        if not request.stdin_stream:
            self.stdin_closed.set()
        self.size = request.terminal
        self._end: asyncio.Future[ExecResult] = asyncio.get_running_loop().create_future()

    def start(self, program: Callable[[FakeExec], Awaitable[int]]) -> None:
        """Run it, with its time limit."""
        self._task = asyncio.get_running_loop().create_task(self._run(program))

    def finish(self, outcome: ExecOutcome, returncode: int) -> None:
        """End it."""
        if not self._end.done():
            self.stdout.close()
            self.stderr.close()
            self._end.set_result(
                ExecResult(
                    outcome=outcome,
                    returncode=returncode,
                    stdout=self.stdout.getvalue(),
                    stderr=self.stderr.getvalue(),
                    stdout_truncated=self.stdout.truncated,
                )
            )
            self._task.cancel()

    def lose(self, error: BaseException) -> None:
        """The sandbox is gone."""
        if not self._end.done():
            self._end.set_exception(error)
            self._end.exception()
            self._task.cancel()

    async def wait(self) -> ExecResult:
        return await asyncio.shield(self._end)

    def kill(self) -> None:
        self.finish(ExecOutcome.CANCELLED, -9)

    async def write_stdin(self, data: bytes) -> None:
        if self._end.done() or (self.stdin_closed.is_set() and self.request.stdin_stream):
            raise SandboxExecutionError("nobody reads")
        await asyncio.sleep(0)
        self.stdin.append(data)

    def close_stdin(self) -> None:
        self.stdin_closed.set()

    def resize(self, columns: int, rows: int) -> None:
        self.size = (columns, rows)

    async def _run(self, program: Callable[[FakeExec], Awaitable[int]]) -> None:
        timeout = self.request.timeout_seconds
        try:
            async with asyncio.timeout(timeout):
                self.finish(ExecOutcome.EXITED, await program(self))
        except TimeoutError:
            self.finish(ExecOutcome.TIMEOUT, -9)


class FakePort:
    """A running sandbox with a flat file system."""

    def __init__(self, node: FakeNode, sandbox_id: str, spec: SandboxSpec) -> None:
        self.node = node
        self.id = sandbox_id
        self.enforcement: dict[str, str] = {}
        self.files: dict[str, bytes] = dict(spec.files)
        self.execs: list[FakeExec] = []
        self.signals: list[tuple[int, int]] = []

    async def exec(self, request: ExecRequest) -> FakeExec:
        running = FakeExec(self, request)
        self.execs.append(running)
        running.start(self.node.programs[request.argv[0]])
        return running

    async def read_file(self, path: str, *, max_bytes: int | None = None) -> bytes:
        await self.node.file_gate.wait()
        if path not in self.files:
            raise SandboxFileError(f"{path} does not exist", filepath=path, reason="NOT_FOUND")
        return self.files[path]

    async def read_stream(
        self, path: str, *, chunk_bytes: int = 1 << 20, max_bytes: int | None = None
    ) -> AsyncIterator[bytes]:
        content = await self.read_file(path)
        for start in range(0, len(content), chunk_bytes):
            yield content[start : start + chunk_bytes]

    async def write_file(
        self, path: str, source: bytes | AsyncIterable[bytes], *, append: bool = False, mode: int | None = None
    ) -> None:
        content = source if isinstance(source, bytes) else b"".join([piece async for piece in source])
        self.files[path] = (self.files.get(path, b"") if append else b"") + content

    async def stat(self, path: str) -> FileInfo:
        content = await self.read_file(path)
        return FileInfo(
            path=path, name=path.rpartition("/")[2], kind="file", size_bytes=len(content), mode=0o644, modified_at=0.0
        )

    async def list_dir(self, path: str) -> list[FileInfo]:
        return [await self.stat(name) for name in sorted(self.files) if name.rpartition("/")[0] == path]

    async def make_dir(self, path: str, *, parents: bool = True) -> None:
        self.files[f"{path}/"] = b"" if parents else b"alone"

    async def remove(self, path: str, *, recursive: bool = False, missing_ok: bool = False) -> None:
        if self.files.pop(path, None) is None and not missing_ok:
            raise SandboxFileError(f"{path} does not exist", filepath=path, reason="NOT_FOUND")

    async def extract_archive(self, path: str, source: AsyncIterable[bytes]) -> None:
        self.files[f"{path}.tar"] = b"".join([piece async for piece in source])

    async def create_archive(self, path: str) -> AsyncGenerator[bytes, None]:
        content = await self.read_file(f"{path}.tar")
        for start in range(0, len(content), 4096):
            yield content[start : start + 4096]

    async def processes(self) -> list[ProcessInfo]:
        return [
            ProcessInfo(pid=2 + number, parent_pid=1, state="S", command=running.request.argv)
            for number, running in enumerate(self.execs)
        ]

    async def signal(self, pid: int, signum: int) -> None:
        self.signals.append((pid, signum))

    async def set_network(self, policy: NetworkPolicy) -> None:
        self.network = policy

    async def network_log(self, *, after: int = 0, limit: int = 100) -> NetworkLog:
        return NetworkLog(self.network.to_json(), [], after + limit, 1, 2, 3, 4)


class FakeHandle:
    """A sandbox's record."""

    def __init__(self, node: FakeNode, spec: SandboxSpec) -> None:
        self.node = node
        now = datetime.now(UTC)
        self.info = SandboxInfo(
            id=f"sb-{next(node.numbers)}",
            status=SandboxStatus.RUNNING,
            image=spec.image,
            blueprint=spec.blueprint,
            tags=spec.tags,
            annotations=spec.annotations,
            limits=spec.limits,
            enforcement={},
            created_at=now,
            started_at=now,
        )
        self.spec = spec
        self.fake = FakePort(node, self.info.id, spec)
        self.stops: list[float] = []
        self.ended = asyncio.Event()

    @property
    def port(self) -> FakePort:
        if self.info.status.is_terminal:
            raise SandboxTerminatedError(f"sandbox {self.info.id} has ended")
        return self.fake

    async def refresh(self) -> SandboxInfo:
        return self.info

    async def outputs(self) -> list[CommandOutput]:
        return []

    async def wait_terminal(self) -> SandboxInfo:
        await self.ended.wait()
        return self.info

    async def stop(self, *, grace_seconds: float = 0.0) -> None:
        self.stops.append(grace_seconds)
        await self.node.stop_gate.wait()
        if self.node.stop_errors:
            raise self.node.stop_errors.pop(0)
        self.end(SandboxStatus.COMPLETED)

    def end(self, status: SandboxStatus, reason: str | None = None) -> None:
        """It has ended."""
        if not self.info.status.is_terminal:
            self.info = replace(self.info, status=status, status_reason=reason)
            for running in self.fake.execs:
                running.lose(SandboxTerminatedError(f"sandbox {self.info.id} was stopped"))
            self.ended.set()

    async def extend_lifetime(self, seconds: float) -> SandboxInfo:
        self.info = replace(self.info, expires_at=datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))
        return self.info


class FakeNode:
    """Implements `Operations`. Gates are open unless a test closes them."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        self.handles: list[FakeHandle] = []
        self.create_errors: list[BaseException] = []
        self.stop_errors: list[BaseException] = []
        self.create_gate = asyncio.Event()
        self.stop_gate = asyncio.Event()
        self.file_gate = asyncio.Event()
        for gate in (self.create_gate, self.stop_gate, self.file_gate):
            gate.set()
        self.programs: dict[str, Callable[[FakeExec], Awaitable[int]]] = dict(PROGRAMS)
        self.most_creating = self.creating = 0
        self.closed = 0
        self.forked = 0
        self.blueprints: list[Blueprint] = []
        self.requests: list[Mapping[str, Any]] = []
        self.keys: list[IdempotencyKey | None] = []
        self.events_closed = threading.Event()
        self.runs: dict[str, list[dict[str, Any]]] = {}
        """of jobs, for pages"""
        self.pages: list[tuple[str, int]] = []
        """that were asked for: job and cursor"""
        self.keys: list[IdempotencyKey | None] = []

    async def create_sandbox(self, spec: SandboxSpec) -> FakeHandle:
        self.creating += 1
        self.most_creating = max(self.creating, self.most_creating)
        try:
            await self.create_gate.wait()
            if self.create_errors:
                raise self.create_errors.pop(0)
            handle = FakeHandle(self, spec)
            self.handles.append(handle)
            return handle
        finally:
            self.creating -= 1

    async def get_sandbox(self, sandbox_id: str) -> FakeHandle:
        for handle in self.handles:
            if handle.info.id == sandbox_id:
                return handle
        raise SandboxNotFoundError(f"no sandbox {sandbox_id}", sandbox_id=sandbox_id)

    async def list_sandboxes(
        self, *, tags: Sequence[str] = (), statuses: Sequence[SandboxStatus] = (), include_terminal: bool = False
    ) -> list[FakeHandle]:
        return [
            handle
            for handle in self.handles
            if set(tags) <= set(handle.info.tags)
            and (not statuses or handle.info.status in statuses)
            and (include_terminal or not handle.info.status.is_terminal)
        ]

    async def create_blueprint(self, name: str, **fields: Any) -> Blueprint:
        blueprint = Blueprint(
            id=f"bp-{name}",
            name=name,
            image=fields["image"],
            requested=tuple(fields["packages"]),
            files=fields["files"],
            env=fields["env"],
            warm=fields["warm"],
        )
        self.blueprints.insert(0, blueprint)
        return blueprint

    async def get_blueprint(self, name_or_id: str) -> Blueprint:
        for blueprint in self.blueprints:
            if name_or_id in (blueprint.id, blueprint.name):
                return blueprint
        raise NotFoundError(f"no blueprint {name_or_id!r}")

    async def delete_blueprint(self, name_or_id: str) -> None:
        self.blueprints.remove(await self.get_blueprint(name_or_id))

    async def list_blueprints(
        self, *, name: str | None = None, organization: bool = False, cursor: str | None = None, limit: int = 100
    ) -> BlueprintsPage:
        shared = ("id", "name", "image", "packages", "requested", "warm", "layer", "created_at", "file_bytes")
        known = [
            BlueprintSummary(**{name: getattr(one, name) for name in shared}, files=len(one.files))
            for one in self.blueprints
        ]
        begin = int(cursor or 0)
        return BlueprintsPage(known[begin:][:1], str(begin + 1) if begin + 1 < len(known) else None)

    async def score(self, request: Mapping[str, Any]) -> BenchmarkRun:
        self.requests.append(request)
        answer = {"scenario_id": request["scenario"]["id"], "score": 0.5, "passed": False, "validity": "valid"}
        return filled(RunResult, answer)

    async def create_benchmark_job(
        self, request: Mapping[str, Any], *, key: IdempotencyKey | None = None
    ) -> BenchmarkJob:
        self.requests.append(request)
        self.keys.append(key)
        return self._job(request["name"], "running")

    async def get_benchmark_job(self, job_id_or_name: str) -> BenchmarkJob:
        if job_id_or_name == "missing":
            raise NotFoundError("no benchmark job 'missing'")
        return self._job(job_id_or_name, "running")

    async def list_benchmark_jobs(
        self, *, name: str | None = None, limit: int = 100, cursor: int | None = None
    ) -> BenchmarkJobsPage:
        jobs = [self._job("b", "running"), self._job("a", "done")]
        kept = [(2 - place, job) for place, job in enumerate(jobs) if name in (None, job.name)]
        page = [(place, job) for place, job in kept if cursor is None or place < cursor]
        return BenchmarkJobsPage(
            benchmark_jobs=[job for _, job in page[:limit]],
            next_cursor=page[limit - 1][0] if len(page) > limit else None,
        )

    async def wait_benchmark_job(self, job_id_or_name: str) -> BenchmarkResults:
        await self.file_gate.wait()
        return await self.benchmark_job_results(job_id_or_name)

    async def benchmark_job_results(self, job_id_or_name: str) -> BenchmarkResults:
        run = {
            "scenario_id": "s1",
            "score": None,
            "passed": False,
            "duration_seconds": 0.5,
            "validity": "infra",
            "trust": "separate",
            "reason": "platform_error",
            "metadata": {"split": "train"},
        }
        summary = {"total": 1, "by_reason": {"platform_error": 1}}
        return filled(BenchmarkResults, {"job_id": job_id_or_name, "summary": summary, "runs": [run]})

    async def benchmark_job_results_page(
        self, job_id_or_name: str, *, after: int = 0, limit: int = 1000
    ) -> ResultsPage:
        runs = self.runs.get(job_id_or_name, [])[after : after + limit]
        self.pages.append((job_id_or_name, after))
        page = {"job_id": job_id_or_name, "state": "completed", "runs": runs, "cursor": after + len(runs)}
        return filled(ResultsPage, page)

    async def benchmark_job_summary(self, job_id_or_name: str) -> JobSummary:
        total = len(self.runs.get(job_id_or_name, []))
        answer = {"job_id": job_id_or_name, "name": "n", "state": "completed", "summary": {"total": total}}
        return filled(JobSummary, answer)

    async def delete_benchmark_job(self, job_id_or_name: str) -> None:
        del self.runs[job_id_or_name]

    async def create_catalog_entry(self, kind: CatalogKind, request: Mapping[str, Any]) -> CatalogEntry:
        self.requests.append({"kind": kind, **request})
        return filled(ENTRIES[kind], {"ref": f"{request['name']}@1", "name": request["name"]})

    async def get_catalog_entry(self, kind: CatalogKind, reference: str, *, content: bool = False) -> CatalogEntry:
        if reference == "missing":
            raise NotFoundError("no definition 'missing'")
        return filled(ENTRIES[kind], {"ref": reference, **({"request": {}} if content else {})})

    async def list_catalog_entries(
        self, kind: CatalogKind, *, cursor: int | None = None, limit: int = 100, **asked: Any
    ) -> CatalogPage:
        self.requests.append({"kind": kind, "cursor": cursor, **asked})
        entry = filled(ENTRIES[kind], {"ref": f"{kind}@{cursor or 2}"})
        return CatalogPage(entries=[entry], next_cursor=1 if cursor is None else None)

    async def archive_catalog_entry(self, kind: CatalogKind, reference: str) -> ArchivedVersions:
        return ArchivedVersions(name=reference, archived=3)

    async def delete_catalog_entry(self, kind: CatalogKind, reference: str) -> None:
        self.requests.append({"kind": kind, "deleted": reference})

    async def cancel_benchmark_job(self, job_id_or_name: str) -> BenchmarkJob:
        return self._job(job_id_or_name, "cancelled")

    async def benchmark_job_events(self, job_id_or_name: str, *, after: int = 0) -> AsyncIterator[BenchmarkEvent]:
        try:
            for cursor in range(after + 1, 4):
                yield filled(BenchmarkEvent, {"cursor": cursor, "kind": "run_finished", "job_id": job_id_or_name})
            if job_id_or_name == "endless":
                await asyncio.Event().wait()
        finally:
            self.events_closed.set()

    async def close(self) -> None:
        self.closed += 1
        for handle in self.handles:
            handle.end(SandboxStatus.COMPLETED)

    def after_fork_in_child(self) -> None:
        self.forked += 1

    @staticmethod
    def _job(name: str, state: str) -> BenchmarkJob:
        answer = {"id": f"job-{name}", "name": name, "state": state, "progress": {"total": 2, "done": 1}}
        return filled(BenchmarkJob, answer)


async def _echo(running: FakeExec) -> int:
    running.stdout.append((" ".join(running.request.argv[1:]) + "\n").encode())
    return 0


async def _false(running: FakeExec) -> int:
    running.stderr.append(b"it failed\n")
    return 1


async def _sleep(running: FakeExec) -> int:
    await asyncio.Event().wait()
    return 0


async def _cat(running: FakeExec) -> int:
    await running.stdin_closed.wait()
    running.stdout.append(b"".join(running.stdin))
    return 0


PROGRAMS: dict[str, Callable[[FakeExec], Awaitable[int]]] = {
    "echo": _echo,
    "false": _false,
    "sleep": _sleep,
    "cat": _cat,
    "/bin/sh": _echo,
    "/bin/bash": _cat,
}


class NodeControl:
    """The fake node, and the way to do something to it on the sdk's loop."""

    def __init__(self) -> None:
        self.opened: list[FakeNode] = []
        self.open_errors: list[BaseException] = []

    async def open(self) -> FakeNode:
        """The transport's factory."""
        if self.open_errors:
            raise self.open_errors.pop(0)
        self.opened.append(FakeNode())
        return self.opened[-1]

    def do(self, action: Callable[[FakeNode], Any]) -> Any:
        """Call `action(node)` on the sdk's loop and return what it returns."""

        async def act() -> Any:
            node = await portal.current_portal().operations()
            return action(node)

        return portal.current_portal().submit(act).result(10)


@pytest.fixture
def node() -> Iterator[NodeControl]:
    """A node of the test's own behind the sdk, and an sdk that starts afresh with every test."""
    control = NodeControl()
    before = transport.set_factory(control.open)
    yield control
    portal.shutdown()
    transport.set_factory(before)
