"""Runs the runs of one benchmark job: so many at a time, each scored in sandboxes of its own.

One task per try awaits a score and reports it; what follows a failure is decided by `harena.jobs.retry`, which run
comes next, and how many at once, by `harena.jobs.schedule`. A score comes only from the scoring contract. Anything that
is raised instead is the platform's failure: it is retried and, if it persists, becomes an envelope without a score.

Not covered here: what is stored (a `Journal` is told), and where sandboxes come from (the score function knows).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from harena.core.catalog import Lineage
from harena.core.clock import Clock, Timer
from harena.core.errors import HarenaError, PlatformError
from harena.core.job_lifecycle import JobState
from harena.core.records.sandboxes import Limits
from harena.core.results import Reason, RunResult, Trust, Validity
from harena.core.server_places import told_to_clients
from harena.core.workspace import DEFAULT_WORKSPACE
from harena.jobs.retry import GiveUp, RetryPolicy, decide, decide_scored
from harena.jobs.schedule import Schedule, Ticket
from harena.jobs.slots import Slots

Score = Callable[[Ticket], Awaitable[RunResult]]
"""Scores one attempt in fresh sandboxes, whose end has begun when it returns, and which are gone when it raises or is
cancelled. What a program does is in the result; an exception says that the platform failed. A ticket that runs `alone`
has no excuse of its neighbours: the flag is for `score_scenario`."""

MAX_DETAIL_CHARACTERS = 500


class KnownVerdict(Protocol):
    """The verdict that a scenario's author knows beforehand."""

    @property
    def passed(self) -> bool:
        """Whether the candidate is right."""

    @property
    def reason(self) -> tuple[str, ...]:
        """The reasons that are right; empty = any."""

    @property
    def score(self) -> float | None:
        """The right score; None = any."""

    def matches(self, result: RunResult) -> bool:
        """This is the verdict."""


class ContractTrust(Protocol):
    """What a job needs to know of a scoring contract."""

    @property
    def trust(self) -> Trust:
        """Where its verdict is computed."""


CANCELLED_AT_A_TIME = 100
"""open runs that are cancelled before others have a turn on the loop"""
WRITTEN_AT_A_TIME = 1000
"""open runs that are cancelled before what the journal was told of them is written"""


class JobScenario(Protocol):
    """What a job needs to know of a scenario."""

    @property
    def id(self) -> str:
        """Unique in its batch."""

    @property
    def problem_id(self) -> str | None:
        """What several candidates have in common; None = it stands alone."""

    @property
    def expected(self) -> KnownVerdict | None:
        """The known verdict, if there is one."""

    @property
    def honeypot(self) -> bool:
        """No honest candidate can pass it."""

    @property
    def scoring(self) -> ContractTrust:
        """Its scoring contract."""

    @property
    def lineage(self) -> Lineage:
        """The stored versions that it was made of."""


class Journal(Protocol):
    """Who is told what happens, in the order in which it happens. Every call returns at once."""

    def run_started(self, ticket: Ticket) -> None:
        """A try has begun; `ticket.failures` tries have failed before it."""

    def run_retried(self, again: Ticket, error: Exception, delay_seconds: float) -> None:
        """The platform failed a try, or its score is asked for again; `again` is the next one."""

    def run_finished(self, ticket: Ticket, result: RunResult) -> None:
        """A run has ended. Called once for each ticket, unless `run_cancelled` is."""

    def run_cancelled(self, ticket: Ticket, result: RunResult) -> None:
        """A run was cancelled. Called once for each ticket, unless `run_finished` is."""


