"""The loop over rows that are there already: cross-entropy on what assistants say (SFT), or an RL loss on recorded
trajectories (`harena.training.data.offline`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harena.core.errors import PlatformError, ValidationError
from harena.core.records.training_plans import LossSpec
from harena.training.data.prompts import row_at
from harena.training.errors import TrainingError
from harena.training.loop.batch import TrainingBatch, TrainingRow, sft_batch
from harena.training.loop.checkpoints import Checkpoint, Checkpoints
from harena.training.ports import Engine, LossReport, OptimizerStep, Tokenizer

ROWS_OF_A_LOOK = 64
"""rows whose log-probabilities are asked for at once"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SFTSettings:
    """How a job over rows runs. The learning rate rises in a line for `warmup_steps` and falls in half a cosine."""

    steps: int | None = None
    """optimizer steps"""
    epochs: int | None = None
    """both given: whichever ends first; none: one epoch. Of each epoch every row is used once"""
    batch_size: int = 16
    """rows of one forward and backward call"""
    gradient_accumulation_steps: int = 1
    """such calls to one optimizer step; the loss is divided by the learnt tokens of all of them together"""
    learning_rate: float = 1e-4
    warmup_steps: int = 0
    final_learning_rate: float = 0.1
    """share of the learning rate at the last step"""
    max_gradient_norm: float = 1.0
    weight_decay: float = 0.0
    checkpoint_interval: int | None = None
    """optimizer steps between two checkpoints; None = one at the end"""
    eval_interval: int | None = None
    """optimizer steps between two looks at the evaluation rows; None = one at the end"""
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises ValidationError, with every number that is out of range."""
        whole = ("steps", "epochs", "batch_size", "gradient_accumulation_steps", "checkpoint_interval", "eval_interval")
        wrong = [name for name in whole if (value := getattr(self, name)) is not None and value < 1]
        wrong += [name for name in ("learning_rate", "max_gradient_norm") if not 0 < getattr(self, name) < math.inf]
        wrong += [name for name in ("warmup_steps", "weight_decay") if not 0 <= getattr(self, name) < math.inf]
        if wrong:
            raise ValidationError("must be more than 0: " + ", ".join(f"{n}={getattr(self, n)}" for n in wrong))

    @property
    def rows_per_step(self) -> int:
        """Number of rows of one optimizer step."""
        return self.batch_size * self.gradient_accumulation_steps

    def steps_for(self, rows: int) -> int:
        """Optimizer steps over so many rows."""
        of_epochs = math.ceil(rows * (self.epochs or 1) / self.rows_per_step)
        if self.steps is None:
            return of_epochs
        return self.steps if self.epochs is None else min(self.steps, of_epochs)

    def rows_of(self, step: int, rows: int) -> list[int]:
        """The numbers of the rows that optimizer step `step` (from 0) learns from. The last step of the last epoch may
        have fewer than the others."""
        end = (step + 1) * self.rows_per_step
        if self.steps is None or self.epochs is not None:
            end = min(end, rows * (self.epochs or 1))
        return [row_at(place, rows=rows, seed=self.seed) for place in range(step * self.rows_per_step, end)]

    def learning_rate_at(self, step: int, steps: int) -> float:
        """Learning rate of step `step`, which counts from 0."""
        if step < self.warmup_steps:
            return self.learning_rate * (step + 1) / self.warmup_steps
        share = (step - self.warmup_steps) / max(1, steps - self.warmup_steps)
        falling = 0.5 * (1 + math.cos(math.pi * share))
        return self.learning_rate * (self.final_learning_rate + (1 - self.final_learning_rate) * falling)


@dataclass(slots=True, kw_only=True)
class SFTProgress:
    """How far a job is, and how it has done; checkpoints carry it."""

    steps: int = 0
    sequences: int = 0
    tokens: int = 0
    """number of tokens of all sequences, including tokens that are given"""
    eval_loss: float | None = None
    best_eval_loss: float | None = None
    best_step: int | None = None
    """how many steps the best weights had learned from"""


def completion_row(tokenizer: Tokenizer, prompt: str, completion: str, *, context_length: int) -> TrainingRow:
    """Prompt and completion as tokens; the completion and the token that ends it are learnt. Raises ValidationError
    where they do not fit."""
    given, said = tokenizer.encode(prompt), tokenizer.encode(completion) + tokenizer.end_tokens[:1]
    if len(given) + len(said) > context_length or not given:
        raise ValidationError(
            f"a prompt of {len(given)} tokens and a completion of {len(said)} do not fit a context of {context_length}"
            ", or the prompt is empty"
        )
    return TrainingRow(tokens=given + said, mask=(0,) * len(given) + (1,) * len(said))


async def train_sft(
    engine: Engine,
    rows: Sequence[TrainingRow],
    settings: SFTSettings,
    *,
    loss: LossSpec | None = None,
    eval_rows: Sequence[TrainingRow] = (),
    checkpoints: Checkpoints | None = None,
    on_step: Callable[[int, Mapping[str, float]], Any] = lambda step, metrics: None,
    on_checkpoint: Callable[[Checkpoint], Any] = lambda checkpoint: None,
) -> SFTProgress:
    """Train, and publish at the end. With `checkpoints`, go on from the newest: the weights at the end are those of a
    job that was never interrupted. `loss` None = cross-entropy. `on_step` gets the number of each step, from 0, and its
    metrics, with "eval/loss" where it was looked at; a callback's answer is awaited unless it is None. The checkpoint
    with the lowest evaluation loss is kept as the best. Raises ValidationError for rows that cannot be trained on,
    PlatformError where a checkpoint cannot be written, TrainingError where a loss is not finite: the state before that
    step is saved."""
    if loss is not None and loss.aggregation == "constant":
        raise ValidationError(
            "aggregation 'constant' divides by max_new_tokens, and nothing is sampled here: use token or sequence"
        )
    _check(engine, rows, "dataset")
    if eval_rows:
        _check(engine, eval_rows, "evaluation dataset")
    progress = await _resumed(engine, checkpoints)
    steps = settings.steps_for(len(rows))
    for step in range(progress.steps, steps):
        chosen = [rows[number] for number in settings.rows_of(step, len(rows))]
        try:
            metrics = await _step(engine, chosen, settings, loss, settings.learning_rate_at(step, steps))
        except TrainingError as error:
            raise await _stopped(engine, checkpoints, progress, error) from error
        progress.steps = step + 1
        progress.sequences += len(chosen)
        progress.tokens += sum(len(row.tokens) for row in chosen)
        better = False
        if eval_rows and _due(progress.steps, settings.eval_interval, steps):
            metrics["eval/loss"] = progress.eval_loss = await evaluation_loss(engine, eval_rows)
            best = math.inf if progress.best_eval_loss is None else progress.best_eval_loss
            if better := progress.eval_loss < best:
                progress.best_eval_loss, progress.best_step = progress.eval_loss, progress.steps
        await _told(on_step(step, metrics))
        if checkpoints is not None and (better or _due(progress.steps, settings.checkpoint_interval, steps)):
            saved = await checkpoints.save(engine, progress.steps, asdict(progress), best=better)
            await _told(on_checkpoint(saved))
    await engine.publish()
    return progress


async def evaluation_loss(engine: Engine, rows: Sequence[TrainingRow]) -> float:
    """Cross-entropy per learnt token, in nats, under the weights as they are."""
    total = tokens = 0.0
    for start in range(0, len(rows), ROWS_OF_A_LOOK):
        for logprobs in await engine.logprobs(rows[start : start + ROWS_OF_A_LOOK]):
            total -= math.fsum(logprobs)
            tokens += len(logprobs)
    return total / tokens


def _check(engine: Engine, rows: Sequence[TrainingRow], name: str) -> None:
    if not rows:
        raise ValidationError(f"there is nothing to learn from: the {name} has no rows")
    longest = max(len(row.tokens) for row in rows)
    if longest > engine.context_length:
        raise ValidationError(
            f"the {name} has a row of {longest} tokens, and the model's context is {engine.context_length}: load it "
            "with a smaller max_length"
        )


async def _resumed(engine: Engine, checkpoints: Checkpoints | None) -> SFTProgress:
    newest = None if checkpoints is None else checkpoints.newest()
    if newest is None or checkpoints is None:
        return SFTProgress()
    await checkpoints.load(engine, newest)
    return SFTProgress(**newest.state)


async def _stopped(
    engine: Engine, checkpoints: Checkpoints | None, progress: SFTProgress, error: TrainingError
) -> TrainingError:
    """The weights are as they were before the step: they are saved."""
    kept = ""
    if checkpoints is not None:
        try:
            saved = await checkpoints.save(engine, progress.steps, asdict(progress))
            kept = f"; the state before the step is saved in {saved.path}"
        except PlatformError as failure:
            kept = f"; and {failure}"
    return TrainingError(f"step {progress.steps}: {error}{kept}", reason=error.reason)


async def _step(
    engine: Engine, rows: Sequence[TrainingRow], settings: SFTSettings, loss: LossSpec | None, rate: float
) -> dict[str, float]:
    reports = [await engine.forward_backward(batch, loss) for batch in _batches(rows, settings.batch_size, loss)]
    norm = await engine.optim_step(
        OptimizerStep(
            learning_rate=rate, max_gradient_norm=settings.max_gradient_norm, weight_decay=settings.weight_decay
        )
    )
    return {**_together(reports), "learning_rate": rate, "gradient_norm": norm}


def _batches(rows: Sequence[TrainingRow], size: int, loss: LossSpec | None) -> Iterator[TrainingBatch]:
    """The parts of one optimizer step; all have the denominator of the whole."""
    denominator = sft_batch(rows).denominator
    if loss is not None and loss.aggregation == "sequence":
        # rows of one episode weigh together what one sequence does
        denominator = math.fsum(row.weight * sum(row.mask) for row in rows)
    for start in range(0, len(rows), size):
        yield TrainingBatch(rows=tuple(rows[start : start + size]), denominator=denominator)


def _together(reports: Sequence[LossReport]) -> dict[str, float]:
    """Losses add up, for they have one denominator; of the rest, means over tokens and the greatest ratio."""
    tokens = sum(report.metrics.get("tokens", 0.0) for report in reports)
    merged: dict[str, float] = {"loss": math.fsum(report.loss for report in reports), "tokens": tokens}
    names = dict.fromkeys(name for report in reports for name in report.metrics if name != "tokens")
    for name in names:  # in their order, which is that of tables and files
        values = [(r.metrics.get(name, 0.0), r.metrics.get("tokens", 0.0)) for r in reports]
        if name.endswith("_max"):
            merged[name] = max(value for value, _ in values)
        else:
            merged[name] = math.fsum(value * weight for value, weight in values) / max(1.0, tokens)
    return merged


def _due(steps: int, interval: int | None, last: int) -> bool:
    return steps == last or (interval is not None and steps % interval == 0)


async def _told(answer: Any) -> None:
    if answer is not None:
        await answer
