"""A checkpoint of a training job, written as a model that another job can begin with."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.core.records.training_plans import RLPlan, SFTPlan
from harena.training.worker.engine import open_engine
from harena.training.worker.job import TrainingWork


async def export_checkpoint(work: TrainingWork, plan: SFTPlan | RLPlan, checkpoint: Path) -> Mapping[str, Any]:
    """The artifacts: the model of the checkpoint, in the work's folder. Raises ValidationError, PlatformError."""
    critic = isinstance(plan, RLPlan) and plan.loss.critic
    engine = await asyncio.to_thread(open_engine, work.resolved, plan.tuning, seed=plan.seed, critic=critic)
    try:
        await engine.load(checkpoint)
    except OSError as error:
        raise ValidationError(
            f"{checkpoint.name} cannot be read ({error.strerror or error}): the job keeps its newest checkpoints, and "
            "has perhaps removed this one"
        ) from error
    await work.export(engine)
    await engine.close()
    return work.artifacts
