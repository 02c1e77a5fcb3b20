"""One job that this process runs: its execution, and everything that happens to it on its way into the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harena.core.clock import Clock
from harena.core.errors import PlatformError
from harena.core.results import RunResult
from harena.jobs.lifecycle import JobState, RunState, check_job_transition
from harena.jobs.schedule import Schedule, Ticket
from harena.jobs.summary import run_fields
from harena.jobs.worker import JobExecution, JobScenario, one_line
from harena.node.job_acceptance import AcceptedJob

if TYPE_CHECKING:
    from harena.store.benchmark_jobs import JobStore
    from harena.store.writer import BatchWriter

CANCEL_POLL_SECONDS = 1.0
"""how often the store is asked whether another process wants the job cancelled"""


class StoreJournal:
    """A `harena.jobs.worker.Journal` that numbers events and hands rows to the job's writer."""

    def __init__(self, writer: BatchWriter, clock: Clock, scenarios: Sequence[JobScenario]) -> None:
        self._writer = writer
        self._clock = clock
        self._scenarios = scenarios
        self._cursor = 0

    def job_moved(self, values: Mapping[str, Any], kind: str, body: Mapping[str, Any]) -> None:
        """The job itself has changed: its columns, and the event that says so, in one transaction."""
        self._writer.set_job(values)
        self._event(kind, body)

    def run_started(self, ticket: Ticket) -> None:
        """See Journal."""
        self._writer.add_run(ticket.number, {"state": RunState.RUNNING})
        self._run_event("run_started", ticket, {})

    def run_retried(self, ticket: Ticket, error: Exception, delay_seconds: float) -> None:
        """See Journal."""
        self._writer.add_run(ticket.number, {"state": RunState.QUEUED})
        self._run_event("run_retried", ticket, {"error": one_line(error), "delay_seconds": delay_seconds})

    def run_finished(self, ticket: Ticket, result: RunResult) -> None:
        """See Journal."""
        envelope = self._end_run(ticket, RunState.DONE, result)
        told = ("score", "passed", "validity", "reason", "duration_seconds")
        self._run_event("run_finished", ticket, {name: envelope[name] for name in told})

    def run_cancelled(self, ticket: Ticket, result: RunResult) -> None:
        """See Journal."""
        self._end_run(ticket, RunState.CANCELLED, result)
        self._run_event("run_cancelled", ticket, {})

    def _end_run(self, ticket: Ticket, state: RunState, result: RunResult) -> dict[str, Any]:
        envelope = run_fields(result, scenario=self._scenarios[ticket.scenario_index])
        self._writer.add_run(
            ticket.number,
            {"state": state, "score": result.score, "passed": result.passed, "envelope": envelope},
        )
        return envelope

    def _run_event(self, kind: str, ticket: Ticket, body: Mapping[str, Any]) -> None:
        scenario_id = self._scenarios[ticket.scenario_index].id
        self._event(kind, {"run": ticket.number, "scenario_id": scenario_id, "attempt": ticket.attempt, **body})

    def _event(self, kind: str, body: Mapping[str, Any]) -> None:
        self._cursor += 1
        at = self._clock.utcnow().isoformat()
        self._writer.add_event({"cursor": self._cursor, "at": at, "kind": kind, "body": dict(body)})


class OwnedJob:
    """A job that runs in this process, from acceptance to its one end."""

    def __init__(self, job: AcceptedJob, *, store: JobStore, clock: Clock) -> None:
        from harena.store.writer import BatchWriter

        self.id: str = job.row["id"]
        self.failure: PlatformError | None = None
        """the store failed: what the job did since is not recorded"""
        self._store = store
        self._clock = clock
        self._writer = BatchWriter(store, self.id, clock=clock, on_commit=self.tell, on_failure=self.store_failed)
        self._journal = StoreJournal(self._writer, clock, job.scenarios)
        self._execution = JobExecution(
            scenarios=job.scenarios,
            schedule=Schedule(job.tickets, limit=job.row["effective_concurrency"]),
            score=job.score,
            journal=self._journal,
            policy=job.policy,
            clock=clock,
        )
        self._started_event = {name: job.row[name] for name in ("total", "effective_concurrency")}
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """The job has ended and its end is recorded (or `failure` says why not)."""
        return self._task is not None and self._task.done()

    def start(self, *, on_end: Callable[[], object]) -> None:
        """Begin; `on_end` is called when the job has ended."""
        self._task = asyncio.create_task(self._run(), name=self.id)
        self._task.add_done_callback(lambda _: on_end())

    def stop(self, state: JobState, error: str | None = None) -> None:
        """End it as `state`; `wait` returns when it has ended."""
        self._execution.stop(state, error)

    async def wait(self) -> None:
        """Returns when the job has ended. A cancelled wait leaves the job alone."""
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
        self.stop(JobState.FAILED, str(error))

    async def _run(self) -> None:
        began = self._clock.now()
        watch = asyncio.create_task(self._watch_for_cancel(), name=f"cancel watch of {self.id}")
        state = check_job_transition(JobState.QUEUED, JobState.RUNNING)
        try:
            values = {"state": state, "started_at": self._clock.utcnow().isoformat()}
            self._journal.job_moved(values, "job_started", self._started_event)
            state = check_job_transition(state, await self._execution.run())
            error = self._execution.error
        except Exception as fault:  # noqa: BLE001 - a bug of ours must end the job as failed, not leave it running
            state, error = JobState.FAILED, one_line(fault)
        finally:
            watch.cancel()
        ended = {
            "state": state,
            "error": error,
            "ended_at": self._clock.utcnow().isoformat(),
            "duration_seconds": self._clock.now() - began,
        }
        self._journal.job_moved(ended, "job_ended", {"state": state, "error": error})
        try:
            await self._writer.close()
        except PlatformError as fault:
            self.failure = fault
        self.tell()

    async def _watch_for_cancel(self) -> None:
        while True:
            await self._clock.sleep(CANCEL_POLL_SECONDS)
            try:
                if (await self._store.look(self.id))[0]:
                    return self.stop(JobState.CANCELLED)
            except PlatformError as error:
                return self.store_failed(error)
