"""The part of `Operations` that is about training jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated, Protocol

from harena.core.idempotency import IdempotencyKey
from harena.core.parameters import After, Bounds, Cursor, Id, Limit, OptionalWord
from harena.core.training_jobs import RetryFrom, TrainingState

if TYPE_CHECKING:
    from harena.core.records.training_jobs import (
        PlannedTraining,
        TrainingArtifacts,
        TrainingEvent,
        TrainingJob,
        TrainingJobsPage,
        TrainingLogsPage,
        TrainingMetrics,
    )
    from harena.core.requests import TrainingJobFields


class TrainingOperations(Protocol):
    """What a node can do with training jobs, and what a transport carries."""

    async def create_training_job(
        self, request: TrainingJobFields, *, key: IdempotencyKey | None = None
    ) -> TrainingJob:
        """Check everything, then accept a job; it begins when it is its turn. Nothing is stored where the answer is a
        problem, which lists every mistake.

        Raises ValidationError (every mistake). `request` is as documented in `harena.training.requests.request`. The
        same `key` gives the same job, also after a crash, until the job is deleted."""

    async def plan_training_job(self, request: TrainingJobFields) -> PlannedTraining:
        """Say what a job would do that is created with this request, and start nothing: it is checked by the same code,
        and what would be refused is refused with the same problem.

        Raises ValidationError (every mistake)."""

    async def get_training_job(self, job: Id) -> TrainingJob:
        """A job by its id or name (the newest of that name); with `wait_seconds` when it has ended, or after that time.

        Raises NotFoundError, here and below."""

    async def list_training_jobs(
        self,
        *,
        name: OptionalWord = None,
        state: Annotated[str | None, Bounds(one_of=TrainingState)] = None,
        trainer_type: OptionalWord = None,
        limit: Limit = 100,
        cursor: Cursor = None,
    ) -> TrainingJobsPage:
        """Training jobs of your workspace, newest first."""

    async def wait_training_job(self, job: str) -> TrainingJob:
        """Returns the job when it has ended."""

    async def cancel_training_job(self, job: Id) -> TrainingJob:
        """End the job, its worker and its sandboxes; what it had stays. No effect on a job that has ended."""

    async def retry_training_job(self, job: Id, *, start: RetryFrom = "checkpoint") -> TrainingJob:
        """Queue a job that has ended once more.

        Raises ValidationError (it has not)."""

    async def delete_training_job(self, job: Id) -> None:
        """Delete a job that has ended, with all that it wrote.

        Raises ValidationError (it has not)."""

    def training_job_events(self, job: Id, *, after: After = 0) -> AsyncIterator[TrainingEvent]:
        """Events with a growing `cursor`, from the first after `after` to the job's end."""

    async def training_job_logs(
        self, job: Id, *, after: After = 0, limit: Annotated[int, Bounds(ge=1, le=5000)] = 1000
    ) -> TrainingLogsPage:
        """What was said to people, from the first message after cursor `after`."""

    async def training_job_metrics(self, job: Id, *, after: After = 0) -> TrainingMetrics:
        """What was measured since cursor `after`: arrays along their axes, and scalars. Of at most 1000 events, and
        8 MiB of them; where there are `more`, the rest is asked for after the answer's `cursor`."""

    async def training_job_artifacts(self, job: Id) -> TrainingArtifacts:
        """What the job's present try has written so far."""

    def training_job_file(self, job: Id, path: Annotated[str, Bounds(max_length=4096)]) -> AsyncIterator[bytes]:
        """The content of one of its files.

        Raises NotFoundError, PlatformError."""
