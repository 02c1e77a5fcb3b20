"""Hosted training of one workspace, answered by harena's training jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from harena.core.errors import NotFoundError, ValidationError
from harena.core.idempotency import IdempotencyKey
from harena.core.pages import PAGE_BYTES, PageRoom
from harena.core.parameters import Bounds, Id, OptionalWord
from harena.core.threads import TRAINING
from harena.core.training_jobs import Metrics, TrainingState, merge_metrics
from harena.core.workspace import DEFAULT_ORGANIZATION, WorkspaceLimits
from harena.faces.dreadnode.amounts import MOST_JOBS, MOST_VALUES, NewestLogs, json_bytes, leave_newest
from harena.faces.dreadnode.catalog import CatalogFilter, models_of
from harena.faces.dreadnode.records import (
    MOST_LOGS,
    MOST_PAGE,
    HostedArtifacts,
    HostedCatalog,
    HostedJob,
    HostedJobsPage,
    HostedLog,
    HostedLogs,
    HostedOrganization,
    HostedProject,
    HostedUser,
    HostedWorkspace,
    HostedWorkspaces,
)
from harena.faces.dreadnode.translation import (
    hosted_artifacts,
    hosted_job,
    is_hosted,
    without_organization,
)

if TYPE_CHECKING:
    from harena.core.ports import Operations, WholeNode
    from harena.core.records.training_jobs import TrainingJob

PAGE = 500
LOGS_PAGE = 5000
SINCE = "1970-01-01T00:00:00+00:00"
"""moment that stands where the client's models want one and a server knows none"""
PageNumber = Annotated[int, Bounds(ge=1, le=10**6)]
PageSize = Annotated[int, Bounds(ge=1, le=MOST_PAGE)]
Status = Annotated[str | None, Bounds(one_of=TrainingState)]


