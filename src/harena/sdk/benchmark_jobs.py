"""Benchmark jobs: many scenarios, each run and scored in its own sandbox.

The verbs block; `benchmark_jobs.aio` has the same ones to await.
"""

from __future__ import annotations

import functools
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harena.core.checked import checked_count, checked_text, quote
from harena.core.errors import ValidationError
from harena.core.records.benchmark_jobs import (
    BenchmarkEvent,
    BenchmarkJob,
    BenchmarkResults,
    BenchmarkRun,
    JobSummary,
    Progress,
    ResultsPage,
    Summary,
)
from harena.core.records.blueprints import Blueprint
from harena.core.records.job_diff import JobDiff
from harena.sdk import job_reading
from harena.sdk.jobs import in_time, key_of, read_ahead
from harena.sdk.options import checked_blueprint
from harena.sdk.pages import collect_pages
from harena.sdk.portal import current_portal
from harena.sdk.result_files import format_of
from harena.sdk.scenario_input import ScenarioInput, plain_sources
from harena.sdk.streams import IteratorSource, StreamReader
from harena.sdk.twins import Twin

if TYPE_CHECKING:
    from harena.core.requests import BenchmarkJobFields
    from harena.sdk.config_types import BenchmarkConfig, BenchmarkWebhook

__all__ = [
    "BenchmarkEvent",
    "BenchmarkJob",
    "BenchmarkResults",
    "BenchmarkRun",
    "JobDiff",
    "JobSummary",
    "Progress",
    "ResultsPage",
    "Summary",
    "aio",
    "cancel",
    "create",
    "delete",
    "diff",
    "events",
    "get",
    "list",
    "results",
    "results_pages",
    "runs",
    "save_results",
    "summary",
    "wait",
]

PAGE = 500
"""jobs that one request lists"""

_Pages = StreamReader[ResultsPage]
_Jobs = list[BenchmarkJob]
_Events = StreamReader[BenchmarkEvent]


async def _create(
    *,
    name: str,
    scenarios: ScenarioInput,
    candidates: ScenarioInput | None = None,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
    grader: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    blueprint_id: str | Blueprint | None = None,
    config: BenchmarkConfig | None = None,
    webhook: BenchmarkWebhook | None = None,
    idempotency_key: str | None = None,
) -> BenchmarkJob:
    """Check everything, then start a job.

    `scenarios` is the path of a scenario file, its content, a list of scenarios, or {"ref": "NAME@2"}: stored ones
    (`harena.scenarios`). It may be a data set in another
    format, told by its shape or given as `format`; then `candidates` are the answers to it, likewise, or "oracle" (its
    own solutions, also where nothing is given) or "nop" (answers that do nothing). `grader` is that of rows that hold
    none of their own. `blueprint_id` is an id or a name;
    `config` may hold concurrency, timeout_seconds, retry_attempts (after failures of the platform), attempts (samples
    per scenario), require_trust, rescore_fraction (share of the runs that are scored twice), retry_on,
    run_timeout_seconds, job_timeout_seconds, priority and execution ("ray" spreads runs over a Ray cluster). `webhook`
    is {"url": ..., "secret": ...}: the URL is posted to when the job has ended, signed if there is a secret
    (`harena.webhooks`). The same `idempotency_key` with the same request gives the job that is there, also after a
    crash of either side. Raises ValidationError that lists every mistake, before anything runs.
    """
    sources = plain_sources(scenarios, candidates=candidates, form=format, grader=grader, one_by_one=True)
    checked_text(name, "name")
    if config is not None and not isinstance(config, Mapping):
        raise ValidationError(f"config must be a mapping, as {{'concurrency': 8}} (got {quote(config)})")
    request: dict[str, Any] = {"name": name, **sources, "config": dict(config or {})}
    if webhook is not None:
        request["webhook"] = dict(webhook) if isinstance(webhook, Mapping) else webhook
    if (blueprint := checked_blueprint(blueprint_id)) is not None:
        request["blueprint_id"] = blueprint
    if idempotency_key is not None:
        request = {name: [*part] if isinstance(part, Iterator) else part for name, part in request.items()}
    key = key_of(idempotency_key, request)
    operations = await current_portal().operations()
    return await operations.create_benchmark_job(cast("BenchmarkJobFields", request), key=key)


async def _get(job: str | BenchmarkJob) -> BenchmarkJob:
    """The job with this id or name, as it is now. Raises NotFoundError."""
    job_id = _id(job)
    operations = await current_portal().operations()
    return await operations.get_benchmark_job(job_id)


async def _list(*, name: str | None = None, limit: int | None = None) -> _Jobs:
    """The jobs, newest first: those of this name where one is given, and at most `limit` (None = all)."""
    if name is not None:
        checked_text(name, "name")

    async def page(cursor: int | None, size: int) -> tuple[_Jobs, int | None]:
        operations = await current_portal().operations()
        found = await operations.list_benchmark_jobs(name=name, cursor=cursor, limit=size)
        return found.benchmark_jobs, found.next_cursor

    return await collect_pages(page, limit, most=PAGE)


