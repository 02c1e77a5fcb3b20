"""All results of a job as one JSON object, made while it is sent: a page at a time, so that a large job takes no more
of the server's memory, and of its attention, than a small one."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from harena.core.ports import Operations
from harena.jobs.summary import Summing

PAGE = 500


async def whole_results(jobs: Operations, job_id_or_name: str) -> AsyncGenerator[bytes, None]:
    """The pieces of {job_id, name, state, error, runs, summary}; the runs in the order in which they ended. Raises
    NotFoundError before the first piece."""
    job = await jobs.get_benchmark_job(job_id_or_name)
    summing, cursor, separator = Summing(), 0, b""
    told = {"job_id": job.id, "name": job.name, "state": job.state, "error": job.error}
    yield _json(told)[:-1] + b',"runs":['
    while runs := (page := await jobs.benchmark_job_results_page(job.id, after=cursor, limit=PAGE)).runs:
        cursor = page.cursor
        for run in runs:
            summing.add(run)
        yield separator + _json([run.to_dict() for run in runs])[1:-1]
        separator = b","
    summary = summing.summary(total=job.progress.total, duration_seconds=job.duration_seconds)
    yield b'],"summary":' + _json(summary.to_dict()) + b"}"


def _json(value: Mapping[str, Any] | list[Any]) -> bytes:
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
