"""The schedule: a model-based test of its promises, and its order."""

import heapq
import tracemalloc
from collections import Counter, deque
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.job_lifecycle import IllegalTransition
from harena.jobs.schedule import Schedule, Ticket, Tickets, effective_concurrency, tickets


def test_attempts_of_a_scenario_follow_each_other() -> None:
    """Two scenarios with two attempts each are four tickets, scenario by scenario."""
    assert [(ticket.number, ticket.scenario_index, ticket.attempt) for ticket in tickets(2, 2)] == [
        (0, 0, 1),
        (1, 0, 2),
        (2, 1, 1),
        (3, 1, 2),
    ]


@given(requested=st.integers(1, 1000), cores=st.integers(1, 512))
def test_effective_concurrency_is_bounded_by_request_and_cores(requested: int, cores: int) -> None:
    """Never more than asked for, never more than four for a core, and never none."""
    assert 1 <= effective_concurrency(requested, cores) <= min(requested, 4 * cores)
    assert effective_concurrency(1000, 250) == 1000


@given(
    scenarios=st.integers(0, 6),
    attempts=st.integers(1, 3),
    limit=st.integers(1, 5),
    choices=st.lists(
        st.tuples(st.sampled_from(["take", "take", "finish", "retry", "wait", "cancel"]), st.integers(0, 10)),
        max_size=80,
    ),
)
def test_accepted_work_ends_exactly_once(
    scenarios: int, attempts: int, limit: int, choices: list[tuple[str, int]]
) -> None:
    """Whatever happens in whatever order: no ticket is lost or ends twice, and the limit holds at every moment."""
    accepted = tickets(scenarios, attempts)
    schedule = Schedule(accepted, limit=limit)
    now, running, ended = 0.0, [], []
    for choice, number in choices:
        if choice == "take" and (ticket := schedule.take(now)) is not None:
            running.append(ticket)
        elif choice == "finish" and running:
            schedule.finish(running[0])
            ended.append(running.pop(0).number)
        elif choice == "retry" and running:
            schedule.retry(running.pop(number % len(running)), ready_at=now + number, alone=number % 3 == 0)
        elif choice == "wait":
            now += number
        elif choice == "cancel" and number == 0:
            ended += [ticket.number for ticket in schedule.cancel_open()]
            running.clear()
        assert schedule.running == len(running) <= limit
    ended += [ticket.number for ticket in schedule.cancel_open()]
    assert schedule.exhausted
    assert Counter(ended) == Counter(ticket.number for ticket in accepted)


@given(limit=st.integers(1, 4), failing=st.sets(st.integers(0, 19)), retries=st.integers(1, 3))
def test_nothing_starves(limit: int, failing: set[int], retries: int) -> None:
    """Runs that fail again and again do not keep the others waiting: all 20 end within their fair number of turns."""
    schedule = Schedule(tickets(20, 1), limit=limit)
    now, turns, ended = 0.0, 0, []
    while not schedule.exhausted:
        batch: list[Ticket] = []
        while (ticket := schedule.take(now)) is not None:
            batch.append(ticket)
        for ticket in batch:
            if ticket.number in failing and ticket.failures < retries:
                schedule.retry(ticket, ready_at=now + 1)
            else:
                schedule.finish(ticket)
                ended.append(ticket.number)
        now += 1
        turns += 1
        assert turns <= 20 * (retries + 1) + retries
    assert sorted(ended) == list(range(20))


def test_first_come_first_served() -> None:
    """Tickets that never failed are taken in the order of acceptance."""
    schedule = Schedule(tickets(5, 1), limit=5)
    assert [schedule.take(0.0).number for _ in range(5)] == [0, 1, 2, 3, 4]  # type: ignore[union-attr]


def test_a_retry_waits_for_its_time_and_then_goes_first() -> None:
    """A delayed run is not taken early, and is taken before fresh ones when its time has come."""
    schedule = Schedule(tickets(3, 1), limit=1)
    first = schedule.take(0.0)
    assert first is not None
    schedule.retry(first, ready_at=5.0)
    second = schedule.take(1.0)
    assert second is not None
    assert second.number == 1
    assert schedule.seconds_until_ready(1.0) is None  # nothing to wait for while the limit is reached
    schedule.finish(second)
    assert schedule.seconds_until_ready(2.0) == pytest.approx(3.0)
    again = schedule.take(5.0)
    assert again is not None
    assert (again.number, again.failures) == (0, 1)