class HostedTraining:
    """The node as the `dreadnode` client sees it, for one workspace of one organisation. Others do not exist."""

    def __init__(self, node: WholeNode, workspace: str) -> None:
        self._node: Operations = node.in_workspace(workspace)
        self._whole = node
        self._workspace = workspace

    async def get_user(self) -> HostedUser:
        """Who asks."""
        return HostedUser(id=self._workspace, email_address="", username=self._workspace)

    async def get_organization(self, org: Id) -> HostedOrganization:
        """The organisation of the workspace. Raises NotFoundError for another one, here and below."""
        await self._check_organization(org)
        lifetime = int(WorkspaceLimits().sandbox_lifetime_seconds)
        return HostedOrganization(
            id=org,
            name=org,
            key=org,
            max_sandbox_runtime_seconds=None,
            effective_max_sandbox_runtime_seconds=lifetime,
            max_sandbox_runtime_source_level="platform",
            effective_default_sandbox_runtime_seconds=lifetime,
            default_sandbox_runtime_source_level="platform",
            platform_max_sandbox_runtime_seconds=lifetime,
            platform_default_sandbox_runtime_seconds=lifetime,
            created_at=SINCE,
            updated_at=SINCE,
        )

    async def list_workspaces(self, org: Id) -> HostedWorkspaces:
        """The workspace of the key."""
        await self._check_organization(org)
        return HostedWorkspaces(workspaces=[self._own_workspace(org)])

    async def get_workspace(self, org: Id, ws: Id) -> HostedWorkspace:
        """The workspace of the key. Raises NotFoundError for another one, here and below."""
        await self._check(org, ws)
        return self._own_workspace(org)

    async def get_project(self, org: Id, ws: Id, project: Id) -> HostedProject:
        """A label for jobs: every name is one."""
        await self._check(org, ws)
        return HostedProject(id=project, key=project, name=project, workspace_id=ws, created_at=SINCE, updated_at=SINCE)

    async def create_job(
        self, org: Id, ws: Id, request: Mapping[str, Any], *, key: IdempotencyKey | None = None
    ) -> HostedJob:
        """Check everything, then accept a job; nothing is stored where the answer is a problem, which lists every
        mistake.

        Raises ValidationError, NotFoundError."""
        await self._check(org, ws)
        return self._hosted(await self._node.create_training_job(without_organization(request, org), key=key), org)

    async def list_jobs(
        self,
        org: Id,
        ws: Id,
        *,
        page: PageNumber = 1,
        page_size: PageSize = 20,
        status: Status = None,
        backend: OptionalWord = None,
        trainer_type: OptionalWord = None,
        project_ref: OptionalWord = None,
    ) -> HostedJobsPage:
        """Hosted jobs among the workspace's newest ten thousand, newest first. Raises ValidationError for a page that
        would hold too much."""
        await self._check(org, ws)
        items: list[HostedJob] = []
        first, total, looked_at, room = (page - 1) * page_size, 0, 0, PageRoom()
        cursor: int | None = None
        while looked_at < MOST_JOBS:
            found = await self._node.list_training_jobs(
                state=status, trainer_type=trainer_type, limit=PAGE, cursor=cursor
            )
            looked_at += len(found.training_jobs)
            for job in found.training_jobs:
                if (
                    not is_hosted(job)
                    or backend not in (None, job.backend)
                    or project_ref not in (None, job.project_ref)
                ):
                    continue
                if first <= total < first + page_size:
                    items.append(self._hosted(job, org))
                    if not room.takes(await TRAINING.run(json_bytes, items[-1])):
                        raise ValidationError(
                            f"page_size {page_size}: the first {len(items)} jobs of page {page} hold more than "
                            f"{PAGE_BYTES} bytes, which is the most for one answer: ask for fewer on a page"
                        )
                total += 1
            if (cursor := found.next_cursor) is None:
                break
        return HostedJobsPage(items=items, total=total, page=page, page_size=page_size)

    async def get_job(self, org: Id, ws: Id, job: Id) -> HostedJob:
        """A job by its id or name, with what it has measured: of more than a million values the newest."""
        await self._check(org, ws)
        found = await self._node.get_training_job(job)
        return hosted_job(found, org, self._workspace, await self._measured(found.id))

    async def cancel_job(self, org: Id, ws: Id, job: Id) -> HostedJob:
        """End the job; what it had stays. No effect on a job that has ended."""
        found = await self._found(ws, job, org)
        return self._hosted(await self._node.cancel_training_job(found.id), org)

    async def retry_job(self, org: Id, ws: Id, job: Id) -> HostedJob:
        """Queue a job that has ended once more, from its newest checkpoint.

        Raises ValidationError (it has not)."""
        found = await self._found(ws, job, org)
        return self._hosted(await self._node.retry_training_job(found.id), org)

    async def job_logs(self, org: Id, ws: Id, job: Id) -> HostedLogs:
        """What was said to people."""
        found = await self._found(ws, job, org)
        newest = NewestLogs(MOST_LOGS, PAGE_BYTES)
        cursor = 0
        while True:
            page = await self._node.training_job_logs(found.id, after=cursor, limit=LOGS_PAGE)
            if not page.items:  # one that is cut by its bytes has fewer than were asked for, and is not the last
                return HostedLogs(items=newest.items())
            cursor = page.cursor
            items = [
                HostedLog(timestamp=log.at, level=log.level, message=log.message, data=log.data) for log in page.items
            ]
            await TRAINING.run(newest.add, items)

    async def job_artifacts(self, org: Id, ws: Id, job: Id) -> HostedArtifacts:
        """What the job has written, and what it was made of."""
        found = await self._found(ws, job, org)
        written = await self._node.training_job_artifacts(found.id)
        return HostedArtifacts(artifacts=hosted_artifacts(found, written))

    async def get_catalog(
        self,
        *,
        query: OptionalWord = None,
        family: OptionalWord = None,
        algorithm: OptionalWord = None,
        min_size_b: float | None = None,
        max_size_b: float | None = None,
        limit: Annotated[int, Bounds(ge=1, le=MOST_PAGE)] = 20,
    ) -> HostedCatalog:
        """Models that jobs can begin with."""
        asked = CatalogFilter(
            query=query, family=family, algorithm=algorithm, min_size_b=min_size_b, max_size_b=max_size_b
        )
        found = [model async for model in models_of(self._node) if asked.admits(model)]
        return HostedCatalog(models=found[:limit], total=len(found), limit=limit)

    async def _check_organization(self, org: str) -> None:
        own = await self._whole.organization_of(self._workspace)
        if own not in (DEFAULT_ORGANIZATION, org):
            raise NotFoundError(
                f"organization {org!r:.200} is not that of this key's workspace: leave --organization out, or give "
                f"{own}"
            )

    async def _check(self, org: str, ws: str) -> None:
        await self._check_organization(org)
        if ws != self._workspace:
            raise NotFoundError(
                f"workspace {ws!r:.200} is not that of this key: leave --workspace out, or give {self._workspace}"
            )

    def _own_workspace(self, org: str) -> HostedWorkspace:
        name = self._workspace
        return HostedWorkspace(
            id=name, name=name, key=name, org_id=org, is_default=True, created_at=SINCE, updated_at=SINCE
        )

    async def _found(self, ws: str, job: str, org: str) -> TrainingJob:
        await self._check(org, ws)
        found = await self._node.get_training_job(job)
        self._hosted(found, org)
        return found

    def _hosted(self, job: TrainingJob, org: str) -> HostedJob:
        return hosted_job(job, org, self._workspace)

    async def _measured(self, job: str) -> Metrics:
        metrics: Metrics = {}
        cursor = 0
        while True:
            page = await self._node.training_job_metrics(job, after=cursor)
            if page.anew:
                metrics.clear()
            merge_metrics(metrics, page.metrics)
            leave_newest(metrics, MOST_VALUES)
            cursor = page.cursor
            if not page.more:
                return metrics
