"""The table of hosted training's routes."""

from __future__ import annotations

from harena.core.operations.operation import READ, WRITE, Operation
from harena.faces.dreadnode.port import HostedTraining as Port
from harena.faces.dreadnode.records import (
    HostedArtifacts,
    HostedCatalog,
    HostedJob,
    HostedJobsPage,
    HostedLogs,
    HostedOrganization,
    HostedProject,
    HostedUser,
    HostedWorkspace,
    HostedWorkspaces,
)
from harena.faces.dreadnode.translation import request_of
from harena.faces.face import Face

NOUN = "hosted training"
PREFIX = "/api/v1"
_ORG = f"{PREFIX}/org/{{org}}"
_WS = f"{_ORG}/ws/{{ws}}"
_JOBS = f"{_WS}/training/jobs"
_JOB = f"{_JOBS}/{{job}}"

CREATE = Operation(
    NOUN,
    "create",
    "POST",
    _JOBS,
    WRITE,
    Port.create_job,
    HostedJob,
    body="HostedJobBody",
    creates=True,
    starts_work=True,
)
OPERATIONS = (
    Operation(NOUN, "user", "GET", f"{PREFIX}/user", READ, Port.get_user, HostedUser),
    Operation(NOUN, "organization", "GET", _ORG, READ, Port.get_organization, HostedOrganization),
    Operation(NOUN, "workspaces", "GET", f"{_ORG}/ws", READ, Port.list_workspaces, HostedWorkspaces),
    Operation(NOUN, "workspace", "GET", _WS, READ, Port.get_workspace, HostedWorkspace),
    Operation(NOUN, "project", "GET", f"{_WS}/projects/{{project}}", READ, Port.get_project, HostedProject),
    CREATE,
    Operation(NOUN, "list_jobs", "GET", _JOBS, READ, Port.list_jobs, HostedJobsPage),
    Operation(NOUN, "get", "GET", _JOB, READ, Port.get_job, HostedJob),
    Operation(NOUN, "cancel", "POST", f"{_JOB}/cancel", WRITE, Port.cancel_job, HostedJob),
    Operation(NOUN, "retry", "POST", f"{_JOB}/retry", WRITE, Port.retry_job, HostedJob, starts_work=True),
    Operation(NOUN, "logs", "GET", f"{_JOB}/logs", READ, Port.job_logs, HostedLogs),
    Operation(NOUN, "artifacts", "GET", f"{_JOB}/artifacts", READ, Port.job_artifacts, HostedArtifacts),
    Operation(NOUN, "catalog", "GET", f"{PREFIX}/training/catalog", READ, Port.get_catalog, HostedCatalog),
)
FACE = Face(
    name="dreadnode",
    prefix=f"{PREFIX}/",
    key_header="x-api-key",
    operations=OPERATIONS,
    port=Port,
    requests={CREATE: request_of},
)
