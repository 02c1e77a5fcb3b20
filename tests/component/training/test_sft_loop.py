"""The loop over rows: which rows, which denominator, what is kept, and how it goes on."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeEngine
from hypothesis import given
from hypothesis import strategies as st
from sft_job import PAIRS, SETTINGS, digest, job

from harena.core.errors import ValidationError
from harena.training.engines.local import LocalEngine
from harena.training.errors import TrainingError
from harena.training.loop.algorithms import loss_spec
from harena.training.loop.batch import TrainingRow
from harena.training.loop.checkpoints import Checkpoint, Checkpoints
from harena.training.loop.sft import SFTSettings, completion_row, evaluation_loss, train_sft
from harena.training.ports import OptimizerStep

Make = Callable[..., LocalEngine]
ROWS = [TrainingRow(tokens=(9,) * length, mask=(0, *(1,) * (length - 1))) for length in (2, 3, 4, 5, 6)]


@given(st.integers(1, 50), st.integers(1, 9), st.integers(1, 4), st.integers(1, 3))
def test_an_epoch_uses_every_row_once(rows: int, batch: int, accumulated: int, epochs: int) -> None:
    settings = SFTSettings(epochs=epochs, batch_size=batch, gradient_accumulation_steps=accumulated)
    used = [settings.rows_of(step, rows) for step in range(settings.steps_for(rows))]
    assert all(used)
    assert sorted(number for numbers in used for number in numbers) == sorted([*range(rows)] * epochs)


def test_steps_and_epochs_end_at_whichever_is_first() -> None:
    assert SFTSettings(batch_size=4).steps_for(10) == 3
    assert SFTSettings(batch_size=4, steps=2, epochs=9).steps_for(10) == 2
    assert SFTSettings(batch_size=4, steps=99, epochs=2).steps_for(10) == 5
    assert SFTSettings(batch_size=4, steps=99).steps_for(10) == 99
    assert len(SFTSettings(batch_size=4, steps=99).rows_of(98, 10)) == 4


def test_every_number_that_is_out_of_range_is_told() -> None:
    with pytest.raises(ValidationError, match=r"batch_size=0, eval_interval=-1, learning_rate=nan, warmup_steps=-2"):
        SFTSettings(batch_size=0, eval_interval=-1, learning_rate=float("nan"), warmup_steps=-2)


async def test_parts_of_a_step_have_the_denominator_of_the_whole() -> None:
    engine = FakeEngine()
    await train_sft(engine, ROWS, SFTSettings(batch_size=2, gradient_accumulation_steps=3))
    assert [len(batch.rows) for batch in engine.batches] == [2, 2, 1]
    assert {batch.denominator for batch in engine.batches} == {1 + 2 + 3 + 4 + 5}
    engine = FakeEngine()
    loss = loss_spec("gspo", max_steps_off_policy=0, aggregation="sequence")
    weighed = [replace(row, weight=1 / sum(row.mask)) for row in ROWS]
    await train_sft(engine, weighed, SFTSettings(batch_size=2, gradient_accumulation_steps=3), loss=loss)
    assert [batch.denominator for batch in engine.batches] == [pytest.approx(5)] * 3


async def test_accumulation_changes_no_weight(engines: Make) -> None:
    """Six rows at once, and two at a time: one optimizer step of the same gradient."""
    norms, losses = [], []
    for size, accumulated in ((6, 1), (2, 3), (1, 6)):
        engine = engines(1)
        rows = [completion_row(engine.tokenizer, *pair, context_length=64) for pair in [*PAIRS, ("a>", "b")]]
        told: list[Mapping[str, float]] = []
        settings = SFTSettings(batch_size=size, gradient_accumulation_steps=accumulated, learning_rate=1e-2)
        await train_sft(engine, rows, settings, on_step=lambda step, metrics, told=told: told.append(metrics))
        (metrics,) = told
        norms.append(metrics["gradient_norm"])
        losses.append((metrics["loss"], metrics["entropy"], metrics["tokens"]))
    assert norms[1:] == pytest.approx(norms[:1] * 2, abs=1e-6)
    assert losses[1] == pytest.approx(losses[0], abs=1e-5)
    assert losses[2] == pytest.approx(losses[0], abs=1e-5)


async def test_the_best_checkpoint_is_kept(tmp_path: Path, engines: Make) -> None:
    """Evaluation rows that contradict what is learnt: the first look is the best one."""
    engine = engines(1)
    rows = [completion_row(engine.tokenizer, *pair, context_length=64) for pair in PAIRS]
    against = [completion_row(engine.tokenizer, prompt, "9" * 9, context_length=64) for prompt, _ in PAIRS]
    checkpoints = Checkpoints(tmp_path, keep=1)
    saved: list[int] = []
    losses: list[float] = []

    async def told(checkpoint: Checkpoint) -> None:
        saved.append(checkpoint.step)

    def looked(step: int, metrics: Mapping[str, float]) -> None:
        losses.extend([metrics["eval/loss"]] if "eval/loss" in metrics else [])

    settings = SFTSettings(steps=40, batch_size=5, learning_rate=1e-2, eval_interval=10, checkpoint_interval=15)
    progress = await train_sft(
        engine, rows, settings, eval_rows=against, checkpoints=checkpoints, on_step=looked, on_checkpoint=told
    )
    assert len(losses) == 4
    assert (progress.best_step, progress.best_eval_loss) == (10 * (losses.index(min(losses)) + 1), min(losses))
    best, newest = checkpoints.best(), checkpoints.newest()
    assert best is not None
    assert newest is not None
    assert (best.step, newest.step) == (progress.best_step, 40)
    assert {10, 15, 30, 40} <= set(saved)
    await checkpoints.load(engine, best)
    assert await evaluation_loss(engine, against) == min(losses)
    await checkpoints.load(engine, newest)
    assert await evaluation_loss(engine, against) == losses[-1] == progress.eval_loss


async def test_it_goes_on_to_the_bit(tmp_path: Path) -> None:
    """Killed with -9 after some steps, in the middle of one: the weights at the end are those of a whole run, and no
    step before the checkpoint is made again."""
    whole, wanted, _ = await job(None)
    folder = tmp_path / "checkpoints"
    program = str(Path(__file__).with_name("sft_job.py"))
    child = await asyncio.create_subprocess_exec(sys.executable, program, str(folder), stdout=subprocess.PIPE)
    assert child.stdout is not None
    while await child.stdout.readline() != b"4\n":
        assert not child.stdout.at_eof()
    child.kill()
    assert await child.wait() == -signal.SIGKILL
    newest = Checkpoints(folder).newest()
    assert newest is not None
    got, progress, steps = await job(folder, seed=99)  # other weights: all of them come from the checkpoint
    assert got == whole
    assert progress == wanted
    assert steps == list(range(newest.step, SETTINGS.steps_for(len(PAIRS))))
    assert len(steps) < SETTINGS.steps_for(len(PAIRS))
    again, _, steps = await job(folder, seed=98)
    assert (again, steps) == (whole, [])


async def test_a_loss_that_is_none_stops_with_the_state_before_it(tmp_path: Path, engines: Make) -> None:
    """Recorded log-probabilities that are no numbers, in the last of three steps."""
    engine = engines(1)
    rows = [completion_row(engine.tokenizer, *pair, context_length=64) for pair in PAIRS[:3]]
    settings = SFTSettings(batch_size=1, learning_rate=1e-2)
    values = [0.0, 0.0, float("nan")]
    order = [settings.rows_of(step, 3)[0] for step in range(3)]
    broken = [replace(row, logprobs=(values[order.index(n)],) * len(row.tokens)) for n, row in enumerate(rows)]
    checkpoints = Checkpoints(tmp_path)
    with pytest.raises(TrainingError, match=r"step 2: the loss .* is nan.*; the state before the step is saved in"):
        await train_sft(
            engine, broken, settings, loss=loss_spec("grpo", max_steps_off_policy=0), checkpoints=checkpoints
        )
    newest = checkpoints.newest()
    assert newest is not None
    assert newest.step == 2
    before = digest(engine)
    await checkpoints.load(engine, newest)
    assert digest(engine) == before


async def test_an_evaluation_that_is_none_is_never_the_best(tmp_path: Path) -> None:
    class Blind(FakeEngine):
        async def logprobs(self, rows: Any, weights: Any = "current") -> list[tuple[float, ...]]:
            return [(float("nan"),) for _ in rows]

    checkpoints = Checkpoints(tmp_path)
    progress = await train_sft(Blind(), ROWS, SFTSettings(), eval_rows=ROWS[:1], checkpoints=checkpoints)
    assert (progress.best_step, checkpoints.best()) == (None, None)


async def test_cancelling_leaves_the_checkpoints(tmp_path: Path) -> None:
    engine = FakeEngine()
    started = asyncio.Event()

    async def wait(step: int, metrics: Any) -> None:
        if step == 2:
            started.set()
            await asyncio.Event().wait()

    settings = SFTSettings(steps=9, batch_size=1, checkpoint_interval=1)
    task = asyncio.create_task(train_sft(engine, ROWS, settings, checkpoints=Checkpoints(tmp_path), on_step=wait))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    newest = Checkpoints(tmp_path).newest()
    assert newest is not None
    assert newest.step == 2


async def test_rows_that_cannot_be_trained_on() -> None:
    engine = FakeEngine()
    with pytest.raises(ValidationError, match="the dataset has no rows"):
        await train_sft(engine, [], SFTSettings())
    long = [TrainingRow(tokens=(1,) * 101, mask=(0, *(1,) * 100))]
    with pytest.raises(
        ValidationError, match="evaluation dataset has a row of 101 tokens, and the model's context is 100"
    ):
        await train_sft(engine, ROWS, SFTSettings(), eval_rows=long)
    assert engine.batches == []
    assert await engine.optim_step(OptimizerStep(learning_rate=1.0)) == 0.0
