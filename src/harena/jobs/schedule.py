"""Which run is next, and how many run at once: a state machine of values that does no I/O and reads no clock.

Order: runs in the order in which they were accepted; a run that waits for its retry re-enters when its delay is over,
ahead of runs that have never run. So nothing can be overtaken for ever. A run that was starved of the processor runs
again alone, when all others have ended: only then is its time its own. So does one under which nodes are lost: only
then can be told that it is this one which ends them.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from harena.core.job_lifecycle import IllegalTransition, RunState, check_run_transition
from harena.jobs.capacity import EXECUTING_PER_CORE


def effective_concurrency(requested: int, cores: int) -> int:
    """How many runs execute at once where the machine is not looked at: what was asked for, but at most
    EXECUTING_PER_CORE for each core of the host.

    >>> effective_concurrency(200, cores=2), effective_concurrency(3, cores=2)
    (8, 3)
    """
    return max(1, min(requested, EXECUTING_PER_CORE * max(1, cores)))


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Ticket:
    """One accepted run: an attempt of a scenario."""

    number: int
    """its place in the order of acceptance: 0, 1, 2, ..."""
    scenario_index: int
    """the scenario's place in the batch"""
    attempt: int
    """1, 2, ... of the job's `attempts`"""
    failures: int = 0
    """how many tries of it have failed or were repeated"""
    repeats: int = 0
    """number of attempts that were scored, and repeated because the job asks for it"""
    interruptions: int = 0
    """how many nodes were lost while it was under way"""
    alone: bool = False
    """nothing else of the job runs while it does, because it was starved before, or because nodes are lost under it"""

    @property
    def platform_retries(self) -> int:
        """Tries that the platform failed."""
        return self.failures - self.repeats


@dataclass(frozen=True, slots=True)
class Tickets:
    """Open runs in the order of acceptance. A ticket of a run that has never begun is made when it is asked for, so a
    job of a million of them takes the memory of a few ranges."""

    parts: tuple[range | Ticket, ...]
    """in the order of acceptance: ranges of numbers of runs that have never begun, and tickets of other runs"""
    attempts: int
    """runs of each scenario; they follow each other, so that groups of siblings are complete as early as possible"""

    def __len__(self) -> int:
        return sum(len(part) if isinstance(part, range) else 1 for part in self.parts)

    def __iter__(self) -> Iterator[Ticket]:
        for part in self.parts:
            if isinstance(part, range):
                yield from map(self.fresh, part)
            else:
                yield part

    def __getitem__(self, place: int) -> Ticket:
        for part in self.parts:
            size = len(part) if isinstance(part, range) else 1
            if place < size:
                return self.fresh(part[place]) if isinstance(part, range) else part
            place -= size
        raise IndexError(place)

    def fresh(self, number: int) -> Ticket:
        """The ticket of a run that has never begun."""
        index, attempt = divmod(number, self.attempts)
        return Ticket(number=number, scenario_index=index, attempt=attempt + 1)


def tickets(scenarios: int, attempts: int) -> Tickets:
    """One ticket for each attempt of each scenario."""
    return Tickets((range(scenarios * attempts),), attempts)


class Schedule:
    """The accepted runs of one job. Every ticket leaves it exactly once: by `finish` or by `cancel_open`. Its memory
    and the work of each call do not grow with the number of runs that have never begun."""

    def __init__(self, accepted: Iterable[Ticket], *, limit: int) -> None:
        self.limit = limit
        self._accepted = accepted if isinstance(accepted, Tickets) else Tickets(tuple(accepted), 1)
        parts = self._accepted.parts
        self._queued = deque(part for part in parts if part and not _is_alone(part))  # an empty range is false
        self._delayed: list[tuple[float, Ticket]] = []
        self._alone = deque(part for part in parts if isinstance(part, Ticket) and part.alone)
        self._occupied = False
        self._running: dict[int, Ticket] = {}

    @property
    def running(self) -> int:
        """Runs that execute now; never more than `limit`."""
        return len(self._running)

    @property
    def exhausted(self) -> bool:
        """Every run has ended."""
        return not (self._queued or self._delayed or self._alone or self._running)

    def ready(self, now: float) -> bool:
        """`take` would give a run."""
        if len(self._running) >= self.limit or self._occupied:
            return False
        if self._queued or (self._delayed and self._delayed[0][0] <= now):
            return True
        return bool(self._alone and not self._delayed and not self._running)

    def take(self, now: float) -> Ticket | None:
        """The next run, now running; None while nothing is ready or `limit` runs are under way.

        `now` and the times given to `retry` are seconds of one monotonic clock.
        """
        if not self.ready(now):
            return None
        if self._delayed and self._delayed[0][0] <= now:
            ticket = heapq.heappop(self._delayed)[1]
        elif self._queued:
            ticket = self._next_queued()
        else:
            ticket = self._alone.popleft()
            self._occupied = True
        check_run_transition(RunState.QUEUED, RunState.RUNNING)
        self._running[ticket.number] = ticket
        return ticket

    def seconds_until_ready(self, now: float) -> float | None:
        """How long until `take` could give something that it cannot give now; None = only when a run ends."""
        if len(self._running) >= self.limit or not self._delayed or self._occupied:
            return None
        return max(0.0, self._delayed[0][0] - now)

    def finish(self, ticket: Ticket) -> None:
        """This run has ended."""
        self._leave(ticket, RunState.DONE)

    def retry(self, ticket: Ticket, *, ready_at: float, alone: bool = False, repeat: bool = False) -> Ticket:
        """The platform failed this run (or, `repeat`, a score of it is asked for again): back into the queue, not
        before `ready_at`, or, `alone`, to its end."""
        self._leave(ticket, RunState.QUEUED)
        again = replace(ticket, failures=ticket.failures + 1, repeats=ticket.repeats + repeat, alone=alone)
        if alone:
            self._alone.append(again)
        else:
            heapq.heappush(self._delayed, (ready_at, again))
        return again

    def cancel_open(self) -> Iterator[Ticket]:
        """End every run that has not ended, now, and give them back in order of acceptance, each when it is asked
        for."""
        begun = sorted([*(ticket for _, ticket in self._delayed), *self._alone, *self._running.values()])
        queued = Tickets(tuple(self._queued), self._accepted.attempts)
        self._queued.clear()
        self._delayed.clear()
        self._alone.clear()
        self._running.clear()
        return heapq.merge(queued, begun)

    def _next_queued(self) -> Ticket:
        part = self._queued.popleft()
        if isinstance(part, Ticket):
            return part
        if len(part) > 1:
            self._queued.appendleft(part[1:])
        return self._accepted.fresh(part[0])

    def _leave(self, ticket: Ticket, state: RunState) -> None:
        if ticket.number not in self._running:
            raise IllegalTransition(f"run {ticket.number} is not under way and may not become {state}")
        check_run_transition(RunState.RUNNING, state)
        del self._running[ticket.number]
        self._occupied = False  # whoever ran alone was the only one


def _is_alone(part: range | Ticket) -> bool:
    return isinstance(part, Ticket) and part.alone
