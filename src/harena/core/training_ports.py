"""The part of `Operations` that is about training jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from harena.core.idempotency import IdempotencyKey
from harena.core.training_jobs import RetryFrom

if TYPE_CHECKING:
    from harena.core.records.training_jobs import (
        TrainingArtifacts,
        TrainingEvent,
        TrainingJob,
        TrainingJobsPage,
        TrainingLogsPage,
        TrainingMetrics,
    )


class TrainingOperations(Protocol):
    """What a node can do with training jobs, and what a transport carries."""

    async def create_training_job(
        self, request: Mapping[str, Any], *, key: IdempotencyKey | None = None
    ) -> TrainingJob:
        """Check everything, then accept a training job; `request` as documented in `harena.training.requests.request`.
        The same `key` gives the same job, also after a crash, until the job is deleted. Raises ValidationError (every
        mistake)."""

    async def get_training_job(self, job_id_or_name: str) -> TrainingJob:
        """The job, or the newest of that name. Raises NotFoundError, here and below."""

    async def list_training_jobs(
        self,
        *,
        name: str | None = None,
        state: str | None = None,
        trainer_type: str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> TrainingJobsPage:
        """{training_jobs, next_cursor}: up to `limit` (1 to 500) jobs that are as asked for, newest first;
        `next_cursor` as `before` asks for what follows, None = nothing does."""

    async def wait_training_job(self, job_id_or_name: str) -> TrainingJob:
        """Returns the job when it has ended."""

    async def cancel_training_job(self, job_id_or_name: str) -> TrainingJob:
        """End the job, its worker and its sandboxes; what it had stays."""

    async def retry_training_job(self, job_id_or_name: str, *, start: RetryFrom = "checkpoint") -> TrainingJob:
        """Queue a job that has ended once more. Raises ValidationError (it has not)."""

    async def delete_training_job(self, job_id_or_name: str) -> None:
        """Delete a job that has ended, with all that it wrote. Raises ValidationError (it has not)."""

    def training_job_events(self, job_id_or_name: str, *, after: int = 0) -> AsyncIterator[TrainingEvent]:
        """Events with a growing `cursor`, from the first after `after` to the job's end."""

    async def training_job_logs(self, job_id_or_name: str, *, after: int = 0, limit: int = 1000) -> TrainingLogsPage:
        """{items, cursor}: up to `limit` (1 to 5000) messages that follow cursor `after`."""

    async def training_job_metrics(self, job_id_or_name: str, *, after: int = 0) -> TrainingMetrics:
        """{metrics, cursor}: what was measured since cursor `after`, along the axes `steps` and `eval/steps`;
        `harena.core.training_jobs.merge_metrics` adds it to what was told before."""

    async def training_job_artifacts(self, job_id_or_name: str) -> TrainingArtifacts:
        """{artifacts, files: [{path, size_bytes}], folder}: what the job's present try has written so far."""

    def training_job_file(self, job_id_or_name: str, path: str) -> AsyncIterator[bytes]:
        """The content of one of the files of `training_job_artifacts`, in pieces. Raises NotFoundError,
        PlatformError."""
