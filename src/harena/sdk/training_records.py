"""What the sdk answers about training jobs, as objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from harena.sdk.records import Record


class TrainingProgress(Record):
    """How far a job is."""

    __slots__ = ()
    step: int
    steps: int | None
    """None = its worker has not counted them yet"""


class TrainingJob(Record):
    """A job, as it was when it was asked for; its fields are listed in `harena.node.training_answers`."""

    __slots__ = ()
    _PARTS: ClassVar[Mapping[str, type[Record]]] = {"progress": TrainingProgress}
    id: str
    name: str
    state: str
    trainer_type: str
    error: str | None
    progress: TrainingProgress
    metrics: Mapping[str, Any]
    """the newest value of each; all of them are given by `training_jobs.metrics`"""
    artifacts: Mapping[str, Any]
    cursor: int
    """cursor of its newest event"""


class TrainingEvent(Record):
    """Something that happened to a job."""

    __slots__ = ()
    cursor: int
    at: str
    kind: str
    level: str
    message: str | None
    metrics: Mapping[str, Any]
    data: Mapping[str, Any]
    error: str | None


class TrainingLog(Record):
    """Something that was said to people."""

    __slots__ = ()
    cursor: int
    at: str
    level: str
    message: str


class TrainingMetrics(Record):
    """What was measured: arrays along the axes `steps` and `eval/steps`, and scalars."""

    __slots__ = ()
    metrics: Mapping[str, Any]
    cursor: int


class TrainingArtifacts(Record):
    """What a job's present try has written so far."""

    __slots__ = ()
    artifacts: Mapping[str, Any]
    """name -> path or paths, below `folder`"""
    files: list[Mapping[str, Any]]
    """{path, size_bytes}"""
    folder: str | None
    """on the machine that trains"""