def test_a_ticket_cannot_finish_twice() -> None:
    """Ending a run a second time is a bug that is shouted, not counted."""
    schedule = Schedule(tickets(1, 1), limit=1)
    ticket = schedule.take(0.0)
    assert ticket is not None
    schedule.finish(ticket)
    with pytest.raises(IllegalTransition):
        schedule.finish(ticket)


def test_a_starved_run_runs_alone_when_all_others_have_ended() -> None:
    """Its retry waits for the queue, for delayed retries and for what runs, and nothing runs beside it."""
    schedule = Schedule(tickets(4, 1), limit=3)
    starved, other, third = (schedule.take(0.0) for _ in range(3))
    assert starved is not None
    assert other is not None
    assert third is not None
    schedule.retry(starved, ready_at=0.0, alone=True)
    delayed = schedule.retry(other, ready_at=5.0)
    last = schedule.take(1.0)
    assert last is not None
    assert last.scenario_index == 3
    assert schedule.take(1.0) is None  # not beside the two that still run
    schedule.finish(last)
    schedule.finish(third)
    assert schedule.take(1.0) is None  # not while a retry is to come
    assert schedule.seconds_until_ready(1.0) == 4.0
    again = schedule.take(5.0)
    assert again == delayed
    schedule.finish(again)
    alone = schedule.take(5.0)
    assert alone is not None
    assert (alone.scenario_index, alone.failures, alone.alone, delayed.alone) == (0, 1, True, False)
    schedule.finish(alone)
    assert schedule.exhausted


def test_nothing_starts_beside_a_run_that_is_alone() -> None:
    """Two starved runs run one after the other."""
    schedule = Schedule(tickets(2, 1), limit=2)
    for ticket in (schedule.take(0.0), schedule.take(0.0)):
        assert ticket is not None
        schedule.retry(ticket, ready_at=0.0, alone=True)
    first = schedule.take(0.0)
    assert first is not None
    assert schedule.take(0.0) is None
    schedule.finish(first)
    assert schedule.take(0.0) is not None


def test_what_comes_to_be_run_alone_waits_for_all_others() -> None:
    """Also where it comes with them, from another node."""
    first, second, third = tickets(3, 1)
    schedule = Schedule([replace(first, alone=True), second, third], limit=3)
    beside = [schedule.take(0.0), schedule.take(0.0)]
    assert beside == [second, third]
    assert schedule.take(0.0) is None
    schedule.finish(second)
    assert schedule.take(0.0) is None
    schedule.finish(third)
    assert schedule.take(0.0) == replace(first, alone=True)


@given(
    runs=st.integers(1, 8),
    limit=st.integers(1, 4),
    choices=st.lists(
        st.tuples(st.sampled_from(["take", "finish", "retry", "store", "crash"]), st.integers(0, 9)), max_size=80
    ),
)
def test_a_job_that_is_resumed_from_what_was_stored_ends_once(
    runs: int, limit: int, choices: list[tuple[str, int]]
) -> None:
    """Whatever is lost in crashes between the end of a run and its storing: each run gets one stored result, and none
    is taken again after it has one."""
    everything = tickets(runs, 1)
    stored: Counter[int] = Counter()
    schedule, running, unstored, now = Schedule(everything, limit=limit), [], [], 0.0
    for choice, number in [*choices, ("crash", 0)]:
        now += 1
        if choice == "take" and (ticket := schedule.take(now)) is not None:
            assert ticket.number not in stored
            running.append(ticket)
        elif choice == "finish" and running:
            ticket = running.pop(number % len(running))
            schedule.finish(ticket)
            unstored.append(ticket.number)
        elif choice == "retry" and running:
            schedule.retry(running.pop(0), ready_at=now + number, alone=number == 0)
        elif choice == "store":
            stored.update(unstored)
            unstored = []
        elif choice == "crash":
            left = [ticket for ticket in everything if ticket.number not in stored]
            schedule, running, unstored = Schedule(left, limit=limit), [], []
    while (ticket := schedule.take(now)) is not None:
        schedule.finish(ticket)
        stored[ticket.number] += 1
    assert schedule.exhausted
    assert stored == Counter(range(runs))


