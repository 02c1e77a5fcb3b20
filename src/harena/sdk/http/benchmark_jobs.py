"""The part of `Operations` that is about benchmark jobs, over HTTP."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from harena.core.catalog import parse_reference
from harena.core.idempotency import IdempotencyKey
from harena.core.operations import benchmark_jobs as table
from harena.core.operations.catalog import RUN
from harena.core.records.benchmark_jobs import BenchmarkEvent, BenchmarkJob, BenchmarkResults
from harena.core.results import RunResult
from harena.sdk.http.events import followed
from harena.sdk.http.from_table import FromTable
from harena.sdk.http.uploads import JobUpload

if TYPE_CHECKING:
    from harena.core.requests import BenchmarkJobFields, ScoreFields


class HttpBenchmarks(FromTable):
    """Used from one event loop."""

    async def score(self, request: ScoreFields) -> RunResult:
        """Send one candidate to the server to be scored, and read the envelope that it answers."""
        return await self._connection.record(RunResult, table.SCORE.method, table.SCORE.path, content=request)

    async def create_benchmark_job(
        self, request: BenchmarkJobFields, *, key: IdempotencyKey | None = None
    ) -> BenchmarkJob:
        """Send a job to the server; a scenario file is this machine's, and its content is sent."""
        given = request.get("definition")
        if given is None:
            path = table.CREATE.path
        else:
            parse_reference(given)
            path = await self.place(RUN, ref=given)
        headers = {"idempotency-key": uuid.uuid4().hex if key is None else key.key}
        asked = {name: part for name, part in request.items() if name != "definition"}
        upload = await asyncio.to_thread(partial(JobUpload.open_request, asked, by_lines=given is None))
        try:
            headers["content-type"] = upload.content_type
            return await self.twice(lambda: self._send_upload(path, upload, headers))
        finally:
            upload.close()

    async def wait_benchmark_job(self, job: str) -> BenchmarkResults:
        """Wait until the job has ended. A server that is or goes away is asked again for ten minutes: its jobs outlive
        it."""
        ended = await self.wait_ended(table.GET, job, lambda found: found.ended_at is not None)
        return await self.patiently(lambda: self.benchmark_job_results(ended.id))

    async def benchmark_job_results(self, job: str) -> BenchmarkResults:
        """Fetch the results so far; the server sends the runs in the order of their ends, and they are sorted by number
        here."""
        found = await self.call(table.RESULTS, job)
        return replace(found, runs=sorted(found.runs, key=lambda run: run.run))

    def benchmark_job_events(self, job: str, *, after: int = 0) -> AsyncIterator[BenchmarkEvent]:
        """Follow the server's event stream from the first event after `after` to the job's end."""
        return followed(self._connection, BenchmarkEvent, partial(self.place, table.EVENTS, job=job), after)

    async def reachable(self, noun: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """A job's name with a slash cannot be in a path: its newest job is looked for."""
        if noun == table.NOUN:
            given = await self.in_path(given, "benchmark job", self._newest_benchmark_job)
        return await super().reachable(noun, given)

    async def _newest_benchmark_job(self, name: str) -> list[BenchmarkJob]:
        return (await self.list_benchmark_jobs(name=name, limit=1)).benchmark_jobs

    async def _send_upload(self, path: str, upload: JobUpload, headers: Mapping[str, str]) -> BenchmarkJob:
        async with self._connection.request("POST", path, body=upload.body(), headers=headers) as response:
            answer = self._connection.parse_json(await response.read())
        return self._connection.read(BenchmarkJob, answer)
