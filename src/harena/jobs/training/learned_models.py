"""What training jobs have learned, as directories that the next job can begin with: `job:NAME` is the model that a job
has exported, `job:NAME@STEP` one of its checkpoints.

A checkpoint is what a worker goes on from, and no model that others can load: a worker makes a model of it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from harena.core.errors import ValidationError
from harena.core.training_jobs import EXPORT, TrainingState
from harena.core.training_store import StoredTrainingJob
from harena.jobs.training.short_works import ShortWorks

BEST, NEWEST = "best", "newest"
_CHECKPOINT = re.compile(r"(.+)@(\d{1,8}|best|newest)", re.DOTALL)
_STEP = re.compile(r"checkpoints/step-(\d+)")


def named_checkpoint(job: str) -> tuple[str, str] | None:
    """(job, checkpoint) of JOB@STEP, JOB@best and JOB@newest; None = no checkpoint is named."""
    match = _CHECKPOINT.fullmatch(job)
    return None if match is None else (match[1], match[2])


def checkpoint_of(job: StoredTrainingJob, wanted: str) -> str:
    """The path of a checkpoint below the job's folder. Raises ValidationError, which says which there are."""
    there = _checkpoints(job)
    found = None
    if wanted == BEST:
        best = job.artifacts.get("best_checkpoint")
        found = best if best in there.values() else None
    elif wanted == NEWEST:
        found = there[max(there)] if there else None
    else:
        found = there.get(int(wanted))
    if found is None:
        kept = ", ".join(map(str, sorted(there))) or "none"
        raise ValidationError(
            f"training job {job.id} has no checkpoint {wanted!r}: those of these steps are kept: {kept}. A job keeps "
            "the newest few, and the best (keep_checkpoints, checkpoint_interval)"
        )
    return found


def goes_on_said(job: StoredTrainingJob, *, fresh: bool) -> str:
    """Where a job begins that has ended and is tried once more; `fresh`: in a new folder."""
    reached = f"it had reached step {job.step}"
    if fresh:
        return f"it begins anew, {reached}"
    if there := _checkpoints(job):
        return f"it goes on after step {max(there)}, where its newest checkpoint is; {reached}"
    return f"it begins again, since it has no checkpoint yet; {reached}"


def _checkpoints(job: StoredTrainingJob) -> dict[int, str]:
    """Step of each checkpoint that the present try has, and its path below the job's folder."""
    told = job.artifacts.get("checkpoints")
    return {int(match[1]): match[0] for path in told or () if (match := _STEP.fullmatch(str(path)))}


@asynccontextmanager
async def checkpoint_model(job: StoredTrainingJob, folder: Path, wanted: str, works: ShortWorks) -> AsyncIterator[Path]:
    """A directory with the model of a checkpoint, within the block; `folder` is the job's. Raises ValidationError,
    PlatformError."""
    checkpoint = folder / checkpoint_of(job, wanted)
    plan = {"job_id": job.id, "resolved": job.resolved, "plan": job.plan, EXPORT: str(checkpoint)}
    async with works.done(job.workspace, plan) as place:
        yield place / "model"


def model_folder(job: StoredTrainingJob, folder: Path) -> Path:
    """Where the model is that a completed job has exported. Raises ValidationError."""
    named = job.artifacts.get("model")
    if job.state != TrainingState.COMPLETED or not isinstance(named, str):
        raise ValidationError(
            f"training job {job.id} is {job.state} and has no model: a model is exported when a job has completed; "
            f"wait for it, retry it, or begin with one of its checkpoints (job:{job.name}@STEP)"
        )
    return folder / named
