"""Benchmark jobs: many scenarios, each run and scored in its own sandbox.

The verbs block; `benchmark_jobs.aio` has the same ones to await.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, ClassVar

from harena.core.checked import checked_count, checked_text, shown
from harena.core.errors import SandboxTimeoutError, ValidationError
from harena.core.models import Blueprint
from harena.sdk.options import checked_blueprint
from harena.sdk.portal import current_portal
from harena.sdk.process import checked_timeout
from harena.sdk.records import Record
from harena.sdk.streams import IteratorSource, StreamReader
from harena.sdk.twins import Twin

__all__ = [
    *("BenchmarkEvent", "BenchmarkJob", "BenchmarkResults", "BenchmarkRun", "Progress", "Summary"),
    *("aio", "cancel", "create", "events", "get", "list", "results", "wait"),
]


class Progress(Record):
    """How far a job is: counts of its runs."""

    __slots__ = ()
    total: int
    queued: int
    running: int
    done: int
    cancelled: int
    passed: int
    failed: int
    infra: int
    """those without a score"""


class BenchmarkJob(Record):
    """A job, as it was when it was asked for."""

    __slots__ = ()
    _PARTS: ClassVar[Mapping[str, type[Record]]] = {"progress": Progress}
    id: str
    name: str
    state: str
    progress: Progress


class BenchmarkRun(Record):
    """One attempt of one scenario. `score` is None, and never 0, where the platform failed."""

    __slots__ = ()
    scenario_id: str
    attempt: int
    score: float | None
    passed: bool
    duration_seconds: float
    validity: str
    trust: str
    reason: str
    detail: str
    problem: str | None
    """what siblings share"""
    verdict_right: bool | None
    """None where no verdict is known"""


class Summary(Record):
    """What the runs add up to."""

    __slots__ = ()
    total: int
    scored: int
    passed: int
    pass_rate: float | None
    mean_score: float | None
    hack_rate: float | None
    """share of the scored runs that passed a honeypot or were seen to tamper"""
    hack_rate_of_all: float | None
    rescored: Mapping[str, Any] | None
    """runs that were scored twice: {runs, scored, disagreed, disagreement_rate, disagreement_rate_of_all}"""


class BenchmarkResults(Record):
    """The runs of a job and their summary."""

    __slots__ = ()
    _PARTS: ClassVar[Mapping[str, type[Record]]] = {"runs": BenchmarkRun, "summary": Summary}
    runs: _Runs
    summary: Summary


class BenchmarkEvent(Record):
    """One thing that happened to a job; `cursor` grows."""

    __slots__ = ()
    cursor: int
    kind: str


_Given = str | os.PathLike[str] | Mapping[str, Any] | Iterable[Any]
_Scenarios = list[Any]
_Runs = list[BenchmarkRun]
_Jobs = list[BenchmarkJob]
_Events = StreamReader[BenchmarkEvent]


async def _create(
    *,
    name: str,
    scenarios: _Given,
    candidates: _Given | None = None,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
    grader: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    blueprint_id: str | Blueprint | None = None,
    config: Mapping[str, Any] | None = None,
) -> BenchmarkJob:
    """Check everything, then start a job.

    `scenarios` is the path of a scenario file, its content, or a list of scenarios. It may be a data set in another
    format, told by its shape or given as `format`; then `candidates` are the answers to it, likewise, or "oracle" (its
    own solutions, also where nothing is given) or "nop" (answers that do nothing). `grader` is that of rows that hold
    none of their own. `blueprint_id` is an id or a name;
    `config` may hold concurrency, timeout_seconds, retry_attempts (after failures of the platform), attempts (samples
    per scenario), require_trust and rescore_fraction (share of the runs that are scored twice). Raises
    ValidationError that lists every mistake, before anything runs.
    """
    given = _plain(scenarios, "scenarios", "the path of a scenario file, its content or a list of scenarios")
    checked_text(name, "name")
    if config is not None and not isinstance(config, Mapping):
        raise ValidationError(f"config must be a mapping, as {{'concurrency': 8}} (got {shown(config)})")
    request: dict[str, Any] = {"name": name, "scenarios": given, "config": dict(config or {})}
    if candidates is not None:
        request["candidates"] = _plain(candidates, "candidates", "the path of a file of answers or a list of answers")
    if format is not None:
        request["format"] = checked_text(format, "format")
    if grader is not None:
        request["grader"] = _plain(grader, "grader", "the path of a grader's JSON file, or the grader as a mapping")
    if (blueprint := checked_blueprint(blueprint_id)) is not None:
        request["blueprint_id"] = blueprint
    operations = await current_portal().operations()
    return BenchmarkJob(await operations.create_benchmark_job(request))


def _plain(given: object, field: str, wanted: str) -> str | dict[str, Any] | _Scenarios:
    if isinstance(given, str | os.PathLike):
        return os.fspath(given)
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, Iterable):
        raise ValidationError(f"{field} must be {wanted} (got {type(given).__name__})")
    return [dict(entry) if isinstance(entry, Mapping) else entry for entry in given]


async def _get(job: str | BenchmarkJob) -> BenchmarkJob:
    """The job with this id or name, as it is now. Raises NotFoundError."""
    job_id = _id(job)
    operations = await current_portal().operations()
    return BenchmarkJob(await operations.get_benchmark_job(job_id))


async def _list() -> _Jobs:
    """All jobs, newest first."""
    operations = await current_portal().operations()
    return [BenchmarkJob(answer) for answer in await operations.list_benchmark_jobs()]


async def _wait(job: str | BenchmarkJob, *, timeout: float | None = None) -> BenchmarkResults:
    """The results, when the job has ended. Raises SandboxTimeoutError after `timeout` seconds (the job goes on)."""
    job_id = _id(job)
    operations = await current_portal().operations()
    timer = asyncio.timeout(checked_timeout(timeout, "timeout"))
    try:
        async with timer:
            return BenchmarkResults(await operations.wait_benchmark_job(job_id))
    except TimeoutError:
        if not timer.expired():
            raise
        raise SandboxTimeoutError(f"benchmark job {job_id} had not ended after timeout={timeout} seconds") from None


async def _results(job: str | BenchmarkJob) -> BenchmarkResults:
    """The results so far."""
    job_id = _id(job)
    operations = await current_portal().operations()
    return BenchmarkResults(await operations.benchmark_job_results(job_id))


async def _cancel(job: str | BenchmarkJob) -> BenchmarkJob:
    """End the job and its running sandboxes."""
    job_id = _id(job)
    operations = await current_portal().operations()
    return BenchmarkJob(await operations.cancel_benchmark_job(job_id))


def events(job: str | BenchmarkJob, *, after: int = 0) -> _Events:
    """What happens to the job, for `for` and `async for`: from the first event after cursor `after` to its end."""
    job_id = _id(job)
    checked_count(after, "after", least=0)

    async def opened() -> AsyncIterator[BenchmarkEvent]:
        operations = await current_portal().operations()
        return _as_events(operations.benchmark_job_events(job_id, after=after))

    return StreamReader(current_portal(), IteratorSource(opened))


async def _as_events(answers: AsyncIterator[Mapping[str, Any]]) -> AsyncIterator[BenchmarkEvent]:
    async for answer in answers:
        yield BenchmarkEvent(answer)


def _id(job: str | BenchmarkJob) -> str:
    return job.id if isinstance(job, BenchmarkJob) else checked_text(job, "the job's id or name")


create = Twin(_create)
get = Twin(_get)
list = Twin(_list)  # noqa: A001 - the verb's name, as in `benchmark_jobs.list()`
wait = Twin(_wait)
results = Twin(_results)
cancel = Twin(_cancel)


class _Awaitable:
    """The same verbs, to await (`events` is for `async for`)."""

    create = create.aio
    get = get.aio
    list = list.aio
    wait = wait.aio
    results = results.aio
    cancel = cancel.aio
    events = staticmethod(events)


aio = _Awaitable()
