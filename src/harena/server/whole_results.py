"""All results of a job as one JSON object, made while it is sent: a page at a time, so that a large job takes no more
of the server's memory, and of its attention, than a small one."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from harena.core.ports import Operations
from harena.jobs.summary import Summing
from harena.server.encoding import encoded, encoded_at_once

PAGE = 500


async def whole_results(jobs: Operations, job_id_or_name: str) -> AsyncGenerator[bytes, None]:
    """The pieces of {job_id, name, state, error, runs, summary}; the runs in the order in which they ended. Raises
    NotFoundError before the first piece."""
    job = await jobs.get_benchmark_job(job_id_or_name)
    summing, cursor, separator = Summing(), 0, b""
    names = {"job_id": job.id, "name": job.name, "state": job.state, "error": job.error}
    yield encoded_at_once(names)[:-1] + b',"runs":['
    while runs := (page := await jobs.benchmark_job_results_page(job.id, after=cursor, limit=PAGE)).runs:
        cursor = page.cursor
        for run in runs:
            summing.add(run)
        yield separator + (await encoded(runs))[1:-1]
        separator = b","
    told = job.progress
    summary = summing.summary(total=told.total, duration_seconds=job.duration_seconds, cancelled=told.cancelled)
    yield b'],"summary":' + encoded_at_once(summary) + b"}"
