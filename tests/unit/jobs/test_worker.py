"""The worker: what becomes of scores, failures and stops."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harena.core.catalog import NO_LINEAGE, Lineage
from harena.core.errors import HostUnsupportedError, PlatformError, SandboxExecutionError, SandboxFailedError
from harena.core.job_lifecycle import JobState
from harena.core.results import Reason, RunResult, Trust, Validity
from harena.jobs.retry import RetryPolicy
from harena.jobs.schedule import Schedule, Ticket, tickets
from harena.jobs.slots import Slots
from harena.jobs.worker import JobExecution, one_line
from harena.testing.clock import FakeClock


@dataclass(frozen=True)
class Shared:
    """A contract of the weaker kind."""

    trust: Trust = Trust.SHARED


@dataclass(frozen=True)
class Named:
    """A scenario as a job sees it."""

    id: str
    expected: None = None
    problem_id: str | None = None
    honeypot: bool = False
    lineage: Lineage = NO_LINEAGE
    scoring: Shared = Shared()


@dataclass
class Notebook:
    """A journal that remembers."""

    lines: list[tuple[str, int]] = field(default_factory=list)
    results: dict[int, RunResult] = field(default_factory=dict)
    delays: list[float] = field(default_factory=list)

    def run_started(self, ticket: Ticket) -> None:
        self.lines.append(("started", ticket.number))

    def run_retried(self, again: Ticket, error: Exception, delay_seconds: float) -> None:
        self.lines.append(("retried", again.number))
        self.delays.append(delay_seconds)

    def run_finished(self, ticket: Ticket, result: RunResult) -> None:
        self.lines.append(("finished", ticket.number))
        self.results[ticket.number] = result

    def run_cancelled(self, ticket: Ticket, result: RunResult) -> None:
        self.lines.append(("cancelled", ticket.number))
        self.results[ticket.number] = result

    def ends(self) -> Counter[int]:
        """How often each run has ended."""
        return Counter(number for kind, number in self.lines if kind in ("finished", "cancelled"))


def scored(ticket: Ticket, score: float = 1.0) -> RunResult:
    """An envelope as a scorer gives it."""
    return RunResult(
        scenario_id=f"s{ticket.scenario_index}",
        score=score,
        passed=score == 1.0,
        validity=Validity.VALID,
        trust=Trust.SEPARATE,
        reason=Reason.PASSED if score == 1.0 else Reason.WRONG_ANSWER,
    )


def execution(
    score: Callable[[Ticket], Awaitable[RunResult]],
    *,
    runs: int = 4,
    limit: int = 2,
    retry_attempts: int = 1,
    clock: FakeClock | None = None,
    retry_reasons: frozenset[str] = frozenset(),
    **more: Any,
) -> tuple[JobExecution, Notebook]:
    """A job of `runs` runs, and its journal."""
    notebook = Notebook()
    job = JobExecution(
        scenarios=[Named(f"s{index}") for index in range(runs)],
        schedule=Schedule(tickets(runs, 1), limit=limit),
        score=score,
        journal=notebook,
        policy=RetryPolicy(retry_attempts=retry_attempts, retry_reasons=retry_reasons),
        clock=clock or FakeClock(),
        **more,
    )
    return job, notebook


async def test_every_run_is_scored_once() -> None:
    """Scores arrive as the scorer gave them."""

    async def score(ticket: Ticket) -> RunResult:
        await asyncio.sleep(0)
        return scored(ticket, float(ticket.number % 2))

    job, notebook = execution(score, runs=7)
    assert await job.run() is JobState.COMPLETED
    assert notebook.ends() == Counter(range(7))
    assert [notebook.results[number].score for number in range(7)] == [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]


async def test_a_job_without_runs_ends() -> None:
    """Nothing to do is done at once."""
    job, notebook = execution(lambda ticket: asyncio.sleep(0, scored(ticket)), runs=0)
    assert await job.run() is JobState.COMPLETED
    assert notebook.lines == []


@given(runs=st.integers(1, 12), limit=st.integers(1, 5), failures=st.lists(st.integers(0, 3), min_size=12, max_size=12))
@settings(max_examples=40, deadline=None)
def test_accepted_runs_end_once_within_the_limit(runs: int, limit: int, failures: list[int]) -> None:
    """However often each run is failed: it ends once, no more than `limit` execute, and lost runs have no score."""

    async def scenario() -> None:
        executing, most, tries = 0, 0, Counter[int]()

        async def score(ticket: Ticket) -> RunResult:
            nonlocal executing, most
            executing += 1
            most = max(most, executing)
            tries[ticket.number] += 1
            try:
                for _ in range(failures[ticket.number]):
                    await asyncio.sleep(0)
                if tries[ticket.number] <= failures[ticket.number]:
                    raise PlatformError("lost")
                return scored(ticket)
            finally:
                executing -= 1

        job, notebook = execution(score, runs=runs, limit=limit, retry_attempts=2)
        assert await job.run() is JobState.COMPLETED
        assert notebook.ends() == Counter(range(runs))
        assert most <= limit
        for number, result in notebook.results.items():
            assert tries[number] == min(failures[number], 2) + 1
            assert result.platform_retries == min(failures[number], 2)
            assert (result.score is None) == (failures[number] > 2)

    asyncio.run(scenario())


@pytest.mark.parametrize("error", [PlatformError("gone"), SandboxFailedError("no start"), ZeroDivisionError("a bug")])
async def test_whatever_is_raised_is_no_score(error: Exception) -> None:
    """An exception of any kind is retried, and then an envelope without a score: never 0."""

    async def score(ticket: Ticket) -> RunResult:
        raise error

    job, notebook = execution(score, runs=1, retry_attempts=2)
    assert await job.run() is JobState.COMPLETED
    assert [kind for kind, _ in notebook.lines] == [
        *["started", "retried"] * 2,
        "started",
        "finished",
    ]
    lost = notebook.results[0]
    assert (lost.score, lost.passed, lost.validity, lost.reason) == (None, False, Validity.INFRA, Reason.PLATFORM_ERROR)
    assert (lost.scenario_id, lost.trust) == ("s0", Trust.SHARED)
    assert lost.detail == f"{type(error).__name__}: {error}"
    assert lost.platform_retries == 2


async def test_a_starved_run_says_so() -> None:
    """The platform's own reason is kept where the error carries it."""

    async def score(ticket: Ticket) -> RunResult:
        raise PlatformError("no processor", reason="starved")

    job, notebook = execution(score, runs=1, retry_attempts=0)
    await job.run()
    assert notebook.results[0].reason is Reason.STARVED


