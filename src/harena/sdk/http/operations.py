"""`Operations` over HTTP: what `harena serve` offers, as a node inside this process would.

Sandboxes belong to this client's lease (see `harena.sdk.http.lease`). Creations carry an idempotency key: one whose
answer was lost is asked for again, and one that is given up by its caller is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

from harena.core.clock import Clock, SystemClock
from harena.core.errors import (
    HarenaError,
    NotFoundError,
    SandboxNotFoundError,
)
from harena.core.idempotency import IdempotencyKey
from harena.core.models import Blueprint, BlueprintSummary, SandboxSpec, SandboxStatus
from harena.core.ports import SandboxHandle
from harena.core.records.benchmark_jobs import (
    BenchmarkEvent,
    BenchmarkJob,
    BenchmarkJobsPage,
    BenchmarkResults,
    JobSummary,
    ResultsPage,
)
from harena.core.results import RunResult
from harena.core.wire import blueprint_from_json, info_from_json, spec_to_json, summary_from_json, text_of
from harena.sdk.http.catalog import HttpCatalog, definition_path
from harena.sdk.http.connection import Connection, Query, step
from harena.sdk.http.events import followed
from harena.sdk.http.lease import LEASE_SECONDS, ClientLease
from harena.sdk.http.registry import HttpRegistry
from harena.sdk.http.sandbox import KnownRecords, RemoteHandle
from harena.sdk.http.training import HttpTraining
from harena.sdk.http.training_sources import with_sent_sources
from harena.sdk.http.uploads import JobUpload

PAGE = 500
JOB_WAIT_SECONDS = 30
"""how long one request waits for a job's end; asked again for as long as somebody waits"""


