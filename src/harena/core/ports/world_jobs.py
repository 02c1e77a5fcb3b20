"""What a node can do with the jobs that make trajectories of worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Protocol

from harena.core.parameters import MOST_WORD, Bounds, Cursor, Id, Limit, OptionalWord
from harena.core.registry import MOST_CHARACTERS
from harena.core.registry import NAME_PATTERN as DATASET_PATTERN
from harena.core.worlds import (
    DEFAULT_GOAL,
    DEFAULT_MAX_STEPS,
    DEFAULT_SEED,
    DEFAULT_STRATEGY,
    MOST_COUNT,
    MOST_GOAL,
    MOST_REFERENCE,
    MOST_SEED,
    MOST_STEPS,
    MOST_THREADS,
    SCRIPTED,
    PlayMode,
    RowForm,
    Strategy,
)

if TYPE_CHECKING:
    from harena.core.records.worlds import WorldJob, WorldJobsPage


class WorldJobOperations(Protocol):
    """Jobs of one workspace's worlds."""

    async def create_world_job(
        self,
        world: Annotated[str, Bounds(min_length=1, max_length=MOST_WORD)],
        *,
        goal: Annotated[str, Bounds(min_length=1, max_length=MOST_GOAL)] = DEFAULT_GOAL,
        count: Annotated[int, Bounds(ge=1, le=MOST_COUNT)] = 1,
        strategy: Strategy = DEFAULT_STRATEGY,
        max_steps: Annotated[int, Bounds(ge=1, le=MOST_STEPS)] = DEFAULT_MAX_STEPS,
        seed: Annotated[int, Bounds(ge=0, le=MOST_SEED)] = DEFAULT_SEED,
        threads: Annotated[int, Bounds(ge=1, le=MOST_THREADS)] = 1,
        only_successful: bool = False,
        form: RowForm = "atif",
        mode: PlayMode = SCRIPTED,
        agent_model: Annotated[str | None, Bounds(max_length=MOST_REFERENCE)] = None,
        capability: Annotated[str | None, Bounds(max_length=MOST_REFERENCE)] = None,
        dataset: Annotated[str | None, Bounds(pattern=DATASET_PATTERN, max_length=MOST_CHARACTERS)] = None,
    ) -> WorldJob:
        """Make trajectories of a world, which is named by its id or name, and publish them as a version of a data set.
        Without `dataset`, the data set has the world's name. `mode` agent: the model `agent_model`, named as training
        jobs name one, plays with the prompt of `capability` (NAME@VERSION).

        Raises NotFoundError, ValidationError, and LimitExceededError with the reason WORLD_JOBS."""

    async def list_world_jobs(
        self, *, world: OptionalWord = None, limit: Limit = 100, cursor: Cursor = None
    ) -> WorldJobsPage:
        """Jobs of your workspace's worlds, or of the world with this id, the newest first."""

    async def get_world_job(self, job: Id) -> WorldJob:
        """A job by its id; with `wait_seconds` when it has ended, or after that time.

        Raises NotFoundError, here and below."""

    async def wait_world_job(self, job: str) -> WorldJob:
        """Returns the job when it has ended."""

    async def cancel_world_job(self, job: Id) -> WorldJob:
        """End a job. No effect on one that has ended."""

    async def delete_world_job(self, job: Id) -> None:
        """Forget a job that has ended. Its data set stays.

        Raises ValidationError (it has not)."""
