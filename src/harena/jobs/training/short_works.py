"""Short works of a training worker that are no training job: a model made of a checkpoint, episodes played by a model.

A worker is started over a folder of its own, with a plan that says what it does; it writes what was asked for into the
folder, and ends.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from harena.core.clock import Clock
from harena.core.errors import PlatformError, ValidationError
from harena.core.home import private_opener
from harena.core.spool import spooled
from harena.core.threads import TRAINING
from harena.core.training_jobs import TrainingEventKind
from harena.core.training_lines import BrokenLine
from harena.jobs.training.owned_training import PLAN_FILE, Workers
from harena.jobs.training.worker_process import WorkerProcess, how_it_ended

MOST_SECONDS = 3600.0
"""in which a work is done"""


class ShortWorks:
    """Has works done, one at a time on this node, and one of a workspace after the other. Used from one event loop."""

    def __init__(self, workers: Workers, clock: Clock) -> None:
        self._workers = workers
        self._clock = clock
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by workspace
        self._place = asyncio.Lock()

    @asynccontextmanager
    async def done(self, workspace: str, plan: Mapping[str, Any]) -> AsyncIterator[Path]:
        """The folder in which a worker has done what the plan says, within the block. Raises ValidationError with what
        the worker says is wrong, PlatformError."""
        async with spooled("harena-work-") as name:
            place = Path(name)
            async with self._turns.setdefault(workspace, asyncio.Lock()), self._place:
                await TRAINING.run(_write, place / PLAN_FILE, json.dumps({**plan, "workspace": workspace}))
                error = await self._worked(workspace, place)
            if error is not None:
                raise ValidationError(error)
            yield place

    async def _worked(self, workspace: str, place: Path) -> str | None:
        """What a worker says is wrong; None = it has done its work. Raises PlatformError."""
        env = await self._workers.env_of(workspace)
        process = await WorkerProcess.start(self._workers.command, place, env, self._clock)
        timer = self._clock.call_later(MOST_SECONDS, process.kill)
        ended, error = False, None
        try:
            while lines := await process.lines():
                for line in lines:
                    ended = ended or line.event_type == TrainingEventKind.TRAINING_END
                    error = line.error or error
        except BrokenLine as broken:
            raise PlatformError(
                f"a training worker told what none of harena's tells ({broken})", step="worker"
            ) from None
        finally:
            timer.cancel()
            code = await process.end()
        if not ended and error is None:
            # of a fault a server tells the first line
            raise PlatformError(f"a training worker {how_it_ended(code)}\n{await process.tail()}", step="worker")
        return error


def _write(place: Path, text: str) -> None:
    with open(place, "w", opener=private_opener) as file:
        file.write(text)