async def test_a_starved_run_is_told_that_it_is_alone() -> None:
    """Its second try has no neighbours to blame, and whoever scores it must know."""
    seen: list[tuple[int, bool]] = []

    async def score(ticket: Ticket) -> RunResult:
        seen.append((ticket.number, ticket.alone))
        if ticket.failures == 0:
            raise PlatformError("no processor", reason="starved" if ticket.number == 0 else None)
        return scored(ticket)

    job, _ = execution(score, runs=2, retry_attempts=1)
    await job.run()
    assert seen == [(0, False), (1, False), (1, False), (0, True)]


async def test_retries_wait_while_others_run() -> None:
    """The delay before a retry is waited for on the clock, and does not hold up fresh runs."""
    clock = FakeClock()
    seen: list[tuple[int, float]] = []

    async def score(ticket: Ticket) -> RunResult:
        seen.append((ticket.number, clock.now()))
        if ticket.number == 0 and ticket.failures < 2:
            raise PlatformError("lost")
        return scored(ticket)

    job, notebook = execution(score, runs=3, limit=1, retry_attempts=2, clock=clock)
    await job.run()
    assert [number for number, _ in seen] == [0, 1, 2, 0, 0]
    assert notebook.delays == pytest.approx([0.1, 0.2])
    assert clock.now() == pytest.approx(0.3)


