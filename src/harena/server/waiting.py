"""Answers that come when something has ended, or after a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import Query

from harena.core.records.benchmark_jobs import BenchmarkJob
from harena.core.records.catalog import CalibrationJob
from harena.core.records.training_jobs import TrainingJob
from harena.server.state import ServerState

Found = TypeVar("Found", BenchmarkJob, TrainingJob, CalibrationJob)

MOST_WAIT_SECONDS = 60.0
WaitSeconds = Annotated[float, Query(ge=0, le=MOST_WAIT_SECONDS)]


async def first_of(state: ServerState, work: Any, seconds: float) -> None:
    """Returns when `work` is done, the time is over, or the server is about to stop."""
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(state.draining.wait())]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            tasks[0].result()
    finally:
        for task in tasks:
            task.cancel()


async def found_after(
    state: ServerState,
    find: Callable[[str], Awaitable[Found]],
    wait: Callable[[str], Awaitable[Any]],
    job: str,
    seconds: float,
) -> Found:
    """What `find` says of a job, by its id or name. With `seconds`, wait for its end so long at most, and ask then."""
    found = await find(job)
    if seconds > 0:
        with state.followers.one():
            await first_of(state, wait(found.id), seconds)
        found = await find(found.id)
    return found
