"""The life of a training job, and what happens in it: states, legal transitions, kinds of events, their metrics.

    queued -> running -> completed    every step is done, and what it learned is there
        \\        \\-> failed          the error and the end of the worker's output say why
         \\        \\-> cancelled      somebody asked; what it had stays
          \\-> cancelled, failed
    completed, failed, cancelled -> queued     only by `retry`, from its checkpoint or from scratch

A job whose worker or whose server was killed stays running: it goes on from its newest checkpoint.

Queries, answers and tests read this table; nothing else says which states there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, get_args

RetryFrom = Literal["checkpoint", "scratch"]
RETRY_FROM: tuple[RetryFrom, ...] = get_args(RetryFrom)


class TrainingState(StrEnum):
    """Where a training job is."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def has_ended(self) -> bool:
        """Nothing happens to it any more, unless somebody retries it."""
        return self in ENDED_STATES


TRAINING_TRANSITIONS: dict[TrainingState, frozenset[TrainingState]] = {
    TrainingState.QUEUED: frozenset({TrainingState.RUNNING, TrainingState.CANCELLED, TrainingState.FAILED}),
    TrainingState.RUNNING: frozenset({TrainingState.COMPLETED, TrainingState.FAILED, TrainingState.CANCELLED}),
    TrainingState.COMPLETED: frozenset({TrainingState.QUEUED}),
    TrainingState.FAILED: frozenset({TrainingState.QUEUED}),
    TrainingState.CANCELLED: frozenset({TrainingState.QUEUED}),
}
ENDED_STATES = (TrainingState.COMPLETED, TrainingState.FAILED, TrainingState.CANCELLED)
OPEN_STATES = (TrainingState.QUEUED, TrainingState.RUNNING)


def may_become(new: TrainingState) -> tuple[TrainingState, ...]:
    """The states that may be left for this one."""
    return tuple(old for old, reached in TRAINING_TRANSITIONS.items() if new in reached)


class TrainingEventKind(StrEnum):
    """What can happen to a job. The worker tells of the first group, the node of the second."""

    TRAINING_START = "training_start"
    STEP_COMPLETE = "step_complete"
    EVAL_COMPLETE = "eval_complete"
    CHECKPOINT_SAVED = "checkpoint_saved"
    TRAINING_ERROR = "training_error"
    TRAINING_END = "training_end"
    TRAINING_PAUSED = "training_paused"
    """rollouts fail for the platform's sake: nothing is trained until they work again"""
    TRAINING_CONTINUED = "training_continued"
    LOG = "log"

    JOB_QUEUED = "job_queued"
    """{from: "checkpoint" or "scratch"} where it was retried"""
    JOB_STARTED = "job_started"
    JOB_RESUMED = "job_resumed"
    """its worker or its server has gone, and it goes on from its newest checkpoint: {error, restarts}"""
    JOB_RELEASED = "job_released"
    """its server was stopped, or others have their turn: it goes on later"""
    JOB_ENDED = "job_ended"
    """{state, error}"""


LAST_LINES = (TrainingEventKind.TRAINING_END, TrainingEventKind.TRAINING_ERROR)
"""after one of these a worker has nothing more to say"""

EXPORT = "export"
"""field of a worker's plan: the checkpoint that it writes as a model, in place of training"""
PLAY, EPISODES_FILE = "play", "episodes.json"
"""field of a worker's plan: how many episodes it plays in a world, in place of training; and the file that it writes"""
STEPS, EVAL_STEPS = "steps", "eval/steps"
"""the axes of metrics: the step of each value of the arrays beside it, and of those named eval/..."""

MetricValue = float | list[float | None] | None
"""a number, or an array as long as its axis; None where there is no value, or no finite one"""
Metrics = dict[str, MetricValue]
"""name -> value"""
ArtifactPaths = Mapping[str, str | list[str]]
"""name -> path or paths, below the job's folder"""


def merge_metrics(merged: Metrics, told: Mapping[str, MetricValue]) -> None:
    """Add what one event tells to what was told before, in place. Arrays are appended to, scalars overwrite.

    A step that was told before is trained anew since a restart: it and those after it are forgotten first.
    """
    arrays = {name: value for name, value in told.items() if isinstance(value, list)}
    merged.update({name: value for name, value in told.items() if not isinstance(value, list)})
    for axis in (STEPS, EVAL_STEPS):
        if arrays.get(axis):
            _append(merged, axis, arrays)


def axis_of(name: str) -> str:
    """Which axis an array belongs to."""
    return EVAL_STEPS if name.startswith("eval/") else STEPS


def is_along(axis: str, name: str, values: Any) -> bool:
    """These values of a metric belong to the steps of this axis."""
    return isinstance(values, list) and name not in (STEPS, EVAL_STEPS) and axis_of(name) == axis


def _append(merged: Metrics, axis: str, told: Mapping[str, list[float | None]]) -> None:
    """A page has a thousand events, so that each of them takes time for what it tells, and not for what is there."""
    new = {name: values for name, values in told.items() if axis_of(name) == axis}
    old = [name for name, values in merged.items() if isinstance(values, list) and axis_of(name) == axis]
    kept = _kept(merged.get(axis), new[axis][0])
    grown = len(new[axis])
    for name in dict.fromkeys([*old, axis, *new]):
        values = merged.get(name)
        if not isinstance(values, list):
            values = merged[name] = []
        del values[kept:]
        values += [None] * (kept - len(values))
        values += new.get(name, [])[:grown]
        values += [None] * (kept + grown - len(values))


def _kept(before: MetricValue, first: float | None) -> int:
    """How many of the steps that were told before come before this one. They rise, so that mostly the last one says."""
    if not isinstance(before, list) or not before:
        return 0
    if first is not None and before[-1] is not None and before[-1] < first:
        return len(before)
    anew = (place for place, step in enumerate(before) if step is None or first is None or step >= first)
    return next(anew, len(before))


def newest_metrics(told: Mapping[str, MetricValue]) -> dict[str, float | None]:
    """What one event tells, as single values: the last of each array."""
    newest: dict[str, float | None] = {}
    for name, value in told.items():
        if not isinstance(value, list):
            newest[name] = value
        elif value:
            newest[name] = value[-1]
    return newest