async def test_stop_cancels_what_runs_and_what_waits() -> None:
    """A cancelled job ends every open run once, and keeps the results it had."""
    cleaned: list[int] = []
    first_two = asyncio.Event()

    async def score(ticket: Ticket) -> RunResult:
        if ticket.number == 0:
            return scored(ticket)
        try:
            if ticket.number == 2:
                first_two.set()
            await asyncio.Event().wait()
        finally:
            cleaned.append(ticket.number)
        raise AssertionError("nobody waits for this")

    job, notebook = execution(score, runs=5, limit=2)
    running = asyncio.create_task(job.run())
    await first_two.wait()
    job.stop(JobState.CANCELLED)
    job.stop(JobState.FAILED)  # too late: the first one counts
    assert await running is JobState.CANCELLED
    assert sorted(cleaned) == [1, 2]
    assert notebook.ends() == Counter(range(5))
    assert notebook.results[0].score == 1.0
    assert [notebook.results[number].reason for number in (1, 2, 3, 4)] == [Reason.CANCELLED] * 4


async def test_stop_before_the_start() -> None:
    """A job that is cancelled at once runs nothing."""
    job, notebook = execution(lambda ticket: asyncio.sleep(0, scored(ticket)))
    job.stop(JobState.CANCELLED)
    assert await job.run() is JobState.CANCELLED
    assert {kind for kind, _ in notebook.lines} == {"cancelled"}


async def test_an_interrupted_job_leaves_open_runs_open() -> None:
    """They may be resumed one day; they are neither done nor cancelled."""
    started = asyncio.Event()

    async def score(ticket: Ticket) -> RunResult:
        started.set()
        return await asyncio.Event().wait() and scored(ticket)

    job, notebook = execution(score)
    running = asyncio.create_task(job.run())
    await started.wait()
    job.stop(JobState.INTERRUPTED)
    assert await running is JobState.INTERRUPTED
    assert notebook.ends() == Counter()


async def test_a_host_that_cannot_isolate_fails_the_job() -> None:
    """One clear error instead of thousands of lost runs."""

    async def score(ticket: Ticket) -> RunResult:
        raise HostUnsupportedError("set kernel.unprivileged_userns_clone=1")

    job, notebook = execution(score, runs=100, limit=4, retry_attempts=5)
    assert await job.run() is JobState.FAILED
    assert job.error == "set kernel.unprivileged_userns_clone=1"
    assert notebook.ends() == Counter(range(100))
    assert all(result.score is None for result in notebook.results.values())


async def test_a_cancellation_from_below_is_a_platform_failure() -> None:
    """A score that is cancelled by nobody here is retried, and the job goes on."""

    async def score(ticket: Ticket) -> RunResult:
        if ticket.number == 1 and ticket.failures == 0:
            raise asyncio.CancelledError
        return scored(ticket)

    job, notebook = execution(score)
    assert await job.run() is JobState.COMPLETED
    assert notebook.results[1].score == 1.0
    assert notebook.results[1].platform_retries == 1


async def test_a_score_that_outruns_the_stop_is_kept() -> None:
    """A run that finishes although it was cancelled has finished: it is not cancelled, too."""
    started = asyncio.Event()

    async def score(ticket: Ticket) -> RunResult:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return scored(ticket)
        raise AssertionError

    job, notebook = execution(score, runs=1)
    running = asyncio.create_task(job.run())
    await started.wait()
    job.stop(JobState.CANCELLED)
    await running
    assert notebook.lines == [("started", 0), ("finished", 0)]


async def test_a_bug_in_the_journal_is_raised() -> None:
    """The worker's own faults are not results: they reach whoever runs the job, and nothing is left running."""
    job, notebook = execution(lambda ticket: asyncio.sleep(0, scored(ticket)))
    notebook.results = None  # type: ignore[assignment]
    with pytest.raises(TypeError):
        await job.run()
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


