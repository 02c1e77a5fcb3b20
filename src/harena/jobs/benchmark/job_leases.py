"""The leases of jobs as one process sees them, and the jobs that it takes over. The rule is in `harena.jobs.lease`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harena.core.catalog import NO_LINEAGE, Lineage
from harena.core.clock import Clock
from harena.core.errors import HarenaError, PlatformError
from harena.core.leases import Owner
from harena.core.results import Reason, Trust
from harena.jobs.benchmark.job_acceptance import Acceptance, AcceptedJob
from harena.jobs.benchmark.job_journal import StoreJournal
from harena.jobs.benchmark.job_writer import BatchWriter
from harena.jobs.benchmark.left_runs import left_runs
from harena.jobs.counts import RunCounts
from harena.jobs.lease import LeaseWatch
from harena.jobs.lifecycle import OPEN_STATES, JobState, RunState
from harena.jobs.owner import OwnerStatus, owner_columns, owner_status
from harena.jobs.schedule import Ticket
from harena.jobs.worker import WRITTEN_AT_A_TIME, ContractTrust, KnownVerdict, one_line, unscored

if TYPE_CHECKING:
    from harena.core.job_store import JobStorePort, Row

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

    def has_ended(self, row: Row, *, one_machine: bool) -> bool:
        """Nobody runs this unfinished job, which this process does not run, as far as can be seen now."""
        if self._claimed.get(row["id"]) == row["lease_epoch"]:
            return True  # claimed here, and then the store went away before it could be read
        owner = Owner(pid=row["owner_pid"], started=row["owner_started"], boot=row["owner_boot"])
        seen = owner_status(owner, one_machine=one_machine)
        if seen is OwnerStatus.ALIVE and row["durable"]:
            seen = OwnerStatus.UNKNOWN  # it may be stopped or stuck: another server goes on when it does not beat
        return self._watch.has_ended(
            row["id"],
            seen,
            epoch=row["lease_epoch"],
            beat=row["lease_beat"],
            now=self._clock.now(),
        )

    def may_hold(self, job_id: str, *, epoch: int) -> None:
        """This process may have the lease of a job that it does not run: if so, the job can be taken over here."""
        self._claimed[job_id] = epoch

    async def interrupt(self, row: Row, store: JobStorePort) -> Row:
        """A job that ended with its process: say so, in the store too, once and for good."""
        last = await store.last_event(row["id"])
        ended = {
            "state": JobState.INTERRUPTED,
            "error": f"the process that ran it (pid {row['owner_pid']}) has gone",
            "ended_at": last.at if last else row["created_at"],
        }
        # it may have ended properly in the moment between reading it and finding its process gone: then that stands
        await store.update_job(row["id"], ended, while_in=OPEN_STATES)
        return await store.read_job(row["id"]) or row

    async def take_over(self, row: Row, store: JobStorePort) -> AcceptedJob | None:
        """The rest of a durable job whose lease has ended, now this process's own; None = another was faster, or the
        job cannot be gone on with and has failed."""
        owner = owner_columns(self._acceptance.owner)
        # an owner without a start time has let go; this process, where the store went away before it could begin, lives
        after_loss = row["owner_started"] not in ("", owner["owner_started"])
        epoch, beat = row["lease_epoch"], row["lease_beat"]
        self.may_hold(row["id"], epoch=epoch + 1)  # before: an answer that is lost may have been a yes
        # not if it beats after all: a holder that has just woken up keeps its job
        if not await store.claim_job(row["id"], owner, epoch=epoch, beat=beat, while_in=OPEN_STATES):
            del self._claimed[row["id"]]
            return None
        claimed = await store.read_job(row["id"])
        rest = None
        if claimed is not None and claimed["lease_epoch"] == row["lease_epoch"] + 1:
            try:
                rest = await self._rest_of(claimed, store, after_loss=after_loss)
            except PlatformError:
                raise  # the store is away: the job can be gone on with when it is back
            except HarenaError as error:
                await self._give_up(claimed, store, error)
        del self._claimed[row["id"]]
        self._watch.forget(row["id"])
        return rest

    async def _rest_of(self, row: Mapping[str, object], store: JobStorePort, *, after_loss: bool) -> AcceptedJob:
        job_id = str(row["id"])
        request, last = await store.find_request(job_id), await store.last_event(job_id)
        if request is None:
            raise HarenaError(f"the store keeps nothing to go on with {job_id}")
        return await self._acceptance.resume(
            row,
            request,
            await left_runs(store, dict(row)),
            last_cursor=last.cursor if last else 0,
            after_loss=after_loss,
        )

    async def _give_up(self, row: Row, store: JobStorePort, error: HarenaError) -> None:
        """End the job and every open run of it. Runs that never began are counted: nothing else is known of them."""
        why = f"it could not be resumed: {one_line(error)}"
        runs, last = await left_runs(store, row), await store.last_event(row["id"])
        left = runs.begun
        writer = BatchWriter(
            store,
            row["id"],
            clock=self._clock,
            epoch=row["lease_epoch"],
            on_commit=lambda: None,
            on_failure=lambda error: None,
        )
        scenarios = [UnreadScenario(id=run.scenario_id) for run in left]
        counts = RunCounts(row, running=[run.number for run in left if run.state == RunState.RUNNING])
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
            ended = {"state": JobState.FAILED, "error": why, "ended_at": self._clock.utcnow().isoformat()}
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
