"""The parts of one node, which all workspaces share: runtime, sandboxes, blueprints, jobs and registry."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from harena.cluster.address import cluster_address, missing_ray
from harena.core.errors import PlatformError, SandboxUnavailableError
from harena.core.garbage import collection_paused
from harena.core.ports import LimitsMemoryOfAll
from harena.core.threads import NODE, node_task
from harena.node.database import NodeDatabase
from harena.node.images import NodeImages
from harena.runtime.host import mechanisms
from harena.runtime.host.sandboxes import Sandboxes

if TYPE_CHECKING:
    from harena.core.clock import Clock
    from harena.core.network_policy import NetworkPolicy
    from harena.core.node_config import NodeConfig
    from harena.core.ports import Runtime
    from harena.core.workspace import WorkspaceLimits
    from harena.egress.secrets import Secrets
    from harena.image_build.builds import Builds
    from harena.image_store.images import Images
    from harena.jobs.benchmark.benchmark_jobs import BenchmarkJobs
    from harena.jobs.benchmark.calibrations import Calibrations
    from harena.jobs.catalog import Catalog
    from harena.jobs.training.training_jobs import TrainingJobs
    from harena.node.cluster_scores import OpenForRuns
    from harena.runtime.host.blueprints import Blueprints
    from harena.store.database import Database
    from harena.training.objects.registry import Registry
    from harena.training.requests.references import ResolvedReferences
    from harena.training.requests.request import RLRequest, SFTRequest
    from harena.worlds.episodes import Call
    from harena.worlds.jobs import WorldJobs
    from harena.worlds.manifests import WorldManifests

_log = logging.getLogger("harena.node")


class NodeParts:
    """Made and closed once, by the node. Used from one event loop.

    Benchmark jobs (and with them the store and its libraries) are loaded when they are first asked for.
    """

    def __init__(
        self,
        runtime: Runtime,
        blueprints: Blueprints,
        clock: Clock,
        config: NodeConfig,
        images: NodeImages | None = None,
        open_for_runs: OpenForRuns | None = None,
    ) -> None:
        """`runtime` has been started; `close` closes it, and `images` (None = the runtime has none of them).
        `open_for_runs` opens a node in a process on another machine, for runs of this one's benchmark jobs; None = they
        all run here."""
        self._open_for_runs = open_for_runs
        self._config = config
        self.sandboxes = Sandboxes(
            runtime,
            blueprints,
            clock,
            limits_of=config.limits_of,
            waits=not config.durable_jobs,
            check_network=self.check_network,
        )
        self.blueprints = blueprints
        blueprints.organization_of = self.organization_of
        self._runtime = runtime
        self.clock = clock
        self._database = NodeDatabase(config.store_place)
        self._jobs: BenchmarkJobs | None = None
        self._images = images or NodeImages(config.images_place, clock, for_server=config.works_for_server)
        self._image_builds: Builds | None = None
        self._registry: Registry | None = None
        self._training: TrainingJobs | None = None
        self._secrets: Secrets | None = None
        self._worlds: WorldManifests | None = None
        self._world_jobs: WorldJobs | None = None
        self._closed = False
        self._removing: asyncio.Task[None] | None = None

    async def database(self) -> Database:
        """The node's database, for the store of a noun that has no other part. Raises PlatformError,
        SandboxUnavailableError."""
        return await self._database.opened()

    async def limits_of(self, workspace: str) -> WorkspaceLimits | None:
        """What a workspace may use; None = everything."""
        limits_of = self._config.limits_of
        return None if limits_of is None else await limits_of(workspace)

    async def organization_of(self, workspace: str) -> str:
        """The organisation that a workspace belongs to now. Raises PlatformError, SandboxUnavailableError."""
        return await (await self._database.registry()).organization(workspace)

    def check_network(self, policy: NetworkPolicy) -> None:
        """Raises SandboxValidationError for a policy with an entry that this node connects no sandbox to."""
        policy.check_served(self._config.sandbox_networks)

    def deleted(self, workspace: str) -> None:
        """Something that this workspace had stored is gone."""
        if self._jobs is not None:
            self._jobs.stored_room.deleted(workspace)

    async def delete_blueprint(self, workspace: str, name_or_id: str) -> None:
        """Forget a blueprint, and keep nothing ready for it. Raises as `Blueprints.delete`."""
        for blueprint_id in await self.blueprints.delete(workspace, name_or_id):
            self._runtime.forget_blueprint(blueprint_id, workspace=workspace)

    def forget_image(self, workspace: str, digest: str) -> None:
        """Keep nothing ready for an image that was removed."""
        self._runtime.forget_image(digest, workspace=workspace)

    def utcnow(self) -> datetime:
        """The time of day, as this node has it."""
        return self.clock.utcnow()

    def forget_held(self, workspace: str, identity: str) -> bool:
        """Let go of a sandbox's files that are held under this id for others to begin with. Whether there were any."""
        return self._runtime.forget_held(identity, workspace=workspace)

    async def first_jobs(self, workspace: str, blueprint_id: str) -> BenchmarkJobs:
        """Return what `benchmark_jobs` returns. The first call loads its modules in a thread, and the template of the
        blueprint that the job's sandboxes are expected to have starts meanwhile."""
        if self._jobs is None and not self._closed:
            from harena.scoring.scorers import driver_boot  # noqa: F401 - a template that starts now knows scoring's programs

            await self.sandboxes.prepare(workspace, blueprint_id)
            await NODE.run(_load_jobs)
        return self.benchmark_jobs()

    def benchmark_jobs(self) -> BenchmarkJobs:
        """Raises SandboxUnavailableError once the node has been closed."""
        if self._closed:
            raise _closed()
        if self._jobs is None:
            from harena.jobs.benchmark.benchmark_jobs import BenchmarkJobs
            from harena.node.folder_builds import FolderBuilds

            elsewhere = None
            if self._open_for_runs is not None and cluster_address() is not None and missing_ray() is None:
                from harena.node.cluster_scores import ClusterScores

                elsewhere = ClusterScores(self._config.limits_of, self._config.sandbox_networks, self._open_for_runs)
            self._jobs = BenchmarkJobs(
                self._config,
                self._database,
                self.sandboxes,
                self.blueprints,
                self.clock,
                isolates=self._runtime.isolates,
                hides_warm_starts=mechanisms.hides_warm_starts,
                images=FolderBuilds(self.image_builds),
                elsewhere=elsewhere,
                memory_of_sandboxes=(
                    self._runtime.memory_of_sandboxes if isinstance(self._runtime, LimitsMemoryOfAll) else None
                ),
            )
        return self._jobs

    def images(self, workspace: str) -> Images:
        """Raises SandboxUnavailableError once the node has been closed."""
        if self._closed:
            raise _closed()
        return self._images.store(workspace)

    def image_builds(self) -> Builds:
        """Raises SandboxUnavailableError once the node has been closed."""
        if self._closed:
            raise _closed()
        if self._image_builds is None:
            from harena.image_build.builds import Builds
            from harena.image_store.manifests import this_platform
            from harena.node.image_builds import SandboxRunner

            self._image_builds = Builds(
                lambda workspace: self._images.store(workspace).building(workspace),
                SandboxRunner(self.sandboxes),
                self.clock,
                platform=this_platform(),
                check_network=self.check_network,
            )
        return self._image_builds

    def registry(self) -> Registry:
        """Raises SandboxUnavailableError once the node has been closed."""
        jobs = self.benchmark_jobs()
        if self._registry is None:
            from harena.training.objects.registry import Registry

            self._registry = Registry(
                self._database.registry,
                self._config.home / "objects",
                self.clock,
                limits_of=self._config.limits_of,
                check_room=jobs.stored_room.check,
            )
        return self._registry

    def secrets(self) -> Secrets:
        """Raises SandboxUnavailableError once the node has been closed."""
        jobs = self.benchmark_jobs()
        if self._secrets is None:
            from harena.egress.secrets import Secrets

            self._secrets = Secrets(self._database.secrets, self.clock, jobs.stored_room.check)
        return self._secrets

    def world_manifests(self) -> WorldManifests:
        """Raises SandboxUnavailableError once the node has been closed."""
        jobs = self.benchmark_jobs()
        if self._worlds is None:
            from harena.worlds.manifests import WorldManifests

            self._worlds = WorldManifests(self._database.worlds, self.clock, jobs.stored_room.check)
        return self._worlds

    def world_jobs(self) -> WorldJobs:
        """Raises SandboxUnavailableError once the node has been closed."""
        worlds, jobs = self.world_manifests(), self.benchmark_jobs()
        if self._world_jobs is None:
            from harena.node.world_agents import WorldAgents
            from harena.worlds.jobs import WorldJobs

            async def publish(workspace: str, name: str, version: str, tree: AsyncIterable[bytes]) -> object:
                return await self.registry().push(workspace, "dataset", name, version, tree)

            async def planned(workspace: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
                return await self.training_jobs().planned(workspace, request)

            async def played(workspace: str, accepted: Mapping[str, Any], count: int) -> Sequence[Sequence[Call]]:
                return await self.training_jobs().play(workspace, accepted, count)

            self._world_jobs = WorldJobs(
                self._database.worlds,
                worlds.find,
                publish,
                self.clock,
                jobs.stored_room.check,
                WorldAgents(planned, played),
            )
        return self._world_jobs

    def catalog(self) -> Catalog:
        """Raises SandboxUnavailableError once the node has been closed."""
        return self.benchmark_jobs().catalog

    def calibrations(self) -> Calibrations:
        """Raises SandboxUnavailableError once the node has been closed."""
        return self.benchmark_jobs().calibrations

    def training_jobs(self) -> TrainingJobs:
        """Raises SandboxUnavailableError once the node has been closed."""
        jobs = self.benchmark_jobs()
        if self._training is None:
            from harena.node.training_room import training_jobs

            async def resolve(workspace: str, request: SFTRequest | RLRequest) -> ResolvedReferences:
                reader, manifest_of = jobs.catalog.reader(workspace), self.world_manifests().manifest
                model_of = self.training_jobs().model_of
                return await self.registry().resolve(workspace, request, reader, manifest_of, model_of)

            self._training = training_jobs(
                self._config,
                self._database,
                resolve,
                self.blueprints.get,
                self.blueprints.hold,
                self.clock,
                jobs.stored_room.check,
            )
        return self._training

    def remove_left(self) -> None:
        """Begin to remove the unfinished images and packages that killed servers have left, of all workspaces. Nobody
        waits for it: it may take long, and nothing that is made anew uses the same places."""
        self._removing = node_task(self._remove_left(), "remove what was left")

    async def _remove_left(self) -> None:
        await self._images.remove_left()
        try:
            await self.registry().release()
        except PlatformError as error:  # the next push, or deletion, tries again
            _log.warning("files that were kept for jobs cannot be removed: %s", error)
        try:
            await NODE.run(self.blueprints.layers.remove_left)
        except OSError as error:  # the next installation tries again
            _log.warning("what was left of packages cannot be removed: %s", error)

    async def drain(self) -> None:
        """Start no run of a job any more; returns when those under way have ended as they would."""
        if self._training is not None:
            await self._training.drain()
        if self._jobs is not None:
            await self._jobs.drain()

    async def close(self) -> None:
        """End jobs, then sandboxes, then the runtime, each also if the one before fails. May be called again."""
        self._closed = True
        try:
            if self._removing is not None:
                self._removing.cancel()
                await asyncio.wait([self._removing])
            if self._training is not None:
                await self._training.close()
            if self._world_jobs is not None:
                await self._world_jobs.close()
            if self._registry is not None:
                await self._registry.close()
            if self._jobs is not None:
                await self._jobs.close()
            if self._image_builds is not None:
                await self._image_builds.close()
            await self._images.close()
            await self._database.close()
        finally:
            try:
                await self.sandboxes.close()
            finally:
                await self._runtime.close()

    def after_fork_in_child(self) -> None:
        """In a forked child: let go of what belongs to the parent, without ending it."""
        self._closed = True
        self._removing = None  # its thread is the parent's
        self._jobs = self._registry = self._training = self._secrets = self._image_builds = None
        self._worlds = self._world_jobs = None
        self._images.abandon()
        self._database = NodeDatabase(self._config.store_place)  # the open one is the parent's
        self.sandboxes.abandon()
        self._runtime.after_fork_in_child()


def _closed() -> SandboxUnavailableError:
    return SandboxUnavailableError("this node has been closed: open another one", reason="NODE_CLOSED")


def load_for_server() -> None:
    """Load the modules that requests need. A server does so before it takes any: a module that is loaded on first use
    stops the event loop, and with it every workspace, for as long as the disk and the interpreter take."""
    _load_jobs()
    with collection_paused():
        import harena.core.records.calibrations
        import harena.core.records.catalog
        import harena.egress.secrets
        import harena.image_build.builds
        import harena.image_store.images
        import harena.jobs.benchmark.calibrations
        import harena.node.image_builds
        import harena.node.training_room
        import harena.node.world_agents
        import harena.scoring.scorers.changed_expectations
        import harena.scoring.scorers.command
        import harena.scoring.scorers.command_forms
        import harena.scoring.scorers.harbor
        import harena.scoring.scorers.judgement
        import harena.scoring.scorers.literal_control
        import harena.scoring.scorers.longest_scoring
        import harena.scoring.scorers.missing_programs
        import harena.scoring.scorers.output
        import harena.scoring.scorers.python
        import harena.scoring.scorers.reference
        import harena.scoring.scorers.suite
        import harena.scoring.scorers.text
        import harena.scoring.scorers.unnamed_modules
        import harena.scoring.scorers.weighted
        import harena.scoring.yaml_nodes
        import harena.store.catalog
        import harena.store.registry
        import harena.store.secrets
        import harena.store.stored_bytes
        import harena.store.worlds
        import harena.training.objects.registry
        import harena.training.requests.stored_references
        import harena.training.requests.stored_scorings
        import harena.worlds.jobs
        import harena.worlds.manifests  # noqa: F401


def _load_jobs() -> None:
    """Load what the first job needs of the store, the models and the scoring room."""
    with collection_paused():  # modules stay
        import harena.jobs.benchmark.benchmark_jobs
        import harena.jobs.benchmark.job_writer
        import harena.jobs.models
        import harena.scoring.formats
        import harena.scoring.score
        import harena.store.benchmark_jobs  # noqa: F401
