"""Training jobs as they are answered: the job, what happens to it, what it measured and what it wrote.

Times of day are ISO 8601 in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harena.core.records.objects import ResolvedReference
from harena.core.records.record import Record
from harena.core.records.training_plans import RLPlan, SFTPlan
from harena.core.training_jobs import EVAL_STEPS, STEPS, ArtifactPaths, MetricValue, is_along


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingProgress(Record):
    """How far a job is."""

    step: int
    """steps of the optimizer that are done"""
    steps: int | None
    """null = its worker has not counted them yet"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityReference(Record):
    """A stored version of a capability."""

    name: str
    """name of the stored capability"""
    version: str
    """its version"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob(Record):
    """A job, as it was when it was asked for."""

    id: str
    """chosen by the node that accepted the job"""
    name: str
    """the user's, not unique; a name stands for the newest job that has it"""
    state: str
    """a `TrainingState`: queued, running, completed, failed or cancelled"""
    trainer_type: str
    """sft or rl"""
    algorithm: str | None
    """grpo, rloo, ...; null for sft"""
    backend: str | None
    """what was asked for; null = the default"""
    model: str | None
    """what was asked for: a reference, or a Hugging Face name"""
    project_ref: str | None
    """the user's own label for a project; null = none was given"""
    run_ref: str | None
    """the user's own label for a run; null = none was given"""
    capability_ref: CapabilityReference | None
    """capability that an agent is trained with; null = none"""
    tags: list[str] | None
    """the user's own; null = none were given"""
    config: Mapping[str, Any] | None
    """the request's configuration"""
    resolved: list[ResolvedReference]
    """what each reference of the request named when the job was accepted"""
    plan: SFTPlan | RLPlan | None
    """the whole configuration, with the defaults of its algorithm; null = another version made it, and this one cannot
    read it"""
    progress: TrainingProgress
    """how far it is"""
    metrics: Mapping[str, float | None]
    """the newest value of each; all of them are given by `training_jobs.metrics`"""
    artifacts: ArtifactPaths
    """name -> path or paths, below the job's folder"""
    error: str | None
    """why it failed; null = it has not"""
    attempt: int
    """how many times it was begun from scratch, less one"""
    restarts: int
    """how many times it has gone on after its worker or its server had gone"""
    created_at: str
    """when it was accepted"""
    started_at: str | None
    """when its worker began; null = it has not, or waits to be tried again"""
    ended_at: str | None
    """when it completed, failed or was cancelled; null = none of these yet"""
    cancel_requested_at: str | None
    """when cancelling was asked for; null = it was not"""
    cursor: int
    """cursor of its newest event"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTraining(Record):
    """What a job would do that is asked for in this way. Nothing has been started."""

    name: str
    """what the job would be called"""
    trainer_type: str
    """sft or rl"""
    resolved: list[ResolvedReference]
    """what each reference of the request names"""
    plan: SFTPlan | RLPlan
    """the whole configuration, with every default"""
    warnings: list[str]
    """what the job would do as it was asked, and most likely was not meant to"""
    learned_from: int
    """number of rows, or of prompts, that it learns from"""
    held_out: int
    """number of prompts that it evaluates and does not learn from; 0 = nothing is evaluated"""
    evaluated_rows: int
    """number of rows of the data set that `eval_dataset_ref` names"""
    first_evaluation: int | None
    """step after which the first evaluation is made; 0 = before anything is learned, null = there is none"""
    formats: Mapping[str, int]
    """data format -> number of rows or prompts in it"""
    longest_prompt: int | None
    """tokens of the longest prompt, at least; null = the tokenizer's files do not tell"""
    longest_solution: int | None
    """tokens of the longest answer that a row says is right; null = no row says one, or it is not known"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJobsPage(Record):
    """One page of jobs, newest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"training_jobs": 1000}

    training_jobs: list[TrainingJob]
    """up to as many as were asked for"""
    next_cursor: int | None
    """asks for what follows; null = this was the last page"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingEvent(Record):
    """Something that happened to a job; kinds as in `harena.core.training_jobs.TrainingEventKind`."""

    cursor: int
    """1, 2, ... within its job"""
    at: str
    """when it happened"""
    kind: str
    """a `TrainingEventKind`"""
    job_id: str
    """id of the job that it happened to"""
    level: str
    """info, warning or error"""
    message: str | None
    """a sentence for people; null = the event is no part of the logs"""
    metrics: Mapping[str, MetricValue]
    """name -> value, where something was measured; else empty"""
    data: Mapping[str, Any]
    """what its kind tells beside these; else empty"""
    artifacts: ArtifactPaths
    """name -> path or paths that were written, below the job's folder; else empty"""
    error: str | None
    """what went wrong; null = nothing"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLog(Record):
    """An event that says something to people."""

    cursor: int
    """cursor of its event"""
    at: str
    """when it happened"""
    kind: str
    """a `TrainingEventKind`"""
    level: str
    """info, warning or error"""
    message: str
    """a sentence for people"""
    data: Mapping[str, Any]
    """what its kind tells beside the message; else empty"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLogsPage(Record):
    """Some of what was said; what follows comes after `cursor`."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"items": 5000}

    items: list[TrainingLog]
    """oldest first, up to as many as were asked for"""
    cursor: int
    """asks for what follows"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingMetrics(Record):
    """What was measured: arrays along the axes `steps` and `eval/steps`, and scalars, of events up to `cursor`."""

    metrics: Mapping[str, MetricValue]
    """name -> values along its axis, or one value"""
    cursor: int
    """cursor of the last event that was read: asks for what follows"""
    more: bool = False
    """there are events behind the cursor: ask again, after it"""
    anew: bool = False
    """the job was begun from scratch among these events: what was measured before does not count any more"""

    def to_rows(self) -> list[dict[str, float | None]]:
        """A row for each step at which something was measured: `step`, and each metric's value there, where it has
        one."""
        rows: dict[float, dict[str, float | None]] = {}
        for axis in (STEPS, EVAL_STEPS):
            steps = self.metrics.get(axis)
            for name, values in self.metrics.items():
                if isinstance(steps, list) and isinstance(values, list) and is_along(axis, name, values):
                    for step, value in zip(steps, values, strict=False):
                        if step is not None and value is not None:
                            rows.setdefault(step, {"step": step})[name] = value
        return [rows[step] for step in sorted(rows)]

    def to_pandas(self) -> Any:
        """The rows of `to_rows` as a `pandas.DataFrame`. Raises ValidationError where pandas is not installed."""
        from harena.core.data_frames import data_frame

        return data_frame(self.to_rows())

    def _repr_html_(self) -> str:
        from harena.core.html_views import curves

        series: dict[str, tuple[list[float], list[float]]] = {}
        for row in self.to_rows():
            for name, value in row.items():
                if name != "step" and value is not None and row["step"] is not None:
                    steps, values = series.setdefault(name, ([], []))
                    steps.append(row["step"])
                    values.append(value)
        return curves(series, title="no step has been trained yet" if not series else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingFile(Record):
    """A file that a job wrote."""

    path: str
    """below the job's folder"""
    size_bytes: int
    """its size when it was looked at"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingArtifacts(Record):
    """What a job's present try has written so far."""

    artifacts: ArtifactPaths
    """name -> path or paths, below the job's folder"""
    files: list[TrainingFile]
    """every file that `artifacts` names, or that is below a folder that it names, by path"""
    folder: str | None
    """on the machine that trains; null from a server"""
