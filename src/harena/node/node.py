"""One whole node: what `Operations` asks for, answered by the rooms that know."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harena.core.clock import Clock
from harena.core.errors import SandboxUnavailableError
from harena.core.models import Blueprint, SandboxSpec, SandboxStatus
from harena.core.ports import Runtime, SandboxHandle
from harena.node.blueprints import Blueprints
from harena.node.sandboxes import Sandboxes

if TYPE_CHECKING:
    from harena.node.benchmark_jobs import BenchmarkJobs


class Node:
    """Implements `Operations` over one runtime. Used from one event loop.

    Benchmark jobs (and with them the store and its libraries) are loaded when they are first asked for.
    """

    def __init__(
        self,
        runtime: Runtime,
        blueprints: Blueprints,
        clock: Clock,
        *,
        store_path: Path | str,
        durable_jobs: bool = False,
        keep_seconds: float | None = None,
    ) -> None:
        """`runtime` has been started; this node closes it. `store_path` is a SQLite file, or the URL of a PostgreSQL.
        `durable_jobs`: jobs outlive this node (a server's), and are kept for `keep_seconds` after their end (None =
        until they are deleted)."""
        self.sandboxes = Sandboxes(runtime, blueprints, clock)
        self.blueprints = blueprints
        self._runtime = runtime
        self._clock = clock
        self._store_path = store_path
        self._durable_jobs = durable_jobs
        self._keep_seconds = keep_seconds
        self._jobs: BenchmarkJobs | None = None
        self._closed = False

    async def create_sandbox(self, spec: SandboxSpec) -> SandboxHandle:
        """See `Operations`."""
        return await self.sandboxes.create(spec)

    async def get_sandbox(self, sandbox_id: str) -> SandboxHandle:
        """See `Operations`."""
        return self.sandboxes.get(sandbox_id)

    async def list_sandboxes(
        self,
        *,
        tags: Sequence[str] = (),
        statuses: Sequence[SandboxStatus] = (),
        include_terminal: bool = False,
    ) -> list[SandboxHandle]:
        """See `Operations`."""
        return [*self.sandboxes.list(tags=tags, statuses=statuses, include_terminal=include_terminal)]

    async def create_blueprint(
        self,
        name: str,
        *,
        image: str = "default",
        packages: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
        warm: Sequence[str] | None = None,
    ) -> Blueprint:
        """See `Operations`."""
        return await self.blueprints.create(name, image=image, packages=packages, files=files, env=env, warm=warm)

    async def get_blueprint(self, name_or_id: str) -> Blueprint:
        """See `Operations`."""
        return await self.blueprints.get(name_or_id)

    async def delete_blueprint(self, name_or_id: str) -> None:
        """See `Operations`."""
        self.blueprints.delete(name_or_id)

    async def list_blueprints(self) -> list[Blueprint]:
        """See `Operations`."""
        return await self.blueprints.list()

    async def resume_benchmark_jobs(self) -> None:
        """Go on with jobs that nobody runs any more, now and from now on; for nodes with `durable_jobs`."""
        await self._benchmark_jobs().start()

    async def create_benchmark_job(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """See `Operations`."""
        return await self._benchmark_jobs().create(request)

    async def get_benchmark_job(self, job_id_or_name: str) -> Mapping[str, Any]:
        """See `Operations`."""
        return await self._benchmark_jobs().get(job_id_or_name)

    async def list_benchmark_jobs(self) -> list[Mapping[str, Any]]:
        """See `Operations`."""
        return [*await self._benchmark_jobs().list()]

    async def wait_benchmark_job(self, job_id_or_name: str) -> Mapping[str, Any]:
        """See `Operations`."""
        return await self._benchmark_jobs().wait(job_id_or_name)

    async def benchmark_job_results(self, job_id_or_name: str) -> Mapping[str, Any]:
        """See `Operations`."""
        return await self._benchmark_jobs().results(job_id_or_name)

    async def benchmark_job_results_page(
        self, job_id_or_name: str, *, after: int = 0, limit: int = 1000
    ) -> Mapping[str, Any]:
        """See `Operations`."""
        return await self._benchmark_jobs().results_page(job_id_or_name, after=after, limit=limit)

    async def delete_benchmark_job(self, job_id_or_name: str) -> None:
        """See `Operations`."""
        await self._benchmark_jobs().delete(job_id_or_name)

    async def cancel_benchmark_job(self, job_id_or_name: str) -> Mapping[str, Any]:
        """See `Operations`."""
        return await self._benchmark_jobs().cancel(job_id_or_name)

    def benchmark_job_events(self, job_id_or_name: str, *, after: int = 0) -> AsyncIterator[Mapping[str, Any]]:
        """See `Operations`."""
        return self._benchmark_jobs().events(job_id_or_name, after=after)

    async def close(self) -> None:
        """End jobs, then sandboxes, then the runtime; each although the one before failed. May be called again."""
        self._closed = True
        try:
            if self._jobs is not None:
                await self._jobs.close()
        finally:
            try:
                await self.sandboxes.close()
            finally:
                await self._runtime.close()

    def after_fork_in_child(self) -> None:
        """In a forked child: let go of what belongs to the parent, without ending it. This node is unusable then."""
        self._closed = True
        self._jobs = None
        self.sandboxes.abandon()
        let_go = getattr(self._runtime, "after_fork_in_child", None)
        if let_go is not None:
            let_go()

    def _benchmark_jobs(self) -> BenchmarkJobs:
        if self._closed:
            raise SandboxUnavailableError("this node has been closed: open another one", reason="NODE_CLOSED")
        if self._jobs is None:
            from harena.node.benchmark_jobs import BenchmarkJobs

            self._jobs = BenchmarkJobs(
                self._store_path,
                self.sandboxes,
                self.blueprints,
                self._clock,
                durable=self._durable_jobs,
                keep_seconds=self._keep_seconds,
            )
        return self._jobs
