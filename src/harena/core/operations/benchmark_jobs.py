"""Operations on benchmark jobs, and the score of one scenario without a job."""

from __future__ import annotations

from harena.core.operations.operation import READ, WRITE, Operation
from harena.core.ports import BenchmarkOperations as Port
from harena.core.records.benchmark_jobs import (
    BenchmarkJob,
    BenchmarkJobsPage,
    BenchmarkResults,
    JobSummary,
    ResultsPage,
)
from harena.core.results import RunResult

NOUN = "benchmark jobs"
_JOBS = "/v1/benchmark_jobs"
_JOB = f"{_JOBS}/{{job}}"


async def _wait_for_end(port: Port, job: str) -> None:
    """Returns at the job's end. `wait_benchmark_job` would read all results, which nobody has asked for."""
    cursor = (await port.get_benchmark_job(job)).cursor
    async for _ in port.benchmark_job_events(job, after=cursor):
        pass


CREATE = Operation(
    NOUN,
    "create",
    "POST",
    _JOBS,
    WRITE,
    Port.create_benchmark_job,
    BenchmarkJob,
    body="JobBody",
    creates=True,
    starts_work=True,
    errors=frozenset({404}),
)
LIST = Operation(NOUN, "list_jobs", "GET", _JOBS, READ, Port.list_benchmark_jobs, BenchmarkJobsPage)
GET = Operation(NOUN, "get", "GET", _JOB, READ, Port.get_benchmark_job, BenchmarkJob, waits=_wait_for_end)
RESULTS = Operation(NOUN, "results", "GET", f"{_JOB}/results", READ, Port.benchmark_job_results, BenchmarkResults)
PAGE = Operation(
    NOUN, "results_page", "GET", f"{_JOB}/results/page", READ, Port.benchmark_job_results_page, ResultsPage
)
SUMMARY = Operation(NOUN, "summary", "GET", f"{_JOB}/summary", READ, Port.benchmark_job_summary, JobSummary)
DELETE = Operation(NOUN, "delete", "DELETE", _JOB, WRITE, Port.delete_benchmark_job, frees=True)
CANCEL = Operation(NOUN, "cancel", "POST", f"{_JOB}/cancel", WRITE, Port.cancel_benchmark_job, BenchmarkJob)
EVENTS = Operation(NOUN, "events", "GET", f"{_JOB}/events", READ, Port.benchmark_job_events, "text/event-stream")
SCORE = Operation(
    "scores",
    "score",
    "POST",
    "/v1/scores",
    WRITE,
    Port.score,
    RunResult,
    body="ScoreRequest",
    starts_work=True,
    errors=frozenset({404}),
)
OPERATIONS = (CREATE, LIST, GET, RESULTS, PAGE, SUMMARY, DELETE, CANCEL, EVENTS, SCORE)
