"""The parts of one node, which all workspaces share: runtime, sandboxes, blueprints, jobs and registry."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harena.core.clock import Clock
from harena.core.errors import SandboxUnavailableError
from harena.core.garbage import collection_paused
from harena.core.home import harena_home
from harena.core.ports import Runtime
from harena.core.threads import NODE
from harena.node.blueprints import Blueprints
from harena.node.sandboxes import Sandboxes

if TYPE_CHECKING:
    from harena.core.registry import RegistryStorePort
    from harena.core.workspace import LimitsOf, WorkspaceLimits
    from harena.jobs.webhooks import Network
    from harena.node.benchmark_jobs import BenchmarkJobs
    from harena.node.registry import Registry
    from harena.node.training_jobs import TrainingJobs
    from harena.training.requests.references import ResolvedReferences
    from harena.training.requests.request import RLRequest, SFTRequest


class NodeParts:
    """Made and closed once, by the node. Used from one event loop.

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
        webhook_networks: Sequence[Network] | None = None,
        limits_of: LimitsOf | None = None,
        training_jobs: int = 1,
        training_worker: Sequence[str] | None = None,
    ) -> None:
        """See `Node` for the arguments."""
        self.sandboxes = Sandboxes(runtime, blueprints, clock, limits_of=limits_of)
        self.blueprints = blueprints
        self._runtime = runtime
        self._clock = clock
        self._store_path = store_path
        self._durable_jobs = durable_jobs
        self._keep_seconds = keep_seconds
        self._webhook_networks = webhook_networks
        self._limits_of = limits_of
        self._most_training = training_jobs
        self._training_worker = training_worker
        self._jobs: BenchmarkJobs | None = None
        self._registry: Registry | None = None
        self._training: TrainingJobs | None = None
        self._closed = False

    async def limits_of(self, workspace: str) -> WorkspaceLimits | None:
        """What a workspace may use; None = everything."""
        return None if self._limits_of is None else await self._limits_of(workspace)

    def deleted(self, workspace: str) -> None:
        """Something that this workspace had stored is gone."""
        if self._jobs is not None:
            self._jobs.stored_room.deleted(workspace)

    def delete_blueprint(self, workspace: str, name_or_id: str) -> None:
        """Forget a blueprint, and keep nothing ready for it. Raises as `Blueprints.delete`."""
        for blueprint_id in self.blueprints.delete(workspace, name_or_id):
            self._runtime.forget_blueprint(blueprint_id, workspace=workspace)

    async def first_jobs(self, workspace: str, blueprint_id: str) -> BenchmarkJobs:
        """Return what `benchmark_jobs` returns. The first call loads its modules in a thread, and the template of the
        blueprint that the job's sandboxes are expected to have starts meanwhile."""
        if self._jobs is None and not self._closed:
            from harena.scoring.scorers import driver_boot  # noqa: F401 - a template that starts now knows scoring's programs

            self.sandboxes.prepare(workspace, blueprint_id)
            await NODE.run(_load_jobs)
        return self.benchmark_jobs()

    def benchmark_jobs(self) -> BenchmarkJobs:
        """Raises SandboxUnavailableError once the node has been closed."""
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
                isolates=getattr(self._runtime, "isolates", True),
                keep_seconds=self._keep_seconds,
                webhook_networks=self._webhook_networks,
                limits_of=self._limits_of,
            )
        return self._jobs

    def registry(self) -> Registry:
        """Raises SandboxUnavailableError once the node has been closed."""
        jobs = self.benchmark_jobs()
        if self._registry is None:
            from harena.node.registry import Registry
            from harena.store.registry import RegistryStore

            async def store() -> RegistryStorePort:
                return RegistryStore(await jobs.database())

            home = self._store_path.parent if isinstance(self._store_path, Path) else harena_home()
            self._registry = Registry(
                store, home / "objects", self._clock, limits_of=self._limits_of, check_room=jobs.stored_room.check
            )
        return self._registry

    def training_jobs(self) -> TrainingJobs:
        """Raises SandboxUnavailableError once the node has been closed."""
        jobs = self.benchmark_jobs()
        if self._training is None:
            from harena.node.training_room import training_jobs

            async def resolve(workspace: str, request: SFTRequest | RLRequest) -> ResolvedReferences:
                return await self.registry().resolve(workspace, request, jobs.catalog.reader(workspace))

            self._training = training_jobs(
                jobs.database,
                self._store_path,
                resolve,
                self.blueprints.find,
                self._clock,
                durable=self._durable_jobs,
                most=self._most_training,
                worker=self._training_worker,
                limits_of=self._limits_of,
                check_room=jobs.stored_room.check,
            )
        return self._training

    async def drain(self) -> None:
        """Start no run of a job any more; returns when those under way have ended as they would."""
        if self._training is not None:
            await self._training.drain()
        if self._jobs is not None:
            await self._jobs.drain()

    async def close(self) -> None:
        """End jobs, then sandboxes, then the runtime; each although the one before failed. May be called again."""
        self._closed = True
        try:
            if self._training is not None:
                await self._training.close()
            if self._registry is not None:
                await self._registry.close()
            if self._jobs is not None:
                await self._jobs.close()
        finally:
            try:
                await self.sandboxes.close()
            finally:
                await self._runtime.close()

    def after_fork_in_child(self) -> None:
        """In a forked child: let go of what belongs to the parent, without ending it."""
        self._closed = True
        self._jobs = self._registry = self._training = None
        self.sandboxes.abandon()
        let_go = getattr(self._runtime, "after_fork_in_child", None)
        if let_go is not None:
            let_go()


def _load_jobs() -> None:
    """What the first job needs of the store, the models and the scoring room."""
    with collection_paused():  # modules stay
        import harena.jobs.models
        import harena.node.benchmark_jobs
        import harena.scoring.formats
        import harena.scoring.score
        import harena.store.benchmark_jobs
        import harena.store.writer  # noqa: F401
