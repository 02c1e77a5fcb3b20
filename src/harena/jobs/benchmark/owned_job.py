"""One job that this process runs: its execution, its lease, and what happens to it on its way into the store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from harena.core.clock import Clock
from harena.core.errors import PlatformError
from harena.core.job_lifecycle import JobState, check_job_transition
from harena.core.job_store import LEASE_LOST, JobChanges, JobStorePort
from harena.core.results import Reason
from harena.core.server_places import told_to_clients
from harena.jobs.benchmark.job_acceptance import AcceptedJob
from harena.jobs.benchmark.job_journal import StoreJournal
from harena.jobs.benchmark.job_writer import BatchWriter
from harena.jobs.counts import RunCounts
from harena.jobs.lease import BEAT_SECONDS
from harena.jobs.schedule import Schedule, Ticket
from harena.jobs.slots import Slots
from harena.jobs.worker import JobExecution, one_line, unscored

RECORDED_STARTS = 200
"""after the loss of a node, so many starts are stored before anything is executed; each waits for a write. What ended
the node began after its last write, and so is among the first to start again. Where very many had begun it may not be:
then their results are stored by the next loss, and it has come nearer to the front."""

_log = logging.getLogger("harena.node")


class OwnedJob:
    """A job that runs in this process, from acceptance, or from where another process left it, to its one end."""

    def __init__(self, job: AcceptedJob, *, store: JobStorePort, clock: Clock, slots: Slots) -> None:
        self.id = job.record.id
        self.workspace = job.record.workspace
        self.has_webhook = job.record.delivery_id is not None
        """somebody is to be told of its end"""
        self.held_bytes = job.held_bytes
        """memory that it takes until it has ended here"""
        self.failure: PlatformError | None = None
        """the store refused: what the job did since is not recorded"""
        self._job = job
        self._store = store
        self._clock = clock
        self._writer = self._open_writer()
        counts = RunCounts(job.counts, running=[ticket.number for ticket in job.interrupted])
        self._journal = StoreJournal(self._writer, clock, job.scenarios, counts=counts, last_cursor=job.last_cursor)
        self._execution = JobExecution(
            scenarios=job.scenarios,
            schedule=Schedule(job.tickets, limit=job.record.effective_concurrency),
            score=job.score,
            journal=self._journal,
            policy=job.policy,
            clock=clock,
            slots=slots if job.elsewhere is None else job.elsewhere.slots,
            priority=job.priority,
            workspace=self.workspace,
            limits=job.limits,
            run_timeout_seconds=job.run_timeout_seconds,
            timeout_seconds=job.remaining_seconds,
            recorded=self._record_start if job.after_loss else None,
            written=self._write_cancelled,
        )
        self._starts = 0
        self._left_open = False
        """the store took no more while open runs were cancelled"""
        self._began = clock.now()
        self._next_beat = self._began + BEAT_SECONDS
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def _open_writer(self) -> BatchWriter:
        return BatchWriter(
            self._store,
            self.id,
            clock=self._clock,
            epoch=self._job.epoch,
            on_commit=self.tell,
            on_failure=self.store_failed,
            on_away=self._store_away,
            on_back=self._store_back,
        )

    @property
    def ended(self) -> bool:
        """The job has ended here and that is recorded (or `failure` says why not)."""
        return self._task is not None and self._task.done()

    @property
    def was_taken_over(self) -> bool:
        """Another process has it now."""
        return self.failure is not None and self.failure.reason == LEASE_LOST

    def start(self, *, on_end: Callable[[], object]) -> None:
        """Begin; `on_end` is called when the job has ended here."""
        self._task = asyncio.create_task(self._run(), name=self.id)
        self._task.add_done_callback(lambda _: on_end())

    def stop(self, state: JobState, error: str | None = None) -> None:
        """End it as `state`; `wait` returns when it has ended."""
        if state is JobState.CANCELLED:
            # stored with the first cancelled runs: whoever takes over cancels the rest
            self._writer.set_job(JobChanges(cancel_requested=True))
        self._execution.stop(state, error)

    async def drain(self) -> None:
        """Start no run any more; returns when those under way have ended."""
        await self._execution.drain()

    def leave(self) -> None:
        """This process is about to end: interrupt the job, or let go of it if it is durable, without waiting for a
        store that is away."""
        self.stop(JobState.INTERRUPTED, "the process that ran it was closed")
        self._writer.hurry()

    async def wait(self) -> None:
        """Returns when the job has ended here. A cancelled wait leaves the job alone."""
        assert self._task is not None
        await asyncio.wait([self._task])

    @property
    def news(self) -> asyncio.Event:
        """Set when something more has been recorded. Take it before reading, wait for it after."""
        return self._news

    def tell(self) -> None:
        """Something has been recorded."""
        told, self._news = self._news, asyncio.Event()
        told.set()

    def store_failed(self, error: PlatformError) -> None:
        """The store does not take results any more: running on would only lose more of them."""
        self.failure = error
        self.stop(JobState.INTERRUPTED if error.reason == LEASE_LOST else JobState.FAILED, told_to_clients(error))

    async def keep(self, *, cancel: bool, epoch: int) -> None:
        """What was seen of this job in the store, now and then: obey, and show that this process lives. Raises
        PlatformError."""
        if epoch != self._job.epoch:
            lost = f"another process has taken over {self.id}"
            self.store_failed(PlatformError(lost, step="store", reason=LEASE_LOST))
            return
        if cancel:
            self.stop(JobState.CANCELLED)
        if self._clock.now() >= self._next_beat:
            self._next_beat = self._clock.now() + BEAT_SECONDS
            await self._store.beat(self.id, epoch=epoch, active_seconds=self._active_seconds())

    async def _record_start(self, ticket: Ticket) -> None:
        """A start that is not stored yet cannot be counted, should it end this process, too. What has ended the last
        one was under way: it is known to have been, or is among the first to start again."""
        self._starts += 1
        if ticket.interruptions or self._starts <= RECORDED_STARTS:
            await self._writer.settle()

    async def _write_cancelled(self) -> None:
        try:
            await self._writer.settle()
        except PlatformError:
            self._left_open = True
            raise

    def _store_away(self, error: PlatformError) -> None:
        # the event of it can be read when the store is back: whoever is to make room reads the log
        _log.warning("benchmark job %s is paused, because its results cannot be stored: %s", self.id, error)
        self._execution.pause()
        self._journal.job_event("job_paused", {"error": one_line(error)})

    def _store_back(self) -> None:
        _log.warning("benchmark job %s goes on: its results are stored again", self.id)
        self._journal.job_event("job_continued", {})
        self._execution.go_on()

    async def _run(self) -> None:
        state = JobState(self._job.record.state)
        try:
            state = self._begin(state)
            state = check_job_transition(state, await self._executed())
            error = self._execution.error
        except Exception as fault:  # noqa: BLE001 - a bug of ours must end the job as failed, not leave it running
            # an end that leaves runs open would be wrong: the next node goes on with their cancellation
            state, error = JobState.INTERRUPTED if self._left_open else JobState.FAILED, one_line(fault)
        self._end(state, error)
        try:
            await self._writer.close()
        except PlatformError as fault:
            self.failure = fault
        if self._job.tasks is not None:
            await self._job.tasks.close()
        self._let_go()
        self.tell()

    async def _executed(self) -> JobState:
        if (elsewhere := self._job.elsewhere) is None:
            return await self._execution.run()
        await elsewhere.begin()
        try:
            return await self._execution.run()
        finally:
            await elsewhere.end()

    def _let_go(self) -> None:
        """A job has as many scenarios as its request had room for, and one that could not be recorded is known here
        until this process ends; what else refers to it waits for a collection of garbage."""
        self._job.scenarios.let_go()

    def _begin(self, state: JobState) -> JobState:
        job = self._job
        if state is JobState.QUEUED:
            state = check_job_transition(state, JobState.RUNNING)
            changes = JobChanges(state=state, started_at=self._clock.utcnow().isoformat())
            body = {"total": job.record.total, "effective_concurrency": job.record.effective_concurrency}
            self._journal.job_moved(changes, "job_started", body)
        else:
            self._journal.job_event("job_resumed", {"open": len(job.tickets)})
        for ticket in job.interrupted:
            self._journal.run_requeued(ticket)
        for ticket in job.given_up:
            why = (
                f"{ticket.interruptions} nodes were lost while this run was under way, the last ones with nothing else "
                "of its job beside it: it is not tried again"
            )
            scenario = job.scenarios[ticket.scenario_index]
            self._journal.run_finished(ticket, unscored(scenario, ticket, Reason.PLATFORM_ERROR, why))
        return state

    def _end(self, state: JobState, error: str | None) -> None:
        seconds = self._active_seconds()
        if state is JobState.INTERRUPTED and self._job.record.durable:
            self._journal.job_moved(JobChanges(released=True, active_seconds=seconds), "job_released", {})
            return
        ended = JobChanges(
            state=state,
            error=error,
            ended_at=self._clock.utcnow().isoformat(),
            duration_seconds=seconds,
            active_seconds=seconds,
        )
        self._journal.job_moved(ended, "job_ended", {"state": state, "error": error})

    def _active_seconds(self) -> float:
        return self._job.spent_seconds + self._clock.now() - self._began