class HttpOperations(HttpCatalog, HttpRegistry, HttpTraining):
    """Implements `Operations`. Used from one event loop."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        clock: Clock | None = None,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        """`clock` and `lease_seconds` are for tests."""
        self._clock = clock or SystemClock()
        self._connection = Connection(base_url, api_key=api_key, clock=self._clock)
        self._lease = ClientLease(self._connection, self._clock, seconds=lease_seconds)
        self._known = KnownRecords()
        self._given_up: set[asyncio.Task[None]] = set()

    # -- sandboxes --

    async def create_sandbox(self, spec: SandboxSpec) -> SandboxHandle:
        """See `Operations`."""
        try:
            return await self._created_under_lease(spec)
        except NotFoundError as error:
            if error.reason != "LEASE_OVER":
                raise
        self._lease.forget()  # this process slept for longer than its lease, or the server was started anew
        return await self._created_under_lease(spec)

    async def get_sandbox(self, sandbox_id: str) -> SandboxHandle:
        """See `Operations`."""
        if "/" in sandbox_id:
            raise SandboxNotFoundError(f"no sandbox {sandbox_id!r}: ids have no slashes", sandbox_id=sandbox_id)
        return self._handle(await self._connection.json("GET", f"/v1/sandboxes/{step(sandbox_id)}"))

    async def list_sandboxes(
        self,
        *,
        tags: Sequence[str] = (),
        statuses: Sequence[SandboxStatus] = (),
        include_terminal: bool = False,
    ) -> list[SandboxHandle]:
        """See `Operations`."""
        query: dict[str, str | int | float | list[str]] = {
            "tag": list(tags),
            "status": [status.value for status in statuses],
            "include_terminal": include_terminal,
            "limit": PAGE,
        }
        found: list[SandboxHandle] = []
        while True:
            page = await self._connection.json("GET", "/v1/sandboxes", query=query)
            with self._connection.understanding("a page of sandboxes"):
                found += [self._handle(entry) for entry in page["sandboxes"]]
                if (cursor := page["next_cursor"]) is None:
                    return found
                if cursor == query.get("cursor"):
                    raise ValueError("the page is followed by itself")
            query["cursor"] = cursor

    # -- blueprints --

    async def create_blueprint(
        self,
        name: str,
        *,
        image: str = "default",
        packages: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
        warm: Sequence[str] | None = None,
    ) -> Blueprint:
        """See `Operations`."""
        content = {
            "name": name,
            "image": image,
            "packages": list(packages),
            "files": {path: text_of(given) for path, given in (files or {}).items()},
            "env": dict(env or {}),
            "warm": None if warm is None else list(warm),
        }
        key = {"idempotency-key": uuid.uuid4().hex}
        return self._blueprint(
            await self.twice(lambda: self._connection.json("POST", "/v1/blueprints", content=content, headers=key))
        )

    async def get_blueprint(self, name_or_id: str) -> Blueprint:
        """See `Operations`."""
        return self._blueprint(await self._connection.json("GET", f"/v1/blueprints/{step(name_or_id)}"))

    async def delete_blueprint(self, name_or_id: str) -> None:
        """See `Operations`."""
        await self._connection.json("DELETE", f"/v1/blueprints/{step(name_or_id)}")

    async def list_blueprints(self) -> list[BlueprintSummary]:
        """See `Operations`."""
        answer = await self._connection.json("GET", "/v1/blueprints")
        with self._connection.understanding("a list of blueprints"):
            return [summary_from_json(entry) for entry in answer["blueprints"]]

    # -- scores and benchmark jobs --

    async def score(self, request: Mapping[str, Any]) -> RunResult:
        """See `Operations`."""
        return await self._connection.record(RunResult, "POST", "/v1/scores", content=request)

    async def create_benchmark_job(
        self, request: Mapping[str, Any], *, key: IdempotencyKey | None = None
    ) -> BenchmarkJob:
        """See `Operations`. A scenario file is this machine's, and its content is sent."""
        given = request.get("definition")
        path = "/v1/benchmark_jobs" if given is None else f"{definition_path(given)}/run"
        headers = {"idempotency-key": uuid.uuid4().hex if key is None else key.key}
        asked = {name: part for name, part in request.items() if name != "definition"}
        upload = await asyncio.to_thread(partial(JobUpload.opened, asked, by_lines=given is None))
        try:
            headers["content-type"] = upload.content_type
            return await self.twice(lambda: self._sent(path, upload, headers))
        finally:
            upload.close()

    async def get_benchmark_job(self, job_id_or_name: str) -> BenchmarkJob:
        """See `Operations`."""
        return await self._job(job_id_or_name)

    async def list_benchmark_jobs(
        self, *, name: str | None = None, before: int | None = None, limit: int = 100
    ) -> BenchmarkJobsPage:
        """See `Operations`."""
        asked: dict[str, str | int | None] = {"name": name, "cursor": before, "limit": limit}
        query: Query = {field: value for field, value in asked.items() if value is not None}
        return await self._connection.record(BenchmarkJobsPage, "GET", "/v1/benchmark_jobs", query=query)

    async def wait_benchmark_job(self, job_id_or_name: str) -> BenchmarkResults:
        """See `Operations`. A server that is or goes away is asked again for ten minutes: its jobs outlive it."""
        job = await self.patiently(lambda: self._job(job_id_or_name))
        job_id = job.id
        while job.ended_at is None:
            job = await self.patiently(lambda: self._job(job_id, {"wait_seconds": JOB_WAIT_SECONDS}))
        return await self.patiently(lambda: self.benchmark_job_results(job_id))

    async def benchmark_job_results(self, job_id_or_name: str) -> BenchmarkResults:
        """See `Operations`. The server sends the runs in the order of their ends."""
        where = f"{await self._job_path(job_id_or_name)}/results"
        found = await self._connection.record(BenchmarkResults, "GET", where)
        return replace(found, runs=sorted(found.runs, key=lambda run: run.run))

    async def benchmark_job_results_page(
        self, job_id_or_name: str, *, after: int = 0, limit: int = 1000
    ) -> ResultsPage:
        """See `Operations`."""
        where = f"{await self._job_path(job_id_or_name)}/results/page"
        return await self._connection.record(ResultsPage, "GET", where, query={"after": after, "limit": limit})

    async def benchmark_job_summary(self, job_id_or_name: str) -> JobSummary:
        """See `Operations`."""
        return await self._connection.record(JobSummary, "GET", f"{await self._job_path(job_id_or_name)}/summary")

    async def delete_benchmark_job(self, job_id_or_name: str) -> None:
        """See `Operations`."""
        await self._connection.json("DELETE", await self._job_path(job_id_or_name))

    async def cancel_benchmark_job(self, job_id_or_name: str) -> BenchmarkJob:
        """See `Operations`."""
        return await self._connection.record(BenchmarkJob, "POST", f"{await self._job_path(job_id_or_name)}/cancel")

    async def benchmark_job_events(self, job_id_or_name: str, *, after: int = 0) -> AsyncIterator[BenchmarkEvent]:
        """See `Operations`."""
        where = partial(self._events_path, job_id_or_name)
        async with aclosing(followed(self._connection, BenchmarkEvent, where, after)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        """End the lease, and with it this client's sandboxes, then the connections. May be called more than once."""
        try:
            for task in list(self._given_up):
                await asyncio.wait([task])
            await self._lease.close()
        finally:
            await self._connection.close()

    async def _with_sent_sources(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        return await with_sent_sources(self, request)

    async def _sent(self, path: str, upload: JobUpload, headers: Mapping[str, str]) -> BenchmarkJob:
        async with self._connection.request("POST", path, body=upload.body(), headers=headers) as response:
            answer = self._connection.parsed(await response.read())
        return self._connection.read(BenchmarkJob, answer)

    async def _created_under_lease(self, spec: SandboxSpec) -> SandboxHandle:
        content = {**spec_to_json(spec), "lease_id": await self._lease.id()}
        key = {"idempotency-key": uuid.uuid4().hex}
        try:
            return await self._created(content, key)
        except asyncio.CancelledError:
            # the server may be at it, or done: nobody would ever stop that sandbox
            task = asyncio.get_running_loop().create_task(self._end_given_up(content, key))
            self._given_up.add(task)
            task.add_done_callback(self._given_up.discard)
            raise

    async def _created(self, content: Any, key: Mapping[str, str]) -> RemoteHandle:
        return self._handle(
            await self.twice(lambda: self._connection.json("POST", "/v1/sandboxes", content=content, headers=key))
        )

    async def _end_given_up(self, content: Any, key: Mapping[str, str]) -> None:
        with contextlib.suppress(HarenaError):  # what cannot be ended now ends with the lease
            await (await self._created(content, key)).stop()

    async def _events_path(self, job_id_or_name: str) -> str:
        return f"{await self._job_path(job_id_or_name)}/events"

    async def _job_path(self, job_id_or_name: str) -> str:
        """Where the server has it. A name with a slash cannot be in a path: its newest job is looked for."""
        if "/" in job_id_or_name:
            page = await self.list_benchmark_jobs(name=job_id_or_name, limit=1)
            if not page.benchmark_jobs:
                raise NotFoundError(f"no benchmark job has the name {job_id_or_name!r} on this server")
            job_id_or_name = page.benchmark_jobs[0].id
        return f"/v1/benchmark_jobs/{step(job_id_or_name)}"

    async def _job(self, job_id_or_name: str, query: Query | None = None) -> BenchmarkJob:
        return await self._connection.record(BenchmarkJob, "GET", await self._job_path(job_id_or_name), query=query)

    def _handle(self, answer: Any) -> RemoteHandle:
        with self._connection.understanding("a sandbox's record"):
            return RemoteHandle(self._connection, info_from_json(answer), self._known)

    def _blueprint(self, answer: Any) -> Blueprint:
        with self._connection.understanding("a blueprint"):
            return blueprint_from_json(answer)
