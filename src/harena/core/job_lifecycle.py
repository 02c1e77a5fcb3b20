"""The life-cycles of a benchmark job and of its runs, each stated once as a table of legal transitions.

    run:   queued -> running -> done          scored, or given up as a platform failure
                 \\          \\-> queued        the platform failed, or its node has gone: it is tried again
                  \\          \\-> cancelled
                   \\-> cancelled

    job:   queued -> running -> completed     every run has ended
                 \\          \\-> cancelled     somebody asked
                  \\          \\-> failed       this host or this node cannot run it at all
                   \\          \\-> timed_out   the job took longer than it may
                    \\          \\-> interrupted the process that ran it has gone

A job that belongs to a server is never interrupted: it stays queued or running until a node takes it over.

Queries, answers and tests read these tables; nothing else says which states there are.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar


class RunState(StrEnum):
    """Where one attempt of one scenario is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"

    @property
    def is_terminal(self) -> bool:
        """No transition leaves this state."""
        return not RUN_TRANSITIONS[self]


class JobState(StrEnum):
    """Where a benchmark job is."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"

    @property
    def is_terminal(self) -> bool:
        """No transition leaves this state."""
        return not JOB_TRANSITIONS[self]


RUN_TRANSITIONS: dict[RunState, frozenset[RunState]] = {
    RunState.QUEUED: frozenset({RunState.RUNNING, RunState.CANCELLED}),
    RunState.RUNNING: frozenset({RunState.DONE, RunState.QUEUED, RunState.CANCELLED}),
    RunState.DONE: frozenset(),
    RunState.CANCELLED: frozenset(),
}

JOB_TRANSITIONS: dict[JobState, frozenset[JobState]] = {
    JobState.QUEUED: frozenset({JobState.RUNNING, JobState.CANCELLED, JobState.FAILED, JobState.INTERRUPTED}),
    JobState.RUNNING: frozenset(
        {JobState.COMPLETED, JobState.CANCELLED, JobState.FAILED, JobState.TIMED_OUT, JobState.INTERRUPTED},
    ),
    JobState.COMPLETED: frozenset(),
    JobState.CANCELLED: frozenset(),
    JobState.FAILED: frozenset(),
    JobState.TIMED_OUT: frozenset(),
    JobState.INTERRUPTED: frozenset(),
}


OPEN_STATES = tuple(state for state in JobState if not state.is_terminal)
ENDED_STATES = tuple(state for state in JobState if state.is_terminal)


class IllegalTransition(Exception):  # noqa: N818 - it names what happened; seeing it means that harena has a bug
    """A state was left in a way that the table does not allow."""


State = TypeVar("State", RunState, JobState)


def check_run_transition(old: RunState, new: RunState) -> RunState:
    """`new`, if a run may go there from `old`. Raises IllegalTransition."""
    return _check(old, new, RUN_TRANSITIONS[old])


def check_job_transition(old: JobState, new: JobState) -> JobState:
    """`new`, if a job may go there from `old`. Raises IllegalTransition."""
    return _check(old, new, JOB_TRANSITIONS[old])


def _check(old: State, new: State, allowed: frozenset[State]) -> State:
    if new not in allowed:
        raise IllegalTransition(f"{type(old).__name__} {old} may not become {new}")
    return new
