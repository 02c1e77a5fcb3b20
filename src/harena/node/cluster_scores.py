"""Runs of benchmark jobs on the nodes of a Ray cluster: the worker that scores there, and its caller on this node.

The job stays where it was accepted: schedule, journal, leases and retries are its owner's, and know nothing of this. A
worker is given one scenario at a time with all that scoring takes, and scores it in sandboxes of its own node, by the
same function. A run whose worker is lost is scored anew by another one, and none of its tries is used up; only one that
has lost `MOST_LOSSES` of them fails, by the platform's fault.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from harena.cluster.address import cluster_address
from harena.cluster.connection import connect, room
from harena.cluster.workers import Refused, WorkerLostError, Workers, node_name
from harena.core.errors import HarenaError, PlatformError, ValidationError
from harena.core.models import SandboxSpec
from harena.core.network_policy import Network
from harena.core.ports import SandboxSource
from harena.core.results import RunResult, Trust
from harena.core.threads import NODE
from harena.core.workspace import LimitsOf, WorkspaceLimits
from harena.jobs.capacity import EXECUTING_PER_CORE
from harena.jobs.slots import Slots
from harena.scoring.scenario import Scenario

MOST_LOSSES = 3
OpenForRuns = Callable[[LimitsOf, Sequence[Network] | None], Awaitable["SandboxSourceOf"]]
"""what opens a worker's node: (what a workspace may use, what sandboxes may reach beside the public internet)"""


class SandboxSourceOf(Protocol):
    """What scoring needs of a node."""

    def sandbox_source(self, workspace: str) -> SandboxSource:
        """What makes a workspace's sandboxes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunElsewhere:
    """One attempt, as it is sent to a worker."""

    workspace: str
    limits: WorkspaceLimits | None
    """what the workspace may use of a node; None = everything"""
    scenario: Scenario
    base_spec: SandboxSpec
    timeout_seconds: float
    attempt: int
    require_trust: Trust | None
    alone: bool
    place: SandboxSpec | None


class ScoringWorker:
    """One actor, with a node of sandboxes of its own. Used from its event loop."""

    def __init__(self, open_node: OpenForRuns, sandbox_networks: Sequence[Network] | None) -> None:
        self._open_node = open_node
        self._sandbox_networks = sandbox_networks
        self._limits: dict[str, WorkspaceLimits] = {}
        self._node: SandboxSourceOf | None = None
        self._running: dict[str, asyncio.Task[RunResult]] = {}

    async def ready(self) -> Refused | None:
        """Open the node."""
        try:
            self._node = await self._open_node(self._limits_of, self._sandbox_networks)
        except HarenaError as error:
            return Refused(error)
        return None

    async def node(self) -> str:
        """The names of the machine and of the Ray node that this worker runs on."""
        return node_name()

    async def score(self, name: str, run: RunElsewhere) -> RunResult | Refused:
        """Score this attempt; `name` is what `abort` calls it."""
        self._running[name] = asyncio.ensure_future(self._scored(run))
        try:
            return await self._running[name]
        except HarenaError as error:
            return Refused(error)
        except asyncio.CancelledError:
            return Refused(PlatformError("the run was aborted", step="score"))
        finally:
            del self._running[name]

    async def abort(self, name: str) -> None:
        """End an attempt, with its sandboxes."""
        if (running := self._running.get(name)) is not None:
            running.cancel()

    async def _scored(self, run: RunElsewhere) -> RunResult:
        from harena.scoring.score import score_scenario

        assert self._node is not None
        if run.limits is not None:
            self._limits[run.workspace] = run.limits
        return await score_scenario(
            run.scenario,
            sandboxes=self._node.sandbox_source(run.workspace),
            base_spec=run.base_spec,
            timeout_seconds=run.timeout_seconds,
            attempt=run.attempt,
            require_trust=run.require_trust,
            alone=run.alone,
            place=run.place,
        )

    async def _limits_of(self, workspace: str) -> WorkspaceLimits:
        return self._limits.get(workspace, WorkspaceLimits(machine_profile=1))


class ClusterScores:
    """Implements `ScoresElsewhere` with the cluster of this process. Its workers are there while a job wants them: what
    they hold of the cluster's slots is given back with the last one. Used from one event loop."""

    def __init__(
        self, limits_of: LimitsOf | None, sandbox_networks: Sequence[Network] | None, open_node: OpenForRuns
    ) -> None:
        """`limits_of`: what a workspace may use; None = everything. `sandbox_networks`: what this node's sandboxes may
        reach beside the public internet, and so those of its workers; None = all. `open_node` opens a worker's node, in
        its process."""
        self._limits_of = limits_of
        self._sandbox_networks = sandbox_networks
        self._open_node = open_node
        self.slots = Slots(1)
        """runs that the cluster has under way at one time"""
        self._workers: Workers | None = None
        self._jobs = 0
        self._opening = asyncio.Lock()

    async def begin(self) -> None:
        """A job wants to run. Raises PlatformError, ValidationError: there is no such cluster."""
        async with self._opening:
            if self._workers is None:
                self._workers = await self._opened()
            self._jobs += 1

    async def end(self) -> None:
        """A job that has begun has ended."""
        async with self._opening:
            self._jobs -= 1
            if self._jobs == 0 and self._workers is not None:
                workers, self._workers = self._workers, None
                await workers.close()

    async def score(self, workspace: str, scenario: Any, **given: Any) -> RunResult:
        """One attempt, as `score_scenario` scores it, in sandboxes of a worker in place of the `sandboxes` that are
        given."""
        del given["sandboxes"]
        workers = self._workers
        assert workers is not None
        limits = None if self._limits_of is None else await self._limits_of(workspace)
        run = RunElsewhere(workspace=workspace, limits=limits, scenario=scenario, **{**_OTHERS, **given})
        for _ in range(MOST_LOSSES):
            worker, name = await workers.least_busy(), secrets.token_hex(8)
            try:
                result: RunResult = await workers.ask(worker, "score", name, run)
                return result
            except WorkerLostError as error:
                lost = error
            except asyncio.CancelledError:
                worker.actor.abort.remote(name)
                raise
        raise PlatformError(f"{MOST_LOSSES} workers in a row were lost with this run: {lost}", step="ray") from lost

    async def _opened(self) -> Workers:
        address = cluster_address()
        if address is None:
            raise ValidationError("execution `ray` needs a Ray cluster: set HARENA_RAY_ADDRESS where this node runs")
        await NODE.run(connect, address)
        there = await NODE.run(room)
        self.slots.resize(EXECUTING_PER_CORE * there.cores)
        workers = Workers(ScoringWorker, lambda: (self._open_node, self._sandbox_networks), there.slots)
        workers.begin()  # runs wait for the first: a job can be cancelled meanwhile
        return workers


_OTHERS: Mapping[str, Any] = {"attempt": 1, "require_trust": None, "alone": False, "place": None}
"""what `score_scenario` has where nothing is given"""