class ListedSchedule:
    """The model: a ticket for every open run, in lists."""

    def __init__(self, accepted: list[Ticket], *, limit: int) -> None:
        self.limit = limit
        self.queued = deque(ticket for ticket in accepted if not ticket.alone)
        self.delayed: list[tuple[float, Ticket]] = []
        self.alone = deque(ticket for ticket in accepted if ticket.alone)
        self.running: dict[int, Ticket] = {}
        self.occupied = False

    def ready(self, now: float) -> bool:
        if len(self.running) >= self.limit or self.occupied:
            return False
        due = self.delayed and self.delayed[0][0] <= now
        return bool(self.queued or due or (self.alone and not self.delayed and not self.running))

    def take(self, now: float) -> Ticket | None:
        if not self.ready(now):
            return None
        if self.delayed and self.delayed[0][0] <= now:
            ticket = heapq.heappop(self.delayed)[1]
        elif self.queued:
            ticket = self.queued.popleft()
        else:
            ticket, self.occupied = self.alone.popleft(), True
        self.running[ticket.number] = ticket
        return ticket

    def leave(self, ticket: Ticket) -> None:
        del self.running[ticket.number]
        self.occupied = False

    def retry(self, ticket: Ticket, *, ready_at: float, alone: bool) -> None:
        self.leave(ticket)
        again = replace(ticket, failures=ticket.failures + 1, alone=alone)
        if alone:
            self.alone.append(again)
        else:
            heapq.heappush(self.delayed, (ready_at, again))

    def open(self) -> list[Ticket]:
        delayed = (ticket for _, ticket in self.delayed)
        return sorted([*self.queued, *delayed, *self.alone, *self.running.values()])


@given(
    scenarios=st.integers(0, 6),
    attempts=st.integers(1, 3),
    states=st.lists(st.sampled_from(["fresh", "ended", "begun", "alone"]), min_size=18, max_size=18),
    limit=st.integers(1, 5),
    choices=st.lists(
        st.tuples(st.sampled_from(["take", "take", "finish", "retry", "wait"]), st.integers(0, 10)), max_size=80
    ),
)
def test_ranges_keep_the_order_of_lists(
    scenarios: int, attempts: int, states: list[str], limit: int, choices: list[tuple[str, int]]
) -> None:
    """Whatever has ended or begun before, and whatever happens: each call gives what a list of all tickets would."""
    everything = [
        Ticket(number=index * attempts + attempt, scenario_index=index, attempt=attempt + 1)
        for index in range(scenarios)
        for attempt in range(attempts)
    ]
    changes = {"begun": {"failures": 1}, "alone": {"interruptions": 2, "alone": True}, "fresh": {}}
    left = [
        replace(ticket, **changes[state])  # type: ignore[arg-type]
        for ticket, state in zip(everything, states, strict=False)
        if state != "ended"
    ]
    parts: list[range | Ticket] = []
    for ticket, state in zip(everything, states, strict=False):
        if state == "fresh":
            parts.append(range(ticket.number, ticket.number + 1))
        elif state != "ended":
            parts.append(replace(ticket, **changes[state]))  # type: ignore[arg-type]
    accepted = Tickets(tuple(joined(parts)), attempts)
    assert (len(accepted), list(accepted)) == (len(left), left)
    assert [accepted[place] for place in range(len(left))] == left
    schedule, model = Schedule(accepted, limit=limit), ListedSchedule(left, limit=limit)
    now, running = 0.0, []
    for choice, number in choices:
        assert schedule.ready(now) == model.ready(now)
        if choice == "take":
            ticket = schedule.take(now)
            assert ticket == model.take(now)
            running += [ticket] if ticket is not None else []
        elif choice == "finish" and running:
            ticket = running.pop(number % len(running))
            schedule.finish(ticket)
            model.leave(ticket)
        elif choice == "retry" and running:
            ticket = running.pop(number % len(running))
            schedule.retry(ticket, ready_at=now + number, alone=number % 3 == 0)
            model.retry(ticket, ready_at=now + number, alone=number % 3 == 0)
        elif choice == "wait":
            now += number
        assert schedule.running == len(model.running)
        assert schedule.exhausted == (not model.open())
    assert list(schedule.cancel_open()) == model.open()
    assert schedule.exhausted


def joined(parts: list[range | Ticket]) -> list[range | Ticket]:
    """The parts with ranges that touch as one."""
    found: list[range | Ticket] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, range) and isinstance(last, range) and last.stop == part.start:
            found[-1] = range(last.start, part.stop)
        else:
            found.append(part)
    return found


def test_a_million_open_runs_take_no_memory() -> None:
    """What has never begun is a range: nothing is made of it before it is taken or cancelled, one by one."""
    tracemalloc.start()
    schedule = Schedule(tickets(1000, 1000), limit=100)
    for _ in range(100):
        assert schedule.take(0.0) is not None
    cancelled = iter(schedule.cancel_open())
    assert [next(cancelled).number for _ in range(200)] == list(range(200))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert schedule.exhausted
    assert peak < 200_000
