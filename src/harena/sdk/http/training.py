"""The part of `Operations` that is about training jobs, over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from harena.core.idempotency import IdempotencyKey
from harena.core.operations import training_jobs as table
from harena.core.records.training_jobs import PlannedTraining, TrainingEvent, TrainingJob
from harena.core.training_jobs import RetryFrom
from harena.sdk.http.events import followed
from harena.sdk.http.from_table import FromTable

if TYPE_CHECKING:
    from harena.core.requests import TrainingJobFields


class HttpTraining(FromTable):
    """Used from one event loop."""

    async def _with_sent_sources(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The request without paths of this machine."""
        raise NotImplementedError

    async def create_training_job(
        self, request: TrainingJobFields, *, key: IdempotencyKey | None = None
    ) -> TrainingJob:
        """Send a job to the server; data files that it names are this machine's, and their content is sent."""
        body = json.loads(json.dumps(request))  # what JSON cannot hold is the caller's mistake, before anything is sent
        return await self.created(table.CREATE, await self._with_sent_sources(body), key)

    async def plan_training_job(self, request: TrainingJobFields) -> PlannedTraining:
        """Ask the server what the job would do; data files that it names are sent, as they are to create it."""
        body = await self._with_sent_sources(json.loads(json.dumps(request)))
        where = await self.place(table.PLAN)
        return await self._connection.record(PlannedTraining, table.PLAN.method, where, content=body)

    async def wait_training_job(self, job: str) -> TrainingJob:
        """Wait until the job has ended. A server that is or goes away is asked again for ten minutes: its jobs outlive
        it."""
        return await self.wait_ended(table.GET, job, lambda found: found.ended_at is not None)

    async def retry_training_job(self, job: str, *, start: RetryFrom = "checkpoint") -> TrainingJob:
        """Start a job that failed or was cancelled again, from its last checkpoint or from the beginning."""
        where = await self.place(table.RETRY, job=job)
        return await self._connection.record(TrainingJob, table.RETRY.method, where, content={"from": start})

    def training_job_events(self, job: str, *, after: int = 0) -> AsyncIterator[TrainingEvent]:
        """Follow the server's event stream from the first event after `after` to the job's end."""
        return followed(self._connection, TrainingEvent, partial(self.place, table.EVENTS, job=job), after)

    async def reachable(self, noun: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """A job's name with a slash cannot be in a path: its newest job is looked for."""
        if noun == table.NOUN:
            given = await self.in_path(given, "training job", self._newest_training_job)
        return await super().reachable(noun, given)

    async def _newest_training_job(self, name: str) -> list[TrainingJob]:
        return (await self.list_training_jobs(name=name, limit=1)).training_jobs
