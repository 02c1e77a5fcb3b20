"""One whole node: what `Operations` asks for, answered by its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harena.core.models import SandboxSpec
from harena.core.network_policy import NO_NETWORK, NetworkPolicy
from harena.core.records.blueprints import DEFAULT_BLUEPRINT, WARM_BLUEPRINT, Blueprint, BlueprintsPage
from harena.core.records.sandboxes import NO_LIMITS_SAID, Limits, SandboxStatus
from harena.core.workspace import DEFAULT_WORKSPACE, checked_workspace
from harena.node.from_table import FromTable
from harena.node.image_operations import ImageOperations
from harena.node.parts import NodeParts
from harena.node.snapshot_operations import SnapshotOperations

if TYPE_CHECKING:
    from harena.core.catalog import CatalogKind
    from harena.core.clock import Clock
    from harena.core.daemons import Daemon
    from harena.core.gateways import Gateway
    from harena.core.idempotency import IdempotencyKey
    from harena.core.node_config import NodeConfig
    from harena.core.ports import Runtime, SandboxHandle, SandboxSource
    from harena.core.profiles import Profile
    from harena.core.records.benchmark_jobs import BenchmarkJob
    from harena.core.records.catalog import CatalogEntry
    from harena.core.requests import BenchmarkJobFields, ScoreFields
    from harena.core.results import RunResult
    from harena.core.secrets import OpenSecret
    from harena.node.cluster_scores import OpenForRuns
    from harena.node.images import NodeImages
    from harena.runtime.host.blueprints import Blueprints


class NodeInWorkspace(ImageOperations, SnapshotOperations, FromTable):
    """Implements `Operations` for one workspace of a node: it shares everything with the node, but makes and sees only
    this workspace's blueprints and jobs. Used from one event loop."""

    def __init__(self, parts: NodeParts, workspace: str) -> None:
        """Raises ValidationError for what is no workspace's name."""
        self._parts = parts
        self.workspace = checked_workspace(workspace)

    async def create_sandbox(self, spec: SandboxSpec) -> SandboxHandle:
        """Start a sandbox of this workspace."""
        return await self._parts.sandboxes.create(self.workspace, spec)

    async def get_sandbox(self, sandbox_id: str) -> SandboxHandle:
        """Find a sandbox of this workspace. Raises SandboxNotFoundError, also for one of another workspace."""
        return self._parts.sandboxes.get(sandbox_id, workspace=self.workspace)

    async def list_sandboxes(
        self,
        *,
        tags: Sequence[str] = (),
        statuses: Sequence[SandboxStatus] = (),
        include_terminal: bool = False,
    ) -> list[SandboxHandle]:
        """List this workspace's sandboxes that have one of the states and all of the tags."""
        found = await self._parts.sandboxes.list_of(
            self.workspace, tags=tags, statuses=statuses, include_terminal=include_terminal
        )
        return [*found]

    async def create_blueprint(
        self,
        name: str,
        *,
        image: str = "default",
        profile: Profile = "strict",
        packages: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
        warm: Sequence[str] | None = None,
        network: NetworkPolicy = NO_NETWORK,
        gateways: Sequence[Gateway] = (),
        daemons: Sequence[Daemon] = (),
        limits: Limits = NO_LIMITS_SAID,
        recipe: str = "",
        log: str = "",
    ) -> Blueprint:
        """Create a blueprint in this workspace. Raises ValidationError for a network that this node cannot serve."""
        self._parts.check_network(network)
        return await self._parts.blueprints.create(
            self.workspace,
            name,
            image=image,
            profile=profile,
            packages=packages,
            files=files,
            env=env,
            warm=warm,
            network=network,
            gateways=gateways,
            daemons=daemons,
            limits=limits,
            recipe=recipe,
            log=log,
            room=await self._parts.limits_of(self.workspace),
        )

    async def get_blueprint(self, name_or_id: str) -> Blueprint:
        """Find a blueprint of this workspace, or of its organisation, by its name or id."""
        return await self._parts.blueprints.get(self.workspace, name_or_id)

    async def publish_blueprint(self, name_or_id: str) -> Blueprint:
        """Show a blueprint of this workspace to its organisation."""
        return await self._parts.blueprints.publish(self.workspace, name_or_id)

    async def withdraw_blueprint(self, name_or_id: str) -> Blueprint:
        """Show a blueprint of this workspace to nobody else any more."""
        return await self._parts.blueprints.withdraw(self.workspace, name_or_id)

    async def delete_blueprint(self, name_or_id: str) -> None:
        """Delete a blueprint of this workspace."""
        await self._parts.delete_blueprint(self.workspace, name_or_id)

    async def list_blueprints(
        self, *, name: str | None = None, organization: bool = False, cursor: str | None = None, limit: int = 100
    ) -> BlueprintsPage:
        """Read one page of the blueprints of this workspace, or of its organisation, or of the versions of one."""
        return await self._parts.blueprints.page(
            self.workspace, name=name, organization=organization, cursor=cursor, limit=limit
        )

    async def score(self, request: ScoreFields) -> RunResult:
        """Score one candidate; the first call starts what runs benchmark jobs, with the sandboxes that the request asks
        for."""
        jobs = await self._parts.first_jobs(self.workspace, _expected_blueprint(request))
        return await jobs.direct_scores.score(self.workspace, request)

    async def create_benchmark_job(
        self, request: BenchmarkJobFields, *, key: IdempotencyKey | None = None
    ) -> BenchmarkJob:
        """Create a benchmark job; the first call starts what runs them, with the sandboxes that the request asks
        for."""
        jobs = await self._parts.first_jobs(self.workspace, _expected_blueprint(request))
        return await jobs.create(self.workspace, request, key=key)

    async def get_catalog_entry(self, kind: CatalogKind, ref: str, *, content: bool = False) -> CatalogEntry:
        """Look an entry up; scenarios come with the calibrations of their tests."""
        from harena.core.records.catalog import StoredScenarios
        from harena.jobs.benchmark.calibrations import with_calibrations

        jobs = self._parts.benchmark_jobs()
        entry = await jobs.catalog.get(self.workspace, kind, ref, content=content)
        if not isinstance(entry, StoredScenarios):
            return entry
        found = await jobs.calibrations.of_version(self.workspace, entry.name, entry.version)
        return with_calibrations(entry, found)

    async def close(self) -> None:
        """Ends nothing: what a workspace has is ended by the node."""