async def test_a_score_is_repeated_where_the_job_asks() -> None:
    """It is no failure of the platform: the envelope does not count it as one."""

    async def score(ticket: Ticket) -> RunResult:
        return scored(ticket, float(ticket.failures == 2))

    job, notebook = execution(score, runs=1, retry_attempts=3, retry_reasons=frozenset({"wrong_answer"}))
    await job.run()
    assert [kind for kind, _ in notebook.lines] == [*["started", "retried"] * 2, "started", "finished"]
    assert (notebook.results[0].score, notebook.results[0].platform_retries) == (1.0, 0)


async def test_a_try_that_takes_too_long_is_the_platforms_failure() -> None:
    """It is ended, tried again, and if it persists has no score; others are not touched."""
    clock = FakeClock()
    ended: list[float] = []

    async def score(ticket: Ticket) -> RunResult:
        if ticket.number == 0:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(clock.now())
        await clock.sleep(4.0)
        return scored(ticket)

    job, notebook = execution(score, runs=2, clock=clock, run_timeout_seconds=5.0)
    assert await job.run() is JobState.COMPLETED
    assert ended == pytest.approx([5.0, 10.1])
    assert (notebook.results[0].score, notebook.results[0].reason) == (None, Reason.PLATFORM_ERROR)
    assert "longer than 5.0 seconds" in notebook.results[0].detail
    assert notebook.results[1].score == 1.0


async def test_a_job_that_takes_too_long_ends_with_what_it_has() -> None:
    """Runs under way are ended, open ones cancelled; what was scored stays."""
    clock = FakeClock()

    async def score(ticket: Ticket) -> RunResult:
        await clock.sleep(4.0)
        return scored(ticket)

    job, notebook = execution(score, runs=6, limit=2, clock=clock, timeout_seconds=9.0)
    assert await job.run() is JobState.TIMED_OUT
    assert (clock.now(), job.error) == (9.0, "the job took longer than its timeout of 9 seconds")
    assert [notebook.results[number].reason for number in range(6)] == [Reason.PASSED] * 4 + [Reason.CANCELLED] * 2
    assert notebook.ends() == Counter(range(6))


class JumpingClock(FakeClock):
    """Its time of day jumps to and fro; its monotonic time does not."""

    def utcnow(self) -> datetime:
        days = 365 if int(self.now() * 10) % 2 else -365
        return super().utcnow() + timedelta(days=days)


async def test_jumps_of_the_time_of_day_neither_fire_nor_lose_a_timeout() -> None:
    """Limits are counted on the monotonic clock."""
    clock = JumpingClock()

    async def score(ticket: Ticket) -> RunResult:
        await clock.sleep(4.0 if ticket.number else 100.0)
        return scored(ticket)

    job, notebook = execution(score, runs=3, clock=clock, run_timeout_seconds=5.0, timeout_seconds=30.0)
    assert await job.run() is JobState.COMPLETED
    assert [notebook.results[number].score for number in range(3)] == [None, 1.0, 1.0]
    assert clock.now() == pytest.approx(10.1)


async def test_a_paused_job_starts_nothing_and_goes_on() -> None:
    """What runs ends as it would; nothing new begins until the job goes on."""
    clock = FakeClock(auto_jump=False)
    started: list[int] = []

    async def score(ticket: Ticket) -> RunResult:
        started.append(ticket.number)
        await clock.sleep(1.0)
        return scored(ticket)

    job, notebook = execution(score, runs=5, limit=2, clock=clock)
    running = asyncio.create_task(job.run())
    await clock.advance(0.5)
    job.pause()
    await clock.advance(5.0)
    assert (started, notebook.ends()) == ([0, 1], Counter(range(2)))
    job.go_on()
    await clock.advance(5.0)
    assert await running is JobState.COMPLETED
    assert notebook.ends() == Counter(range(5))


