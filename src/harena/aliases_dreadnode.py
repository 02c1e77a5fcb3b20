"""The training calls of dreadnode's client, answered by harena: `dreadnode.app.api.client.ApiClient` and its requests.

Organisation and workspace of a call are the caller's words: a server takes the workspace from the key, and a node in
this process has one. What a job answers has that client's fields; everything else of that client is not here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from harena.core.errors import ValidationError
from harena.core.records.training_jobs import TrainingJob as Job
from harena.sdk import server_choice, training_jobs

PAGE_SIZE = 20


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CapabilityRef(_Strict):
    """A version of a capability."""

    name: str
    version: str


class DatasetRef(_Strict):
    """A version of a data set."""

    name: str
    version: str


class RewardRecipe(_Strict):
    """A reward recipe, and its parameters."""

    name: str
    params: dict[str, Any] = {}


class WorldRewardPolicy(RewardRecipe):
    """How episodes in a world are rewarded."""


class _Config(BaseModel):
    """A configuration: what it may hold, and what goes together, is judged by the node that gets it."""

    model_config = ConfigDict(extra="allow")


class TinkerSFTJobConfig(_Config):
    """The configuration of an SFT job."""


class TinkerRLJobConfig(_Config):
    """The configuration of an RL job."""


class RayGRPOJobConfig(_Config):
    """The configuration of an RL job on Ray."""


class CreateTrainingJobBase(_Strict):
    """What requests of each kind have."""

    name: str | None = None
    model: str
    project_ref: str | None = None
    run_ref: str | None = None
    capability_ref: CapabilityRef
    tags: list[str] = []


class CreateTinkerSFTJobRequest(CreateTrainingJobBase):
    """A request for an SFT job."""

    backend: Literal["tinker"] = "tinker"
    trainer_type: Literal["sft"] = "sft"
    config: TinkerSFTJobConfig


class CreateTinkerRLJobRequest(CreateTrainingJobBase):
    """A request for an RL job."""

    backend: Literal["tinker"] = "tinker"
    trainer_type: Literal["rl"] = "rl"
    config: TinkerRLJobConfig


class CreateRayGRPOJobRequest(CreateTrainingJobBase):
    """A request for an RL job on Ray."""

    backend: Literal["ray"] = "ray"
    trainer_type: Literal["rl"] = "rl"
    config: RayGRPOJobConfig


class TrainingJob(BaseModel):
    """A job, with the names that dreadnode's client has for its fields."""

    id: str
    organization_id: str
    workspace_id: str
    status: str
    name: str
    backend: str | None
    trainer_type: str
    algorithm: str | None
    model: str | None
    project_ref: str | None
    run_ref: str | None
    capability: CapabilityRef | None
    config: dict[str, Any]
    metrics: dict[str, Any]
    artifacts: dict[str, Any]
    tags: list[str]
    error: str | None
    created_at: str
    started_at: str | None
    completed_at: str | None
    cancel_requested_at: str | None


class TrainingJobList(BaseModel):
    """One page of jobs."""

    items: list[TrainingJob]
    total: int
    page: int
    page_size: int


class TrainingJobLog(BaseModel):
    """Something that a job said to people."""

    timestamp: str
    level: str
    message: str
    data: dict[str, Any] = {}


class TrainingJobLogList(BaseModel):
    """All that a job said."""

    items: list[TrainingJobLog]


class TrainingJobArtifacts(BaseModel):
    """What a job has written."""

    artifacts: dict[str, Any]


class ApiClient:
    """dreadnode's client, as far as it speaks of training jobs."""

    def __init__(self, base_url: str, *, api_key: str | None = None, **_of_the_connection: Any) -> None:
        """`base_url` is a harena server's. Raises SandboxValidationError where this process's sandboxes are on another
        one."""
        server_choice.choose(base_url, "ApiClient", api_key=api_key)

    def create_training_job(
        self, org: str, workspace: str, request: CreateTrainingJobBase | Mapping[str, Any]
    ) -> TrainingJob:
        """Check everything, then accept a job. Raises ValidationError that lists every mistake."""
        asked = request.model_dump(exclude_none=True) if isinstance(request, BaseModel) else dict(request)
        return _answer(org, workspace, training_jobs.create(asked))

    def list_training_jobs(
        self,
        org: str,
        workspace: str,
        *,
        page: int = 1,
        page_size: int = PAGE_SIZE,
        status: str | None = None,
        backend: str | None = None,
        trainer_type: str | None = None,
        project_ref: str | None = None,
    ) -> TrainingJobList:
        """One page of the jobs that match, the newest first."""
        if page < 1 or page_size < 1:
            raise ValidationError(f"page={page}, page_size={page_size}: both begin with 1")
        found = [
            job
            for job in training_jobs.list(state=status, trainer_type=trainer_type)
            if backend in (None, job.backend) and project_ref in (None, job.project_ref)
        ]
        shown = found[(page - 1) * page_size : page * page_size]
        items = [_answer(org, workspace, job) for job in shown]
        return TrainingJobList(items=items, total=len(found), page=page, page_size=page_size)

    def get_training_job(self, org: str, workspace: str, job_id: str) -> TrainingJob:
        """The job, as it is now. Raises NotFoundError."""
        return _answer(org, workspace, training_jobs.get(job_id))

    def cancel_training_job(self, org: str, workspace: str, job_id: str) -> TrainingJob:
        """End the job. Raises NotFoundError."""
        return _answer(org, workspace, training_jobs.cancel(job_id))

    def retry_training_job(self, org: str, workspace: str, job_id: str) -> TrainingJob:
        """Queue a job that has ended once more, from its newest checkpoint. Raises NotFoundError, ValidationError."""
        return _answer(org, workspace, training_jobs.retry(job_id))

    def list_training_job_logs(self, _org: str, _workspace: str, job_id: str) -> TrainingJobLogList:
        """What the job said to people. Raises NotFoundError."""
        said = training_jobs.logs(job_id)
        return TrainingJobLogList(
            items=[TrainingJobLog(timestamp=one.at, level=one.level, message=one.message) for one in said]
        )

    def get_training_job_artifacts(self, _org: str, _workspace: str, job_id: str) -> TrainingJobArtifacts:
        """What the job has written. Raises NotFoundError."""
        return TrainingJobArtifacts(artifacts=dict(training_jobs.get(job_id).artifacts))


def _answer(org: str, workspace: str, job: Job) -> TrainingJob:
    capability = job.capability_ref
    return TrainingJob(
        id=job.id,
        organization_id=org,
        workspace_id=workspace,
        status=job.state,
        name=job.name,
        backend=job.backend,
        trainer_type=job.trainer_type,
        algorithm=job.algorithm,
        model=job.model,
        project_ref=job.project_ref,
        run_ref=job.run_ref,
        capability=None if capability is None else CapabilityRef(name=capability.name, version=capability.version),
        config=dict(job.config or {}),
        metrics=dict(job.metrics),
        artifacts=dict(job.artifacts),
        tags=[*(job.tags or [])],
        error=job.error,
        created_at=job.created_at,
        started_at=job.started_at,
        completed_at=job.ended_at,
        cancel_requested_at=job.cancel_requested_at,
    )
