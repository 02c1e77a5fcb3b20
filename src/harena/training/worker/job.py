"""What every training job has: a folder, what its references stand for, and somebody to tell.

    ledger.sqlite    rollouts, rewards and steps (RL)
    checkpoints/     see `harena.training.loop.checkpoints`
    samples.jsonl    some of the rollouts of the newest steps, to be read by people (RL)
    model/           the exported model, at the end
    adapter/         the adapter alone, where one was trained

Metrics travel as they are kept: "train/NAME" along "steps", "eval/NAME" along "eval/steps"; steps count from 1, and are
how many optimizer steps the weights have learned from.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from harena.core.errors import PlatformError, ValidationError
from harena.core.records.objects import CapabilityDescription, ResolvedReference
from harena.core.records.training_plans import TrainingPlan
from harena.core.training_jobs import EVAL_STEPS, STEPS, TrainingEventKind
from harena.training.requests.references import ResolvedReferences, in_words
from harena.training.worker.sentences import counted

EVAL = "eval/"


@contextlib.contextmanager
def told_by_field(refs: Sequence[ResolvedReference]) -> Iterator[None]:
    """Mistakes in these data sets name the request's fields, and not where the node keeps the files."""
    try:
        yield
    except ValidationError as error:
        fields = {ref.path: f"{ref.where} ({ref.ref})" for ref in reversed(refs) if ref.path is not None}
        raise ValidationError(in_words(str(error), fields)) from None


class SendEvent(Protocol):
    """Tells the node one thing; parts as those of `WorkerLine`."""

    def __call__(self, kind: str, message: str | None = None, **parts: Any) -> None: ...


class Exporting(Protocol):
    """An engine whose model can be written."""

    @property
    def has_adapter(self) -> bool:
        """It trains an adapter beside the model's own weights."""

    async def export(self, folder: Path) -> None:
        """Write the whole model. Raises OSError."""

    async def export_adapter(self, folder: Path) -> None:
        """Write the adapter alone. Raises OSError."""


@dataclass(slots=True, kw_only=True)
class TrainingWork:
    """What the worker of one training job has: its folder, its resolved references, and where it sends events."""

    folder: Path
    resolved: ResolvedReferences
    tell: SendEvent
    artifacts: dict[str, Any] = field(default_factory=dict)
    """name -> path or paths below the folder"""

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints."""
        return self.folder / "checkpoints"

    @property
    def capability_prompt(self) -> str | None:
        """What stands before every conversation."""
        capability = self.resolved.find("capability_ref")
        described = None if capability is None else capability.described
        return described.prompt if isinstance(described, CapabilityDescription) else None

    def path_of(self, where: str) -> Path | None:
        """Where the data set of this field is; None = the request has none."""
        ref = self.resolved.find(where)
        return None if ref is None or ref.path is None else Path(ref.path)

    def trajectories(self) -> list[ResolvedReference]:
        """The trajectory data sets."""
        return [*self.resolved.trajectories]

    def started(self, plan: TrainingPlan, steps: int, learnt_from: str, **content: Any) -> None:
        """Everything is loaded, and learning begins; `learnt_from`: how many of what."""
        how = f"{plan.tuning.in_words}, learning rate {plan.learning_rate:g}"
        said = f"training begins: {counted(steps, 'step')}, {learnt_from}; {how}"
        self.tell(TrainingEventKind.TRAINING_START, said, data={"steps": steps, **content})

    def step_done(self, step: int, metrics: Mapping[str, float], *, rollouts: Sequence[Mapping[str, Any]] = ()) -> None:
        """Step `step` (from 1); `rollouts`: some of those that it learned from, {step, prompt, text, reward,
        reason}."""
        told: dict[str, Any] = {
            f"train/{name}": [value] for name, value in metrics.items() if not name.startswith(EVAL)
        }
        content = {"rollouts": [*rollouts]} if rollouts else {}
        self.tell(TrainingEventKind.STEP_COMPLETE, metrics={STEPS: [step], **told}, data=content)

    def evaluated(self, step: int, metrics: Mapping[str, float]) -> None:
        """The weights after step `step`; names begin with "eval/"."""
        told: dict[str, Any] = {name: [value] for name, value in metrics.items()}
        shown = ", ".join(f"{name} {value:.4g}" for name, value in metrics.items())
        self.tell(TrainingEventKind.EVAL_COMPLETE, f"step {step}: {shown}", metrics={EVAL_STEPS: [step], **told})

    def saved(self, step: int, path: Path, *, best: bool) -> None:
        """A checkpoint."""
        self.artifacts["checkpoints"] = sorted(
            found.relative_to(self.folder).as_posix() for found in self.checkpoints.glob("step-*")
        )
        if best:
            self.artifacts["best_checkpoint"] = path.relative_to(self.folder).as_posix()
        self.tell(
            TrainingEventKind.CHECKPOINT_SAVED,
            f"the checkpoint of step {step} is saved{', the best so far' if best else ''}",
            data={"step": step, "best": best},
            artifacts=self.artifacts,
        )

    async def export(self, engine: Exporting) -> None:
        """The model directory, there whole or not at all; beside it the adapter alone, as peft loads it, where one was
        trained. Raises PlatformError."""
        final = self.folder / "model"
        try:
            await self._written(final, engine.export)
            if engine.has_adapter:
                await self._written(self.folder / "adapter", engine.export_adapter)
        except OSError as error:
            raise PlatformError(
                f"the model could not be written to {final}: {error.strerror or error}. Make room there and retry the "
                "job: it goes on from its last checkpoint",
                step="export",
            ) from error
        self.artifacts["model"] = "model"
        if engine.has_adapter:
            self.artifacts["adapter"] = "adapter"

    async def _written(self, final: Path, write: Callable[[Path], Awaitable[None]]) -> None:
        """Write a directory under another name, and put it in its place. Raises OSError."""
        unfinished = final.with_name(f"{final.name}.unfinished")
        await asyncio.to_thread(shutil.rmtree, unfinished, ignore_errors=True)
        await asyncio.to_thread(unfinished.mkdir)
        await write(unfinished)
        await asyncio.to_thread(shutil.rmtree, final, ignore_errors=True)
        await asyncio.to_thread(unfinished.rename, final)
