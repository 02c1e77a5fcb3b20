"""What a node can do with benchmark jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated, Protocol

from harena.core.idempotency import IdempotencyKey
from harena.core.parameters import After, Bounds, Cursor, Id, Limit, OptionalWord

if TYPE_CHECKING:
    from harena.core.records.benchmark_jobs import (
        BenchmarkEvent,
        BenchmarkJob,
        BenchmarkJobsPage,
        BenchmarkResults,
        JobSummary,
        ResultsPage,
    )
    from harena.core.requests import BenchmarkJobFields, ScoreFields
    from harena.core.results import RunResult


class BenchmarkOperations(Protocol):
    """Benchmark jobs of one workspace, and scores without a job."""

    async def score(self, request: ScoreFields) -> RunResult:
        """Run one candidate in a fresh sandbox, and score it: the answer is its envelope. Nothing is stored.

        Raises ValidationError, NotFoundError. `request` is as in `harena.jobs.models.ScoreRequest`."""

    async def create_benchmark_job(
        self, request: BenchmarkJobFields, *, key: IdempotencyKey | None = None
    ) -> BenchmarkJob:
        """Check everything, then start a job. Nothing has been started where the answer is a problem.

        Many scenarios are sent as lines (application/x-ndjson): first the job without them, then one to a line. Task
        directories are sent likewise: `scenarios` of the first line is a `file_name` that ends in `.tar`, and behind it
        comes a tar archive with a folder for each task, of at most 256 MiB.

        Raises ValidationError, NotFoundError. `request` is as documented in `harena.jobs.models`. The same `key` gives
        the same job, also after a crash, until the job is deleted."""

    async def get_benchmark_job(self, job: Id) -> BenchmarkJob:
        """A job by its id or name (the newest of that name); with `wait_seconds` when it has ended, or after that time.

        Raises NotFoundError, here and below."""

    async def list_benchmark_jobs(
        self, *, name: OptionalWord = None, limit: Limit = 100, cursor: Cursor = None
    ) -> BenchmarkJobsPage:
        """Benchmark jobs of your workspace, newest first."""

    async def wait_benchmark_job(self, job: str) -> BenchmarkResults:
        """Returns the results when the job has ended."""

    async def benchmark_job_results(self, job: Id) -> BenchmarkResults:
        """The results so far."""

    async def benchmark_job_results_page(
        self, job: Id, *, after: After = 0, limit: Annotated[int, Bounds(ge=1, le=1000)] = 1000
    ) -> ResultsPage:
        """Results in the order in which runs ended, from the first after cursor `after`."""

    async def benchmark_job_summary(self, job: Id) -> JobSummary:
        """The results so far without the runs themselves."""

    async def delete_benchmark_job(self, job: Id) -> None:
        """Delete a job that has ended, with its results.

        Raises ValidationError (it runs)."""

    async def cancel_benchmark_job(self, job: Id) -> BenchmarkJob:
        """Stop the job's running sandboxes and end it; no effect on a job that has ended."""

    def benchmark_job_events(self, job: Id, *, after: After = 0) -> AsyncIterator[BenchmarkEvent]:
        """Progress events with a growing `cursor`, from the first after `after` to the job's end."""
