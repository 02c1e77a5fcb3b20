"""Training jobs: models that learn, by SFT or by RL from what their programs do in sandboxes.

The verbs block; `training_jobs.aio` has the same ones to await.
"""

from __future__ import annotations

import asyncio
import builtins
import functools
import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harena.core.checked import checked_count, checked_text, quote
from harena.core.errors import ValidationError
from harena.core.records.training_jobs import (
    PlannedTraining,
    TrainingArtifacts,
    TrainingEvent,
    TrainingJob,
    TrainingLog,
    TrainingMetrics,
    TrainingProgress,
)
from harena.core.training_jobs import RetryFrom, merge_metrics
from harena.core.whole_files import replaced
from harena.sdk.jobs import in_time, key_of, read_ahead
from harena.sdk.pages import collect_pages
from harena.sdk.portal import current_portal, in_thread
from harena.sdk.streams import StreamReader
from harena.sdk.training_plots import check_plot, draw
from harena.sdk.twins import Twin

if TYPE_CHECKING:
    from typing import Unpack

    from harena.core.ports import Operations
    from harena.core.requests import TrainingJobFields
    from harena.sdk.config_types import TrainingFields

__all__ = [
    "PlannedTraining",
    "TrainingArtifacts",
    "TrainingEvent",
    "TrainingJob",
    "TrainingLog",
    "TrainingMetrics",
    "TrainingProgress",
    "aio",
    "artifacts",
    "cancel",
    "create",
    "delete",
    "download",
    "events",
    "get",
    "list",
    "logs",
    "metrics",
    "model",
    "plan",
    "plot",
    "retry",
    "wait",
]

MODELS = "models"
"""in `HARENA_HOME`: models of training jobs that were fetched"""
PAGE = 500
"""jobs, or messages, that one request lists"""

_Jobs = list[TrainingJob]
_Logs = list[TrainingLog]
_Events = StreamReader[TrainingEvent]
_Paths = list[Path]


async def _create(
    request: Mapping[str, Any] | None = None, *, idempotency_key: str | None = None, **fields: Unpack[TrainingFields]
) -> TrainingJob:
    """Check everything, then accept a job, which begins when it is its turn.

    The request is given whole or by its fields: trainer_type ("sft" or "rl"), model, config, and where they are wanted
    name, capability_ref, project_ref, run_ref, tags and backend; see `harena.training.requests.request`. The model
    "job:NAME" is what the newest job of that name has made, "job:NAME@40" its checkpoint of step 40 ("@best",
    "@newest"), also while it runs. Paths are those of this machine: what lies there is kept by
    its content, and sent to a server. The same `idempotency_key` with the same request gives the job that is there,
    also after a crash of either side. Raises ValidationError that lists
    every mistake, before anything is done.
    """
    asked = _request(request, fields)
    key = key_of(idempotency_key, asked)
    operations = await current_portal().operations()
    return await operations.create_training_job(asked, key=key)


async def _plan(request: Mapping[str, Any] | None = None, **fields: Unpack[TrainingFields]) -> PlannedTraining:
    """Say what a job would do that `create` is given the same: every default, what is held out, and warnings.

    Nothing is started. It is checked by the code that creates jobs: what would be refused is refused here, too. Raises
    ValidationError that lists every mistake.
    """
    asked = _request(request, fields)
    operations = await current_portal().operations()
    return await operations.plan_training_job(asked)


def _request(request: Mapping[str, Any] | None, fields: Mapping[str, Any]) -> TrainingJobFields:
    """A whole request, which JSON can write. Raises ValidationError."""
    if request is not None and not isinstance(request, Mapping):
        raise ValidationError(f"a training job's request must be a mapping (got {quote(request)})")
    asked = {**(request or {}), **fields}
    try:
        json.dumps(asked, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValidationError(f"a training job's request holds what JSON cannot: {error}") from None
    return cast("TrainingJobFields", asked)


async def _model(job: str | TrainingJob) -> Path:
    """The folder of the model that a job has made, on this machine: it is fetched once, below `HARENA_HOME`. Raises
    NotFoundError, ValidationError (it has not completed), PlatformError."""
    import shutil  # few programs fetch a model: what `import harena` loads is counted in modules
    import tempfile

    from harena.core.home import harena_home, private_folder

    found = job if isinstance(job, TrainingJob) else await _get(job)
    if found.state != "completed":
        raise ValidationError(f"training job {found.id} is {found.state}: it has no model before it has completed")
    ended = "".join(sign for sign in str(found.ended_at) if sign.isalnum())  # one that was tried again has another one
    folder = harena_home() / MODELS / f"{found.id}-{ended}"
    if not folder.is_dir():
        await asyncio.to_thread(private_folder, folder.parent)
        unfinished = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix=f"{folder.name}.", dir=folder.parent))
        try:
            await _download(found, unfinished, below="model/")
            await asyncio.to_thread(unfinished.rename, folder)
        except BaseException as error:
            await asyncio.to_thread(shutil.rmtree, unfinished, ignore_errors=True)
            if not isinstance(error, OSError) or not folder.is_dir():  # else somebody else has fetched it meanwhile
                raise
    return folder / "model"


