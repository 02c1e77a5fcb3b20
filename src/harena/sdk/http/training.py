"""The part of `Operations` that is about training jobs, over HTTP."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar

from harena.core.errors import NotFoundError
from harena.core.idempotency import IdempotencyKey
from harena.core.records.record import Record
from harena.core.records.training_jobs import (
    TrainingArtifacts,
    TrainingEvent,
    TrainingJob,
    TrainingJobsPage,
    TrainingLogsPage,
    TrainingMetrics,
)
from harena.core.training_jobs import RetryFrom
from harena.sdk.http.connection import Connection, Query, step
from harena.sdk.http.events import followed

T = TypeVar("T")
R = TypeVar("R", bound=Record)

TRAINING_WAIT_SECONDS = 30
"""how long one request waits for a job's end; asked again for as long as somebody waits"""


class HttpTraining:
    """Used from one event loop."""

    _connection: Connection

    async def _twice(self, ask: Callable[[], Awaitable[T]]) -> T:
        """A creation whose answer was lost is asked for again."""
        raise NotImplementedError

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What is asked, as soon as a server answers."""
        raise NotImplementedError

    async def _with_sent_sources(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The request without paths of this machine."""
        raise NotImplementedError

    async def create_training_job(
        self, request: Mapping[str, Any], *, key: IdempotencyKey | None = None
    ) -> TrainingJob:
        """See `Operations`."""
        headers = {"idempotency-key": uuid.uuid4().hex if key is None else key.key}
        body = json.loads(json.dumps(request))  # what JSON cannot hold is the caller's mistake, before anything is sent
        body = await self._with_sent_sources(body)
        return await self._twice(
            lambda: self._connection.record(TrainingJob, "POST", "/v1/training_jobs", content=body, headers=headers)
        )

    async def get_training_job(self, job_id_or_name: str) -> TrainingJob:
        """See `Operations`."""
        return await self._training(TrainingJob, job_id_or_name)

    async def list_training_jobs(
        self,
        *,
        name: str | None = None,
        state: str | None = None,
        trainer_type: str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> TrainingJobsPage:
        """See `Operations`."""
        asked = {"name": name, "state": state, "trainer_type": trainer_type, "cursor": before, "limit": limit}
        query: Query = {field: value for field, value in asked.items() if value is not None}
        return await self._connection.record(TrainingJobsPage, "GET", "/v1/training_jobs", query=query)

    async def wait_training_job(self, job_id_or_name: str) -> TrainingJob:
        """See `Operations`. A server that is or goes away is asked again for ten minutes: its jobs outlive it."""
        job = await self._patiently(lambda: self._training(TrainingJob, job_id_or_name))
        job_id = job.id
        query: Query = {"wait_seconds": TRAINING_WAIT_SECONDS}
        while job.ended_at is None:
            job = await self._patiently(lambda: self._training(TrainingJob, job_id, query=query))
        return job

    async def cancel_training_job(self, job_id_or_name: str) -> TrainingJob:
        """See `Operations`."""
        return await self._training(TrainingJob, job_id_or_name, "/cancel", method="POST")

    async def retry_training_job(self, job_id_or_name: str, *, start: RetryFrom = "checkpoint") -> TrainingJob:
        """See `Operations`."""
        return await self._training(TrainingJob, job_id_or_name, "/retry", method="POST", content={"from": start})

    async def delete_training_job(self, job_id_or_name: str) -> None:
        """See `Operations`."""
        await self._connection.json("DELETE", await self._training_path(job_id_or_name))

    async def training_job_events(self, job_id_or_name: str, *, after: int = 0) -> AsyncIterator[TrainingEvent]:
        """See `Operations`."""
        where = partial(self._training_path, job_id_or_name)
        async with aclosing(followed(self._connection, TrainingEvent, where, after)) as events:
            async for event in events:
                yield event

    async def training_job_logs(self, job_id_or_name: str, *, after: int = 0, limit: int = 1000) -> TrainingLogsPage:
        """See `Operations`."""
        return await self._training(TrainingLogsPage, job_id_or_name, "/logs", query={"after": after, "limit": limit})

    async def training_job_metrics(self, job_id_or_name: str, *, after: int = 0) -> TrainingMetrics:
        """See `Operations`."""
        return await self._training(TrainingMetrics, job_id_or_name, "/metrics", query={"after": after})

    async def training_job_artifacts(self, job_id_or_name: str) -> TrainingArtifacts:
        """See `Operations`."""
        return await self._training(TrainingArtifacts, job_id_or_name, "/artifacts")

    async def training_job_file(self, job_id_or_name: str, path: str) -> AsyncIterator[bytes]:
        """See `Operations`."""
        where = f"{await self._training_path(job_id_or_name)}/artifacts/file"
        async with self._connection.request("GET", where, query={"path": path}) as response:
            async for piece in response.content.iter_any():
                yield piece

    async def _training(
        self,
        kind: type[R],
        job: str,
        verb: str = "",
        *,
        method: str = "GET",
        query: Query | None = None,
        content: Any = None,
    ) -> R:
        where = f"{await self._training_path(job)}{verb}"
        return await self._connection.record(kind, method, where, query=query, content=content)

    async def _training_path(self, job: str) -> str:
        """Where the server has it. A name with a slash cannot be in a path: its newest job is looked for."""
        if "/" in job:
            page = await self.list_training_jobs(name=job, limit=1)
            if not page.training_jobs:
                raise NotFoundError(f"no training job has the name {job!r} on this server")
            job = page.training_jobs[0].id
        return f"/v1/training_jobs/{step(job)}"
