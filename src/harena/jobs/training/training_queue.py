"""The training jobs that one process runs, and when each begins: those that wait, and those whose owner has gone, each
when it is the turn of its workspace (`harena.jobs.training.training_turns`).

A job is written by the holder of its lease only (`harena.jobs.lease`); ending one that nobody runs names the epoch that
was seen, too, so that it fails where somebody has just begun it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harena.core.clock import Clock, Pacer
from harena.core.errors import PlatformError
from harena.core.job_store import LEASE_LOST
from harena.core.node_config import NodeConfig
from harena.core.threads import node_task
from harena.core.training_jobs import OPEN_STATES, TrainingState
from harena.core.training_store import TrainingChanges
from harena.jobs.lease import LeaseWatch
from harena.jobs.owner import OwnerStatus, owner_status, this_process
from harena.jobs.training.owned_training import EndCause, OwnedTraining, Workers
from harena.jobs.training.training_answers import ended_event
from harena.jobs.training.training_turns import TrainingTurns
from harena.jobs.training.unsettled_folders import UnsettledFolders

if TYPE_CHECKING:
    from harena.core.node_stores import TrainingStores
    from harena.core.training_store import StoredTrainingJob, TrainingJobHolder, TrainingStorePort

POLL_SECONDS = 0.25
"""how often the store is asked what others want, and about jobs that others run"""

IDLE_SECONDS = 1.0
"""pause between two looks at the queue where there is nothing to do but to take over lost jobs"""


class TrainingQueue:
    """Used from one event loop."""

    def __init__(self, config: NodeConfig, stores: TrainingStores, clock: Clock, workers: Workers) -> None:
        self.durable = config.durable_jobs
        self.owner = this_process()
        """owner of the jobs that are accepted, and run, here"""
        self.folders = config.home / "training"
        self.unsettled = UnsettledFolders(self.folders, config.store_place, clock)
        self._stores = stores
        self._clock = clock
        self._workers = workers
        self._most = config.training_jobs
        self._watch = LeaseWatch()
        self._turns = TrainingTurns()
        self._owned: dict[str, OwnedTraining] = {}
        self._failures: dict[str, PlatformError] = {}
        self._pacer = Pacer(clock)
        self._tending: asyncio.Task[None] | None = None
        self._wanted = False
        """somebody has accepted a job since the store was last looked at"""
        self._closed = self._draining = False

    def owned(self, job_id: str) -> OwnedTraining | None:
        """The job, if this process runs it. Raises PlatformError where it has run it, and its end could not be
        recorded."""
        if (failure := self._failures.get(job_id)) is not None:
            raise failure
        return self._owned.get(job_id)

    def folder(self, job: StoredTrainingJob) -> Path:
        """Where the present try of a job writes."""
        return self.folders / job.id / str(job.attempt)

    async def store(self) -> TrainingStorePort:
        """The store. Raises PlatformError."""
        return await self._stores.training_jobs()

    def tend(self, retried: str | None = None) -> None:
        """There may be something to begin; `retried`: a job that is not what it was."""
        if retried is not None:
            self._failures.pop(retried, None)
        self._wanted = True
        if not self._closed and (self._tending is None or self._tending.done()):
            self._tending = node_task(self._keep_tending(), "tend training jobs")

    async def _keep_tending(self) -> None:
        """Begin what may begin, see what others want, and show that this process lives: a server for ever, an embedded
        node while it has jobs that have not ended."""
        with suppress(PlatformError):  # the store is away: who begins to tend next finds what is left
            await (await self.store()).clear_deleted()
            await self.unsettled.remove_left(self._is_there)
        while True:
            self._wanted = False
            try:
                waiting = await self._begin_some()
                await self._look()
            except PlatformError:
                waiting = True  # the store is away: whoever uses it next is told, and here it is asked again
            if not (waiting or self._owned or self.durable or self._wanted):
                return
            if not await self._pacer.pause(POLL_SECONDS if waiting or self._owned else IDLE_SECONDS):
                return

    async def _is_there(self, job_id: str) -> bool:
        return await (await self.store()).read_job(job_id) is not None

    async def _begin_some(self) -> bool:
        """Whether there are jobs that wait for this node."""
        store = await self.store()
        there = [job for job in await store.open_jobs(states=OPEN_STATES) if job.id not in self._owned]
        mine = [job for job in there if job.durable == self.durable and (self.durable or self._is_mine(job))]
        waiting = list(mine)
        while waiting and len(self._owned) < self._most and not self._draining:
            job = self._turns.next_job(waiting, [owned.workspace for owned in self._owned.values()])
            waiting.remove(job)
            if job.state == TrainingState.QUEUED or await self.is_abandoned(job):
                await self._take(job, store)
        if self.durable and not self._draining and len(self._owned) >= self._most:
            self._end_a_turn({job.workspace for job in waiting if _waits(job)})
        return bool(mine)

    def _end_a_turn(self, waiting: Collection[str]) -> None:
        """One job gives way where workspaces wait that have fewer; the next look begins another in its place."""
        if any(owned.is_ending for owned in self._owned.values()):
            return
        job_id = self._turns.gives_way([owned.turn() for owned in self._owned.values()], waiting)
        if job_id is not None:
            self._owned[job_id].stop(EndCause.TURN)

    async def _take(self, job: TrainingJobHolder, store: TrainingStorePort) -> None:
        seen = job.lease
        if not await store.claim(job.id, self.owner, epoch=seen.epoch, beat=seen.beat, while_in=(job.state,)):
            return
        self._watch.forget(job.id)
        claimed = await store.read_job(job.id)
        if claimed is None or claimed.lease.epoch != seen.epoch + 1:
            return
        if claimed.cancel_requested_at is not None:  # its last owner did not live to do it
            await self.end_unowned(claimed, TrainingState.CANCELLED, None)
            return
        died = job.state == TrainingState.RUNNING and seen.owner.started != ""
        gone = f"the server that ran it (pid {seen.owner.pid}) has gone"
        self._run(claimed, store, lost=gone if died else None)

    def _run(self, job: StoredTrainingJob, store: TrainingStorePort, *, lost: str | None) -> None:
        folder = self.folder(job)
        owned = OwnedTraining(job, folder, workers=self._workers, store=store, clock=self._clock, lost=lost)
        self._owned[owned.id] = owned
        self._turns.begun(job.workspace)
        owned.start(on_end=partial(self._forget, owned))

    def _forget(self, owned: OwnedTraining) -> None:
        self._owned.pop(owned.id, None)
        if owned.failure is not None:
            self._failures[owned.id] = owned.failure

    async def _look(self) -> None:
        running = [owned for owned in self._owned.values() if not owned.ended]
        if not running:
            return
        seen = await (await self.store()).look([owned.id for owned in running])
        for owned in running:
            cancel, epoch = seen.get(owned.id, (False, 0))
            await owned.keep(cancel=cancel, epoch=epoch)

    async def end_unowned(self, job: TrainingJobHolder, state: TrainingState, error: str | None) -> bool:
        """A job that nobody runs, as it is known here; False = it is not so any more."""
        now = self._clock.utcnow().isoformat()
        changes = TrainingChanges(state=state, error=error, ended_at=now)
        try:
            return await (await self.store()).write(
                job.id, changes, [ended_event(now, state, error)], epoch=job.lease.epoch, while_in=(job.state,)
            )
        except PlatformError as lost:
            if lost.reason != LEASE_LOST:
                raise
            return False

    async def is_abandoned(self, job: TrainingJobHolder) -> bool:
        """Nobody runs this job, which has not ended, as far as can be seen now. To be asked again and again."""
        if job.id in self._owned:
            return False
        seen = owner_status(job.lease.owner, one_machine=await self._stores.is_one_machine())
        if seen is OwnerStatus.ALIVE and job.durable:
            seen = OwnerStatus.UNKNOWN  # it may be stopped or stuck: another server goes on when it does not beat
        return self._watch.has_ended(job.id, seen, epoch=job.lease.epoch, beat=job.lease.beat, now=self._clock.now())

    def _is_mine(self, job: TrainingJobHolder) -> bool:
        return job.lease.owner == self.owner

    async def settled(self, job: StoredTrainingJob) -> StoredTrainingJob:
        """The job, failed (also in the store) where it ended with its process."""
        if TrainingState(job.state).has_ended or job.durable or not await self.is_abandoned(job):
            return job
        why = f"the process that ran it (pid {job.lease.owner.pid}) has gone: go on with `harena train retry`"
        await self.end_unowned(job, TrainingState.FAILED, why)
        return await (await self.store()).read_job(job.id) or job

    async def drain(self) -> None:
        """Before `close`: begin no job any more."""
        self._draining = True

    async def close(self) -> None:
        """End the workers: jobs of an embedded node have failed then, a server's are let go of."""
        self._closed = True
        self._pacer.stop()
        if self._tending is not None:
            await asyncio.wait([self._tending])
        running = list(self._owned.values())
        for owned in running:
            owned.stop(EndCause.LEAVE)
        for owned in running:
            await owned.wait()


def _waits(job: TrainingJobHolder) -> bool:
    """Whether a job waits for a worker: it was never run, or the process that ran it has let go of it."""
    return job.cancel_requested_at is None and (job.state == TrainingState.QUEUED or job.lease.owner.started == "")
