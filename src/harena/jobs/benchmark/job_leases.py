"""The leases of jobs as one process sees them, and the jobs that it takes over. The rule is in `harena.jobs.lease`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harena.core.catalog import NO_LINEAGE, Lineage
from harena.core.clock import Clock
from harena.core.errors import HarenaError, PlatformError
from harena.core.job_lifecycle import OPEN_STATES, JobState, RunState
from harena.core.job_store import JobChanges
from harena.core.results import Reason, Trust
from harena.jobs.benchmark.job_acceptance import Acceptance, AcceptedJob
from harena.jobs.benchmark.job_journal import StoreJournal
from harena.jobs.benchmark.job_writer import BatchWriter
from harena.jobs.benchmark.left_runs import left_runs
from harena.jobs.counts import RunCounts
from harena.jobs.lease import LeaseWatch
from harena.jobs.owner import OwnerStatus, owner_status
from harena.jobs.schedule import Ticket
from harena.jobs.worker import WRITTEN_AT_A_TIME, ContractTrust, KnownVerdict, one_line, unscored

if TYPE_CHECKING:
    from harena.core.job_store import JobStorePort, StoredBenchmarkJob

TAKE_OVER_SECONDS = 1.0
"""how often a server's node looks for jobs that nobody runs any more"""


class JobLeases:
    """Used from one event loop."""

    def __init__(self, acceptance: Acceptance, clock: Clock) -> None:
        self._acceptance = acceptance
        self._clock = clock
        self._watch = LeaseWatch()
        self._claimed: dict[str, int] = {}
        """epochs of leases that were, or may have been, taken here for jobs that do not run yet"""

    def has_ended(self, job: StoredBenchmarkJob, *, one_machine: bool) -> bool:
        """Whether nobody runs an unfinished job any more, as far as can be seen now. This process does not run it."""
        if self._claimed.get(job.id) == job.lease_epoch:
            return True  # claimed here, and then the store went away before it could be read
        seen = owner_status(job.owner, one_machine=one_machine)
        if seen is OwnerStatus.ALIVE and job.durable:
            seen = OwnerStatus.UNKNOWN  # it may be stopped or stuck: another server goes on when it does not beat
        return self._watch.has_ended(
            job.id,
            seen,
            epoch=job.lease_epoch,
            beat=job.lease_beat,
            now=self._clock.now(),
        )

    def may_hold(self, job_id: str, *, epoch: int) -> None:
        """Note that this process may hold the lease of a job that it does not run. If so, `has_ended` is true of it."""
        self._claimed[job_id] = epoch

    async def interrupt(self, job: StoredBenchmarkJob, store: JobStorePort) -> StoredBenchmarkJob:
        """Mark a job as interrupted whose process is gone, in the store too, and return it."""
        last = await store.last_event(job.id)
        ended = JobChanges(
            state=JobState.INTERRUPTED,
            error=f"the process that ran it (pid {job.owner.pid}) has gone; results so far are kept, and the rest does "
            "not run (a job that `harena serve` runs goes on when the server is started again)",
            ended_at=last.at if last else job.created_at,
        )
        # it may have ended properly in the moment between reading it and finding its process gone: then that stands
        await store.update_job(job.id, ended, while_in=OPEN_STATES)
        return await store.read_job(job.id) or job

    async def take_over(self, job: StoredBenchmarkJob, store: JobStorePort) -> AcceptedJob | None:
        """Take the lease of a durable job whose holder has lost it, and return what is left of the job. None = another
        process was faster, or the job cannot be continued and has failed."""
        owner = self._acceptance.owner
        # an owner without a start time has let go; this process, where the store went away before it could begin, lives
        after_loss = job.owner.started not in ("", owner.started)
        epoch, beat = job.lease_epoch, job.lease_beat
        self.may_hold(job.id, epoch=epoch + 1)  # before: an answer that is lost may have been a yes
        # not if it beats after all: a holder that has just woken up keeps its job
        if not await store.claim_job(job.id, owner, epoch=epoch, beat=beat, while_in=OPEN_STATES):
            del self._claimed[job.id]
            return None
        claimed = await store.read_job(job.id)
        rest = None
        if claimed is not None and claimed.lease_epoch == job.lease_epoch + 1:
            try:
                rest = await self._rest_of(claimed, store, after_loss=after_loss)
            except PlatformError:
                raise  # the store is away: the job can be continued when it is back
            except HarenaError as error:
                await self._give_up(claimed, store, error)
        del self._claimed[job.id]
        self._watch.forget(job.id)
        return rest

    async def _rest_of(self, job: StoredBenchmarkJob, store: JobStorePort, *, after_loss: bool) -> AcceptedJob:
        job_id = job.id
        request, last = await store.find_request(job_id), await store.last_event(job_id)
        if request is None:
            raise HarenaError(f"the store keeps nothing to go on with {job_id}")
        return await self._acceptance.resume(
            job,
            request,
            await left_runs(store, job),
            last_cursor=last.cursor if last else 0,
            after_loss=after_loss,
        )

    async def _give_up(self, job: StoredBenchmarkJob, store: JobStorePort, error: HarenaError) -> None:
        """End the job and every open run of it. Runs that never began are counted: nothing else is known of them."""
        why = f"it could not be resumed: {one_line(error)}"
        runs, last = await left_runs(store, job), await store.last_event(job.id)
        left = runs.begun
        writer = BatchWriter(
            store,
            job.id,
            clock=self._clock,
            epoch=job.lease_epoch,
            on_commit=lambda: None,
            on_failure=lambda error: None,
        )
        scenarios = [UnreadScenario(id=run.scenario_id) for run in left]
        counts = RunCounts(job.counts, running=[run.number for run in left if run.state == RunState.RUNNING])
        journal = StoreJournal(writer, self._clock, scenarios, counts=counts, last_cursor=last.cursor if last else 0)
        writer.hurry()  # a store that is away now is met again at the next look
        try:
            for index, run in enumerate(left):
                ticket = Ticket(
                    number=run.number,
                    scenario_index=index,
                    attempt=run.attempt,
                    failures=run.failures,
                    repeats=run.repeats,
                    interruptions=run.interruptions,
                )
                journal.run_cancelled(ticket, unscored(scenarios[index], ticket, Reason.CANCELLED, why))
                if (index + 1) % WRITTEN_AT_A_TIME == 0:
                    await writer.flush()
            counts.never_begun(runs.never_begun_count)
            ended = JobChanges(state=JobState.FAILED, error=why, ended_at=self._clock.utcnow().isoformat())
            journal.job_moved(ended, "job_ended", {"state": JobState.FAILED, "error": why})
        finally:
            await writer.close()


@dataclass(frozen=True, slots=True)
class UnreadScenario:
    """A scenario of which no more is known than its id: its request cannot be read."""

    id: str
    problem_id: str | None = None
    expected: KnownVerdict | None = None
    honeypot: bool = False
    lineage: Lineage = NO_LINEAGE

    @property
    def scoring(self) -> ContractTrust:
        """Nothing is known of it: the weaker trust."""
        return _UNREAD


@dataclass(frozen=True, slots=True)
class _UnreadContract:
    trust: Trust = Trust.SHARED


_UNREAD = _UnreadContract()