class Node(NodeInWorkspace):
    """One runtime, and what is made with it; its own operations are those of one workspace, the default one unless
    another is given."""

    def __init__(
        self,
        runtime: Runtime,
        blueprints: Blueprints,
        clock: Clock,
        config: NodeConfig,
        images: NodeImages | None = None,
        *,
        workspace: str = DEFAULT_WORKSPACE,
        open_for_runs: OpenForRuns | None = None,
    ) -> None:
        """`runtime` has been started; this node closes it. `images`: the runtime's, if it has any; `open_for_runs`: see
        NodeParts."""
        super().__init__(NodeParts(runtime, blueprints, clock, config, images, open_for_runs), workspace)

    def in_workspace(self, workspace: str) -> NodeInWorkspace:
        """Give the node's operations as they are for one workspace."""
        return NodeInWorkspace(self._parts, workspace)

    def sandbox_source(self, workspace: str) -> SandboxSource:
        """What makes a workspace's sandboxes."""
        return self._parts.sandboxes.source(workspace)

    def all_sandboxes(
        self, *, statuses: Sequence[SandboxStatus] = (), include_terminal: bool = False
    ) -> Sequence[SandboxHandle]:
        """List the sandboxes of all workspaces that have one of the states."""
        return self._parts.sandboxes.list(statuses=statuses, include_terminal=include_terminal)

    def pending_sandboxes(self, workspace: str) -> Sequence[SandboxHandle]:
        """List the workspace's sandboxes that have not started yet."""
        return self._parts.sandboxes.pending(workspace)

    async def open_secret(self, workspace: str, name: str) -> OpenSecret:
        """The value of a secret, for the gateways of a workspace's sandbox. Raises NotFoundError, PlatformError."""
        return await self._parts.secrets().open(workspace, name)

    async def organization_of(self, workspace: str) -> str:
        """The organisation that a workspace belongs to now. Raises PlatformError."""
        return await self._parts.organization_of(workspace)

    def remove_left(self) -> None:
        """Begin to remove what killed servers have left of images and packages in the making."""
        self._parts.remove_left()

    async def resume_jobs(self) -> None:
        """Go on with benchmark and training jobs that nobody runs any more, now and from now on, and with jobs of
        worlds; for nodes with `durable_jobs`."""
        await self._parts.benchmark_jobs().start()
        await self._parts.training_jobs().start()
        await self._parts.world_jobs().start()

    async def drain(self) -> None:
        """Before `close`: start no run of a job any more; returns when those under way have ended as they would."""
        await self._parts.drain()

    async def close(self) -> None:
        """End jobs, then sandboxes, then the runtime; each although the one before failed. May be called again."""
        await self._parts.close()

    def after_fork_in_child(self) -> None:
        """In a forked child: let go of what belongs to the parent, without ending it. This node is unusable then."""
        self._parts.after_fork_in_child()


def _expected_blueprint(request: Mapping[str, object]) -> str:
    """The blueprint that a request's sandboxes will probably have; the request has not been checked yet."""
    if isinstance(named := request.get("blueprint_id"), str):
        return named
    is_data_set = request.get("candidates") is not None or request.get("format") is not None
    return WARM_BLUEPRINT if is_data_set else DEFAULT_BLUEPRINT
