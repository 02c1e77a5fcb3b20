"""Jobs that make trajectories of worlds and publish them as data sets. The verbs block; `world_jobs.aio` has the same
ones to await.
"""

from __future__ import annotations

from harena.core.checked import checked_text
from harena.core.records.worlds import TrajectoryOrder, WorldJob, WorldJobState
from harena.core.registry import checked_version
from harena.core.worlds import (
    DEFAULT_GOAL,
    DEFAULT_MAX_STEPS,
    DEFAULT_SEED,
    DEFAULT_STRATEGY,
    MOST_WORLDS_PAGE,
    SCRIPTED,
    PlayMode,
    RowForm,
    Strategy,
)
from harena.sdk.jobs import in_time
from harena.sdk.pages import collect_pages
from harena.sdk.portal import current_portal
from harena.sdk.twins import Twin

__all__ = ["TrajectoryOrder", "WorldJob", "WorldJobState", "aio", "cancel", "create", "delete", "get", "list", "wait"]

_Jobs = list[WorldJob]


async def _create(
    world: str,
    *,
    goal: str = DEFAULT_GOAL,
    count: int = 1,
    strategy: Strategy = DEFAULT_STRATEGY,
    max_steps: int = DEFAULT_MAX_STEPS,
    seed: int = DEFAULT_SEED,
    threads: int = 1,
    only_successful: bool = False,
    form: RowForm = "atif",
    mode: PlayMode = SCRIPTED,
    agent_model: str | None = None,
    capability: str | None = None,
    dataset: str | None = None,
) -> WorldJob:
    """Begin to make trajectories of a world, which is named by its id or name. `strategy` plays: "random", "greedy",
    "recon-first" or "smart-random". In the mode "agent" the model `agent_model` plays in its place, "NAME@VERSION",
    "job:NAME" or another name as in `training_jobs.create`, with the prompt of `capability` ("NAME@VERSION"). Rows are
    ATIF trajectories ("atif"), conversations with calls of tools ("messages") or plain ones ("text"). They are
    published as a version of the data set `dataset`, or of one with the world's name. Raises NotFoundError,
    LimitExceededError, and ValidationError, which names each field that is wrong."""
    order = TrajectoryOrder.checked(
        {
            "goal": goal,
            "count": count,
            "strategy": strategy,
            "max_steps": max_steps,
            "seed": seed,
            "threads": threads,
            "only_successful": only_successful,
            "form": form,
            "mode": mode,
            "agent_model": agent_model,
            "capability": capability,
        }
    )
    if dataset is not None:
        checked_version("dataset", dataset, "1")
    operations = await current_portal().operations()
    return await operations.create_world_job(checked_text(world, "world"), **order, dataset=dataset)


async def _get(job: str | WorldJob) -> WorldJob:
    """The job of this id, as it is now. Raises NotFoundError."""
    operations = await current_portal().operations()
    return await operations.get_world_job(_id(job))


async def _list(*, world: str | None = None, limit: int | None = None) -> _Jobs:
    """All jobs of the workspace's worlds, or of the world with this id, the newest first, up to `limit`."""

    async def page(cursor: int | None, size: int) -> tuple[_Jobs, int | None]:
        operations = await current_portal().operations()
        found = await operations.list_world_jobs(world=world, cursor=cursor, limit=size)
        return found.world_jobs, found.next_cursor

    return await collect_pages(page, limit, most=MOST_WORLDS_PAGE)


async def _wait(job: str | WorldJob, *, timeout: float | None = None) -> WorldJob:
    """The job, when it has ended, however it did. Raises SandboxTimeoutError after `timeout` seconds (it goes on)."""
    job_id = _id(job)
    operations = await current_portal().operations()
    late = f"world job {job_id} had not ended after timeout={timeout} seconds; it goes on"
    return await in_time(lambda: operations.wait_world_job(job_id), timeout, late)


async def _cancel(job: str | WorldJob) -> WorldJob:
    """End a job; no effect on one that has ended. Raises NotFoundError."""
    operations = await current_portal().operations()
    return await operations.cancel_world_job(_id(job))


async def _delete(job: str | WorldJob) -> None:
    """Forget a job that has ended; its data set stays. Raises NotFoundError, ValidationError (it has not)."""
    operations = await current_portal().operations()
    await operations.delete_world_job(_id(job))


def _id(job: str | WorldJob) -> str:
    return job.id if isinstance(job, WorldJob) else checked_text(job, "job")


create = Twin(_create)
get = Twin(_get)
list = Twin(_list)  # noqa: A001 - the verb's name
wait = Twin(_wait)
cancel = Twin(_cancel)
delete = Twin(_delete)


class _Awaitable:
    """Asynchronous versions of this module's functions."""

    create = create.aio
    get = get.aio
    list = list.aio
    wait = wait.aio
    cancel = cancel.aio
    delete = delete.aio


aio = _Awaitable()