async def test_jobs_of_one_node_share_its_slots_by_priority() -> None:
    """A late job of a higher priority gets the next free slots; together they never run more than the node may."""
    clock, slots, order = FakeClock(), Slots(2), []

    def job_named(name: str, priority: int) -> JobExecution:
        async def score(ticket: Ticket) -> RunResult:
            order.append(name)
            assert slots.free >= 0
            await clock.sleep(1.0)
            return scored(ticket)

        return execution(score, runs=4, limit=2, clock=clock, slots=slots, priority=priority)[0]

    jobs = [job_named("low", 0), job_named("high", 5), job_named("even", 0)]
    assert set(await asyncio.gather(*(job.run() for job in jobs))) == {JobState.COMPLETED}
    assert order[:6] == ["low", "low", "high", "high", "high", "high"]
    assert Counter(order[6:]) == Counter({"low": 2, "even": 4})
    assert clock.now() == pytest.approx(6.0)


async def test_a_start_is_recorded_before_the_score_where_that_is_asked_for() -> None:
    """A run that ends its process at once has been noted before; the time of that is not the run's."""
    clock = FakeClock()
    order: list[str] = []

    async def recorded(ticket: Ticket) -> None:
        await clock.sleep(10)
        order.append("recorded")

    async def score(ticket: Ticket) -> RunResult:
        order.append("scored")
        return scored(ticket)

    job, notebook = execution(score, runs=2, limit=1, clock=clock, recorded=recorded, run_timeout_seconds=5)
    assert await job.run() is JobState.COMPLETED
    assert order == ["recorded", "scored"] * 2
    assert notebook.lines[:2] == [("started", 0), ("finished", 0)]


@given(
    jumps=st.lists(st.tuples(st.floats(0, 30), st.floats(-1e9, 1e9)), max_size=6),
    lasting=st.lists(st.floats(0.5, 40), min_size=3, max_size=8),
)
@settings(deadline=None)
def test_the_time_of_day_changes_nothing(jumps: list[tuple[float, float]], lasting: list[float]) -> None:
    """Time limits of runs and jobs, and delays of retries, are what they are, however the wall clock is set."""

    async def told(jumping: list[tuple[float, float]]) -> tuple[JobState, float, list[tuple[str, int]]]:
        clock = FakeClock()

        async def jump() -> None:
            for seconds, by in jumping:
                await clock.sleep(seconds)
                clock.set_wall_clock(by_seconds=by)

        async def score(ticket: Ticket) -> RunResult:
            await clock.sleep(lasting[ticket.number])
            return scored(ticket)

        limits = {"run_timeout_seconds": 20.0, "timeout_seconds": 60.0}
        job, notebook = execution(score, runs=len(lasting), clock=clock, **limits)
        jumper = asyncio.create_task(jump())
        state, ended = await job.run(), clock.now()
        jumper.cancel()
        return state, ended, notebook.lines

    assert asyncio.run(told(jumps)) == asyncio.run(told([]))


async def test_a_job_that_drains_starts_nothing_and_ends_what_runs() -> None:
    """Also where it is told to go on meanwhile; what is left is left open."""
    clock = FakeClock(auto_jump=False)

    async def score(ticket: Ticket) -> RunResult:
        await clock.sleep(10)
        return scored(ticket)

    job, notebook = execution(score, runs=6, limit=2, clock=clock)
    running = asyncio.create_task(job.run())
    await clock.advance(1)
    draining = asyncio.create_task(job.drain())
    job.go_on()
    await clock.advance(5)
    assert not draining.done()
    await clock.advance(5)
    assert draining.done()
    await clock.advance(100)
    job.stop(JobState.INTERRUPTED)
    assert await running is JobState.INTERRUPTED
    assert notebook.lines == [("started", 0), ("started", 1), ("finished", 0), ("finished", 1)]


def test_a_fault_is_kept_without_the_places_of_the_server() -> None:
    """In results, events and errors of jobs; what an error says of a sandbox's files stays."""
    here = f"{tempfile.gettempdir()}/harena-work/x"
    said = f'{here} is gone\nTraceback (most recent call last):\n  File "{here}", line 1, in y'
    assert one_line(PlatformError(said, step="read")) == "PlatformError: (a path of the server) is gone"
    assert one_line(SandboxExecutionError(f"{here} is gone")) == f"SandboxExecutionError: {here} is gone"
