"""The part of `Operations` that is about training jobs, for one workspace of a node."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harena.core.idempotency import IdempotencyKey
    from harena.core.records.training_jobs import (
        TrainingArtifacts,
        TrainingEvent,
        TrainingJob,
        TrainingJobsPage,
        TrainingLogsPage,
        TrainingMetrics,
    )
    from harena.core.requests import TrainingJobFields
    from harena.core.training_jobs import RetryFrom
    from harena.node.parts import NodeParts


class TrainingOperations:
    """Used from one event loop."""

    workspace: str
    _parts: NodeParts

    async def create_training_job(
        self, request: TrainingJobFields, *, key: IdempotencyKey | None = None
    ) -> TrainingJob:
        """Create a training job in the workspace."""
        return await self._parts.training_jobs().create(self.workspace, request, key=key)

    async def get_training_job(self, job: str) -> TrainingJob:
        """Find a training job by its id or name."""
        return await self._parts.training_jobs().get(self.workspace, job)

    async def list_training_jobs(
        self,
        *,
        name: str | None = None,
        state: str | None = None,
        trainer_type: str | None = None,
        limit: int = 100,
        cursor: int | None = None,
    ) -> TrainingJobsPage:
        """Read one page of the workspace's training jobs."""
        return await self._parts.training_jobs().list(
            self.workspace, name=name, state=state, trainer_type=trainer_type, before=cursor, limit=limit
        )

    async def wait_training_job(self, job: str) -> TrainingJob:
        """Wait until a training job has ended."""
        return await self._parts.training_jobs().wait(self.workspace, job)

    async def cancel_training_job(self, job: str) -> TrainingJob:
        """Cancel a training job."""
        return await self._parts.training_jobs().cancel(self.workspace, job)

    async def retry_training_job(self, job: str, *, start: RetryFrom = "checkpoint") -> TrainingJob:
        """Start a training job again that failed or was cancelled."""
        return await self._parts.training_jobs().retry(self.workspace, job, start=start)

    async def delete_training_job(self, job: str) -> None:
        """Delete a training job, and count the workspace's stored bytes anew."""
        await self._parts.training_jobs().delete(self.workspace, job)
        self._parts.deleted(self.workspace)

    def training_job_events(self, job: str, *, after: int = 0) -> AsyncIterator[TrainingEvent]:
        """Follow a training job to its end."""
        return self._parts.training_jobs().events(self.workspace, job, after=after)

    async def training_job_logs(self, job: str, *, after: int = 0, limit: int = 1000) -> TrainingLogsPage:
        """Read a training job's log lines."""
        return await self._parts.training_jobs().logs(self.workspace, job, after=after, limit=limit)

    async def training_job_metrics(self, job: str, *, after: int = 0) -> TrainingMetrics:
        """Read a training job's metrics, from the step behind `after` on."""
        return await self._parts.training_jobs().metrics(self.workspace, job, after=after)

    async def training_job_artifacts(self, job: str) -> TrainingArtifacts:
        """List the files that a training job has made."""
        return await self._parts.training_jobs().artifacts(self.workspace, job)

    def training_job_file(self, job: str, path: str) -> AsyncIterator[bytes]:
        """Read one of a training job's files, piece by piece."""
        return self._parts.training_jobs().file(self.workspace, job, path)