class JobExecution:
    """The execution of one job. Call `run` once, and `stop` at any time."""

    def __init__(
        self,
        *,
        scenarios: Sequence[JobScenario],
        schedule: Schedule,
        score: Score,
        journal: Journal,
        policy: RetryPolicy,
        clock: Clock,
        slots: Slots | None = None,
        priority: int = 0,
        workspace: str = DEFAULT_WORKSPACE,
        limits: Limits | None = None,
        run_timeout_seconds: float | None = None,
        timeout_seconds: float | None = None,
        recorded: Callable[[Ticket], Awaitable[None]] | None = None,
        written: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`slots` are shared with the node's other jobs, those of other workspaces first; None = this job has the node
        for itself. `limits` are those of a run's sandbox; None = the usual ones. A try that takes longer than
        `run_timeout_seconds` has failed by the platform's fault (a candidate's own time is limited by its sandbox); the
        job ends as TIMED_OUT `timeout_seconds` after `run`. None = no limit. `recorded` is awaited between a try's
        start, as the journal is told, and its score. `written` is awaited while open runs are cancelled: what the
        journal was told shall not pile up."""
        self._scenarios = scenarios
        self._schedule = schedule
        self._score = score
        self._journal = journal
        self._policy = policy
        self._clock = clock
        self._changed = asyncio.Event()
        self._slots = slots or Slots(schedule.limit)
        self._share = self._slots.join(
            priority=priority, wake=self._changed.set, workspace=workspace, limits=limits or Limits()
        )
        self._run_timeout_seconds = run_timeout_seconds
        self._timeout_seconds = timeout_seconds
        self._recorded = recorded
        self._written = written
        self._paused = False
        self._draining = False
        self._tries: set[asyncio.Task[None]] = set()
        self._fault: BaseException | None = None
        self._stopped_as: JobState | None = None
        self.error: str | None = None
        """why the job has failed"""

    def stop(self, state: JobState, error: str | None = None) -> None:
        """End the job as `state`: running sandboxes are destroyed, open runs cancelled (left open when it is
        INTERRUPTED). The first call counts."""
        if self._stopped_as is None:
            self._stopped_as, self.error = state, error
            for running in self._tries:
                running.cancel()
            self._changed.set()

    def pause(self) -> None:
        """Start no run until `go_on`; those under way end as they would."""
        self._paused = True

    def go_on(self) -> None:
        """Start runs again."""
        self._paused = False
        self._changed.set()

    async def drain(self) -> None:
        """Start no run any more, whatever `go_on` says; returns when those under way have ended as they would."""
        self._draining = True
        while self._tries:
            await asyncio.wait(self._tries.copy())

    async def run(self) -> JobState:
        """Run until every run has ended, or `stop`; how the job ended. Cancelling it interrupts the job."""
        alarm = self._alarm(self._timeout_seconds, self._time_out)
        try:
            await self._dispatch()
        except asyncio.CancelledError:
            self.stop(JobState.INTERRUPTED)
            raise
        finally:
            if alarm is not None:
                alarm.cancel()
            for running in self._tries:
                running.cancel()
            await asyncio.gather(*self._tries, return_exceptions=True)
            self._slots.leave(self._share)
        if self._fault is not None:
            raise self._fault
        if self._stopped_as is None:
            return JobState.COMPLETED
        if self._stopped_as is not JobState.INTERRUPTED:
            for count, ticket in enumerate(self._schedule.cancel_open(), 1):
                if count % CANCELLED_AT_A_TIME == 0:
                    await asyncio.sleep(0)  # the loop has others to serve while a hundred thousand runs are cancelled
                if self._written is not None and count % WRITTEN_AT_A_TIME == 0:
                    await self._written()
                self._journal.run_cancelled(ticket, self._unscored(ticket, Reason.CANCELLED, "the job was ended"))
        return self._stopped_as

    async def _dispatch(self) -> None:
        while not self._schedule.exhausted and self._stopped_as is None and self._fault is None:
            self._changed.clear()
            now = self._clock.now()
            while (ticket := self._next(now)) is not None:
                running = asyncio.create_task(self._try(ticket), name=f"run {ticket.number}")
                self._tries.add(running)
                running.add_done_callback(self._try_ended)
            await self._wait_for_change(self._schedule.seconds_until_ready(now))

    def _next(self, now: float) -> Ticket | None:
        if self._paused or self._draining or not self._schedule.ready(now):
            self._slots.pass_on(self._share)
            return None
        return self._schedule.take(now) if self._slots.acquire(self._share) else None

    def _time_out(self) -> None:
        self.stop(JobState.TIMED_OUT, f"the job took longer than its timeout of {self._timeout_seconds:g} seconds")

    def _alarm(self, seconds: float | None, callback: Callable[[], object]) -> Timer | None:
        return None if seconds is None else self._clock.call_later(max(0.0, seconds), callback)

    async def _wait_for_change(self, seconds: float | None) -> None:
        """Until a run has ended, the job is stopped, or `seconds` (None = no such limit) have passed."""
        if seconds is None:
            await self._changed.wait()
            return
        alarm = self._clock.call_later(seconds, self._changed.set)
        try:
            await self._changed.wait()
        finally:
            alarm.cancel()

    async def _try(self, ticket: Ticket) -> None:
        self._journal.run_started(ticket)
        late, alarm = False, None

        def expire(running: asyncio.Task[None]) -> None:
            nonlocal late
            late = True
            running.cancel()

        try:
            if self._recorded is not None:
                await self._recorded(ticket)
            alarm = self._alarm(self._run_timeout_seconds, partial(expire, this_task()))
            result = await self._score(ticket)
        except asyncio.CancelledError:
            if self._stopped_as is not None:
                raise
            # no caller has cancelled this try: something that the score function awaited was cancelled
            lost = f"the run took longer than {self._run_timeout_seconds} seconds" if late else "cancelled from below"
            self._after_failure(ticket, PlatformError(lost, step="score"))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is not a score: the platform failed this run
            self._after_failure(ticket, error)
        else:
            self._after_score(ticket, result)
        finally:
            if alarm is not None:
                alarm.cancel()

    def _after_score(self, ticket: Ticket, result: RunResult) -> None:
        again = decide_scored(self._policy, result.reason, failures=ticket.failures)
        if again is not None and self._stopped_as is None:
            following = self._schedule.retry(ticket, ready_at=self._clock.now() + again.delay_seconds, repeat=True)
            asked = HarenaError(f"scored {result.reason}, which this job asks to try again", reason=result.reason)
            self._journal.run_retried(following, asked, again.delay_seconds)
            return
        self._schedule.finish(ticket)
        retries = ticket.platform_retries
        self._journal.run_finished(ticket, replace(result, attempt=ticket.attempt, platform_retries=retries))

    def _try_ended(self, running: asyncio.Task[None]) -> None:
        self._tries.discard(running)
        self._changed.set()  # before the others are woken: at its own limit this job was not waiting for its turn
        self._slots.release(self._share)
        if not running.cancelled() and (fault := running.exception()) is not None:
            self._fault = self._fault or fault  # a bug of ours: `run` raises it

    def _after_failure(self, ticket: Ticket, error: Exception) -> None:
        decision = decide(self._policy, error, failures=ticket.failures + 1)
        if isinstance(decision, GiveUp):
            self._schedule.finish(ticket)
            self._journal.run_finished(ticket, self._unscored(ticket, _reason(error), one_line(error)))
            if decision.whole_job:
                self.stop(JobState.FAILED, told_to_clients(error))
            return
        alone = _reason(error) is Reason.STARVED
        again = self._schedule.retry(ticket, ready_at=self._clock.now() + decision.delay_seconds, alone=alone)
        self._journal.run_retried(again, error, decision.delay_seconds)

    def _unscored(self, ticket: Ticket, reason: Reason, detail: str) -> RunResult:
        return unscored(self._scenarios[ticket.scenario_index], ticket, reason, detail)


def unscored(scenario: JobScenario, ticket: Ticket, reason: Reason, detail: str) -> RunResult:
    """The envelope of a run that has no score."""
    return RunResult(
        scenario_id=scenario.id,
        attempt=ticket.attempt,
        score=None,
        passed=False,
        validity=Validity.INFRA,
        trust=scenario.scoring.trust,
        reason=reason,
        detail=detail,
        platform_retries=ticket.platform_retries,
    )


def this_task() -> asyncio.Task[None]:
    """The task that calls."""
    task = asyncio.current_task()
    assert task is not None
    return task


def _reason(error: Exception) -> Reason:
    """STARVED where the error says so, else PLATFORM_ERROR."""
    starved = isinstance(error, HarenaError) and error.reason == Reason.STARVED
    return Reason.STARVED if starved else Reason.PLATFORM_ERROR


def one_line(error: BaseException) -> str:
    """An error as one short line for people."""
    text = " ".join(told_to_clients(error).split()) or "no message"
    return f"{type(error).__name__}: {text}"[:MAX_DETAIL_CHARACTERS]