async def _get(job: str | TrainingJob) -> TrainingJob:
    """The job with this id or name, as it is now. Raises NotFoundError."""
    job_id = _id(job)
    operations = await current_portal().operations()
    return await operations.get_training_job(job_id)


async def _list(
    *,
    name: str | None = None,
    state: str | None = None,
    trainer_type: str | None = None,
    limit: int | None = None,
) -> _Jobs:
    """The jobs, newest first: those of this name, state and trainer_type where one is given, and at most `limit` (None
    = all)."""
    wanted = {"name": name, "state": state, "trainer_type": trainer_type}
    for field, value in wanted.items():
        if value is not None:
            checked_text(value, field)

    async def page(cursor: int | None, size: int) -> tuple[_Jobs, int | None]:
        operations = await current_portal().operations()
        found = await operations.list_training_jobs(**wanted, cursor=cursor, limit=size)
        return found.training_jobs, found.next_cursor

    return await collect_pages(page, limit, most=PAGE)


async def _wait(job: str | TrainingJob, *, timeout: float | None = None, progress: bool = False) -> TrainingJob:
    """The job, when it has ended, however it did. Raises SandboxTimeoutError after `timeout` seconds (it goes on). With
    `progress` a bar shows meanwhile how far it is: in a notebook's output, or on standard error."""
    job_id = _id(job)
    operations = await current_portal().operations()
    late = f"training job {job_id} had not ended after timeout={timeout} seconds; it goes on"

    async def ended() -> TrainingJob:
        if not progress:
            return await operations.wait_training_job(job_id)
        from harena.sdk.progress_bars import of_training_job, with_progress

        ask = functools.partial(operations.get_training_job, job_id)
        return await with_progress(ask, of_training_job, operations.wait_training_job(job_id))

    return await in_time(ended, timeout, late)


async def _cancel(job: str | TrainingJob) -> TrainingJob:
    """End the job, its worker and its sandboxes; what it had stays."""
    job_id = _id(job)
    operations = await current_portal().operations()
    return await operations.cancel_training_job(job_id)


async def _retry(job: str | TrainingJob, *, start: RetryFrom = "checkpoint") -> TrainingJob:
    """Queue a job that has ended once more: from its newest "checkpoint" (with all that its ledger has), or from
    "scratch". Raises ValidationError (it has not ended)."""
    job_id = _id(job)
    operations = await current_portal().operations()
    return await operations.retry_training_job(job_id, start=start)


async def _delete(job: str | TrainingJob) -> None:
    """Delete a job that has ended, with its events and all that it wrote. Raises NotFoundError, ValidationError."""
    job_id = _id(job)
    operations = await current_portal().operations()
    await operations.delete_training_job(job_id)


async def _logs(job: str | TrainingJob, *, after: int = 0) -> _Logs:
    """What was said to people, from the first message after cursor `after` to the newest."""
    job_id = _id(job)
    cursor = checked_count(after, "after", least=0)
    operations = await current_portal().operations()
    said: _Logs = []
    while True:
        page = await operations.training_job_logs(job_id, after=cursor, limit=PAGE)
        said += page.items
        cursor = page.cursor
        if not page.items:  # a page that is cut by its bytes has fewer entries, and is not the last
            return said


async def _metrics(job: str | TrainingJob, *, earlier: TrainingMetrics | None = None) -> TrainingMetrics:
    """What was measured so far: arrays along the axes `steps` and `eval/steps`, and scalars. With `earlier`, only what
    is new since then is fetched, and added to it."""
    job_id = _id(job)
    operations = await current_portal().operations()
    known, cursor = ({}, 0) if earlier is None else (earlier.metrics, earlier.cursor)
    merged = {name: [*value] if isinstance(value, builtins.list) else value for name, value in known.items()}
    while True:
        answer = await operations.training_job_metrics(job_id, after=cursor)
        if answer.anew:
            merged.clear()
        merge_metrics(merged, answer.metrics)
        cursor = answer.cursor
        if not answer.more:
            return TrainingMetrics(metrics=merged, cursor=cursor)