async def _wait(job: str | BenchmarkJob, *, timeout: float | None = None, progress: bool = False) -> BenchmarkResults:
    """The results, when the job has ended. Raises SandboxTimeoutError after `timeout` seconds (the job goes on). With
    `progress` a bar shows meanwhile how far it is: in a notebook's output, or on standard error."""
    job_id = _id(job)
    operations = await current_portal().operations()
    late = f"benchmark job {job_id} had not ended after timeout={timeout} seconds"

    async def ended() -> BenchmarkResults:
        if not progress:
            return await operations.wait_benchmark_job(job_id)
        from harena.sdk.progress_bars import of_benchmark_job, with_progress

        ask = functools.partial(operations.get_benchmark_job, job_id)
        return await with_progress(ask, of_benchmark_job, operations.wait_benchmark_job(job_id))

    return await in_time(ended, timeout, late)


async def _results(job: str | BenchmarkJob) -> BenchmarkResults:
    """The results so far."""
    job_id = _id(job)
    operations = await current_portal().operations()
    return await operations.benchmark_job_results(job_id)


async def _cancel(job: str | BenchmarkJob) -> BenchmarkJob:
    """End the job and its running sandboxes."""
    job_id = _id(job)
    operations = await current_portal().operations()
    return await operations.cancel_benchmark_job(job_id)


def events(job: str | BenchmarkJob, *, after: int = 0) -> _Events:
    """What happens to the job, for `for` and `async for`: from the first event after cursor `after` to its end."""
    job_id = _id(job)
    checked_count(after, "after", least=0)

    async def opened() -> AsyncIterator[BenchmarkEvent]:
        operations = await current_portal().operations()
        return operations.benchmark_job_events(job_id, after=after)

    return read_ahead(opened)


async def _delete(job: str | BenchmarkJob) -> None:
    """Delete a job that has ended, with its results and events. Raises NotFoundError, ValidationError (it runs)."""
    job_id = _id(job)
    operations = await current_portal().operations()
    await operations.delete_benchmark_job(job_id)


async def _summary(job: str | BenchmarkJob) -> JobSummary:
    """The results so far without their runs."""
    job_id = _id(job)
    operations = await current_portal().operations()
    return await operations.benchmark_job_summary(job_id)


async def _diff(a: str | BenchmarkJob, b: str | BenchmarkJob) -> JobDiff:
    """What changed from job `a` to job `b`, scenario by scenario, with paired statistics over those that are scored in
    both. Attempts that the platform lost are no change."""
    of_a, of_b = _id(a), _id(b)
    return await job_reading.compare(await current_portal().operations(), of_a, of_b)


async def _save_results(
    job: str | BenchmarkJob,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - as on the command line
) -> None:
    """Write the results so far to a file: "json", "jsonl", "csv" or "parquet" (needs the extra `parquet`), which its
    ending tells where `format` is None. The file is there whole or not at all; memory does not grow with the job.
    Runs are in the order in which they ended. Raises NotFoundError, ValidationError."""
    job_id = _id(job)
    place = Path(path)
    form = format_of(place, format)
    await job_reading.save(await current_portal().operations(), job_id, place, form)


def results_pages(job: str | BenchmarkJob, *, after: int = 0) -> _Pages:
    """The results that there are now, a page at a time, for `for` and `async for`: those that ended after cursor
    `after`, in the order in which they ended. The `cursor` of the last page asks for what ends later."""
    job_id = _id(job)
    checked_count(after, "after", least=0)

    async def opened() -> AsyncIterator[ResultsPage]:
        operations = await current_portal().operations()
        return job_reading.pages(operations, job_id, after=after)

    return StreamReader(current_portal(), IteratorSource(opened))


def runs(job: str | BenchmarkJob) -> StreamReader[BenchmarkRun]:
    """The runs that have ended by now, one after the other, for `for` and `async for`; fetched as they are read, so
    that a job of any size takes no more memory than a page."""
    job_id = _id(job)

    async def opened() -> AsyncIterator[BenchmarkRun]:
        operations = await current_portal().operations()
        return _as_runs(job_reading.pages(operations, job_id))

    return read_ahead(opened)


async def _as_runs(pages: AsyncIterator[ResultsPage]) -> AsyncIterator[BenchmarkRun]:
    async for page in pages:
        for run in page.runs:
            yield run


def _id(job: str | BenchmarkJob) -> str:
    return job.id if isinstance(job, BenchmarkJob) else checked_text(job, "the job's id or name")


create = Twin(_create)
get = Twin(_get)
list = Twin(_list)  # noqa: A001 - the verb's name, as in `benchmark_jobs.list()`
wait = Twin(_wait)
results = Twin(_results)
cancel = Twin(_cancel)
delete = Twin(_delete)
summary = Twin(_summary)
diff = Twin(_diff)
save_results = Twin(_save_results)


class _Awaitable:
    """Asynchronous versions of this module's functions (`events`, `runs` and `results_pages` are for `async for`)."""

    create = create.aio
    get = get.aio
    list = list.aio
    wait = wait.aio
    results = results.aio
    cancel = cancel.aio
    delete = delete.aio
    summary = summary.aio
    diff = diff.aio
    save_results = save_results.aio
    events = staticmethod(events)
    runs = staticmethod(runs)
    results_pages = staticmethod(results_pages)


aio = _Awaitable()
