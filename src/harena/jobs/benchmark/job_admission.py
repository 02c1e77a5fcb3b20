"""How many jobs, and runs of jobs, a workspace may have at one time on this node, and how much memory they may hold.

Jobs are counted in the store. Nodes that accept jobs of one workspace in the same moment do not see each other's:
together they may accept as many too many as there are nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from harena.core.errors import LimitExceededError
from harena.core.job_lifecycle import OPEN_STATES
from harena.core.records.sandboxes import Limits
from harena.core.workspace import within
from harena.jobs.slots import Slots

if TYPE_CHECKING:
    from harena.core.job_store import JobStorePort
    from harena.core.workspace import LimitsOf

RETRY_SECONDS = 5.0
"""after which a workspace with too many jobs may find that one has ended"""


class JobAdmission:
    """Used from one event loop."""

    def __init__(self, limits_of: LimitsOf | None, slots: Slots, elsewhere: Slots | None = None) -> None:
        """`limits_of`: what a workspace may use; None = everything. `elsewhere`: the slots of other machines, of which
        a workspace may have as many as of this one's."""
        self._limits_of = limits_of
        self._slots = [slots] if elsewhere is None else [slots, elsewhere]
        self._coming: Counter[str] = Counter()
        """jobs that are being accepted"""
        self._coming_runs: Counter[str] = Counter()
        """runs of jobs that are being stored"""
        self._held: Counter[str] = Counter()
        """memory of jobs that run or wait here"""

    @asynccontextmanager
    async def room_for_job(self, workspace: str, store: JobStorePort) -> AsyncIterator[None]:
        """A job is accepted within the block. Raises LimitExceededError where the workspace has as many as it may."""
        if self._limits_of is None:
            yield
            return
        limits = await self._limits_of(workspace)
        self._allow(workspace, limits.runs)
        self._coming[workspace] += 1
        try:
            there_are = await store.count_jobs(workspace, states=OPEN_STATES) + self._coming[workspace] - 1
            if there_are >= limits.open_jobs:
                raise LimitExceededError(
                    f"the workspace {workspace} may have {limits.open_jobs} benchmark jobs that have not ended, and "
                    f"has {there_are}: wait for one of them, cancel one, or ask for more (harena workspaces set)",
                    reason="OPEN_JOBS",
                    retry_delay=timedelta(seconds=RETRY_SECONDS),
                )
            # before anything is read of the job
            await self._check_runs(workspace, store, limits.open_runs, 1)
            self._check_memory(workspace, limits.job_memory_bytes, 1)
            yield
        finally:
            self._coming[workspace] -= 1

    @asynccontextmanager
    async def room_for_runs(self, workspace: str, store: JobStorePort, runs: int) -> AsyncIterator[None]:
        """A job of so many runs is stored within the block. Raises LimitExceededError where its workspace may not have
        as many more that have not ended."""
        if self._limits_of is None:
            yield
            return
        limits = await self._limits_of(workspace)
        self._coming_runs[workspace] += runs
        try:
            await self._check_runs(workspace, store, limits.open_runs, 0)
            yield
        finally:
            self._coming_runs[workspace] -= runs

    async def hold(self, workspace: str, size: int) -> None:
        """A job of this workspace keeps so many bytes in this process until `let_go`. Raises LimitExceededError where
        its jobs may not keep as many more."""
        if self._limits_of is not None:
            self._check_memory(workspace, (await self._limits_of(workspace)).job_memory_bytes, size)
        self.hold_resumed(workspace, size)

    def hold_resumed(self, workspace: str, size: int) -> None:
        """Like `hold`, for a job that a node before this one has accepted: it goes on, and further ones are refused."""
        self._held[workspace] += size

    def let_go(self, workspace: str, size: int) -> None:
        """The job keeps them no longer."""
        self._held[workspace] -= size
        if not self._held[workspace]:
            del self._held[workspace]

    def _check_memory(self, workspace: str, most: int, more: int) -> None:
        held = self._held.get(workspace, 0)
        if held + more > most:
            never = more > most
            raise LimitExceededError(
                f"scenarios of benchmark jobs that have not ended may take {most} bytes of memory of the workspace "
                f"{workspace} (job_memory_bytes); they take {held}, and would take {held + more}: "
                f"{'' if never else 'wait for jobs to end, cancel one, '}divide this one into smaller ones that follow "
                "each other, or ask for more (harena workspaces set)",
                reason="JOB_MEMORY",
                retry_delay=None if never else timedelta(seconds=RETRY_SECONDS),
            )

    async def _check_runs(self, workspace: str, store: JobStorePort, most: int, more: int) -> None:
        coming = self._coming_runs[workspace]
        there_are = await store.count_open_runs(workspace, states=OPEN_STATES)
        if there_are + coming + more > most:
            raise LimitExceededError(
                f"the workspace {workspace} may have {most} runs of benchmark jobs that have not ended (open_runs); it "
                f"has {there_are}, and would have {there_are + coming + more}: wait for jobs to end, cancel one, ask "
                "for fewer attempts, or ask for more (harena workspaces set)",
                reason="OPEN_RUNS",
                retry_delay=timedelta(seconds=RETRY_SECONDS),
            )

    async def for_a_run(self, workspace: str, limits: Limits) -> Limits:
        """Find how many runs it may have under way now, before something of it waits for a slot that is no job; gives
        what its sandbox gets that asks for these limits. Raises LimitExceededError where it may have no run,
        SandboxValidationError."""
        if self._limits_of is None:
            return limits
        ceilings = await self._limits_of(workspace)
        self._allow(workspace, ceilings.runs)
        if ceilings.runs == 0:
            raise LimitExceededError(
                f"the workspace {workspace} may have no runs under way (runs): ask for some (harena workspaces set)",
                reason="RUNS",
            )
        return within(ceilings, limits)

    async def may_be_machine(self, workspace: str) -> bool:
        """Whether its sandboxes may have the profile `machine`. Raises PlatformError."""
        return self._limits_of is None or bool((await self._limits_of(workspace)).machine_profile)

    async def look(self, workspaces: Collection[str]) -> None:
        """Find how many runs these may have under way now. Raises PlatformError."""
        if self._limits_of is not None:
            for workspace in workspaces:
                self._allow(workspace, (await self._limits_of(workspace)).runs)

    def _allow(self, workspace: str, most: int | None) -> None:
        for slots in self._slots:
            slots.allow(workspace, most)