async def _artifacts(job: str | TrainingJob) -> TrainingArtifacts:
    """What the job's present try has written so far: checkpoints, the exported model, sampled rollouts."""
    job_id = _id(job)
    operations = await current_portal().operations()
    return await operations.training_job_artifacts(job_id)


async def _download(job: str | TrainingJob, folder: str | os.PathLike[str], *, below: str = "") -> _Paths:
    """Fetch the job's files, or those whose path begins with `below` (as "model/"), into a folder; where they are then.
    Each is there whole or not at all. Raises NotFoundError (no such job), ValidationError (no such files, a folder that
    cannot be made), PlatformError."""
    job_id = _id(job)
    operations = await current_portal().operations()
    found = await operations.training_job_artifacts(job_id)
    wanted = [file.path for file in found.files if file.path.startswith(below)]
    if not wanted:
        raise ValidationError(f"training job {job_id} has no files that begin with {below!r} yet")
    return [await _fetched(operations, job_id, path, Path(folder)) for path in wanted]


async def _fetched(operations: Operations, job_id: str, path: str, folder: Path) -> Path:
    place = await asyncio.to_thread(_place_of, path, folder)
    async with in_thread(lambda: replaced([place])) as [file]:
        async for piece in operations.training_job_file(job_id, path):
            await asyncio.to_thread(file.write, piece)
    return place


def _place_of(path: str, folder: Path) -> Path:
    """Where a file goes, in a directory that is there now. Raises ValidationError."""
    place = folder / path
    if not place.resolve().is_relative_to(folder.resolve()):
        raise ValidationError(f"the server names a file {path!r}, which would lie outside {folder}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValidationError(
            f"the folder {place.parent} cannot be made: {error.strerror or error}; name another one"
        ) from None
    return place


async def _plot(jobs: str | Sequence[str], path: str | os.PathLike[str], *, title: str = "") -> None:
    """Draw the metrics of one job, or of several to compare, into a .svg, .png or .pdf file (the extra `plot`). Raises
    NotFoundError, ValidationError (no such folder, no matplotlib, nothing to draw yet, a file that it cannot write)."""
    names = [jobs] if isinstance(jobs, str) else [*jobs]
    await asyncio.to_thread(check_plot, Path(path))
    found: dict[str, Mapping[str, Any]] = {}
    for name in names:
        job = await _get(name)
        label = job.name if job.name not in found else f"{job.name} ({job.id})"
        found[label] = (await _metrics(job.id)).metrics
    try:
        await asyncio.to_thread(draw, found, Path(path), title=title or ("" if len(found) > 1 else " and ".join(found)))
    except OSError as error:
        raise ValidationError(f"{path} cannot be written: {error.strerror or error}; name another file") from None


def events(job: str | TrainingJob, *, after: int = 0) -> _Events:
    """What happens to the job, for `for` and `async for`: from the first event after cursor `after` to its end."""
    job_id = _id(job)
    checked_count(after, "after", least=0)

    async def opened() -> AsyncIterator[TrainingEvent]:
        operations = await current_portal().operations()
        return operations.training_job_events(job_id, after=after)

    return read_ahead(opened)


def _id(job: str | TrainingJob) -> str:
    return job.id if isinstance(job, TrainingJob) else checked_text(job, "the job's id or name")


create = Twin(_create)
plan = Twin(_plan)
model = Twin(_model)
get = Twin(_get)
list = Twin(_list)  # noqa: A001 - the verb's name, as in `training_jobs.list()`
wait = Twin(_wait)
cancel = Twin(_cancel)
retry = Twin(_retry)
delete = Twin(_delete)
logs = Twin(_logs)
metrics = Twin(_metrics)
artifacts = Twin(_artifacts)
download = Twin(_download)
plot = Twin(_plot)


class _Awaitable:
    """Asynchronous versions of this module's functions (`events` is for `async for`)."""

    create = create.aio
    plan = plan.aio
    model = model.aio
    get = get.aio
    list = list.aio
    wait = wait.aio
    cancel = cancel.aio
    retry = retry.aio
    delete = delete.aio
    logs = logs.aio
    metrics = metrics.aio
    artifacts = artifacts.aio
    download = download.aio
    plot = plot.aio
    events = staticmethod(events)


aio = _Awaitable()
