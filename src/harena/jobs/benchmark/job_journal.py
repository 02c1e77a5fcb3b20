"""Turns what happens to a job into numbered events and rows, and hands them to the writer of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harena.core.clock import Clock
from harena.core.job_lifecycle import RunState
from harena.core.job_store import JobChanges, JobEvent, RunChange
from harena.core.results import RunResult
from harena.jobs.benchmark.job_writer import BatchWriter
from harena.jobs.counts import RunCounts
from harena.jobs.schedule import Ticket
from harena.jobs.summary import run_record
from harena.jobs.worker import JobScenario, one_line


class StoreJournal:
    """A `harena.jobs.worker.Journal` that numbers events and hands rows to the job's writer."""

    def __init__(
        self,
        writer: BatchWriter,
        clock: Clock,
        scenarios: Sequence[JobScenario],
        *,
        counts: RunCounts,
        last_cursor: int = 0,
    ) -> None:
        """`counts` and `last_cursor`: of what an earlier owner of the job has stored."""
        self._writer = writer
        self._clock = clock
        self._scenarios = scenarios
        self._counts = counts
        self._cursor = last_cursor

    def job_moved(self, changes: JobChanges, kind: str, body: Mapping[str, Any]) -> None:
        """The job itself has changed, and the event that says so, in one transaction."""
        self._writer.set_job(changes)
        self.job_event(kind, body)

    def job_event(self, kind: str, body: Mapping[str, Any]) -> None:
        """Something happened to the job that changes nothing of the job itself."""
        self._cursor += 1
        at = self._clock.utcnow().isoformat()
        self._writer.add_event(JobEvent(cursor=self._cursor, at=at, kind=kind, body=dict(body)))
        self._writer.set_job(JobChanges(last_cursor=self._cursor, counts=self._counts.counts()))

    def run_requeued(self, ticket: Ticket) -> None:
        """It was under way when its node went; nothing of that try is known."""
        self._counts.requeued(ticket.number)
        self._write_run(ticket, RunState.QUEUED)
        self._run_event("run_requeued", ticket, {"interruptions": ticket.interruptions})

    def run_started(self, ticket: Ticket) -> None:
        """Count the run as running, and write its row and an event."""
        self._counts.started(ticket.number)
        self._write_run(ticket, RunState.RUNNING)
        self._run_event("run_started", ticket, {})

    def run_retried(self, again: Ticket, error: Exception, delay_seconds: float) -> None:
        """Count the run as queued again, and write its row and an event with the error and the delay."""
        self._counts.requeued(again.number)
        self._write_run(again, RunState.QUEUED)
        self._run_event("run_retried", again, {"error": one_line(error), "delay_seconds": delay_seconds})

    def run_finished(self, ticket: Ticket, result: RunResult) -> None:
        """Count the run's result, and write its envelope and an event with the main figures."""
        self._counts.finished(ticket.number, result)
        envelope = self._end_run(ticket, RunState.DONE, result)
        told = ("score", "passed", "validity", "reason", "duration_seconds")
        self._run_event("run_finished", ticket, {name: envelope[name] for name in told})

    def run_cancelled(self, ticket: Ticket, result: RunResult) -> None:
        """Count the run as cancelled, and write its envelope and an event."""
        self._counts.cancelled(ticket.number)
        self._end_run(ticket, RunState.CANCELLED, result)
        self._run_event("run_cancelled", ticket, {})

    def _end_run(self, ticket: Ticket, state: RunState, result: RunResult) -> dict[str, Any]:
        envelope = run_record(result, run=ticket.number, scenario=self._scenarios[ticket.scenario_index]).to_dict()
        self._write_run(
            ticket,
            state,
            score=result.score,
            passed=result.passed,
            envelope=envelope,
            ended_cursor=self._cursor + 1,  # of the event that follows
        )
        return envelope

    def _write_run(self, ticket: Ticket, state: RunState, **ended: Any) -> None:
        """Whole, because its row is inserted with the first of these."""
        change = RunChange(
            scenario_id=self._scenarios[ticket.scenario_index].id,
            attempt=ticket.attempt,
            state=state,
            failures=ticket.failures,
            repeats=ticket.repeats,
            interruptions=ticket.interruptions,
            **ended,
        )
        self._writer.add_run(ticket.number, change)

    def _run_event(self, kind: str, ticket: Ticket, body: Mapping[str, Any]) -> None:
        scenario_id = self._scenarios[ticket.scenario_index].id
        self.job_event(kind, {"run": ticket.number, "scenario_id": scenario_id, "attempt": ticket.attempt, **body})
