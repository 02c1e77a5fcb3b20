"""Training jobs as they are answered: the job, what happens to it, what it measured and what it wrote.

Times of day are ISO 8601 in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from harena.core.records.record import Record
from harena.core.registry import ObjectKind


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingProgress(Record):
    """How far a job is."""

    step: int
    steps: int | None
    """null = its worker has not counted them yet"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityReference(Record):
    """A stored version of a capability."""

    name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedReference(Record):
    """What a reference of a request named when the job was accepted."""

    where: str
    """the field of the request: "model", "capability_ref", "config.trajectory_dataset_refs[0]" ..."""
    kind: ObjectKind
    name: str
    """name of the stored object or model; for a model's path, the path as it was given"""
    version: str | None
    """for a data set that was given as a path, one named by its content; null = a model's path, or a shipped model"""
    digest: str
    """sha256 over the content, in hexadecimal digits"""
    path: str | None
    """the directory (of a data set of one file: that file) on the machine that trains; null from a server, and for a
    shipped model"""
    described: Mapping[str, Any] = field(default_factory=dict)
    """What was read of it, as in `harena.training.objects`: {rows, split, uses, reward_recipe} of a data set's split,
    or {shipped: the fields of its recipe, context_length} of a shipped model."""

    @property
    def ref(self) -> str:
        """The reference that users know: NAME@VERSION, or what was given."""
        return self.name if self.version is None else f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob(Record):
    """A job, as it was when it was asked for."""

    id: str
    name: str
    state: str
    """a `TrainingState`: queued, running, completed, failed or cancelled"""
    trainer_type: str
    """sft or rl"""
    algorithm: str | None
    backend: str | None
    model: str | None
    """what was asked for: a reference, or a Hugging Face name"""
    project_ref: str | None
    run_ref: str | None
    capability_ref: CapabilityReference | None
    tags: list[str] | None
    config: Mapping[str, Any] | None
    """the request's configuration"""
    resolved: list[ResolvedReference]
    plan: Mapping[str, Any]
    """the whole configuration, with the defaults of its algorithm"""
    progress: TrainingProgress
    metrics: Mapping[str, Any]
    """the newest value of each; all of them are given by `training_jobs.metrics`"""
    artifacts: Mapping[str, Any]
    """name -> path or paths, below the job's folder"""
    error: str | None
    attempt: int
    """how many times it was begun from scratch, less one"""
    restarts: int
    """how many times it has gone on after its worker or its server had gone"""
    created_at: str
    started_at: str | None
    ended_at: str | None
    cancel_requested_at: str | None
    cursor: int
    """cursor of its newest event"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJobsPage(Record):
    """One page of jobs, newest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"training_jobs": 1000}

    training_jobs: list[TrainingJob]
    next_cursor: int | None
    """asks for what follows; null = this was the last page"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingEvent(Record):
    """Something that happened to a job; kinds as in `harena.core.training_jobs.TrainingEventKind`."""

    cursor: int
    at: str
    kind: str
    job_id: str
    level: str
    message: str | None
    metrics: Mapping[str, Any]
    data: Mapping[str, Any]
    artifacts: Mapping[str, Any]
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLog(Record):
    """An event that says something to people."""

    cursor: int
    at: str
    kind: str
    level: str
    message: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLogsPage(Record):
    """Some of what was said; what follows comes after `cursor`."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"items": 5000}

    items: list[TrainingLog]
    cursor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingMetrics(Record):
    """What was measured: arrays along the axes `steps` and `eval/steps`, and scalars, of events up to `cursor`."""

    metrics: Mapping[str, Any]
    cursor: int
    more: bool = False
    """there are events behind the cursor: ask again, after it"""
    anew: bool = False
    """the job was begun from scratch among these events: what was measured before does not count any more"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingFile(Record):
    """A file that a job wrote."""

    path: str
    """below the job's folder"""
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingArtifacts(Record):
    """What a job's present try has written so far."""

    artifacts: Mapping[str, Any]
    """name -> path or paths, below the job's folder"""
    files: list[TrainingFile]
    folder: str | None
    """on the machine that trains; null from a server"""
