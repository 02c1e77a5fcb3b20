"""A training job's metrics in Weights & Biases (the extra `wandb`).

    from harena.integrations import wandb
    wandb.mirror("my-job", project="my-project")

follows the job from its first event to its end, also after the fact, from any machine that reaches the job: nothing in
the job depends on W&B being there. The job is the run: mirrored twice, it is one run with the same points.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal

from harena.core.errors import ValidationError
from harena.core.training_jobs import EVAL_STEPS, STEPS, is_along
from harena.sdk import training_jobs

STEP = "step"
EVAL_STEP = "eval/step"
_AXES = {STEPS: STEP, EVAL_STEPS: EVAL_STEP}
MOST_ROLLOUTS = 200
"""in the table of rollouts: the newest"""
ROLLOUT_COLUMNS = ("step", "prompt", "text", "reward", "reason")


def mirror(
    job: str,
    *,
    project: str,
    entity: str | None = None,
    name: str | None = None,
    mode: Literal["online", "offline"] | None = None,
    folder: str | PathLike[str] | None = None,
) -> str:
    """Log every step and evaluation of a training job (its id or name) to W&B, until the job ends; the id of the run.

    `mode` and `folder` (wandb's `dir`) as `wandb.init` has them; None = as the environment says. Sampled rollouts
    become the table `rollouts`, the job's request the run's config. Raises NotFoundError, ValidationError (wandb is not
    installed), and what wandb raises.
    """
    wandb = _wandb()
    record = training_jobs.get(job)
    run = wandb.init(
        project=project,
        entity=entity,
        name=name or record.name,
        id=record.id,
        resume="allow",
        mode=mode,
        dir=None if folder is None else str(folder),
        config={"trainer_type": record.trainer_type, **dict(record.to_dict().get("config") or {})},
    )
    ended_well = False
    rollouts: list[Sequence[Any]] = []
    try:
        run.define_metric(STEP, hidden=True)
        run.define_metric(EVAL_STEP, hidden=True)
        run.define_metric("eval/*", step_metric=EVAL_STEP)
        run.define_metric("*", step_metric=STEP)
        for event in training_jobs.events(record):
            for point in points(event.metrics):
                run.log(point)
            rollouts = [*rollouts, *rollout_rows(event.data)][-MOST_ROLLOUTS:]
        if rollouts:
            run.log({"rollouts": wandb.Table(columns=list(ROLLOUT_COLUMNS), data=[list(row) for row in rollouts])})
        ended_well = training_jobs.get(record).state == "completed"
    finally:
        run.finish(exit_code=0 if ended_well else 1)
    return record.id


def points(metrics: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What one event measured, as one dict for each step of each axis; values that are not there are left out."""
    for axis, step_name in _AXES.items():
        steps = metrics.get(axis)
        if not isinstance(steps, Sequence):
            continue
        mine = {name: values for name, values in metrics.items() if is_along(axis, name, values)}
        for place, step in enumerate(steps):
            told = {
                name: values[place] for name, values in mine.items() if values[place : place + 1] not in ([], [None])
            }
            yield {step_name: step, **told}


def rollout_rows(data: Mapping[str, Any]) -> Iterable[tuple[Any, ...]]:
    """The sampled rollouts that an event tells of, in the order of `ROLLOUT_COLUMNS`."""
    return [tuple(rollout.get(name) for name in ROLLOUT_COLUMNS) for rollout in data.get("rollouts") or ()]


def _wandb() -> Any:
    try:
        import wandb
    except ModuleNotFoundError as error:
        raise ValidationError(f"W&B needs {error.name}, which is not installed: pip install 'harena[wandb]'") from error
    return wandb
