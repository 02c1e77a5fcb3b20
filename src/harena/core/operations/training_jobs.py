"""Operations on training jobs."""

from __future__ import annotations

from harena.core.operations.operation import READ, WRITE, Operation
from harena.core.ports.training_jobs import TrainingOperations as Port
from harena.core.records.training_jobs import (
    PlannedTraining,
    TrainingArtifacts,
    TrainingJob,
    TrainingJobsPage,
    TrainingLogsPage,
    TrainingMetrics,
)

NOUN = "training jobs"
_JOBS = "/v1/training_jobs"
_JOB = f"{_JOBS}/{{job}}"
_FILES = f"{_JOB}/artifacts"

CREATE = Operation(
    NOUN,
    "create",
    "POST",
    _JOBS,
    WRITE,
    Port.create_training_job,
    TrainingJob,
    body="TrainingBody",
    creates=True,
    starts_work=True,
    errors=frozenset({404}),
)
PLAN = Operation(
    NOUN,
    "plan",
    "POST",
    f"{_JOBS}/plan",
    WRITE,
    Port.plan_training_job,
    PlannedTraining,
    body="TrainingBody",
    errors=frozenset({404}),
)
LIST = Operation(NOUN, "list_jobs", "GET", _JOBS, READ, Port.list_training_jobs, TrainingJobsPage)
GET = Operation(
    NOUN,
    "get",
    "GET",
    _JOB,
    READ,
    Port.get_training_job,
    TrainingJob,
    waits=lambda port, job: port.wait_training_job(job),
)
DELETE = Operation(NOUN, "delete", "DELETE", _JOB, WRITE, Port.delete_training_job, frees=True)
CANCEL = Operation(NOUN, "cancel", "POST", f"{_JOB}/cancel", WRITE, Port.cancel_training_job, TrainingJob)
RETRY = Operation(
    NOUN,
    "retry",
    "POST",
    f"{_JOB}/retry",
    WRITE,
    Port.retry_training_job,
    TrainingJob,
    body="RetryBody",
    starts_work=True,
)
EVENTS = Operation(NOUN, "events", "GET", f"{_JOB}/events", READ, Port.training_job_events, "text/event-stream")
LOGS = Operation(NOUN, "logs", "GET", f"{_JOB}/logs", READ, Port.training_job_logs, TrainingLogsPage)
METRICS = Operation(NOUN, "metrics", "GET", f"{_JOB}/metrics", READ, Port.training_job_metrics, TrainingMetrics)
ARTIFACTS = Operation(
    NOUN, "artifacts", "GET", f"{_JOB}/artifacts", READ, Port.training_job_artifacts, TrainingArtifacts
)
FILE = Operation(NOUN, "file", "GET", f"{_FILES}/file", READ, Port.training_job_file, "application/octet-stream")
OPERATIONS = (CREATE, PLAN, LIST, GET, DELETE, CANCEL, RETRY, EVENTS, LOGS, METRICS, ARTIFACTS, FILE)
